//! What did each stage of the pipeline say about a call? Told from what was recorded of it.
//!
//! `word` is stable and can be translated; `says` is the same for people who read English.

use serde_json::{Map, Value, json};
use toolmark_core::text::visible;
use toolmark_store::audit::AuditEntry;

use super::calls::hex;

/// How a stage ended.
#[derive(Clone, Copy)]
enum State {
    Passed,
    Stopped,
    Asked,
    Skipped,
    Unknown,
}

/// One call, read as the object of `/api/calls`.
struct Told<'c>(&'c Value);

/// The eight stages, in order.
pub(super) fn stages(call: &Value, entry: Option<&AuditEntry>) -> Vec<Value> {
    let told = Told(call);
    vec![
        told.identify(),
        told.validate(),
        told.analyze(),
        told.judge(),
        told.approve(),
        told.dispatch(),
        told.shape(),
        record(entry),
    ]
}

impl Told<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    fn get(&self, key: &str) -> Value {
        self.0.get(key).cloned().unwrap_or_default()
    }

    fn outcome(&self) -> &str {
        self.text("outcome").unwrap_or_default()
    }

    fn took(&self, key: &str) -> Option<u64> {
        self.0.get("timings")?.get(key)?.as_u64()
    }

    fn canonical(&self) -> Option<&str> {
        self.0.get("tool")?.get("canonical")?.as_str()
    }

    /// Whether it was judged at all.
    fn judged(&self) -> bool {
        self.text("verdict").is_some()
    }

    /// Whether it was sent to its tool. Nobody knows of a call that runs, or was cut off.
    fn ran(&self) -> Option<bool> {
        match self.outcome() {
            "ok" | "observed" | "approved" | "tool-error" | "upstream-failed" | "timeout" | "too-large" => Some(true),
            "intent" | "interrupted" | "cancelled" | "" => None,
            _ => Some(false),
        }
    }

    fn identify(&self) -> Value {
        let called = visible(self.text("called").unwrap_or_default(), 200);
        let details = json!({"called": self.get("called"), "tool": self.get("tool"), "caller": self.get("caller")});
        match (self.canonical(), self.outcome()) {
            (Some(canonical), _) => {
                stage("identify", State::Passed, "found", format!("`{called}` is `{canonical}`"), None, details)
            }
            (None, "ambiguous") => {
                let says = format!("several tools are called `{called}`");
                stage("identify", State::Stopped, "ambiguous", says, None, details)
            }
            (None, _) => {
                let says = format!("no tool is called `{called}`");
                stage("identify", State::Stopped, "unknown", says, None, details)
            }
        }
    }

    fn validate(&self) -> Value {
        let took = self.took("validate_us");
        let invalid = || {
            let reasons = self.0.get("reasons").and_then(Value::as_array).into_iter().flatten();
            let mut own =
                reasons.filter(|reason| reason.get("code").and_then(Value::as_str) == Some("arguments-invalid"));
            own.next().and_then(|reason| reason.get("message")).and_then(Value::as_str).map(str::to_owned)
        };
        if self.canonical().is_none() {
            return stage(
                "validate",
                State::Skipped,
                "not-reached",
                "there is no tool to compare with",
                took,
                json!({}),
            );
        }
        if self.outcome() == "invalid" {
            let says = invalid().unwrap_or_else(|| "the arguments cannot be read".to_owned());
            return stage("validate", State::Stopped, "invalid", says, took, self.get("arguments"));
        }
        stage("validate", State::Passed, "fits", "the arguments fit the schema", took, json!({}))
    }

    fn analyze(&self) -> Value {
        let took = self.took("analyze_us");
        let facts = self.0.get("facts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let details = json!({ "facts": facts });
        if !self.judged() {
            return stage("analyze", State::Skipped, "not-reached", "it was never looked at", took, details);
        }
        if facts.is_empty() {
            let says = "the arguments carry no query, command or address";
            return stage("analyze", State::Passed, "plain", says, took, details);
        }
        let part = |fact: &Value| {
            let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let place = format!("{} in {}", text(fact, "language"), text(fact, "pointer"));
            let effects = fact.get("effects").and_then(Value::as_array).into_iter().flatten();
            let effects: Vec<String> = effects.map(|effect| text(effect, "summary")).collect();
            match fact.get("understood") == Some(&Value::Bool(true)) {
                true => format!("{place}: {}", effects.join(", ")),
                false => format!("{place} is not understood: {}", text(fact, "reason")),
            }
        };
        let unclear = facts.iter().any(|fact| fact.get("understood") != Some(&Value::Bool(true)));
        let word = if unclear { "unclear" } else { "understood" };
        let says = visible(&facts.iter().map(part).collect::<Vec<_>>().join("; "), 1000);
        stage("analyze", State::Passed, word, says, took, details)
    }

    fn judge(&self) -> Value {
        let took = self.took("examine_us").map(|all| {
            let parts = self.took("validate_us").unwrap_or(0) + self.took("analyze_us").unwrap_or(0);
            all.saturating_sub(parts)
        });
        let details = json!({
            "verdict": self.get("verdict"), "decided": self.get("decided"), "reasons": self.get("reasons"), "rules": self.get("rules"),
            "policy": self.get("policy"), "behavior": self.get("behavior"), "task": self.get("task"),
        });
        let Some(verdict) = self.text("verdict") else {
            return stage("judge", State::Skipped, "not-reached", "it was never judged", took, details);
        };
        let reasons = self.0.get("reasons").and_then(Value::as_array).into_iter().flatten();
        let why: Vec<&str> = reasons.filter_map(|reason| reason.get("message")?.as_str()).collect();
        let why = if why.is_empty() { "nothing speaks against it".to_owned() } else { why.join("; ") };
        let says = visible(&format!("{verdict}: {why}"), 1000);
        let (state, word) = match (verdict, self.text("decided")) {
            (_, Some("observed")) => (State::Passed, "observed"),
            (_, Some("answered")) => (State::Passed, "answered"),
            ("allow", _) => (State::Passed, "allow"),
            ("ask", _) => (State::Asked, "ask"),
            _ => (State::Stopped, "deny"),
        };
        stage("judge", state, word, says, took, details)
    }

    fn approve(&self) -> Value {
        let took = self.took("approve_us").filter(|took| *took > 0);
        let details = json!({
            "grant": self.get("grant"), "approved_by": self.get("approved_by"), "edited": self.get("edited"), "rules": self.get("rules"),
        });
        let by = self.text("approved_by").map(|by| format!(" by `{}`", visible(by, 100))).unwrap_or_default();
        match (self.text("decided"), self.text("grant"), self.ran()) {
            (Some("answered"), ..) => {
                stage("approve", State::Passed, "rule", "a rule answered for a person", took, details)
            }
            (Some("ask"), Some(_), _) => {
                stage("approve", State::Passed, "granted", format!("a grant covers it{by}"), took, details)
            }
            (Some("ask"), None, Some(true)) => {
                stage("approve", State::Passed, "person", format!("a person said yes{by}"), took, details)
            }
            (Some("ask"), None, Some(false)) if self.outcome() == "asked" => {
                stage("approve", State::Asked, "waiting", "no person has said yes", took, details)
            }
            (Some("ask"), ..) => stage(
                "approve",
                State::Unknown,
                "unknown",
                "what became of the question is not recorded here",
                took,
                details,
            ),
            _ => stage("approve", State::Skipped, "not-needed", "nobody had to be asked", took, details),
        }
    }

    fn dispatch(&self) -> Value {
        let took = self.took("dispatch_us").filter(|took| *took > 0);
        let pack = self.0.get("tool").and_then(|tool| tool.get("pack")).cloned().unwrap_or_default();
        let details = json!({"pack": pack, "result": self.get("result"), "arguments": self.get("arguments")});
        let (state, word, says) = match (self.outcome(), self.ran()) {
            ("tool-error", _) => (State::Passed, "tool-error", "it ran, and the tool says that it failed"),
            ("timeout", _) => (State::Stopped, "timeout", "it got no answer in time, and may have had an effect"),
            ("too-large", _) => (State::Stopped, "too-large", "it ran, and the result is larger than is passed on"),
            ("upstream-failed", _) => (State::Stopped, "failed", "its server failed or broke off"),
            ("unavailable", _) => (State::Stopped, "unavailable", "its server is not there"),
            ("busy", _) => (State::Stopped, "busy", "its server has as many calls as it takes"),
            ("cancelled", _) => (State::Stopped, "cancelled", "the caller took it back"),
            ("interrupted", _) => (State::Unknown, "interrupted", "the gateway ended while it was about to run"),
            ("intent", _) => (State::Unknown, "running", "it was about to run"),
            (_, Some(true)) => (State::Passed, "ran", "it ran, once"),
            _ => (State::Skipped, "not-run", "it did not run"),
        };
        stage("dispatch", state, word, says, took, details)
    }

    fn shape(&self) -> Value {
        let code = self.text("code").unwrap_or_default();
        let details = json!({"code": self.get("code"), "result": self.get("result")});
        match (self.outcome(), self.ran()) {
            ("ok" | "observed" | "approved" | "tool-error", _) => {
                stage("shape", State::Passed, "result", "the result was passed on", None, details)
            }
            (_, None) => {
                stage("shape", State::Unknown, "unknown", "what the caller was told is not known", None, details)
            }
            _ if code.is_empty() => {
                let says = "the caller was told that it failed, and whether it may have had an effect";
                stage("shape", State::Passed, "error", says, None, details)
            }
            _ => {
                let says = format!("the caller was told `{}`, and what to do about it", visible(code, 100));
                stage("shape", State::Passed, "refusal", says, None, details)
            }
        }
    }
}

fn record(entry: Option<&AuditEntry>) -> Value {
    match entry {
        Some(entry) => {
            let (node, number) = (&*entry.node, entry.link.seq);
            let details = json!({
                "node": node, "number": number, "hash": hex(&entry.link.hash), "time": entry.record.time.to_string(),
            });
            stage("record", State::Passed, "kept", format!("kept by `{node}` as number {number}"), None, details)
        }
        None => stage("record", State::Unknown, "not-kept", "the audit has no record of it", None, json!({})),
    }
}

fn stage(name: &str, state: State, word: &str, says: impl Into<String>, took: Option<u64>, details: Value) -> Value {
    let state = match state {
        State::Passed => "passed",
        State::Stopped => "stopped",
        State::Asked => "asked",
        State::Skipped => "skipped",
        State::Unknown => "unknown",
    };
    let mut all = Map::new();
    all.insert("stage".into(), name.into());
    all.insert("state".into(), state.into());
    all.insert("word".into(), word.into());
    all.insert("says".into(), says.into().into());
    all.insert("took_us".into(), took.into());
    all.insert("details".into(), details);
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(call: &Value) -> Vec<(String, String)> {
        let text = |stage: &Value, key: &str| stage[key].as_str().unwrap().to_owned();
        stages(call, None).iter().map(|stage| (text(stage, "state"), text(stage, "word"))).collect()
    }

    fn words(call: &Value) -> Vec<String> {
        told(call).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn every_way_to_end_is_told_stage_by_stage() {
        let tool = json!({"canonical": "a.b", "pack": "a"});
        let call = |more: Value| {
            let mut call = json!({"called": "b", "tool": tool, "verdict": "allow", "decided": "run", "outcome": "ok"});
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            call
        };
        assert_eq!(words(&call(json!({})))[..7], ["found", "fits", "plain", "allow", "not-needed", "ran", "result"]);
        let denied = json!({"verdict": "deny", "decided": "refuse", "outcome": "denied", "code": "rule-denies"});
        assert_eq!(words(&call(denied))[3..7], ["deny", "not-needed", "not-run", "refusal"]);
        let asked = json!({"verdict": "ask", "decided": "ask", "outcome": "asked"});
        assert_eq!(words(&call(asked))[3..6], ["ask", "waiting", "not-run"]);
        let approved = json!({"verdict": "ask", "decided": "ask", "outcome": "approved", "grant": "g"});
        assert_eq!(words(&call(approved))[3..7], ["ask", "granted", "ran", "result"]);
        let by_rule = json!({"verdict": "ask", "decided": "answered", "outcome": "approved"});
        assert_eq!(words(&call(by_rule))[3..6], ["answered", "rule", "ran"]);
        let watched = json!({"verdict": "deny", "decided": "observed", "outcome": "observed"});
        assert_eq!(words(&call(watched))[3..6], ["observed", "not-needed", "ran"]);
        let stray = json!({"called": "x", "tool": null, "verdict": null, "outcome": "unknown-tool"});
        assert_eq!(told(&stray)[0], ("stopped".into(), "unknown".into()));
        let invalid = json!({"verdict": "deny", "decided": "refuse", "outcome": "invalid",
            "reasons": [{"code": "arguments-invalid", "message": "`query` is missing"}]});
        let stage = &stages(&call(invalid), None)[1];
        assert_eq!((stage["state"].as_str(), stage["says"].as_str()), (Some("stopped"), Some("`query` is missing")));
        assert_eq!(words(&call(json!({"outcome": "interrupted"})))[5..7], ["interrupted", "unknown"]);
    }

    #[test]
    fn nothing_at_all_is_no_reason_to_panic() {
        for call in
            [json!(null), json!([]), json!({"facts": [null, 1, {"effects": 3}], "reasons": "x", "verdict": "?"})]
        {
            assert_eq!(stages(&call, None).len(), 8);
        }
    }
}
