//! One call as it is shown to whoever looks on: everything that was found out about it, without what the audit would not keep.

use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolmark_core::text::{is_hidden, visible};
use toolmark_core::time::Micros;
use toolmark_core::verdict::{Decision, Reason};
use toolmark_runtime::{Examination, Outcome, Record, Stray, Timings};
use uuid::Uuid;

use crate::audit::redact::Redactor;
use crate::audit::{outcome, strayed};

/// Arguments that are longer are not even looked through for secrets, and not shown.
const LOOKED_THROUGH: usize = 256 << 10;
/// How much of arguments is shown.
const SHOWN: usize = 8 << 10;
/// The longest name. Servers choose names, and so do callers.
const NAME: usize = 300;

/// A call that runs, waits or is over.
#[derive(Debug)]
pub(crate) struct LiveCall {
    pub(crate) id: Uuid,
    /// Its number among those that ended since somebody looked; 0 while it runs.
    pub(crate) seq: u64,
    /// When it began.
    pub(crate) began: Micros,
    pub(crate) caller: Arc<str>,
    pub(crate) session: Option<Arc<str>>,
    pub(crate) transport: Option<&'static str>,
    pub(crate) era: Option<&'static str>,
    pub(crate) trace: Option<[u8; 16]>,
    pub(crate) task: Option<Arc<str>>,
    /// The name under which it was called, made safe to show.
    pub(crate) called: Arc<str>,
    /// The tool that was meant, where there is one.
    pub(crate) tool: Option<LiveTool>,
    /// The same once it was judged.
    pub(crate) judged: Option<LiveJudged>,
    pub(crate) arguments: LiveArguments,
    /// How many bytes it brought.
    pub(crate) result_size: Option<u64>,
    /// How it ended; nothing while it runs.
    pub(crate) outcome: Option<&'static str>,
    pub(crate) code: Option<Arc<str>>,
    pub(crate) timings: Timings,
    json: OnceLock<Box<str>>,
}

/// Which tool.
#[derive(Clone, Debug)]
pub(crate) struct LiveTool {
    pub(crate) canonical: Arc<str>,
    pub(crate) mark: String,
    pub(crate) definition: String,
}

/// What was decided, and why.
#[derive(Clone, Debug)]
pub(crate) struct LiveJudged {
    pub(crate) verdict: Decision,
    /// What becomes of it: `run`, `answered`, `observed`, `ask` or `refuse`.
    pub(crate) decided: &'static str,
    /// The behavior that holds for these arguments.
    pub(crate) behavior: Option<String>,
    pub(crate) reasons: Value,
    pub(crate) rules: Vec<String>,
    pub(crate) facts: Value,
    pub(crate) policy: Arc<str>,
    pub(crate) grant: Option<String>,
    pub(crate) by: Option<String>,
    /// Whether somebody put other arguments in place of those that came.
    pub(crate) edited: bool,
    /// Why the arguments do not fit, where they do not.
    pub(crate) invalid: Option<String>,
}

/// What it was called with, as far as it may be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveArguments {
    /// JSON text, redacted, with what is invisible written out.
    pub(crate) text: Option<Arc<str>>,
    /// Whether there was more of it.
    pub(crate) cut: bool,
    pub(crate) size: u64,
}

impl LiveCall {
    /// A call that was judged and has not ended.
    pub(super) fn begun(record: &Record<'_>, redactor: &Redactor) -> Self {
        let arguments = LiveArguments::of(record, redactor);
        let judged = Some(LiveJudged::of(record, redactor));
        Self::of(record, 0, arguments, judged, None)
    }

    /// A call that is over. What was made when it began is used again, unless other arguments took the place of its own.
    pub(super) fn ended(record: &Record<'_>, began: Option<&Self>, seq: u64, redactor: &Redactor) -> Self {
        let edited = record.pass.edited.is_some();
        let kept = began.filter(|_| !edited);
        let arguments = kept.map_or_else(|| LiveArguments::of(record, redactor), |began| began.arguments.clone());
        let judged = match kept.and_then(|began| began.judged.clone()) {
            Some(judged) => judged.passed(record),
            None => LiveJudged::of(record, redactor),
        };
        let code = (record.verdict.decision() > Decision::Allow)
            .then(|| record.verdict.deciding().next().map(|reason| Arc::from(reason.code)))
            .flatten();
        let call = Self::of(record, seq, arguments, Some(judged), Some(outcome(record.end).as_str()));
        Self { code, result_size: record.result.map(|result| result.len() as u64), ..call }
    }

    fn of(
        record: &Record<'_>,
        seq: u64,
        arguments: LiveArguments,
        judged: Option<LiveJudged>,
        outcome: Option<&'static str>,
    ) -> Self {
        Self {
            id: record.id,
            seq,
            began: began(record.id),
            caller: visible(record.caller.name(), NAME).into(),
            session: record.caller.session().map(|session| visible(session, NAME).into()),
            transport: record.origin.transport,
            era: record.origin.era,
            trace: record.origin.trace,
            task: record.task.map(Into::into),
            called: visible(record.lookup, NAME).into(),
            tool: Some(LiveTool {
                canonical: Arc::clone(&record.identity.canonical),
                mark: record.identity.mark_text.to_string(),
                definition: record.identity.definition.to_string(),
            }),
            judged,
            arguments,
            result_size: None,
            outcome,
            code: None,
            timings: record.timings,
            json: OnceLock::new(),
        }
    }

    /// A call that was never judged.
    pub(super) fn stray(stray: &Stray<'_>, seq: u64) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id: Uuid::new_v4(),
            seq,
            began: Micros::new(i64::try_from(now.as_micros()).unwrap_or(i64::MAX)),
            caller: visible(stray.caller.name(), NAME).into(),
            session: stray.caller.session().map(|session| visible(session, NAME).into()),
            transport: stray.origin.transport,
            era: stray.origin.era,
            trace: stray.origin.trace,
            task: stray.task.map(Into::into),
            called: visible(stray.lookup, NAME).into(),
            tool: stray.tool.map(|tool| LiveTool {
                canonical: tool.canonical().as_str().into(),
                mark: tool.mark().to_string(),
                definition: tool.digest().to_string(),
            }),
            judged: None,
            arguments: LiveArguments { size: stray.arguments_size as u64, ..LiveArguments::default() },
            result_size: None,
            outcome: Some(strayed(stray.kind).as_str()),
            code: Some(stray.kind.code().into()),
            timings: Timings::default(),
            json: OnceLock::new(),
        }
    }

    /// As JSON, in the words of `docs/console-api.md`, but for `shown`, which depends on who looks. Written once for all of them.
    pub(crate) fn json(&self) -> &str {
        self.json.get_or_init(|| self.written().to_string().into())
    }

    fn written(&self) -> Value {
        let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let judged = self.judged.as_ref();
        let tool = self.tool.as_ref().map(|tool| {
            let (pack, raw) = match tool.canonical.split_once('.') {
                Some((pack, raw)) => (Some(pack), raw),
                None => (None, &*tool.canonical),
            };
            json!({"canonical": &*tool.canonical, "pack": pack, "raw": raw, "mark": tool.mark, "digest": tool.definition})
        });
        let timings = &self.timings;
        let parts = timings.parts;
        json!({
            "id": self.id.to_string(),
            "seq": self.seq,
            "time": self.began.to_string(),
            "time_us": self.began.get(),
            "caller": &*self.caller,
            "session": self.session.as_deref(),
            "transport": self.transport,
            "era": self.era,
            "trace": self.trace.map(hex),
            "called": &*self.called,
            "tool": tool,
            "behavior": judged.and_then(|judged| judged.behavior.as_deref()),
            "task": self.task.as_deref(),
            "verdict": judged.map(|judged| judged.verdict.as_str()),
            "decided": judged.map(|judged| judged.decided),
            "outcome": self.outcome,
            "code": self.code.as_deref(),
            "reasons": judged.map(|judged| &judged.reasons),
            "rules": judged.map(|judged| &judged.rules),
            "facts": judged.map(|judged| &judged.facts),
            "invalid": judged.and_then(|judged| judged.invalid.as_deref()),
            "policy": judged.map(|judged| &*judged.policy),
            "grant": judged.and_then(|judged| judged.grant.as_deref()),
            "approved_by": judged.and_then(|judged| judged.by.as_deref()),
            "edited": judged.is_some_and(|judged| judged.edited),
            "arguments": {
                "text": self.arguments.text.as_deref(),
                "cut": self.arguments.cut,
                "kept": self.arguments.text.is_some(),
                "size": self.arguments.size,
            },
            "result": {"size": self.result_size},
            "timings": {
                "validate_us": parts.map(|parts| micros(parts.validate)),
                "analyze_us": parts.map(|parts| micros(parts.analyze)),
                "examine_us": micros(timings.examine),
                "approve_us": micros(timings.approve),
                "dispatch_us": micros(timings.dispatch),
                "total_us": micros(timings.total()),
            },
        })
    }
}

impl LiveJudged {
    fn of(record: &Record<'_>, redactor: &Redactor) -> Self {
        let examination = record.examination;
        let by = |reason: &Reason| reason.facts.get("rule").or_else(|| reason.facts.get("policy")).cloned();
        let rules = record.verdict.reasons().iter().filter_map(by).filter_map(|rule| rule.as_str().map(str::to_owned));
        let reasons = record.verdict.to_json().get("reasons").cloned().unwrap_or_default();
        Self {
            verdict: record.verdict.decision(),
            decided: examination.outcome().as_str(),
            behavior: examination.known().behavior_of(record.body).map(|behavior| behavior.to_string()),
            // Reasons and facts say what a call would do in its own words.
            reasons: redactor.value(&reasons),
            rules: rules.chain(answered(examination)).collect(),
            facts: redactor.value(&examination.facts().to_json()),
            policy: Arc::clone(record.policy),
            grant: None,
            by: None,
            edited: false,
            invalid: examination.invalid().map(|error| redactor.text(&error.to_string()).into_owned()),
        }
        .passed(record)
    }

    /// With what let it through.
    fn passed(self, record: &Record<'_>) -> Self {
        Self {
            grant: record.pass.grant.map(|grant| grant.to_string()),
            by: record.pass.by.as_deref().map(|by| visible(by, NAME)),
            edited: record.pass.edited.is_some(),
            ..self
        }
    }
}

/// The rule that answered for a person.
fn answered(examination: &Examination<'_>) -> Option<String> {
    match examination.outcome() {
        Outcome::Answered(answered) => Some(answered.by().id().to_owned()),
        _ => None,
    }
}

impl LiveArguments {
    fn of(record: &Record<'_>, redactor: &Redactor) -> Self {
        let size = record.arguments_size as u64;
        if record.arguments_size > LOOKED_THROUGH {
            return Self { text: None, cut: true, size };
        }
        let (text, cut) = shortened(&redactor.value(record.body).to_string(), SHOWN);
        Self { text: Some(text.into()), cut, size }
    }
}

/// A text with what is invisible written out, and whether there was more of it.
pub(crate) fn shortened(text: &str, most: usize) -> (String, bool) {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let cut = end < text.len();
    let text = text.get(..end).unwrap_or_default();
    if text.chars().any(is_hidden) { (visible(text, usize::MAX), cut) } else { (text.to_owned(), cut) }
}

/// When a call began: its id says so, to the millisecond.
fn began(id: Uuid) -> Micros {
    let (seconds, nanos) = id.get_timestamp().map_or((0, 0), |time| time.to_unix());
    let micros = seconds.saturating_mul(1_000_000).saturating_add(u64::from(nanos / 1_000));
    Micros::new(i64::try_from(micros).unwrap_or(i64::MAX))
}

fn hex(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
