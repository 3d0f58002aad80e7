use serde_json::json;

use super::*;

fn read(value: &Value) -> Result<RunAgentInput, String> {
    RunAgentInput::read(value.to_string().as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn a_request_of_the_client_of_1_0_is_read_whole() {
    let input = read(&json!({
        "threadId": "t", "runId": "r", "protocolVersion": "1.0", "state": {"a": 1}, "unknown": [1],
        "messages": [
            {"id": "1", "role": "user", "content": [{"type": "text", "text": "look"},
                {"type": "image", "source": {"type": "data", "value": "QQ==", "mimeType": "image/png"}}]},
            {"id": "2", "role": "assistant", "toolCalls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "metadata": {"x": 1}}]},
            {"id": "3", "role": "tool", "content": "ok", "toolCallId": "c", "error": "no"},
            {"id": "4", "role": "reasoning", "content": "hm"},
            {"id": "5", "role": "something new"}
        ],
        "tools": [{"name": "paint", "description": "Paints.", "parameters": {"type": "object"}}],
        "context": [{"description": "page", "value": "home"}],
        "resume": [{"interruptId": "i", "status": "resolved", "payload": {"approved": true}}, {"interruptId": "j", "status": "cancelled"}]
    }))
    .unwrap();
    let Said::User(parts) = &input.messages[0].said else { panic!("a message of a user") };
    assert_eq!(parts[1], Part::Image(Image::at("data:image/png;base64,QQ==")));
    assert_eq!(input.messages[2].said, Said::Tool { call_id: "c".into(), text: "ok".into(), failed: true });
    assert_eq!((&input.messages[3].said, &input.messages[4].said), (&Said::Other, &Said::Other));
    assert_eq!((input.tools.len(), input.context.len(), input.resume.len()), (1, 1, 2));
    assert_eq!(input.resume[1].payload, None);
}

#[test]
fn a_null_is_nothing_as_clients_before_1_0_mean_it() {
    let input = read(&json!({
        "threadId": "t", "runId": "r", "state": null, "tools": null, "context": null, "forwardedProps": null, "resume": null,
        "parentRunId": null,
        "messages": [{"id": "1", "role": "assistant", "content": null, "toolCalls": null, "name": null}]
    }))
    .unwrap();
    assert_eq!((input.state, input.forwarded_props, input.parent_run_id), (None, None, None));
    assert_eq!(input.messages[0].said, Said::Assistant { text: String::new(), calls: Vec::new() });
}

#[test]
fn what_is_needed_and_wrong_is_refused_with_its_place() {
    let with = |messages: Value| json!({"threadId": "t", "runId": "r", "messages": messages});
    for (value, problem) in [
        (json!([]), "it is no JSON object"),
        (json!({"threadId": "t", "runId": "r"}), "`messages` is missing"),
        (json!({"runId": "r", "messages": []}), "`/threadId` is missing"),
        (json!({"threadId": "", "runId": "r", "messages": []}), "`/threadId` is empty"),
        (json!({"threadId": 7, "runId": "r", "messages": []}), "`/threadId` is no text"),
        (json!({"threadId": "t", "runId": "x".repeat(2000), "messages": []}), "`/runId` has more than 1024 bytes"),
        (with(json!({})), "`/messages` is no list"),
        (with(json!([1])), "`/messages/0` is no object"),
        (with(json!([{"role": "user", "content": "x"}])), "`/messages/0/id` is missing"),
        (with(json!([{"id": "1", "content": "x"}])), "`/messages/0/role` is missing"),
        (with(json!([{"id": "1", "role": "tool", "content": "x"}])), "`/messages/0/toolCallId` is missing"),
        (
            with(json!([{"id": "1", "role": "user", "content": [{"type": "smell"}]}])),
            "`/messages/0/content/0/type` is `smell`, which is not known",
        ),
        (
            json!({"threadId": "t", "runId": "r", "messages": [], "resume": [{"interruptId": "i", "status": "maybe"}]}),
            "`/resume/0/status` is `maybe`, neither `resolved` nor `cancelled`",
        ),
        (
            json!({"threadId": "t", "runId": "r", "messages": [], "tools": [{"name": ""}]}),
            "`/tools/0/name` is empty or has more than 128 bytes",
        ),
        (
            json!({"threadId": "t", "runId": "r", "messages": [], "tools": vec![json!({"name": "a"}); 300]}),
            "`/tools` has more than 256 entries",
        ),
    ] {
        assert_eq!(read(&value).unwrap_err(), format!("the request cannot be read: {problem}"));
    }
    assert!(RunAgentInput::read(b"\xff").is_err());
    assert!(RunAgentInput::read(b"{\"threadId\":\"a\",\"threadId\":\"b\"}").is_err(), "readers disagree about it");
    assert!(RunAgentInput::read("[".repeat(100_000).as_bytes()).is_err());
}
