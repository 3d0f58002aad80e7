//! One configured server: started, listened to, started again when it ends. A slow or dead one never holds up the others.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolmark_config::sections;
use toolmark_config::values::{Era as WrittenEra, Filled, Part, Secret, Template, Transport};
use toolmark_config::{Connection, UpstreamAuth};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_core::tool::Source;
use toolmark_mcp::upstream::oauth::{OAuth, Vault};
use toolmark_mcp::upstream::{
    ConnectError, ConnectOptions, Credentials, EventSender, StderrTail, Target, Upstream, UpstreamErrorKind,
    UpstreamEvent, UpstreamLimits, minimal_environment,
};
use toolmark_mcp::wire::version::Era;

use crate::breaker::Breaker;
use crate::credentials;
use crate::listing::Listed;
use crate::wishes::Wishes;

/// The first wait before a server is tried again, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How long after one listing the next may begin.
const RELIST: Duration = Duration::from_millis(250);

/// How many lines of standard error are shown of a program that ended.
const LAST_WORDS: usize = 5;

/// How a pack stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackState {
    /// It is being started for the first time.
    Starting,
    /// It can be called.
    Ready,
    /// It cannot, for this reason; it is tried again.
    Unavailable(String),
    /// It was stopped with the gateway.
    Stopped,
}

impl PackState {
    /// The state in one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Unavailable(_) => "unavailable",
            Self::Stopped => "stopped",
        }
    }
}

/// How a pack is reached.
pub(crate) enum Way {
    /// As configured.
    Configured(Box<(Target, ConnectOptions)>),
    /// A server in this process.
    Built(Box<dyn Fn() -> (tokio::io::DuplexStream, tokio::io::DuplexStream) + Send + Sync>),
}

/// One pack of a running gateway.
pub struct PackHandle {
    name: PackName,
    source: Source,
    timeout: Duration,
    way: Way,
    /// How it says who it is, to notice when that changes.
    auth: Option<UpstreamAuth>,
    state: Mutex<PackState>,
    upstream: ArcSwapOption<Upstream>,
    stop: CancellationToken,
    wishes: Arc<Wishes>,
    breaker: Breaker,
    restarts: Arc<AtomicU64>,
    /// What its program writes to standard error, kept from one start to the next.
    stderr: StderrTail,
}

/// What a pack tells the gateway.
pub(crate) enum News {
    /// Its lists, new or again; it waits until they are taken in.
    Listed(Arc<PackHandle>, Box<Listed>, oneshot::Sender<()>),
    /// It came or went.
    State,
    /// One of its resources changed.
    Resource(PackName, String),
}

impl PackHandle {
    /// As configured. Relative paths start from a directory.
    pub(crate) fn configured(
        name: PackName,
        pack: &sections::Pack,
        connection: &Connection,
        directory: &Path,
        vault: Option<&Vault>,
    ) -> Result<Self, String> {
        let (target, source) = target(connection, &pack.args, directory)?;
        let auth = if let Connection::Http(http) = connection { http.auth.clone() } else { None };
        let trust = credentials::trust(connection, directory).map_err(|error| error.to_string())?;
        let oauth =
            credentials::oauth(&name, connection, trust.clone())?.map(|settings| OAuth::new(settings, vault.cloned()));
        let oauth = oauth.transpose().map_err(|error| error.to_string())?;
        let limits = UpstreamLimits {
            connect: pack.limits.start,
            request: pack.limits.timeout,
            in_flight: pack.limits.calls as usize,
            queue: pack.limits.queue as usize,
            bytes: pack.limits.result_bytes.as_usize(),
            ..UpstreamLimits::default()
        };
        let stderr = StderrTail::new(limits.stderr_lines);
        let era = match pack.era {
            WrittenEra::Auto => None,
            WrittenEra::Sessions => Some(Era::Session),
            WrittenEra::Stateless => Some(Era::Stateless),
        };
        let options = ConnectOptions {
            era,
            capabilities: bytes::Bytes::from_static(
                br#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#,
            ),
            inherited: minimal_environment(std::env::vars_os()),
            credentials: oauth.map(|oauth| Arc::new(oauth) as Arc<dyn Credentials>),
            trust,
            limits,
            stderr: Some(stderr.clone()),
            ..ConnectOptions::default()
        };
        let breaker = Breaker::new(pack.limits.failures, pack.limits.rest);
        Ok(Self {
            auth,
            breaker,
            stderr,
            ..Self::new(name, source, pack.limits.timeout, Way::Configured(Box::new((target, options))))
        })
    }

    /// True when the other is reached in the same way, so that this one can stay as it is.
    pub(crate) fn is_reached_like(&self, other: &Self) -> bool {
        match (&self.way, &other.way) {
            (Way::Configured(one), Way::Configured(two)) => {
                let same = one.1.era == two.1.era && one.1.limits == two.1.limits && one.1.trust == two.1.trust;
                self.auth == other.auth && one.0 == two.0 && same
            }
            _ => false,
        }
    }

    /// True for a server in this process.
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.way, Way::Built(_))
    }

    /// Takes over what clients want to hear from the server in whose place this one comes, and what was counted.
    #[must_use]
    pub(crate) fn in_place_of(mut self, other: &Self) -> Self {
        self.wishes = Arc::clone(&other.wishes);
        self.restarts = Arc::clone(&other.restarts);
        self
    }

    pub(crate) fn new(name: PackName, source: Source, timeout: Duration, way: Way) -> Self {
        Self {
            name,
            source,
            timeout,
            way,
            auth: None,
            state: Mutex::new(PackState::Starting),
            upstream: ArcSwapOption::empty(),
            stop: CancellationToken::new(),
            wishes: Arc::default(),
            breaker: Breaker::new(5, Duration::from_secs(10)),
            restarts: Arc::default(),
            stderr: StderrTail::new(1),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &PackName {
        &self.name
    }

    /// Where its tools come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> PackState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often it was tried again after it was gone.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// The last lines of its standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<String> {
        self.stderr.lines()
    }

    /// The host and the port of a server that is reached over a network.
    pub(crate) fn address(&self) -> Option<(&str, u16)> {
        let Way::Configured(way) = &self.way else { return None };
        let (Target::Http { url, .. } | Target::Sse { url, .. }) = &way.0 else { return None };
        let usual = if url.scheme_str() == Some("https") { 443 } else { 80 };
        Some((url.host()?, url.port_u16().unwrap_or(usual)))
    }

    /// How long its calls may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The connection, while there is one.
    pub(crate) fn upstream(&self) -> Option<Arc<Upstream>> {
        self.upstream.load_full().filter(|upstream| !upstream.is_closed())
    }

    /// Whether calls may go to it.
    pub(crate) fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// What clients want to hear from it.
    pub(crate) fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// Ends it and whatever it started.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        if let Some(upstream) = self.upstream.swap(None) {
            upstream.close().await;
        }
        self.set(PackState::Stopped);
    }

    fn set(&self, state: PackState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Ends it once no call holds it any more, or at the latest when every call has run out of time.
    pub(crate) async fn retire(self: Arc<Self>) {
        // One is ours, one the supervisor's; snapshots hold the others, and calls hold snapshots.
        let last = tokio::time::Instant::now() + self.timeout + Duration::from_secs(5);
        while Arc::strong_count(&self) > 2 && tokio::time::Instant::now() < last {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.stop().await;
    }

    /// Keeps the server running and the gateway informed, until it is stopped.
    pub(crate) async fn supervise(self: Arc<Self>, news: mpsc::Sender<News>) {
        let mut wait = WAIT.0;
        loop {
            let (events, heard) = EventSender::channel(64);
            let before = self.stderr.written();
            let life = self.live(events, heard, &news, &mut wait);
            let why = tokio::select! {
                () = self.stop.cancelled() => return,
                why = life => why,
            };
            if self.stop.is_cancelled() {
                return;
            }
            self.upstream.store(None);
            let state = PackState::Unavailable(visible(&why, 500));
            // Who waits for a login looks every second, and says so once.
            if wait > WAIT.0 || self.state() != state {
                tracing::warn!(pack = %self.name, reason = %why, retry_s = wait.as_secs(), "a server is not there");
            }
            for line in last_words(&self.stderr.lines(), self.stderr.written() - before) {
                tracing::warn!(pack = %self.name, line = %visible(line, 500), "it wrote to standard error");
            }
            self.set(state);
            let _ = news.send(News::State).await;
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
            wait = (wait * 2).min(WAIT.1);
            self.restarts.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// From one start to the end. Says why it ended.
    async fn live(
        self: &Arc<Self>,
        events: EventSender,
        mut heard: mpsc::Receiver<UpstreamEvent>,
        news: &mpsc::Sender<News>,
        wait: &mut Duration,
    ) -> String {
        let connected = match &self.way {
            Way::Configured(way) => Upstream::connect(way.0.clone(), way.1.clone(), events).await,
            Way::Built(build) => {
                let (ours, theirs) = build();
                Upstream::over(ours, theirs, ConnectOptions::default(), events).await
            }
        };
        let upstream = match connected {
            Ok(upstream) => Arc::new(upstream),
            Err(error) => {
                // Whoever logs in does not want to wait as long as a broken server may take.
                if needs_login(&error) {
                    *wait = WAIT.0;
                }
                return error.to_string();
            }
        };
        // Before its tools are listed: who sees them may call them.
        self.upstream.store(Some(Arc::clone(&upstream)));
        if let Err(why) = self.relist(&upstream, news).await {
            upstream.close().await;
            return why;
        }
        self.wishes.renew(&upstream).await;
        self.upstream.store(Some(Arc::clone(&upstream)));
        // Whoever stops us looks first and cancels before: one of the two sees the other.
        if self.stop.is_cancelled() {
            upstream.close().await;
            return "the gateway is stopping".into();
        }
        self.set(PackState::Ready);
        tracing::info!(pack = %self.name, restarts = self.restarts(), "a server is ready");
        *wait = WAIT.0;
        let _ = news.send(News::State).await;
        let mut listed = tokio::time::Instant::now();
        let mut due: Option<tokio::time::Instant> = None;
        loop {
            let event = tokio::select! {
                event = heard.recv() => event,
                () = tokio::time::sleep_until(due.unwrap_or(listed)), if due.is_some() => {
                    due = None;
                    if let Err(why) = self.relist(&upstream, news).await {
                        tracing::warn!(pack = %self.name, reason = %why, "a list could not be read again");
                    }
                    listed = tokio::time::Instant::now();
                    continue;
                }
            };
            match event {
                None => return "the connection ended".into(),
                // A server that calls its list changed all the time is asked once in a while.
                Some(UpstreamEvent::ListChanged(_)) => due = due.or(Some(listed + RELIST)),
                Some(UpstreamEvent::Reconnected) => {
                    self.wishes.renew(&upstream).await;
                    due = due.or(Some(listed + RELIST));
                }
                Some(UpstreamEvent::ResourceUpdated(params)) => {
                    let params = toolmark_mcp::wire::RawObject::read(params, toolmark_mcp::wire::Limits::default());
                    let uri = params.ok().and_then(|params| params.text("uri").map(std::borrow::Cow::into_owned));
                    if let Some(uri) = uri {
                        let _ = news.send(News::Resource(self.name.clone(), uri)).await;
                    }
                }
                // It belongs to no call, so nobody knows which client it is for: another caller's data could be in it.
                Some(UpstreamEvent::Log(params)) => {
                    tracing::debug!(pack = %self.name, message = %visible(&String::from_utf8_lossy(&params), 500), "a server says");
                }
                Some(UpstreamEvent::Declined { method, reason }) => {
                    tracing::warn!(pack = %self.name, %method, %reason, "a question of a server was put to nobody");
                }
                Some(UpstreamEvent::Closed(why)) => return why,
            }
        }
    }

    async fn relist(self: &Arc<Self>, upstream: &Upstream, news: &mpsc::Sender<News>) -> Result<(), String> {
        let listed = Listed::of(upstream).await.map_err(|error| error.to_string())?;
        let (taken, waits) = oneshot::channel();
        let _ = news.send(News::Listed(Arc::clone(self), Box::new(listed), taken)).await;
        // A pack is ready when clients see its tools. A gateway that is gone takes nothing in.
        let _ = waits.await;
        Ok(())
    }
}

/// The last lines of a program that ended, of those that it wrote since it was started. One that is tried in both eras says things twice.
fn last_words(lines: &[String], written: u64) -> Vec<&String> {
    let new = usize::try_from(written).unwrap_or(usize::MAX).min(lines.len());
    let mut words: Vec<&String> = lines.iter().skip(lines.len() - new).collect();
    words.dedup();
    let old = words.len().saturating_sub(LAST_WORDS);
    words.split_off(old)
}

fn needs_login(error: &ConnectError) -> bool {
    let ConnectError::Request(error) = error else { return false };
    matches!(error.kind(), UpstreamErrorKind::Credentials(missing) if missing.needs_login)
}

/// Where a pack is, and what its tools' source is called. Secrets are in neither name.
fn target(connection: &Connection, written: &[Template], directory: &Path) -> Result<(Target, Source), String> {
    match connection {
        Connection::Stdio(stdio) => {
            let args: Vec<String> = stdio.args.iter().map(|arg| arg.expose().to_owned()).collect();
            let mut env: BTreeMap<String, String> =
                stdio.inherit_env.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect();
            if let Some(path) = &stdio.env_file {
                let text = std::fs::read_to_string(directory.join(path.expose())).map_err(|error| {
                    format!("its `env_file` `{}` cannot be read: {error}", visible(path.expose(), 300))
                })?;
                let more = toolmark_config::env_file::read(&text, "env_file").map_err(|error| error.to_string())?;
                env.extend(more.into_iter().map(|(name, value)| (name, value.expose().to_owned())));
            }
            env.extend(stdio.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
            let command = stdio.command.expose().to_owned();
            let program = command.rsplit('/').next().unwrap_or_default();
            let source = Source::new(&format!("stdio:{program}#{}", fingerprint(written)));
            let cwd = stdio.cwd.as_ref().map(|cwd| directory.join(cwd.expose()));
            Ok((Target::Stdio { command, args, env, cwd }, source))
        }
        Connection::Http(http) => {
            let url: http::Uri =
                http.url.text.expose().parse().map_err(|error| format!("its `url` is no address: {error}"))?;
            let mut headers = HeaderMap::new();
            let mut insert = |name: &str, value: &str| -> Result<(), String> {
                let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
                let mut value =
                    HeaderValue::try_from(value).map_err(|_| format!("the header `{name}` has no valid value"))?;
                value.set_sensitive(true);
                headers.insert(name, value);
                Ok(())
            };
            for (name, value) in &http.headers {
                insert(name, value.expose())?;
            }
            match &http.auth {
                Some(UpstreamAuth::Bearer(token)) => insert("authorization", &format!("Bearer {}", token.expose()))?,
                // Shown request by request, since it changes.
                Some(UpstreamAuth::OAuth { .. }) | None => {}
            }
            let source = Source::new(&format!(
                "{}://{}{}",
                url.scheme_str().unwrap_or("http"),
                url.authority()
                    .map(|authority| authority.as_str().rsplit('@').next().unwrap_or_default())
                    .unwrap_or_default(),
                named_path(&http.url, &url)
            ));
            let target = match http.transport {
                Transport::Sse => Target::Sse { url, headers },
                Transport::Http => Target::Http { url, headers },
            };
            Ok((target, source))
        }
    }
}

/// The path of an address with variables by their names, as in the arguments of a program. The host is that which is really called:
/// another one is another source, and it is no secret, since everybody on the way reads it.
fn named_path(written: &Filled, url: &http::Uri) -> String {
    if written.variables.is_empty() {
        return url.path().to_owned();
    }
    let text = written.text.expose();
    let host = text.find("://").map_or(0, |at| at + 3);
    let after = |at: usize, ends: &[char]| {
        let rest = text.get(at..).unwrap_or_default();
        at + rest.find(ends).unwrap_or(rest.len())
    };
    let start = after(host, &['/', '?', '#']);
    let end = after(start, &['?', '#']);
    let (mut named, mut at) = (String::new(), start);
    for (value, name) in written.variables.iter().filter(|(value, _)| value.start < end && value.end > start) {
        named.push_str(text.get(at..value.start).unwrap_or_default());
        named.push_str(&format!("${{{name}}}"));
        at = value.end.min(end);
    }
    named.push_str(text.get(at..end).unwrap_or_default());
    // Also where there is no path, and where a variable brings host and path at once.
    if named.starts_with('/') { named } else { format!("/{named}") }
}

/// Tells the arguments of a program from others, as they are written: a variable counts by its name, so that a secret that is rotated
/// makes no other source of it, and nothing that could be guessed at is in its name.
fn fingerprint(written: &[Template]) -> String {
    let plain: Option<Vec<Secret>> = written.iter().map(Template::as_literal).collect();
    let text = match plain {
        Some(plain) => plain.iter().map(Secret::expose).collect::<Vec<_>>().join("\0"),
        None => {
            let part = |part: &Part| match part {
                Part::Literal(text) => json!({"text": text.expose()}),
                Part::Variable { name, default } => {
                    json!({"variable": name, "default": default.as_ref().map(Secret::expose)})
                }
            };
            let argument = |template: &Template| Value::from_iter(template.parts().iter().map(part));
            Value::from_iter(written.iter().map(argument)).to_string()
        }
    };
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

impl std::fmt::Debug for PackHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackHandle").field("name", &self.name).field("state", &self.state()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
