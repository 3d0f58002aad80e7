use serde_json::json;
use toolmark_models::{FunctionCall, Item, ModelResponse, Output, Raw, Wire};

use super::*;

fn call(id: &str, name: &str) -> Item {
    Item::FunctionCall(FunctionCall::new(id.parse().unwrap(), name, "{}"))
}

fn response(items: Vec<Item>) -> ModelResponse {
    ModelResponse { items, ..ModelResponse::default() }
}

fn asked(machine: &mut Machine, items: Vec<Item>) -> Result<(), RunErrorKind> {
    let input = machine.ask();
    machine.give_back(input);
    machine.answered(response(items), |call| call.name.starts_with("transfer_to_"), |_| false)
}

fn brought(text: &str) -> Ended {
    Ended::Answered { output: Output::Text(text.into()), code: None }
}

/// The whole run needs no model, no tool and no clock.
#[test]
fn a_run_is_told_what_happened_and_says_what_to_do() {
    let mut machine = Machine::begin("A", Vec::new(), vec![Item::user("go")]);
    assert_eq!(machine.next(10).unwrap(), Effect::Ask);
    asked(&mut machine, vec![call("1", "note"), call("2", "transfer_to_b"), call("3", "note")]).unwrap();
    assert_eq!(machine.next(10).unwrap(), Effect::Call(vec![0, 2]));
    machine.called(2, brought("third"));
    assert_eq!(machine.next(10).unwrap(), Effect::Call(vec![0]));
    machine.called(0, brought("first"));
    assert_eq!(machine.next(10).unwrap(), Effect::HandOver(1));
    machine.hand_over(1, "B", |items| items);
    assert_eq!((machine.next(10).unwrap(), machine.state().agent()), (Effect::Ask, "B"));
    asked(&mut machine, vec![Item::assistant("done")]).unwrap();
    assert_eq!(machine.next(10).unwrap(), Effect::Finish("done".into()));
    let outputs: Vec<String> = machine
        .state()
        .conversation()
        .iter()
        .filter_map(|item| match item {
            Item::FunctionOutput(output) => Some(output.output.joined_text()),
            _ => None,
        })
        .collect();
    assert_eq!(outputs, ["first", r#"{"assistant":"B"}"#, "third"]);
}

#[test]
fn what_only_a_host_can_do_ends_the_run_and_the_model_can_be_asked_again() {
    let mut machine = Machine::begin("A", Vec::new(), vec![Item::user("go")]);
    for kind in ["shell_call", "apply_patch_call", "computer_call", "mcp_approval_request"] {
        let raw = Raw { wire: Wire::Responses, value: json!({"type": kind, "call_id": "h"}) };
        let error = asked(&mut machine, vec![call("1", "note"), Item::Hosted(raw)]).unwrap_err();
        assert!(matches!(error, RunErrorKind::HostedCall(found) if found == kind));
        assert_eq!(machine.next(10).unwrap(), Effect::Ask);
        assert_eq!(machine.state().conversation(), [Item::user("go")]);
    }
    // What the provider did by itself is part of the conversation.
    let raw = Raw { wire: Wire::Responses, value: json!({"type": "web_search_call", "id": "w"}) };
    asked(&mut machine, vec![Item::Hosted(raw), Item::assistant("found")]).unwrap();
    assert_eq!(machine.next(10).unwrap(), Effect::Finish("found".into()));
}

#[test]
fn a_provider_that_pauses_is_asked_again() {
    let mut machine = Machine::begin("A", Vec::new(), vec![Item::user("go")]);
    let input = machine.ask();
    machine.give_back(input);
    let paused = ModelResponse { finish: toolmark_models::Finish::Paused, ..response(vec![Item::assistant("half")]) };
    machine.answered(paused, |_| false, |_| false).unwrap();
    assert_eq!(machine.next(10).unwrap(), Effect::Ask);
    assert!(matches!(machine.next(1), Err(RunErrorKind::MaxTurns(1))));
}
