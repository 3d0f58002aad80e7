use serde_json::{Value, json};

use super::*;
use crate::json::{Json, read};
use crate::names::LookupKey;

/// A run, and the shorthand to talk about calls in it.
#[derive(Default)]
struct Run(Approvals);

/// A call as the tests write it down.
#[derive(Clone)]
struct Call {
    agent: &'static str,
    raw: Value,
    key: Option<LookupKey>,
    alias: bool,
}

const NO: Decision<'_> = Decision::Reject { message: None };

fn no(message: &str) -> Decision<'_> {
    Decision::Reject { message: Some(message) }
}

fn bare(id: &str) -> Call {
    let raw = json!({ "type": "function_call", "name": "k", "call_id": id, "arguments": "{}" });
    Call { agent: "A", raw, key: Some(LookupKey::Bare("k".into())), alias: false }
}

fn namespaced(id: &str) -> Call {
    let key = Some(LookupKey::Namespaced("ns".into(), "k".into()));
    Call { key, ..bare(id).with("namespace", json!("ns")) }
}

fn deferred(id: &str) -> Call {
    let key = Some(LookupKey::DeferredTopLevel("k".into()));
    Call { key, alias: true, ..bare(id).with("namespace", json!("k")) }
}

fn hosted(id: &str, label: &str) -> Call {
    let raw =
        json!({ "type": "mcp_approval_request", "id": id, "name": "k", "server_label": label, "arguments": "{}" });
    Call { agent: "A", raw, key: None, alias: false }
}

impl Call {
    fn with(mut self, field: &str, value: Value) -> Self {
        self.raw[field] = value;
        self
    }

    fn of_agent(self, agent: &'static str) -> Self {
        Self { agent, ..self }
    }

    fn item<T>(&self, then: impl FnOnce(&ApprovalItem<'_>) -> T) -> T {
        let text = self.raw.to_string();
        let raw_item: Json<'_> = read(&text).expect("JSON");
        then(&ApprovalItem {
            raw_item: &raw_item,
            agent: self.agent,
            tool_name: None,
            tool_namespace: None,
            lookup_key: self.key.as_ref(),
            bare_name_alias: self.alias,
        })
    }
}

impl Run {
    fn once(&mut self, call: &Call, decision: Decision<'_>) -> Result<(), &'static str> {
        call.item(|item| self.0.decide(item, decision, Reach::Once)).map_err(|error| error.category())
    }

    fn always(&mut self, call: &Call, decision: Decision<'_>) -> Result<(), &'static str> {
        call.item(|item| self.0.decide(item, decision, Reach::Always)).map_err(|error| error.category())
    }

    fn status(&mut self, call: &Call) -> Result<Option<bool>, &'static str> {
        call.item(|item| self.0.status(item, false)).map_err(|error| error.category())
    }

    fn pending(&mut self, call: &Call) -> Result<Option<bool>, &'static str> {
        call.item(|item| self.0.status(item, true)).map_err(|error| error.category())
    }

    fn message(&self, call: &Call) -> Option<String> {
        call.item(|item| self.0.rejection_message(item).map(ToOwned::to_owned))
    }

    fn register(&mut self, call: &Call) -> Result<Option<InvocationProgress>, &'static str> {
        call.item(|item| self.0.register_call(item)).map_err(|error| error.category())
    }

    fn named(&self, name: &str, id: &str) -> Option<bool> {
        self.0.is_tool_approved(name, &id.parse().expect("an id"))
    }
}

#[test]
fn a_decision_about_one_call_says_nothing_about_the_next() {
    let mut run = Run::default();
    run.once(&bare("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.status(&bare("c1")), Ok(Some(true)));
    assert_eq!(run.status(&bare("c2")), Ok(None));
    run.once(&bare("c1"), NO).expect("recorded");
    assert_eq!(run.status(&bare("c1")), Ok(Some(false)));
}

#[test]
fn a_lasting_decision_covers_the_tool_for_this_agent_only() {
    for (call, other) in
        [(bare("c1"), bare("c2")), (namespaced("c1"), namespaced("c2")), (deferred("c1"), deferred("c2"))]
    {
        let mut run = Run::default();
        run.always(&call, Decision::Approve).expect("recorded");
        assert_eq!(run.status(&other), Ok(Some(true)));
        assert_eq!(run.pending(&other.clone().of_agent("B")), Ok(None));
    }
}

#[test]
fn tools_of_one_name_with_other_keys_do_not_share_decisions() {
    let mut run = Run::default();
    run.always(&bare("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.pending(&namespaced("c2")), Ok(None));
    assert_eq!(run.pending(&Call { alias: false, ..deferred("c3") }), Ok(None));
}

#[test]
fn what_was_said_about_one_call_counts_before_what_is_always_so() {
    let mut run = Run::default();
    run.always(&bare("c1"), no("never")).expect("recorded");
    run.once(&bare("c2"), Decision::Approve).expect("recorded");
    assert_eq!(run.status(&bare("c2")), Ok(Some(true)));
    assert_eq!(run.message(&bare("c2")), None);
    assert_eq!(run.status(&bare("c3")), Ok(Some(false)));

    run.always(&bare("c1"), Decision::Approve).expect("recorded");
    run.once(&bare("c2"), no("not this")).expect("recorded");
    assert_eq!(run.status(&bare("c2")), Ok(Some(false)));
    assert_eq!(run.message(&bare("c2")).as_deref(), Some("not this"));
    run.once(&bare("c2"), Decision::Approve).expect("recorded");
    assert_eq!(run.status(&bare("c2")), Ok(Some(true)));
}

#[test]
fn a_lasting_decision_takes_earlier_ones_about_single_calls_away() {
    let mut run = Run::default();
    run.once(&bare("c1"), Decision::Approve).expect("recorded");
    run.always(&bare("c2"), NO).expect("recorded");
    assert_eq!(run.status(&bare("c1")), Ok(Some(false)));
    run.always(&bare("c3"), Decision::Approve).expect("recorded");
    assert_eq!(run.status(&bare("c2")), Ok(Some(true)));
}

#[test]
fn messages_are_those_of_the_call_or_else_of_the_lasting_rejection() {
    let mut run = Run::default();
    run.once(&bare("c1"), no("first")).expect("recorded");
    run.always(&bare("c2"), no("")).expect("recorded");
    assert_eq!(run.message(&bare("c1")).as_deref(), Some("first"));
    assert_eq!(run.message(&bare("c3")).as_deref(), Some(""));
    run.once(&bare("c1"), NO).expect("recorded");
    assert_eq!(run.message(&bare("c1")).as_deref(), Some(""));
    run.always(&bare("c2"), Decision::Approve).expect("recorded");
    assert_eq!(run.message(&bare("c3")), None);
    run.always(&bare("c2"), NO).expect("recorded");
    assert_eq!(run.message(&bare("c2")), None);
}

#[test]
fn a_bare_alias_holds_decisions_about_single_calls_and_never_lasting_ones() {
    let mut run = Run::default();
    run.once(&deferred("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.named("k", "c1"), Some(true));
    assert_eq!(run.named("deferred_top_level:k", "c1"), Some(true));
    run.always(&deferred("c2"), NO).expect("recorded");
    assert_eq!(run.named("k", "c2"), None);
    assert_eq!(run.pending(&deferred("c1")), Ok(Some(false)));
}

#[test]
fn one_id_means_one_call_and_nothing_is_recorded_about_another() {
    let other = bare("c1").with("arguments", json!("{\"x\":1}"));
    let mut run = Run::default();
    run.once(&bare("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.always(&other, NO), Err("call_id_reused"));
    assert_eq!(run.status(&other), Err("call_id_reused"));
    assert_eq!(run.register(&other), Err("call_id_reused"));
    assert_eq!(run.status(&bare("c1").with("arguments", json!(" { } "))), Ok(Some(true)));
    assert_eq!(run.status(&bare("c2")), Ok(None));
}

#[test]
fn a_call_is_entered_when_a_decision_is_used_and_not_when_there_is_none() {
    let other = bare("c2").with("arguments", json!("[]"));
    let mut run = Run::default();
    assert_eq!(run.status(&bare("c2")), Ok(None));
    run.always(&bare("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.message(&bare("c2")), None);
    assert_eq!(run.status(&other), Ok(Some(true)));
    assert_eq!(run.status(&bare("c2")), Err("call_id_reused"));
}

#[test]
fn an_unidentified_call_gets_no_decision_and_may_not_bear_a_known_id() {
    let mut incomplete = bare("c1");
    incomplete.raw.as_object_mut().expect("an object").remove("arguments");
    let mut run = Run::default();
    assert_eq!(run.once(&incomplete, Decision::Approve), Err("no_canonical_identity"));
    assert_eq!(run.register(&incomplete), Ok(None));
    run.always(&bare("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.register(&incomplete), Err("call_id_reused"));
    assert_eq!(run.status(&incomplete), Err("call_id_reused"));
    assert_eq!(run.status(&incomplete.with("call_id", json!("c2"))), Ok(None));
}

#[test]
fn a_call_without_an_id_is_refused() {
    let mut run = Run::default();
    for id in [json!(""), json!(5), Value::Null] {
        let call = bare("c1").with("call_id", id);
        assert_eq!(run.always(&call, Decision::Approve), Err("call_id_missing"));
        assert_eq!(run.status(&call), Err("call_id_missing"));
    }
    assert_eq!(run.once(&hosted("", "s"), Decision::Approve), Err("hosted_request_id_missing"));
    let odd = bare("c1").with("arguments", json!("\"\\ud800\""));
    assert_eq!(run.once(&odd, NO), Err("invocation_lone_surrogate"));
}

#[test]
fn a_hosted_decision_belongs_to_the_label_and_not_to_the_agent() {
    let mut run = Run::default();
    run.always(&hosted("r1", "s1"), no("never")).expect("recorded");
    assert_eq!(run.status(&hosted("r2", "s1").of_agent("B")), Ok(Some(false)));
    assert_eq!(run.message(&hosted("r2", "s1")).as_deref(), Some("never"));
    assert_eq!(run.status(&hosted("r3", "s2")), Ok(None));
    assert_eq!(run.status(&hosted("r1", "s2")), Ok(None));
    assert_eq!(run.once(&hosted("r1", "s2"), NO), Err("call_id_reused"));
}

#[test]
fn a_hosted_request_without_a_label_gets_no_decision() {
    let mut run = Run::default();
    assert_eq!(run.always(&hosted("r1", ""), NO), Err("hosted_identity_incomplete"));
    assert_eq!(run.once(&hosted("r1", ""), NO), Err("no_canonical_identity"));
    run.register(&hosted("r1", "s")).expect("entered");
    assert_eq!(run.register(&hosted("r1", "")), Ok(None));
    assert_eq!(run.pending(&hosted("r1", "")), Ok(None));
}

#[test]
fn a_hosted_call_is_decided_as_the_request_it_carries() {
    let wrapped = json!({ "type": "hosted_tool_call", "call_id": "r1", "name": "k", "arguments": "{}",
        "provider_data": { "type": "mcp_approval_request", "server_label": "s" } });
    let mut run = Run::default();
    run.once(&Call { raw: wrapped, ..hosted("", "") }, Decision::Approve).expect("recorded");
    assert_eq!(run.status(&hosted("r1", "s")), Ok(Some(true)));
}

#[test]
fn a_question_by_name_finds_the_request_first_and_then_the_only_owner() {
    let mut run = Run::default();
    run.always(&hosted("r1", "s"), NO).expect("recorded");
    assert_eq!((run.named("k", "r1"), run.named("k", "r2")), (Some(false), None));
    run.always(&bare("c1"), Decision::Approve).expect("recorded");
    assert_eq!((run.named("k", "r1"), run.named("k", "c9")), (Some(false), Some(true)));

    run.once(&bare("c2").of_agent("B"), NO).expect("recorded");
    assert_eq!((run.named("k", "c2"), run.named("k", "c9")), (Some(false), None));
    run.once(&bare("c2"), NO).expect("recorded");
    assert_eq!(run.named("k", "c2"), None);
    assert_eq!(run.named("ns.k", "c2"), None);
}

#[test]
fn tools_that_are_no_functions_are_decided_for_all_agents() {
    let shell = |id: &str| Call { raw: json!({ "type": "shell_call", "call_id": id, "action": {} }), ..hosted("", "") };
    let mut run = Run::default();
    run.always(&shell("c1"), Decision::Approve).expect("recorded");
    assert_eq!(run.status(&shell("c2").of_agent("B")), Ok(Some(true)));

    let named = |kind: &str, field: &str, id: &str| Call {
        raw: json!({ "type": kind, "call_id": id, "name": "apply_patch", field: {} }),
        ..hosted("", "")
    };
    run.always(&named("custom_tool_call", "input", "c3"), Decision::Approve).expect("recorded");
    assert_eq!(run.pending(&named("apply_patch_call", "operation", "c4")), Ok(None));
    run.always(&named("apply_patch_call", "operation", "c4"), NO).expect("recorded");
    assert_eq!(run.pending(&named("apply_patch_call", "operation", "c5")), Ok(Some(false)));
    assert_eq!(run.pending(&named("custom_tool_call", "input", "c6")), Ok(Some(true)));
}

#[test]
fn a_lasting_decision_under_a_shared_key_does_not_cover_another_tool() {
    let dotted = Call { key: Some(LookupKey::Bare("ns.k".into())), ..bare("c1").with("name", json!("ns.k")) };
    let mut run = Run::default();
    run.always(&dotted, Decision::Approve).expect("recorded");
    assert_eq!(run.status(&namespaced("c2")), Ok(None));
}

#[test]
fn the_ledger_knows_how_far_a_call_got() {
    let mut run = Run::default();
    let progress = |run: &mut Run| run.register(&bare("c1")).map(|it| it.map(|it| (it.executed(), it.completed())));
    assert_eq!(progress(&mut run), Ok(Some((false, false))));
    let identity = bare("c1").item(|item| item.identify().expect("digest")).expect("identity");
    run.0.ledger().mark_completed(super::super::InvocationKind::ShellCall, identity.call_id());
    assert_eq!(progress(&mut run), Ok(Some((false, false))));
    run.0.ledger().mark_executed(&identity).expect("the same call");
    assert_eq!(progress(&mut run), Ok(Some((true, false))));
    run.0.ledger().mark_completed(identity.kind(), identity.call_id());
    assert_eq!(progress(&mut run), Ok(Some((true, true))));
}
