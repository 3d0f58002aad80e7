//! How much, how fast, how well? Figures for `/metrics`, counted on the path of every call without allocating.

mod figures;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::HashMap;
use http::StatusCode;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use serde_json::{Value, json};
use toolmark_core::explain::Code;
use toolmark_core::verdict::Decision;
use toolmark_mcp::downstream::Held;
use toolmark_runtime::{DispatchErrorKind, End, Keeping, Record, Recorder, Stray};
use toolmark_store::audit::AuditStats;

use self::figures::{Ended, Minutes, Spread, Times};
use crate::pack::PackHandle;
use crate::telemetry::SpanStats;

/// The type of what `/metrics` answers.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The most tools that are counted by name; those that are called later count as `other` of their pack.
const TOOLS: usize = 500;

const STATES: [&str; 4] = ["starting", "ready", "unavailable", "stopped"];

const VERDICTS: usize = 3;
const OUTCOMES: usize = 14;

/// The ends of calls in the order of their places, in the words of the audit.
const ENDS: [&str; OUTCOMES] = [
    "ok",
    "tool-error",
    "observed",
    "approved",
    "invalid",
    "denied",
    "asked",
    "unavailable",
    "busy",
    "timeout",
    "cancelled",
    "too-large",
    "upstream-failed",
    "unrecorded",
];

/// Those that are nobody's wish.
const ERRORS: [&str; 7] =
    ["tool-error", "unavailable", "busy", "timeout", "too-large", "upstream-failed", "unrecorded"];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    pack: Arc<str>,
    tool: Arc<str>,
    verdict: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StrayLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StageLabels {
    stage: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PackLabels {
    pack: String,
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct HeldLabels {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RestartLabels {
    pack: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DoorLabels {
    code: &'static str,
    status: u16,
}

/// What stands somewhere else and is looked up when figures are asked for.
#[derive(Debug)]
pub struct Standing<'a> {
    /// The packs.
    pub packs: &'a [Arc<PackHandle>],
    /// What is held for clients.
    pub held: Held,
    /// How the audit is doing, where there is one.
    pub audit: Option<AuditStats>,
    /// What became of spans, where they are sent.
    pub spans: Option<SpanStats>,
}

/// The counters of one tool, made when first used.
#[derive(Debug)]
struct Counters {
    pack: Arc<str>,
    tool: Arc<str>,
    by_end: [OnceLock<Counter>; VERDICTS * OUTCOMES],
    /// How long its calls ran.
    took: Spread,
}

/// All figures.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    strays: Family<StrayLabels, Counter>,
    /// By canonical name, for the first tools that are called.
    tools: RwLock<HashMap<Box<str>, Arc<Counters>>>,
    /// By pack, for all others.
    rest: RwLock<HashMap<Box<str>, Arc<Counters>>>,
    most: usize,
    examine: Histogram,
    approve: Histogram,
    dispatch: Histogram,
    /// The same for people, with finer steps.
    examined: Spread,
    waited: Spread,
    minutes: Minutes,
    packs: Family<PackLabels, Gauge>,
    restarts: Family<RestartLabels, Counter>,
    held: Family<HeldLabels, Gauge>,
    door: Family<DoorLabels, Counter>,
    /// The same, to be read.
    turned_away: Mutex<Vec<(DoorLabels, u64)>>,
    audit: Audit,
    spans: Spans,
    /// The packs that figures were told of, so that none is told of when it is gone.
    known: Mutex<BTreeSet<String>>,
}

/// Figures of the audit.
#[derive(Debug, Default)]
struct Audit {
    queued: Gauge,
    written: Counter,
    lost: Counter,
    failures: Counter,
}

/// Figures of spans.
#[derive(Debug, Default)]
struct Spans {
    sent: Counter,
    dropped: Counter,
}

/// Counts every record, and passes it on.
pub struct Measured {
    metrics: Arc<Metrics>,
    next: Arc<dyn Recorder>,
}

impl Metrics {
    /// Nothing counted yet; the process counts as started now.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let calls = Family::<CallLabels, Counter>::default();
        registry.register("toolmark_calls", "Calls of tools, by verdict and outcome", calls.clone());
        let strays = Family::<StrayLabels, Counter>::default();
        registry.register("toolmark_calls_unjudged", "Calls that named no tool or could not be read", strays.clone());
        let stages = Family::<StageLabels, Histogram, fn() -> Histogram>::new_with_constructor(buckets);
        let stage = |stage| stages.get_or_create_owned(&StageLabels { stage });
        let (examine, approve, dispatch) = (stage("examine"), stage("approve"), stage("dispatch"));
        let help = "How long each stage of a call took";
        registry.register_with_unit("toolmark_call_stage_duration", help, Unit::Seconds, stages);
        let packs = Family::<PackLabels, Gauge>::default();
        registry.register("toolmark_pack_state", "1 for the state that a pack is in", packs.clone());
        let held = Family::<HeldLabels, Gauge>::default();
        registry.register("toolmark_held", "What is held for clients: sessions, parked calls, listeners", held.clone());
        let started = Gauge::<f64, AtomicU64>::default();
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        registry.register_with_unit(
            "process_start_time",
            "When the process started, since 1970",
            Unit::Seconds,
            started,
        );
        let restarts = Family::<RestartLabels, Counter>::default();
        let help = "Times that a server was tried again after it was gone";
        registry.register("toolmark_pack_restarts", help, restarts.clone());
        let door = Family::<DoorLabels, Counter>::default();
        registry.register("toolmark_requests_refused", "Requests that were not let in, by reason", door.clone());
        let (audit, spans) = (Audit::register(&mut registry), Spans::register(&mut registry));
        let (tools, rest, known) = (RwLock::default(), RwLock::default(), Mutex::default());
        Self {
            registry,
            calls,
            strays,
            tools,
            rest,
            most: TOOLS,
            examine,
            approve,
            dispatch,
            examined: Spread::default(),
            waited: Spread::default(),
            minutes: Minutes::default(),
            packs,
            restarts,
            held,
            door,
            turned_away: Mutex::default(),
            audit,
            spans,
            known,
        }
    }

    /// Counts one call.
    pub fn count(&self, record: &Record<'_>) {
        let decision = record.verdict.decision();
        let counters = self.counters(record.tool.canonical().as_str(), record.tool.pack().unwrap_or_default());
        if let Some(counter) = counters.by_end.get(place(decision, record.end)) {
            let labels = || CallLabels {
                pack: Arc::clone(&counters.pack),
                tool: Arc::clone(&counters.tool),
                verdict: decision.as_str(),
                outcome: record.end.as_str(),
            };
            counter.get_or_init(|| self.calls.get_or_create_owned(&labels())).inc();
        }
        self.examine.observe(record.timings.examine.as_secs_f64());
        self.examined.add(record.timings.examine);
        // The id says when it began, and costs no look at a clock.
        let minute = record.id.get_timestamp().map_or(0, |time| time.to_unix().0 / 60);
        self.minutes.add(minute, ended(record.end));
        // What did not happen took no time, which is no figure.
        if !record.timings.approve.is_zero() {
            self.approve.observe(record.timings.approve.as_secs_f64());
            self.waited.add(record.timings.approve);
        }
        if !record.timings.dispatch.is_zero() {
            self.dispatch.observe(record.timings.dispatch.as_secs_f64());
            counters.took.add(record.timings.dispatch);
        }
    }

    fn counters(&self, canonical: &str, pack: &str) -> Arc<Counters> {
        if let Some(counters) = self.tools.read().unwrap_or_else(PoisonError::into_inner).get(canonical) {
            return Arc::clone(counters);
        }
        if let Some(counters) = self.enter(&self.tools, canonical, pack, canonical, self.most) {
            return counters;
        }
        if let Some(counters) = self.rest.read().unwrap_or_else(PoisonError::into_inner).get(pack) {
            return Arc::clone(counters);
        }
        // Packs come from the configuration, so there are only so many.
        self.enter(&self.rest, pack, pack, "other", usize::MAX).unwrap_or_else(|| Arc::new(Counters::of(pack, "other")))
    }

    fn enter(
        &self,
        table: &RwLock<HashMap<Box<str>, Arc<Counters>>>,
        key: &str,
        pack: &str,
        tool: &str,
        most: usize,
    ) -> Option<Arc<Counters>> {
        // Looked at with a reader's lock first: once the table is full, every call of another tool comes by here.
        if table.read().unwrap_or_else(PoisonError::into_inner).len() >= most {
            return None;
        }
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(counters) = table.get(key) {
            return Some(Arc::clone(counters));
        }
        if table.len() >= most {
            return None;
        }
        let counters = Arc::new(Counters::of(pack, tool));
        table.insert(key.into(), Arc::clone(&counters));
        Some(counters)
    }

    /// Counts a request that was not let in.
    pub fn turn_away(&self, status: StatusCode, code: Code) {
        // Codes and their statuses come from the program, so there are only so many.
        let labels = DoorLabels { code: code.as_str(), status: status.as_u16() };
        self.door.get_or_create(&labels).inc();
        let mut counted = self.turned_away.lock().unwrap_or_else(PoisonError::into_inner);
        match counted.iter_mut().find(|(own, _)| *own == labels) {
            Some((_, count)) => *count += 1,
            None => counted.push((labels, 1)),
        }
    }

    /// Every tool that was called, those with the most calls first, with its figures.
    pub(crate) fn of_tools(&self) -> Vec<(String, Value)> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<(String, u64, Value)> = tools
            .iter()
            .map(|(name, counters)| (name.to_string(), counters.calls(), counters.to_json()))
            .filter(|(_, calls, _)| *calls > 0)
            .collect();
        all.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        all.into_iter().map(|(name, _, figures)| (name, figures)).collect()
    }

    /// The figures of one tool; nothing where it was not called, or there are too many others.
    pub(crate) fn of_tool(&self, canonical: &str) -> Value {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(canonical).map_or(Value::Null, |counters| counters.to_json())
    }

    /// The figures of all tools of a pack together.
    pub(crate) fn of_pack(&self, pack: &str) -> Value {
        let (mut calls, mut errors, mut took) = (0, 0, Times::default());
        for table in [&self.tools, &self.rest] {
            for counters in table.read().unwrap_or_else(PoisonError::into_inner).values() {
                if *counters.pack == *pack {
                    calls += counters.calls();
                    errors += counters.errors();
                    took.add(&counters.took.read());
                }
            }
        }
        figures_of(calls, errors, &took)
    }

    /// How long each stage took.
    pub(crate) fn stages(&self) -> Value {
        let mut dispatch = Times::default();
        for table in [&self.tools, &self.rest] {
            for counters in table.read().unwrap_or_else(PoisonError::into_inner).values() {
                dispatch.add(&counters.took.read());
            }
        }
        let (examine, approve) = (self.examined.read(), self.waited.read());
        json!({"examine": examine.to_json(), "approve": approve.to_json(), "dispatch": dispatch.to_json()})
    }

    /// How many calls ended how.
    pub(crate) fn outcomes(&self) -> Value {
        let mut all: BTreeMap<&'static str, u64> = BTreeMap::new();
        for table in [&self.tools, &self.rest] {
            for counters in table.read().unwrap_or_else(PoisonError::into_inner).values() {
                for (end, count) in counters.ends() {
                    *all.entry(end).or_default() += count;
                }
            }
        }
        json!(all)
    }

    /// Requests that were not let in, by reason.
    pub(crate) fn refused(&self) -> Value {
        let mut counted = self.turned_away.lock().unwrap_or_else(PoisonError::into_inner).clone();
        counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counted
            .iter()
            .map(|(labels, count)| json!({"code": labels.code, "status": labels.status, "count": count}))
            .collect()
    }

    /// The last hour, minute by minute.
    pub(crate) fn minutes(&self) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.minutes.to_json(now.as_secs() / 60)
    }

    /// All figures as OpenMetrics text, with how things stand now.
    #[must_use]
    pub fn text(&self, now: &Standing<'_>) -> String {
        // One at a time: what one looks up, another must not write down half.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let held = now.held;
        let names: BTreeSet<String> = now.packs.iter().map(|pack| pack.name().to_string()).collect();
        for pack in known.difference(&names) {
            for state in STATES {
                self.packs.remove(&PackLabels { pack: pack.clone(), state });
            }
            self.restarts.remove(&RestartLabels { pack: pack.clone() });
        }
        *known = names;
        for pack in now.packs {
            let (name, current) = (pack.name().to_string(), pack.state().as_str());
            for state in STATES {
                let labels = PackLabels { pack: name.clone(), state };
                self.packs.get_or_create(&labels).set(i64::from(state == current));
            }
            set(&self.restarts.get_or_create(&RestartLabels { pack: name }), pack.restarts());
        }
        if let Some(audit) = &now.audit {
            let queued = audit.accepted.saturating_sub(audit.written);
            self.audit.queued.set(i64::try_from(queued).unwrap_or(i64::MAX));
            set(&self.audit.written, audit.written);
            set(&self.audit.lost, audit.lost);
            set(&self.audit.failures, audit.failures);
        }
        if let Some(spans) = &now.spans {
            set(&self.spans.sent, spans.sent);
            set(&self.spans.dropped, spans.dropped);
        }
        for (kind, count) in [("sessions", held.sessions), ("parked", held.parked), ("listeners", held.listeners)] {
            self.held.get_or_create(&HeldLabels { kind }).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let mut written = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut written, &self.registry);
        written
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Audit {
    fn register(registry: &mut Registry) -> Self {
        let audit = Self::default();
        let help = "Records that wait to be written";
        registry.register("toolmark_audit_queued", help, audit.queued.clone());
        registry.register("toolmark_audit_written", "Records that are in the store", audit.written.clone());
        registry.register("toolmark_audit_dropped", "Records that were lost", audit.lost.clone());
        let help = "Attempts to write records that failed";
        registry.register("toolmark_audit_failures", help, audit.failures.clone());
        audit
    }
}

impl Spans {
    fn register(registry: &mut Registry) -> Self {
        let spans = Self::default();
        registry.register("toolmark_spans_sent", "Spans that the receiver took", spans.sent.clone());
        registry.register("toolmark_spans_dropped", "Spans that nobody will see", spans.dropped.clone());
        spans
    }
}

impl Counters {
    fn of(pack: &str, tool: &str) -> Self {
        let by_end = [const { OnceLock::new() }; VERDICTS * OUTCOMES];
        Self { pack: pack.into(), tool: tool.into(), by_end, took: Spread::default() }
    }

    /// How many calls ended how; the same word may come several times.
    fn ends(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counted = self.by_end.iter().enumerate().filter_map(|(at, counter)| Some((at, counter.get()?.get())));
        counted.filter_map(|(at, count)| Some((*ENDS.get(at % OUTCOMES)?, count)))
    }

    fn calls(&self) -> u64 {
        self.ends().map(|(_, count)| count).sum()
    }

    fn errors(&self) -> u64 {
        self.ends().filter(|(end, _)| ERRORS.contains(end)).map(|(_, count)| count).sum()
    }

    fn to_json(&self) -> Value {
        figures_of(self.calls(), self.errors(), &self.took.read())
    }
}

impl Measured {
    /// Counts, then passes on.
    #[must_use]
    pub fn new(metrics: Arc<Metrics>, next: Arc<dyn Recorder>) -> Self {
        Self { metrics, next }
    }
}

impl Recorder for Measured {
    fn ready(&self) -> Keeping {
        self.next.ready()
    }

    fn is_watched(&self) -> bool {
        self.next.is_watched()
    }

    fn begin(&self, record: &Record<'_>) {
        self.next.begin(record);
    }

    fn intend(&self, record: &Record<'_>) -> Keeping {
        self.next.intend(record)
    }

    fn keep(&self, record: &Record<'_>) -> Keeping {
        self.metrics.count(record);
        self.next.keep(record)
    }

    fn record(&self, record: &Record<'_>) {
        self.metrics.count(record);
        self.next.record(record);
    }

    fn stray(&self, stray: &Stray<'_>) {
        self.metrics.strays.get_or_create(&StrayLabels { reason: stray.kind.as_str() }).inc();
        self.next.stray(stray);
    }
}

fn figures_of(calls: u64, errors: u64, took: &Times) -> Value {
    let mut all = took.to_json();
    if let Some(members) = all.as_object_mut() {
        members.remove("count");
        members.insert("calls".into(), calls.into());
        members.insert("errors".into(), errors.into());
    }
    all
}

const fn ended(end: End) -> Ended {
    match end {
        End::Ran | End::Observed | End::Approved => Ended::Well,
        End::Asked => Ended::Asked,
        End::Invalid | End::Denied => Ended::Denied,
        End::ToolFailed | End::Unrecorded | End::Failed(_) => Ended::Badly,
    }
}

/// Takes over what was counted elsewhere, which only ever grows.
fn set(counter: &Counter, count: u64) {
    counter.inner().store(count, Ordering::Relaxed);
}

fn buckets() -> Histogram {
    // From ten microseconds, what judging takes, to forty seconds.
    Histogram::new(exponential_buckets(0.000_01, 4.0, 12))
}

const fn place(decision: Decision, end: End) -> usize {
    let verdict = match decision {
        Decision::Allow => 0,
        Decision::Ask => 1,
        Decision::Deny => 2,
    };
    let outcome = match end {
        End::Ran => 0,
        End::ToolFailed => 1,
        End::Observed => 2,
        End::Approved => 3,
        End::Invalid => 4,
        End::Denied => 5,
        End::Asked => 6,
        End::Failed(DispatchErrorKind::Unavailable) => 7,
        End::Failed(DispatchErrorKind::Busy) => 8,
        End::Failed(DispatchErrorKind::Timeout) => 9,
        End::Failed(DispatchErrorKind::Cancelled) => 10,
        End::Failed(DispatchErrorKind::TooLarge) => 11,
        End::Failed(DispatchErrorKind::Failed) => 12,
        End::Unrecorded | End::Failed(DispatchErrorKind::Unrecorded) => 13,
    };
    verdict * OUTCOMES + outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_beyond_the_first_count_as_other_of_their_pack() {
        let metrics = Metrics { most: 2, ..Metrics::new() };
        let name = |canonical: &str, pack: &str| metrics.counters(canonical, pack).tool.to_string();
        assert_eq!(name("a.one", "a"), "a.one");
        assert_eq!(name("a.two", "a"), "a.two");
        assert_eq!(name("b.three", "b"), "other");
        assert_eq!(name("a.one", "a"), "a.one");
        assert!(Arc::ptr_eq(&metrics.counters("b.three", "b"), &metrics.counters("b.four", "b")));
        assert_eq!(&*metrics.counters("b.four", "b").pack, "b");
    }

    #[test]
    fn the_text_ends_as_openmetrics_asks_and_says_when_the_process_started() {
        let held = Held { sessions: 3, parked: 2, listeners: 1 };
        let text = Metrics::new().text(&Standing { packs: &[], held, audit: None, spans: None });
        assert!(text.ends_with("# EOF\n"), "{text}");
        assert!(text.contains("process_start_time_seconds "), "{text}");
        assert!(text.contains("toolmark_held{kind=\"sessions\"} 3\n"), "{text}");
        assert!(text.contains("toolmark_call_stage_duration_seconds_bucket"), "{text}");
    }
}
