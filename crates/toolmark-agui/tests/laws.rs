//! What holds for every run, whatever happens in it: clients accept what they are sent.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolmark_agents::RunEvent;
use toolmark_agui::{Event, Guard, Id, Interrupt, PlainCards, SharedState, Translator, sse};
use toolmark_models::{FunctionCall, Item, ModelEvent, Raw, Usage, Wire};

/// A few ids, so that they meet.
fn call_id() -> impl Strategy<Value = toolmark_core::call::CallId> {
    prop_oneof!["a", "b", "c", "a/b"].prop_map(|id| id.parse().expect("an id"))
}

fn agent() -> impl Strategy<Value = String> {
    prop_oneof![Just("A".to_owned()), Just("B".to_owned())]
}

fn model() -> impl Strategy<Value = ModelEvent> {
    prop_oneof![
        ".{0,4}".prop_map(|delta| ModelEvent::Text { delta }),
        ".{0,4}".prop_map(|delta| ModelEvent::Refusal { delta }),
        ".{0,4}".prop_map(|delta| ModelEvent::Reasoning { delta }),
        call_id().prop_map(|call_id| ModelEvent::CallStarted {
            call_id,
            name: "f".into(),
            namespace: Some("p".into())
        }),
        (call_id(), ".{0,4}").prop_map(|(call_id, delta)| ModelEvent::CallArguments { call_id, delta }),
        call_id().prop_map(|call_id| ModelEvent::CallDone { call_id, arguments: "{}".into() }),
        call_id().prop_map(|id| ModelEvent::ItemDone(Item::FunctionCall(FunctionCall::new(id, "f", "{}")))),
        (call_id(), 0..5_usize).prop_map(|(id, kind)| {
            let id = id.as_str();
            let (wire, value) = match kind {
                0 => (Wire::Responses, json!({"type": "web_search_call", "id": id, "action": {"query": "x"}})),
                1 => (
                    Wire::Responses,
                    json!({"type": "mcp_call", "id": id, "server_label": "s", "name": "f", "error": "x"}),
                ),
                2 => (Wire::Responses, json!({"type": "shell_call_output", "call_id": id, "output": []})),
                3 => (Wire::Anthropic, json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}})),
                _ => (Wire::Anthropic, json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})),
            };
            ModelEvent::ItemDone(Item::Hosted(Raw { wire, value }))
        }),
        any::<bool>().prop_map(|secret| {
            let value = if secret { json!({"encrypted_content": "x"}) } else { json!({}) };
            ModelEvent::ItemDone(Item::Reasoning(Raw { wire: Wire::Responses, value }))
        }),
    ]
}

fn event() -> impl Strategy<Value = RunEvent> {
    let flat = prop_oneof![
        1 => agent().prop_map(|agent| RunEvent::AgentStarted { agent }),
        1 => (agent(), 1..4_u32).prop_map(|(agent, turn)| RunEvent::TurnStarted { agent, turn }),
        4 => (agent(), model()).prop_map(|(agent, event)| RunEvent::Model { agent, event }),
        2 => (agent(), call_id(), any::<bool>()).prop_map(|(agent, call_id, failed)| RunEvent::ToolEnded {
            agent, call_id, name: "f".into(), output: "o".into(), code: failed.then_some("tool-failed"),
        }),
        1 => Just(RunEvent::HandedOver { from: "A".into(), to: "B".into() }),
        1 => Just(RunEvent::Finished { output: "done".into() }),
    ];
    flat.prop_recursive(3, 8, 1, |inner| {
        (call_id(), inner).prop_map(|(call_id, event)| RunEvent::Nested { call_id, event: Box::new(event) })
    })
}

/// How a run ends.
#[derive(Clone, Debug)]
enum End {
    Success,
    Pending,
    Interrupt,
    Cancelled,
    Failed,
}

fn nulls(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.iter().any(nulls),
        Value::Object(all) => all.values().any(nulls),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_in_a_run_clients_accept_it(
        happened in prop::collection::vec(event(), 0..40),
        end in prop_oneof![Just(End::Success), Just(End::Pending), Just(End::Interrupt), Just(End::Cancelled), Just(End::Failed)],
        known in any::<bool>(),
    ) {
        let state = SharedState::new(json!({}));
        let mut translator = Translator::new("t", "r", "p", &PlainCards).custom_events(true).state(state.clone());
        let mut guard = Guard::new();
        if known {
            translator = translator.resumed(1, 1, [Id::from("a")], Usage::default());
            guard = guard.knowing([Id::from("a")]);
        }
        let mut events = translator.begin();
        for (at, one) in happened.iter().enumerate() {
            state.set("at", json!(at));
            events.extend(translator.event(one));
        }
        // What is left open at the end of a run that waits for the client is what the client answers.
        let open = |events: &[Event]| -> Vec<Id> {
            let answered: Vec<&Id> = events.iter().filter_map(|event| match event {
                Event::ToolCallResult { tool_call_id, .. } => Some(tool_call_id),
                _ => None,
            }).collect();
            events.iter().filter_map(|event| match event {
                Event::ToolCallStart { tool_call_id, subagent_run_id: None, .. } if !answered.contains(&tool_call_id) => Some(tool_call_id.clone()),
                _ => None,
            }).collect()
        };
        let used = Usage { input_tokens: u64::MAX, ..Usage::default() };
        let last = match end {
            End::Success => translator.succeed_using(Some("done"), &[], used),
            End::Pending => translator.succeed(None, &open(&events)),
            End::Interrupt => {
                let interrupts = open(&events).into_iter().chain([Id::from("none")]).enumerate().map(|(n, call)| Interrupt {
                    id: format!("i{n}").into(),
                    reason: "tool_call",
                    message: None,
                    tool_call_id: (call.as_str() != "none").then_some(call),
                    response_schema: None,
                    expires_at: None,
                    subagent_run_id: None,
                    metadata: None,
                });
                translator.interrupt(interrupts.collect(), vec![Event::MessagesSnapshot { messages: vec![] }], used)
            }
            End::Cancelled => translator.cancel("stopped", "run-stopped", used),
            End::Failed => translator.fail("broken", "model-away", used),
        };
        events.extend(last);
        for event in &events {
            guard.check(event).map_err(|error| TestCaseError::fail(format!("{error} at {event:?} in {events:#?}")))?;
            let mut frame = Vec::new();
            sse::write(event, Some(1), &mut frame);
            let text = std::str::from_utf8(&frame).expect("UTF-8");
            let data = text.strip_prefix("data: ").and_then(|text| text.strip_suffix("\n\n")).expect("one frame");
            prop_assert!(!data.contains('\n') && !data.contains('\r'));
            let value: Value = serde_json::from_str(data).expect("JSON");
            prop_assert!(!nulls(&value), "{data}");
            prop_assert_eq!(&value["timestamp"], 1);
        }
        guard.end().map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
}
