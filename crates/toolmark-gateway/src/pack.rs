//! One configured server: started, listened to, started again when it ends. A slow or dead one never holds up the others.

mod life;
mod target;

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolmark_config::sections;
use toolmark_config::values::Era as WrittenEra;
use toolmark_config::{Connection, UpstreamAuth};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_core::tool::Source;
use toolmark_mcp::upstream::oauth::{OAuth, Vault};
use toolmark_mcp::upstream::{
    ConnectOptions, Credentials, Processors, StderrTail, Target, Upstream, UpstreamLimits, minimal_environment,
};
use toolmark_mcp::wire::version::Era;

use self::target::{HIDDEN, hidden, named, reworded, source, target};
use crate::breaker::Breaker;
use crate::credentials;
use crate::listing::Listed;
use crate::wishes::Wishes;

/// How long after the last call has run out of time a server that is not needed any more is ended.
const GRACE: Duration = Duration::from_secs(5);

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
    /// In no way as things are, for this reason.
    Unusable(String),
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
    /// The connection, also while no new call goes over it.
    connection: ArcSwapOption<Upstream>,
    /// Whether calls may go over it.
    is_open: AtomicBool,
    stop: CancellationToken,
    wishes: Arc<Wishes>,
    breaker: Breaker,
    restarts: Arc<AtomicU64>,
    /// What its program writes to standard error, kept from one start to the next.
    stderr: StderrTail,
    /// What it was given that nobody else is to read, longest first.
    hidden: Vec<String>,
    /// What must not be read in reasons either, and what is said instead.
    named: Vec<(String, String)>,
    tuning: Mutex<Tuning>,
    /// Rings when that changed.
    tuned: Notify,
    /// Whoever keeps it running, and the programs that were started for it and have not ended.
    at_work: TaskTracker,
}

/// What a reload changes of a server that goes on.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// How often its lists are read again, whatever it says.
    refresh: Option<Duration>,
    /// How long a call of any of its tools may take.
    longest: Duration,
}

/// Why lists are not used.
#[derive(Debug)]
pub(crate) enum Untaken {
    /// They cannot be, for this reason.
    Refused(String),
    /// The configuration has another server in place of this one, or none.
    Replaced,
}

/// What a pack tells the gateway.
pub(crate) enum News {
    /// Its lists, new or again, and the connection that they came over; it waits until they are taken in and hears whether they are new, or
    /// why they are not used.
    Listed(Arc<PackHandle>, Box<Listed>, Arc<Upstream>, oneshot::Sender<Result<bool, Untaken>>),
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
        grace: Duration,
    ) -> Result<Self, String> {
        let named = named(connection, pack);
        let target = target(connection, directory).map_err(|why| reworded(&why, &named))?;
        let source = source(connection, &pack.args)?;
        let auth = if let Connection::Http(http) = connection { http.auth.clone() } else { None };
        let trust = credentials::trust(connection, directory).map_err(|error| reworded(&error.to_string(), &named))?;
        let oauth =
            credentials::oauth(&name, connection, trust.clone())?.map(|settings| OAuth::new(settings, vault.cloned()));
        let oauth = oauth.transpose().map_err(|error| error.to_string())?;
        let limits = UpstreamLimits {
            connect: pack.limits.start,
            request: pack.limits.timeout,
            in_flight: pack.limits.calls as usize,
            queue: pack.limits.queue as usize,
            bytes: pack.limits.result_bytes.as_usize(),
            processors: processors(&name, pack.limits.processors),
            grace,
            ..UpstreamLimits::default()
        };
        let (stderr, at_work) = (StderrTail::new(limits.stderr_lines), TaskTracker::new());
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
            programs: at_work.clone(),
            ..ConnectOptions::default()
        };
        let hidden = hidden(&target);
        let way = Way::Configured(Box::new((target, options)));
        Ok(Self { auth, stderr, hidden, named, at_work, ..Self::new(name, source, pack.limits.timeout, way) }
            .tuned_as(pack))
    }

    /// One that cannot even be tried, for this reason. What it listed when it was last seen is still listed: `guess` is how it would be
    /// reached if every variable that is missing stood for itself.
    pub(crate) fn unusable(name: PackName, pack: &sections::Pack, guess: Option<&Connection>, why: &str) -> Self {
        let source = guess.and_then(|connection| source(connection, &pack.args).ok());
        let source = source.unwrap_or_else(|| Source::new(&format!("unknown:{name}")));
        let why = visible(why, 500);
        let own = Self::new(name, source, pack.limits.timeout, Way::Unusable(why.clone())).tuned_as(pack);
        own.set(PackState::Unavailable(why));
        own
    }

    fn tuned_as(mut self, pack: &sections::Pack) -> Self {
        let longest = pack.tools.iter().filter_map(|(_, tool)| tool.timeout).fold(pack.limits.timeout, Duration::max);
        self.breaker = Breaker::new(pack.limits.failures, pack.limits.rest);
        self.tuning = Mutex::new(Tuning { refresh: pack.refresh.every(), longest });
        self
    }

    /// Takes over what holds for another that is reached in the same way.
    pub(crate) fn adopt(&self, other: &Self) {
        self.breaker.adopt(&other.breaker);
        let new = *other.tuning();
        let mut tuning = self.tuning();
        // Calls under way go by what held when they began.
        *tuning = Tuning { longest: tuning.longest.max(new.longest), ..new };
        drop(tuning);
        self.tuned.notify_one();
    }

    /// True when the other is reached in the same way, so that this one can stay as it is.
    pub(crate) fn is_reached_like(&self, other: &Self) -> bool {
        match (&self.way, &other.way) {
            (Way::Configured(one), Way::Configured(two)) => {
                let same = one.1.era == two.1.era && one.1.limits == two.1.limits && one.1.trust == two.1.trust;
                self.auth == other.auth && one.0 == two.0 && same
            }
            (Way::Unusable(one), Way::Unusable(two)) => one == two && self.source == other.source,
            _ => false,
        }
    }

    /// True for a server in this process.
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.way, Way::Built(_))
    }

    /// True for one that cannot even be tried.
    pub(crate) fn is_unusable(&self) -> bool {
        matches!(self.way, Way::Unusable(_))
    }

    /// True for a server that is called at an address, without a stream whose end tells that it is gone.
    fn is_called(&self) -> bool {
        matches!(&self.way, Way::Configured(way) if matches!(way.0, Target::Http { .. }))
    }

    /// True for a server at an address, which may be gone without a word.
    fn is_elsewhere(&self) -> bool {
        matches!(&self.way, Way::Configured(way) if !matches!(way.0, Target::Stdio { .. }))
    }

    /// How often its lists are read again, whatever it says.
    fn refresh(&self) -> Option<Duration> {
        self.tuning().refresh.filter(|_| self.is_elsewhere())
    }

    fn tuning(&self) -> MutexGuard<'_, Tuning> {
        self.tuning.lock().unwrap_or_else(PoisonError::into_inner)
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
            connection: ArcSwapOption::empty(),
            is_open: AtomicBool::new(false),
            stop: CancellationToken::new(),
            wishes: Arc::default(),
            breaker: Breaker::new(5, Duration::from_secs(10)),
            restarts: Arc::default(),
            stderr: StderrTail::new(1),
            hidden: Vec::new(),
            named: Vec::new(),
            tuning: Mutex::new(Tuning { refresh: None, longest: timeout }),
            tuned: Notify::new(),
            at_work: TaskTracker::new(),
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
        let paths = self.named.iter().filter(|(filled, _)| filled.len() >= 4);
        let named = |line: String| paths.clone().fold(line, |line, (filled, name)| line.replace(filled, name));
        let hidden = |line: String| self.hidden.iter().fold(named(line), |line, value| line.replace(value, HIDDEN));
        self.stderr.lines().into_iter().map(hidden).collect()
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

    /// The connection, while there is one and calls may go over it.
    pub(crate) fn upstream(&self) -> Option<Arc<Upstream>> {
        let is_open = self.is_open();
        self.connection.load_full().filter(|upstream| is_open && !upstream.is_closed())
    }

    /// Lets calls go over a connection: what came over it is what they are judged by.
    pub(crate) fn open(&self, upstream: Arc<Upstream>) {
        self.connection.store(Some(upstream));
        self.is_open.store(true, Ordering::Release);
        // Whoever stops us looks first and cancels before: one of the two sees the other.
        if self.stop.is_cancelled() {
            self.part();
        }
    }

    /// Lets no new call go to it until it is opened again: it offers something else than what calls are judged by. Those that are under way
    /// go on.
    pub(crate) fn shut(&self) {
        self.is_open.store(false, Ordering::Release);
    }

    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Lets go of the connection, if there is one.
    fn part(&self) -> Option<Arc<Upstream>> {
        self.shut();
        self.connection.swap(None)
    }

    /// Whether calls may go to it.
    pub(crate) fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// What clients want to hear from it.
    pub(crate) fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// Ends it and whatever it started, also a program that has not said yet who it is.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        if let Some(upstream) = self.part() {
            upstream.close().await;
        }
        self.at_work.close();
        self.at_work.wait().await;
        self.set(PackState::Stopped);
    }

    fn set(&self, state: PackState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Ends it once no call holds it any more, or at the latest when every call has run out of time.
    pub(crate) async fn retire(self: Arc<Self>) {
        // One is ours, one the supervisor's; snapshots hold the others, and calls hold snapshots.
        let patience = self.tuning().longest + GRACE;
        let mut last = tokio::time::Instant::now() + patience;
        while Arc::strong_count(&self) > 2 && tokio::time::Instant::now() < last {
            tokio::time::sleep(Duration::from_millis(20)).await;
            // The time of its calls stands still while somebody thinks about what it asked.
            if self.connection.load().as_ref().is_some_and(|upstream| upstream.is_asking()) {
                last = tokio::time::Instant::now() + patience;
            }
        }
        self.stop().await;
    }
}

impl std::fmt::Debug for PackHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackHandle").field("name", &self.name).field("state", &self.state()).finish_non_exhaustive()
    }
}

/// The processors that a program may use: which ones goes by the name of its pack, so that packs spread and each stays where it was.
fn processors(name: &PackName, most: Option<u32>) -> Option<Processors> {
    let first = name.as_str().bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    most.and_then(NonZeroU32::new).map(|most| Processors { most, first })
}

#[cfg(test)]
mod tests;
