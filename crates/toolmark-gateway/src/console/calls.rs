//! `GET /api/calls`: recorded calls, page by page, and one of them with its way through the pipeline.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolmark_core::text::visible;
use toolmark_core::time::Micros;
use toolmark_core::verdict::Decision;
use toolmark_runtime::Judged;
use toolmark_store::Store;
use toolmark_store::audit::{AuditEntry, AuditFilter, AuditSink, Order, Outcome};
use uuid::Uuid;

use super::error::ConsoleError;
use super::look::Look;
use super::{Asked, Console, trace};
use crate::live::shortened;

pub(super) const PARAMETERS: &[&str] =
    &["limit", "before", "tool", "pack", "caller", "session", "task", "verdict", "outcome", "since", "until"];

/// How many calls a page has, and how many at most.
const PAGE: u64 = 100;
const MOST: u64 = 500;
/// How much of arguments and results is shown in a list, and of one call.
const IN_LIST: usize = 2 << 10;
const WHOLE: usize = 64 << 10;
/// The longest name of whoever called.
const NAME: usize = 300;

impl Console {
    /// The store with the audit in it.
    pub(super) fn audit(&self) -> Result<(&Store, &AuditSink), ConsoleError> {
        self.gateway.store().zip(self.gateway.audit.as_ref()).ok_or(ConsoleError::NoAudit)
    }

    pub(super) async fn calls(&self, asked: &Asked) -> Result<Value, ConsoleError> {
        let (store, sink) = self.audit()?;
        let query = &asked.query;
        let decision = |word: &str| {
            [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(|decision| decision.as_str() == word)
        };
        let filter = AuditFilter {
            since: query.time("since")?,
            until: query.time("until")?,
            tool: query.text("tool"),
            pack: query.text("pack"),
            caller: query.text("caller"),
            session: query.text("session"),
            task: query.text("task"),
            verdict: query.word("verdict", decision)?,
            outcome: query.word("outcome", Outcome::parse)?,
            bodies: true,
            ..AuditFilter::default()
        };
        let limit = query.number("limit", PAGE, MOST)?;
        let before = query.get("before").map(str::parse).transpose()?;
        if before.is_none() {
            caught_up(sink).await;
        }
        let mut reader = store.audit(filter, Order::Newest).limit(limit);
        if let Some(before) = before {
            reader = reader.after(before);
        }
        let mut calls = Vec::new();
        while let Some(entry) = reader.next().await? {
            calls.push(self.written(&entry, &asked.look, IN_LIST));
        }
        // A page that is not full is the last one.
        let next = (calls.len() as u64 == limit).then(|| reader.cursor().map(|cursor| cursor.to_string())).flatten();
        Ok(json!({"calls": calls, "next": next}))
    }

    pub(super) async fn call(&self, id: &str, asked: &Asked) -> Result<Value, ConsoleError> {
        let id: Uuid = id.parse().map_err(|_| ConsoleError::NoCall)?;
        let entry = match self.audit() {
            Ok((store, sink)) => {
                caught_up(sink).await;
                let filter = AuditFilter { id: Some(id), bodies: true, ..AuditFilter::default() };
                store.audit(filter, Order::Newest).limit(1).next().await?
            }
            Err(error) => match self.gateway.live().recall(id) {
                Some(_) => None,
                None => return Err(error),
            },
        };
        let mut call = match (&entry, self.gateway.live().recall(id)) {
            (Some(entry), _) => self.written(entry, &asked.look, WHOLE),
            (None, Some(live)) => {
                let mut call: Value = serde_json::from_str(live.json()).unwrap_or_default();
                if let (Some(members), Some(tool)) = (call.as_object_mut(), &live.tool) {
                    members.insert("shown".into(), asked.look.canonical(&tool.canonical));
                }
                call
            }
            (None, None) => return Err(ConsoleError::NoCall),
        };
        self.name_who_approved(&mut call).await?;
        let stages = trace::stages(&call, entry.as_ref());
        Ok(json!({"call": call, "stages": stages}))
    }

    /// Who gave the grant that let a call through.
    async fn name_who_approved(&self, call: &mut Value) -> Result<(), ConsoleError> {
        let Some(grant) = call.get("grant").and_then(Value::as_str).map(str::to_owned) else { return Ok(()) };
        let Some(store) = self.gateway.store() else { return Ok(()) };
        let by = store.grants(true).await?.into_iter().find(|one| one.id.to_string() == grant).map(|one| one.given.by);
        if let (Some(members), Some(by)) = (call.as_object_mut(), by) {
            members.insert("approved_by".into(), visible(&by, NAME).into());
        }
        Ok(())
    }

    /// A record as JSON. What the audit does not keep of arguments is taken from what was seen live, where it was.
    fn written(&self, entry: &AuditEntry, look: &Look, most: usize) -> Value {
        let record = &entry.record;
        let live = self.gateway.live().recall(record.id);
        let judged = record.judged.as_deref().and_then(Judged::read);
        let bodies = record.bodies.as_deref();
        let kept = bodies.and_then(|bodies| bodies.arguments.as_deref());
        let seen = live.as_ref().and_then(|live| live.arguments.text.as_deref());
        let (arguments, cut) = cut(kept.or(seen), most);
        let (result, result_cut) = self::cut(bodies.and_then(|bodies| bodies.result.as_deref()), most);
        let timings = &record.timings;
        let total = i64::try_from(timings.total / 1_000).unwrap_or(0);
        let began = Micros::new(record.time.get().saturating_sub(total));
        let micros = |nanos: u64| nanos / 1_000;
        let measured = timings.validate > 0 || timings.analyze > 0;
        let parsed = |text: &Option<std::sync::Arc<str>>| {
            text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or_else(|| json!([]))
        };
        let tool = record.tool.as_ref().map(|tool| {
            let (pack, raw) = match tool.canonical.split_once('.') {
                Some((pack, raw)) => (Some(pack), raw),
                None => (None, &*tool.canonical),
            };
            json!({"canonical": &*tool.canonical, "pack": pack, "raw": raw, "mark": tool.mark, "digest": tool.definition})
        });
        let shown = record.tool.as_ref().map(|tool| look.canonical(&tool.canonical));
        let mut call = Map::new();
        let mut put = |key: &str, value: Value| call.insert(key.to_owned(), value);
        put("id", record.id.to_string().into());
        put("seq", live.as_ref().map(|live| live.seq).into());
        put("time", began.to_string().into());
        put("time_us", began.get().into());
        put("node", (*entry.node).into());
        put("caller", record.caller.as_deref().map(|caller| visible(caller, NAME)).into());
        put("session", record.session.as_deref().map(|session| visible(session, NAME)).into());
        put("transport", record.transport.as_deref().into());
        put("era", record.era.as_deref().into());
        put("trace", record.trace.map(|trace| hex(&trace)).into());
        put("called", visible(&record.called, NAME).into());
        put("tool", tool.into());
        put("shown", shown.into());
        put("behavior", judged.as_ref().and_then(|judged| judged.behavior).map(|behavior| behavior.to_string()).into());
        put("task", record.task.as_deref().into());
        put("verdict", record.verdict.map(Decision::as_str).into());
        put("decided", judged.as_ref().map(|judged| judged.outcome).into());
        put("outcome", record.outcome.as_str().into());
        put("code", record.code.as_deref().into());
        put("reasons", parsed(&record.reasons));
        put("rules", parsed(&record.rules));
        put("facts", judged.as_ref().map_or_else(|| json!([]), |judged| judged.facts.to_json()));
        put("policy", record.policy.as_deref().into());
        put("grant", record.grant.as_deref().into());
        let by = live.as_ref().and_then(|live| live.judged.as_ref()).and_then(|judged| judged.by.clone());
        put("approved_by", by.into());
        put("edited", live.as_ref().and_then(|live| live.judged.as_ref()).is_some_and(|judged| judged.edited).into());
        let kept = arguments.is_some();
        let digest = record.arguments.map(|digest| digest.to_string());
        put(
            "arguments",
            json!({"text": arguments, "cut": cut, "kept": kept, "digest": digest, "size": record.arguments_size}),
        );
        let (sha256, blake3) =
            (record.result.and_then(|digest| digest.sha256()), record.result.and_then(|digest| digest.blake3()));
        put(
            "result",
            json!({"text": result, "cut": result_cut, "sha256": sha256, "blake3": blake3, "size": record.result_size}),
        );
        put(
            "timings",
            json!({
                "validate_us": measured.then(|| micros(timings.validate)),
                "analyze_us": measured.then(|| micros(timings.analyze)),
                "examine_us": micros(timings.validate + timings.analyze + timings.judge),
                "approve_us": micros(timings.approve),
                "dispatch_us": micros(timings.dispatch),
                "total_us": micros(timings.total),
            }),
        );
        Value::Object(call)
    }
}

/// Waits until calls that have ended are in the store: whoever saw one asks at once, and records are written a moment later. A store that is
/// stuck keeps nobody waiting for long.
pub(super) async fn caught_up(sink: &AuditSink) {
    let _ = tokio::time::timeout(Duration::from_secs(2), sink.flush()).await;
}

fn cut(text: Option<&str>, most: usize) -> (Option<String>, bool) {
    text.map_or((None, false), |text| {
        let (text, cut) = shortened(text, most);
        (Some(text), cut)
    })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
