//! Calls as models should not write them, in every wire format, streamed and not: what cannot be answered makes the answer unusable, and
//! what can is handed on as it was written.

use serde_json::{Value, json};
use toolmark_core::explain::Explain as _;
use toolmark_models::{ModelError, ModelEvent, ModelRequest, ModelResponse};

use super::server::{Reply, Server};
use super::{model, streamed};

const FORMATS: [&str; 3] = ["openai:m", "openai-chat:m", "anthropic:m"];

/// A call as a model may write it; a field that is null is left out.
#[derive(Clone, Debug)]
struct Call {
    id: Value,
    name: Value,
    arguments: String,
}

fn call(id: Value, name: Value, arguments: &str) -> Call {
    Call { id, name, arguments: arguments.to_owned() }
}

/// The object without what is null.
fn some(value: Value) -> Value {
    match value {
        Value::Object(all) => all.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

fn events(all: &[Value]) -> String {
    all.iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")))
        .collect()
}

fn responses(calls: &[Call]) -> (Value, String) {
    let items: Vec<Value> = calls
        .iter()
        .map(|call| {
            some(json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}))
        })
        .collect();
    let whole = json!({"id": "r", "status": "completed", "output": items});
    let mut all =
        vec![json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}})];
    for (at, item) in items.iter().enumerate() {
        all.push(json!({"type": "response.output_item.added", "output_index": at, "item": item}));
        all.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    all.push(json!({"type": "response.completed", "response": whole}));
    (whole, events(&all))
}

fn chat(calls: &[Call]) -> (Value, String) {
    let list = |streamed: bool| -> Vec<Value> {
        let one = |(at, call): (usize, &Call)| {
            let function = some(json!({"name": call.name, "arguments": call.arguments}));
            some(json!({"id": call.id, "type": "function", "function": function, "index": streamed.then_some(at)}))
        };
        calls.iter().enumerate().map(one).collect()
    };
    let message = json!({"role": "assistant", "content": null, "tool_calls": list(false)});
    let whole = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let mut stream = String::new();
    for call in list(true) {
        let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        stream.push_str(&format!("data: {chunk}\n\n"));
    }
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    (whole, format!("{stream}data: {end}\n\ndata: [DONE]\n\n"))
}

fn anthropic(calls: &[Call]) -> (Value, String) {
    let block =
        |call: &Call, input: Value| some(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
    let input = |call: &Call| serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
    let content: Vec<Value> = calls.iter().map(|call| block(call, input(call))).collect();
    let message = |content: &[Value]| {
        json!({"id": "m", "type": "message", "role": "assistant", "content": content, "model": "m",
               "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}})
    };
    let mut all = vec![json!({"type": "message_start", "message": message(&[])})];
    for (at, call) in calls.iter().enumerate() {
        all.push(json!({"type": "content_block_start", "index": at, "content_block": block(call, json!({}))}));
        let delta = json!({"type": "input_json_delta", "partial_json": call.arguments});
        all.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        all.push(json!({"type": "content_block_stop", "index": at}));
    }
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}));
    all.push(json!({"type": "message_stop"}));
    (message(&content), events(&all))
}

/// What becomes of an answer with these calls: whole, and streamed.
async fn answered(format: &str, calls: &[Call]) -> [Result<ModelResponse, ModelError>; 2] {
    let (whole, stream) = match format {
        "openai:m" => responses(calls),
        "openai-chat:m" => chat(calls),
        _ => anthropic(calls),
    };
    let server = Server::start([Reply::json(&whole), Reply::events(&stream)]).await;
    let model = model(format, &server);
    let at_once = model.respond(&ModelRequest::of_text("x")).await;
    let (mut said, error) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
    let in_pieces = match (error, said.pop()) {
        (Some(error), _) => Err(error),
        (None, Some(ModelEvent::Completed(response))) => Ok(*response),
        (None, other) => panic!("{format}: the last event is {other:?}"),
    };
    assert_eq!(server.asked().len(), 2, "{format}: an answer that cannot be used is not asked for again");
    [at_once, in_pieces]
}

#[tokio::test]
async fn a_call_that_cannot_be_answered_makes_the_answer_unusable_in_every_format() {
    for format in FORMATS {
        for (id, name) in [
            (json!(null), json!("f")),
            (json!(""), json!("f")),
            (json!(5), json!("f")),
            (json!({"x": 1}), json!("f")),
            (json!("c"), json!(null)),
            (json!("c"), json!(7)),
            (json!("c"), json!(["f"])),
        ] {
            let bad = call(id, name, "{}");
            for answer in answered(format, &[call(json!("fine"), json!("f"), "{}"), bad.clone()]).await {
                let error = answer.expect_err("an error");
                assert_eq!(error.code().as_str(), "model-malformed-answer", "{format}: {bad:?}: {error}");
                assert!(!error.is_temporary(), "{format}: {bad:?}");
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_and_names_that_are_empty_reach_whoever_runs_tools_as_they_were_written() {
    for format in FORMATS {
        for (name, arguments) in [
            ("", "{}"),
            ("f", "{\"city\": \"Del"),
            ("f", "not json"),
            ("f", "[1, 2]"),
            ("f", "{\"a\":1,\"a\":2}"),
            ("f", "null"),
        ] {
            // Outside of streams, Anthropic has no text in which arguments could be broken.
            let is_json = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
            for (at, answer) in
                answered(format, &[call(json!("c"), json!(name), arguments)]).await.into_iter().enumerate()
            {
                if format == "anthropic:m" && at == 0 && (!is_json || arguments.contains("\"a\":1,")) {
                    continue;
                }
                let answer = answer.unwrap_or_else(|error| panic!("{format}: {name:?} {arguments}: {error}"));
                let calls: Vec<_> =
                    answer.function_calls().map(|call| (call.name.clone(), call.arguments.clone())).collect();
                assert_eq!(calls, [(name.to_owned(), arguments.to_owned())], "{format}, streamed: {}", at == 1);
            }
        }
    }
}

#[tokio::test]
async fn an_id_that_comes_twice_is_handed_on_twice_so_that_whoever_runs_tools_can_tell() {
    for format in FORMATS {
        let calls = [call(json!("c"), json!("f"), "{\"n\":1}"), call(json!("c"), json!("g"), "{\"n\":2}")];
        for answer in answered(format, &calls).await {
            let answer = answer.unwrap_or_else(|error| panic!("{format}: {error}"));
            let seen: Vec<_> =
                answer.function_calls().map(|call| (call.call_id.to_string(), call.name.clone())).collect();
            assert_eq!(seen, [("c".to_owned(), "f".to_owned()), ("c".to_owned(), "g".to_owned())], "{format}");
        }
    }
}
