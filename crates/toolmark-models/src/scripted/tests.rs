use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;

use super::*;

fn ask(model: &ScriptedModel, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
    model.respond(request).now_or_never().expect("a script does not wait")
}

fn stream(model: &ScriptedModel, request: &ModelRequest) -> Vec<Result<ModelEvent, ModelError>> {
    let stream = model.stream(request).now_or_never().expect("a script does not wait").unwrap();
    stream.collect().now_or_never().expect("a script does not wait")
}

fn code(error: &ModelError) -> &'static str {
    error.code().as_str()
}

#[test]
fn turns_answer_one_after_the_other_and_then_no_more() {
    let model = ScriptedModel::new([Turn::text("one"), Turn::text("two")]);
    let request = ModelRequest::of_text("x");
    assert_eq!(ask(&model, &request).unwrap().text(), "one");
    assert_eq!(ask(&model, &request).unwrap().text(), "two");
    assert_eq!(code(&ask(&model, &request).unwrap_err()), "model-script-no-answer");
}

#[test]
fn a_script_follows_a_conversation_by_its_conditions() {
    let model = ScriptedModel::parse(
        r#"{"version": 1, "turns": [
            {"when": {"user": "weather"}, "calls": [{"name": "get_weather", "arguments": {"city": "Delft"}}]},
            {"when": {"output": "sunny"}, "text": "It is {output}, as you asked: {user}{brace}"},
            {"text": "I do not know."}
        ]}"#,
    )
    .unwrap();
    let mut request = ModelRequest::of_text("the weather, please");
    for _ in 0..2 {
        let response = ask(&model, &request).unwrap();
        let call = response.function_calls().next().unwrap();
        assert_eq!((call.name.as_str(), call.arguments.as_str()), ("get_weather", r#"{"city":"Delft"}"#));
        let id = call.call_id.clone();
        request.input.extend(response.items);
        request.input.push(Item::output(id, "sunny {user}"));
        let response = ask(&model, &request).unwrap();
        assert_eq!(response.text(), "It is sunny {user}, as you asked: {brace}");
        request.input.extend(response.items);
        request.input.push(Item::user("weather again"));
    }
    request.input.push(Item::assistant("so?"));
    request.input.push(Item::user("what?"));
    assert_eq!(ask(&model, &request).unwrap().text(), "I do not know.");
}

#[test]
fn no_two_calls_of_a_conversation_get_the_same_id_even_in_another_process() {
    let turns = || [Turn::calls([ScriptedCall::new("f", json!({})), ScriptedCall::new("f", json!({}))]).when_user("x")];
    let mut request = ModelRequest::of_text("x");
    for _ in 0..3 {
        let response = ask(&ScriptedModel::new(turns()), &request).unwrap();
        request.input.extend(response.items);
        request.input.push(Item::user("x"));
    }
    let calls = request.input.iter().filter_map(|item| match item {
        Item::FunctionCall(call) => Some(call.call_id.clone()),
        _ => None,
    });
    assert_eq!(calls.collect::<std::collections::BTreeSet<_>>().len(), 6);
}

#[test]
fn wrong_output_is_wrong_in_the_way_of_providers() {
    let call = |call: Value| {
        let script = json!({"version": 1, "turns": [{"calls": [call]}]}).to_string();
        ask(&ScriptedModel::parse(&script).unwrap(), &ModelRequest::of_text("x"))
    };
    for bad in [json!({"name": "f", "call_id": ""}), json!({"name": "f", "call_id": 5}), json!({"name": 5})] {
        assert_eq!(code(&call(bad).unwrap_err()), "model-malformed-answer");
    }
    let raw = call(json!({"name": "f", "arguments": "{\"a\": "})).unwrap();
    assert_eq!(raw.function_calls().next().unwrap().arguments, "{\"a\": ");
    assert_eq!(call(json!({"name": ""})).unwrap().function_calls().next().unwrap().name, "");
}

#[test]
fn a_stream_adds_up_to_the_answer() {
    let turn = || Turn {
        reasoning: Some("hm".into()),
        text: Some("two words".into()),
        ..Turn::call("f", json!({"a": "a rather long argument"}))
    };
    let request = ModelRequest::of_text("x");
    let response = ask(&ScriptedModel::new([turn()]), &request).unwrap();
    let events: Vec<_> = stream(&ScriptedModel::new([turn()]), &request).into_iter().map(Result::unwrap).collect();
    assert_eq!(events.last(), Some(&ModelEvent::Completed(Box::new(response.clone()))));
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Text { delta } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    let arguments: String = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::CallArguments { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!((text, arguments.as_str()), (response.text(), r#"{"a":"a rather long argument"}"#));
}

#[test]
fn a_stream_can_die_half_way_and_a_model_can_fail() {
    let turn = || Turn { fail: Some(Fault::Truncated), ..Turn::text("half of it") };
    let events = stream(&ScriptedModel::new([turn()]), &ModelRequest::of_text("x"));
    assert!(events.len() > 1 && events[..events.len() - 1].iter().all(Result::is_ok));
    assert_eq!(code(events.last().unwrap().as_ref().unwrap_err()), "model-stream-truncated");
    let model = ScriptedModel::new([Turn::fail(Fault::RateLimited), Turn::text("now")]);
    assert_eq!(code(&ask(&model, &ModelRequest::of_text("x")).unwrap_err()), "model-rate-limited");
    assert_eq!(ask(&model, &ModelRequest::of_text("x")).unwrap().text(), "now");
}

#[test]
fn a_script_with_a_mistake_says_where() {
    for (bad, says) in [
        ("", "line 1"),
        (r#"{"version": 2, "turns": []}"#, "version 2"),
        (r#"{"turns": []}"#, "version"),
        (r#"{"version": 1, "turns": [{"txt": "x"}]}"#, "txt"),
        (r#"{"version": 1, "turns": [{"fail": "often"}]}"#, "often"),
        (r#"{"version": 1, "turns": [{"when": {"usr": "x"}}]}"#, "usr"),
    ] {
        let error = ScriptedModel::parse(bad).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.code().as_str(), "model-script-syntax");
    }
}

#[test]
fn a_model_that_remembers_shows_what_it_was_asked() {
    let model = ScriptedModel::remembering([Turn::text("a")]);
    let request = ModelRequest::of_text("x");
    ask(&model, &request).unwrap();
    assert_eq!(model.requests(), [request]);
}

#[test]
fn the_script_in_the_documentation_works() {
    let page = include_str!("../../../../docs/models.md");
    let script = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let model = ScriptedModel::parse(script).unwrap();
    let mut request = ModelRequest::of_text("the weather?");
    let response = ask(&model, &request).unwrap();
    let id = response.function_calls().next().unwrap().call_id.clone();
    request.input.extend(response.items);
    request.input.push(Item::output(id, "sunny"));
    assert_eq!(ask(&model, &request).unwrap().text(), "It is sunny.");
    assert_eq!(ask(&model, &ModelRequest::of_text("hello")).unwrap().text(), "I only know about the weather.");
}
