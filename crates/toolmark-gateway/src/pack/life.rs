//! What becomes of a server from one start to the next? It is reached, listed, listened to and looked at again from time to time, so that
//! one that died or was replaced is noticed even if nobody calls it. What is gone is tried again after a growing pause.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use toolmark_core::text::visible;
use toolmark_mcp::upstream::{
    ConnectError, ConnectOptions, EventSender, ListError, Upstream, UpstreamError, UpstreamErrorKind, UpstreamEvent,
    UpstreamLimits,
};

use super::target::reworded;
use super::{News, PackHandle, PackState, Untaken, Way};
use crate::listing::Listed;
use crate::live::Hub;

/// Where its log lines come from: what filters are written for, whichever file that is.
const LOG: &str = "toolmark_gateway::pack";

/// The first wait before a server is tried again, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How long a server must have been there at least for waits to begin anew. One that starts and dies at once never was.
const SETTLED: Duration = Duration::from_secs(10);

/// How long after one listing the next may begin where the server says that something changed.
const RELIST: Duration = Duration::from_millis(250);

/// The same once it has changed so often, each time within such a time after the last: twice as long for each change more, up to a longest.
const OFTEN: u32 = 20;
const LATELY: Duration = Duration::from_secs(300);
const LONGEST_RELIST: Duration = Duration::from_secs(60);

/// The same where it could not be reached.
const DOUBTED: Duration = Duration::from_secs(1);

/// The same where nothing says that anything changed: lists that are good no longer, and streams that were opened again.
const LEAST: Duration = Duration::from_secs(5);

/// How many lines of standard error are shown of a program that ended.
const LAST_WORDS: usize = 5;

/// How long it is waited for, and since when it is there.
struct Life {
    wait: Duration,
    ready: Option<Instant>,
}

/// When the lists of a server are read again.
struct Looks {
    /// When they were read last.
    last: Instant,
    /// For how long they are good, if the server says so.
    good_for: Option<Duration>,
    /// When they are read the next time.
    due: Option<Instant>,
    /// The server was not reached since.
    doubted: bool,
}

/// How often what a server offers was new lately. One that never comes to rest must not keep the gateway at work.
#[derive(Debug, Default)]
pub(super) struct Unrest {
    changes: u32,
    last: Option<Instant>,
}

/// How much a server made the log say lately: it must not be able to fill a disk.
#[derive(Debug, Default)]
pub(super) struct Noise {
    said: u32,
    since: Option<Instant>,
}

/// How something of a server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Loud,
    /// The last for a while.
    Last,
    Low,
}

/// So much is told within such a time.
const LOUD: u32 = 20;
const WHILE: Duration = Duration::from_secs(60);

/// What a look showed.
struct Seen {
    /// For how long the lists are good, if the server says so.
    good_for: Option<Duration>,
    /// They were not as before.
    new: bool,
}

/// A look that showed nothing.
struct Unseen {
    why: String,
    seems: Seems,
}

/// How a server looks that shows nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seems {
    /// It is there, and cannot or will not list.
    There,
    /// It says nothing.
    Silent,
    /// It is there, and what it lists cannot be used as things are.
    Refused,
    /// It is there, and the configuration has no place for it any more.
    Replaced,
    /// It is not there.
    Gone,
}

impl PackHandle {
    /// Keeps the server running and the gateway informed, until it is stopped.
    pub(crate) async fn supervise(self: Arc<Self>, news: mpsc::Sender<News>, hub: Arc<Hub>) {
        let _at_work = self.at_work.token();
        if let Way::Unusable(why) = &self.way {
            tracing::warn!(target: LOG, pack = %self.name, reason = %why, "a server cannot even be tried; a reload tries again");
            return;
        }
        let mut wait = WAIT.0;
        loop {
            let (events, heard) = EventSender::channel(64);
            let before = self.stderr.written();
            let mut life = Life { wait, ready: None };
            let why = tokio::select! {
                // First: whoever stops us before we began must not find a program later.
                biased;
                () = self.stop.cancelled() => return,
                why = self.live(events, heard, &news, &mut life) => why,
            };
            if self.stop.is_cancelled() {
                return;
            }
            let why = reworded(&why, &self.named);
            self.part();
            wait = life.wait;
            if life.ready.is_some_and(|since| since.elapsed() >= SETTLED.max(wait / 2)) {
                wait = WAIT.0;
            }
            let state = PackState::Unavailable(visible(&why, 500));
            // Who waits for a login looks every second, and says so once.
            if wait > WAIT.0 || self.state() != state {
                tracing::warn!(target: LOG, pack = %self.name, reason = %why, retry_s = wait.as_secs(), "a server is not there");
            }
            for line in last_words(&self.stderr_tail(), self.stderr.written() - before) {
                let line = hub.redactor().text(line);
                tracing::warn!(target: LOG, pack = %self.name, line = %visible(&line, 500), "it wrote to standard error");
            }
            self.is(state, &news).await;
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
                // What the operator has changed may be what was in its way.
                () = self.tuned.notified() => {}
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
        life: &mut Life,
    ) -> String {
        let by = Instant::now() + self.start_limit();
        let connected = match &self.way {
            Way::Configured(way) => Upstream::connect(way.0.clone(), way.1.clone(), events).await,
            Way::Built(build) => {
                let (ours, theirs) = build();
                Upstream::over(ours, theirs, ConnectOptions::default(), events).await
            }
            Way::Unusable(why) => return why.clone(),
        };
        let upstream = match connected {
            Ok(upstream) => Arc::new(upstream),
            Err(error) => {
                // Whoever logs in does not want to wait as long as a broken server may take.
                if needs_login(&error) {
                    life.wait = WAIT.0;
                }
                return error.to_string();
            }
        };
        // Nothing is sent over it until its lists are taken in: it may offer something else than what is known of it.
        let good_for = match self.look(&upstream, news, by).await {
            Ok(seen) => seen.good_for,
            Err(unseen) => {
                upstream.close().await;
                // Nobody needs it any more; it is stopped once nobody holds it.
                if unseen.seems == Seems::Replaced {
                    self.stop.cancelled().await;
                }
                return unseen.why;
            }
        };
        self.wishes.renew(&upstream).await;
        self.open(Arc::clone(&upstream));
        if self.stop.is_cancelled() {
            upstream.close().await;
            return "the gateway is stopping".into();
        }
        // What failed before failed with another.
        self.breaker.answered();
        tracing::info!(target: LOG, pack = %self.name, restarts = self.restarts(), "a server is ready");
        life.ready = Some(Instant::now());
        self.is(PackState::Ready, news).await;
        self.watch(&upstream, &mut heard, news, good_for).await
    }

    /// Listens to a server and looks at it again from time to time, until it is gone. Says why.
    async fn watch(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        heard: &mut mpsc::Receiver<UpstreamEvent>,
        news: &mpsc::Sender<News>,
        good_for: Option<Duration>,
    ) -> String {
        let mut looks = Looks::done(good_for, self.refresh());
        let mut unrest = Unrest::default();
        let mut noise = Noise::default();
        // Whether its lists may be others than those that were read: it said so, or was not heard for a while.
        let mut told = false;
        // How long is waited while what it lists cannot be used.
        let mut out: Option<Duration> = None;
        loop {
            let event = tokio::select! {
                event = heard.recv() => event,
                () = looks.is_due() => {
                    match self.look_again(upstream, news).await {
                        Ok(seen) => {
                            told = false;
                            unrest.note(seen.new, Instant::now());
                            looks = Looks::done(seen.good_for, self.refresh());
                            if out.take().is_some() {
                                // What clients wished meanwhile was told to nobody.
                                self.wishes.renew(upstream).await;
                                self.is(PackState::Ready, news).await;
                            }
                        }
                        // It serves those who came before. If what it offers may be another thing, they were judged by what it is not.
                        Err(unseen) if unseen.seems == Seems::Replaced => {
                            if told {
                                self.shut();
                            }
                            looks = Looks::done(None, None);
                        }
                        // No new call goes to it. Those that are under way go on: it is there, and does what it was asked before.
                        Err(unseen) if unseen.seems == Seems::Refused => {
                            unrest.note(true, Instant::now());
                            let wait = out.map_or(WAIT.0, |wait| (wait * 2).min(WAIT.1));
                            tracing::warn!(target: LOG, pack = %self.name, reason = %unseen.why, retry_s = wait.as_secs(), "a server is not called");
                            out = Some(wait);
                            looks = Looks::done(None, None);
                            looks.soon(wait);
                            self.is(PackState::Unavailable(visible(&unseen.why, 500)), news).await;
                        }
                        Err(unseen) if self.is_gone(&unseen) && looks.doubted => {
                            self.leave(upstream).await;
                            return unseen.why;
                        }
                        Err(unseen) => {
                            tracing::warn!(target: LOG, pack = %self.name, reason = %unseen.why, "a list could not be read again");
                            // One that says all the time that it changed is no less at work for it.
                            unrest.note(true, Instant::now());
                            looks = Looks::done(looks.good_for, self.refresh());
                            // Once may be chance.
                            if self.is_gone(&unseen) {
                                looks.doubt();
                            }
                            // Nobody will say so again, and no call shows it.
                            if told || !self.is_open() {
                                looks.soon(LEAST);
                            }
                        }
                    }
                    continue;
                }
                () = self.tuned.notified() => {
                    match out {
                        // What the operator has changed may be what was in its way.
                        Some(_) => looks.soon(Duration::ZERO),
                        None => looks.within(self.refresh()),
                    }
                    continue;
                }
            };
            match event {
                None => return "the connection ended".into(),
                // A server that calls its list changed all the time is asked once in a while.
                Some(UpstreamEvent::ListChanged(_)) => {
                    told = true;
                    looks.soon(unrest.pause(Instant::now()).max(out.unwrap_or_default()));
                }
                Some(UpstreamEvent::Reconnected) => {
                    told = true;
                    self.wishes.renew(upstream).await;
                    looks.soon(RELIST);
                }
                Some(UpstreamEvent::ListeningAgain) => {
                    told = true;
                    looks.soon(LEAST);
                }
                Some(UpstreamEvent::Unreached(why)) => {
                    tracing::debug!(target: LOG, pack = %self.name, reason = %visible(&why, 500), "a server may be gone");
                    looks.doubt();
                    if upstream.has_lost_its_session() {
                        // Another server may stand there now. Its tools are looked at before one is called.
                        self.shut();
                        looks.soon(Duration::ZERO);
                    }
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
                    tracing::debug!(target: LOG, pack = %self.name, message = %visible(&String::from_utf8_lossy(&params), 500), "a server says");
                }
                Some(UpstreamEvent::Declined { method, reason }) => match noise.is_heard(Instant::now()) {
                    Heard::Loud => {
                        tracing::warn!(target: LOG, pack = %self.name, %method, %reason, "a question of a server was put to nobody");
                    }
                    Heard::Last => {
                        tracing::warn!(target: LOG, pack = %self.name, "more questions of a server are put to nobody; for a while they are told at `debug` only");
                    }
                    Heard::Low => {
                        tracing::debug!(target: LOG, pack = %self.name, %method, %reason, "a question of a server was put to nobody");
                    }
                },
                Some(UpstreamEvent::Closed(why)) => return why,
            }
        }
    }

    /// Stands in this way from now on, and says so.
    async fn is(&self, state: PackState, news: &mpsc::Sender<News>) {
        self.set(state);
        let _ = news.send(News::State).await;
    }

    /// Whether nobody is there. A program that says nothing may be busy with a call; had it ended, that would be known.
    fn is_gone(&self, unseen: &Unseen) -> bool {
        match unseen.seems {
            Seems::There | Seems::Refused | Seems::Replaced => false,
            Seems::Silent => self.is_elsewhere(),
            Seems::Gone => true,
        }
    }

    /// Gives up a connection to a server that does not answer. Calls that are under way over HTTP may still be answered, by a server that
    /// takes no new ones while it ends; a program is made to end.
    async fn leave(&self, upstream: &Upstream) {
        if !self.is_called() {
            upstream.close().await;
        }
    }

    /// Looks whether a server is still there and the same.
    async fn look_again(self: &Arc<Self>, upstream: &Arc<Upstream>, news: &mpsc::Sender<News>) -> Result<Seen, Unseen> {
        let by = Instant::now() + self.start_limit();
        let known = tokio::time::timeout_at(by, upstream.renew_acquaintance()).await;
        known.map_err(|_| self.late())?.map_err(|error| Unseen::from(&error))?;
        self.look(upstream, news, by).await
    }

    /// Reads all lists and passes them on; once they are taken in, calls may go to the server.
    async fn look(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        news: &mpsc::Sender<News>,
        by: Instant,
    ) -> Result<Seen, Unseen> {
        let listed = tokio::time::timeout_at(by, Listed::of(&self.name, upstream)).await;
        let (listed, good_for) = listed.map_err(|_| self.late())?.map_err(|error| Unseen::from(&error))?;
        let (taken, waits) = oneshot::channel();
        let _ = news.send(News::Listed(Arc::clone(self), Box::new(listed), Arc::clone(upstream), taken)).await;
        // A pack is ready when clients see its tools. A gateway that is gone takes nothing in.
        match waits.await {
            Ok(Err(Untaken::Refused(why))) => Err(Unseen { why, seems: Seems::Refused }),
            Ok(Err(Untaken::Replaced)) => {
                let why = "the configuration has another server in its place".to_owned();
                Err(Unseen { why, seems: Seems::Replaced })
            }
            Ok(Ok(new)) => Ok(Seen { good_for, new }),
            Err(_) => Ok(Seen { good_for, new: false }),
        }
    }

    fn late(&self) -> Unseen {
        let why = format!("it did not list what it offers within {} ms", self.start_limit().as_millis());
        Unseen { why, seems: Seems::Silent }
    }

    /// How long the server may take to start and list what it offers.
    fn start_limit(&self) -> Duration {
        match &self.way {
            Way::Configured(way) => way.1.limits.connect,
            Way::Built(_) | Way::Unusable(_) => UpstreamLimits::default().connect,
        }
    }
}

impl Unrest {
    /// The lists were read.
    pub(super) fn note(&mut self, new: bool, now: Instant) {
        if !new {
            return;
        }
        if !self.is_recent(now) {
            self.changes = 0;
        }
        self.changes = self.changes.saturating_add(1);
        self.last = Some(now);
    }

    fn is_recent(&self, now: Instant) -> bool {
        self.last.is_some_and(|last| now.saturating_duration_since(last) <= LATELY)
    }

    /// How long after they were read they may be read again.
    pub(super) fn pause(&self, now: Instant) -> Duration {
        if !self.is_recent(now) {
            return RELIST;
        }
        let doubled = 1_u32.checked_shl(self.changes.saturating_sub(OFTEN)).unwrap_or(u32::MAX);
        RELIST.saturating_mul(doubled).min(LONGEST_RELIST)
    }
}

impl Noise {
    pub(super) fn is_heard(&mut self, now: Instant) -> Heard {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= WHILE) {
            *self = Self { said: 0, since: Some(now) };
        }
        self.said = self.said.saturating_add(1);
        match self.said {
            ..=LOUD => Heard::Loud,
            said if said == LOUD + 1 => Heard::Last,
            _ => Heard::Low,
        }
    }
}

impl Looks {
    /// The lists were read just now, and are read again when they are good no longer, or when the operator wants that.
    fn done(good_for: Option<Duration>, refresh: Option<Duration>) -> Self {
        let mut looks = Self { last: Instant::now(), good_for, due: None, doubted: false };
        looks.within(refresh);
        looks
    }

    /// Takes over how often the operator wants them to be read.
    fn within(&mut self, refresh: Option<Duration>) {
        let times = [self.good_for.map(|time| time.max(LEAST)), refresh.map(jittered)];
        if let Some(time) = times.into_iter().flatten().min() {
            self.soon(time);
        }
    }

    /// The next look is so long after the last at the latest.
    fn soon(&mut self, after: Duration) {
        // What is never is no time.
        let Some(at) = self.last.checked_add(after) else { return };
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// The server could not be reached.
    fn doubt(&mut self) {
        self.doubted = true;
        self.soon(DOUBTED);
    }

    async fn is_due(&self) {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }
}

impl From<&ListError> for Unseen {
    fn from(error: &ListError) -> Self {
        let seems = if let ListError::Request(error) = error { seems(error) } else { Seems::There };
        Self { why: error.to_string(), seems }
    }
}

impl From<&ConnectError> for Unseen {
    fn from(error: &ConnectError) -> Self {
        // Who answers in another way than before is another server.
        let seems = if let ConnectError::Request(error) = error { seems(error) } else { Seems::Gone };
        Self { why: error.to_string(), seems }
    }
}

/// Whether a server that fails in this way has to be reached anew. One that has too much to do, or says something that cannot be
/// understood, is there.
fn seems(error: &UpstreamError) -> Seems {
    match error.kind() {
        UpstreamErrorKind::Timeout { .. } => Seems::Silent,
        UpstreamErrorKind::Closed { .. }
        | UpstreamErrorKind::Transport { .. }
        | UpstreamErrorKind::SessionLost
        | UpstreamErrorKind::Credentials(_)
        | UpstreamErrorKind::Status { status: 401 | 403 | 404 | 410 | 502..=504, .. } => Seems::Gone,
        _ => Seems::There,
    }
}

/// A time up to a tenth shorter or longer, so that many packs and gateways do not all look at once.
fn jittered(time: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 201;
    let thousandths = 900 + u32::try_from(random).unwrap_or_default();
    time.checked_mul(thousandths).map_or(time, |time| time / 1000)
}

/// The last lines of a program that ended, of those that it wrote since it was started. One that is tried in both eras says things twice.
pub(super) fn last_words(lines: &[String], written: u64) -> Vec<&String> {
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
