use super::*;

fn read(wire: Wire, value: Value) -> Option<Told> {
    told(&Raw { wire, value })
}

fn call(value: Value) -> (HostedCall, Option<Came>) {
    match read(Wire::Responses, value) {
        Some(Told::Call(call, came)) => (call, came),
        other => panic!("{other:?}"),
    }
}

fn came(text: &str, failed: bool) -> Option<Came> {
    Some(Came { text: text.into(), failed })
}

#[test]
fn what_openai_hosts_becomes_calls_with_results() {
    let (search, found) = call(json!({
        "type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "hygiene", "sources": [{"type": "url", "url": "https://example.org"}]},
    }));
    assert_eq!(
        (search.id.as_str(), search.name().as_str(), search.tool().as_str()),
        ("ws_1", "hosted__web_search", "hosted:web_search")
    );
    assert_eq!(search.arguments, r#"{"type":"search","query":"hygiene"}"#);
    assert_eq!(found, came(r#"[{"type":"url","url":"https://example.org"}]"#, false));
    let files = call(
        json!({"type": "file_search_call", "id": "fs_1", "queries": ["a"], "results": null, "status": "completed"}),
    );
    assert_eq!((files.0.arguments.as_str(), files.1), (r#"{"queries":["a"]}"#, came("completed", false)));
    let outputs = json!([{"type": "logs", "logs": "4\n"}, {"type": "logs", "logs": "5\n"}]);
    let code = call(
        json!({"type": "code_interpreter_call", "id": "ci_1", "code": "print(4)", "outputs": outputs, "status": "completed"}),
    );
    assert_eq!((code.0.arguments.as_str(), code.1), (r#"{"code":"print(4)"}"#, came("4\n5\n", false)));
    let late = call(
        json!({"type": "code_interpreter_call", "id": "ci_2", "code": null, "outputs": null, "status": "incomplete"}),
    );
    assert_eq!(late.1, came("incomplete", true));
}

#[test]
fn tools_of_hosted_servers_have_the_server_in_their_name() {
    let item = |more: Value| {
        let mut item = json!({"type": "mcp_call", "id": "mcp_1", "server_label": "dice", "name": "roll", "arguments": "{\"d\":6}"});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(item)
    };
    let (roll, rolled) = item(json!({"output": "4", "error": null}));
    assert_eq!(
        (roll.name().as_str(), roll.tool().as_str(), roll.raw_name()),
        ("hosted__dice__roll", "hosted:mcp/dice/roll", "roll")
    );
    assert_eq!((roll.arguments.as_str(), rolled), (r#"{"d":6}"#, came("4", false)));
    assert_eq!(roll.members()["server"], "dice");
    assert_eq!(item(json!({"output": null, "error": "no dice"})).1, came("no dice", true));
    assert_eq!(
        item(json!({"error": {"type": "http_error", "code": 500}})).1,
        came(r#"{"type":"http_error","code":500}"#, true)
    );
}

#[test]
fn a_picture_is_an_address_and_what_is_none_is_not() {
    let draw = |result: &str| {
        call(
            json!({"type": "image_generation_call", "id": "ig_1", "revised_prompt": "a cat", "result": result, "output_format": "webp"}),
        )
    };
    assert_eq!(draw("QUJD").1, came("data:image/webp;base64,QUJD", false));
    assert_eq!(draw("QUJD").0.arguments, r#"{"prompt":"a cat"}"#);
    assert_eq!(draw("\"onload").1, came("a picture of 7 characters, which is not passed on", false));
    assert!(draw(&"A".repeat(LARGEST_PICTURE + 1)).1.unwrap().text.starts_with("a picture of"));
}

#[test]
fn what_anthropic_hosts_is_told_in_two_parts() {
    let used = read(
        Wire::Anthropic,
        json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}),
    );
    let Some(Told::Call(used, None)) = used else { panic!("{used:?}") };
    assert_eq!((used.kind.as_str(), used.arguments.as_str()), ("web_search", r#"{"query":"x"}"#));
    let result = |value: Value| match read(Wire::Anthropic, value) {
        Some(Told::Result(id, came)) => (id, came.failed),
        other => panic!("{other:?}"),
    };
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]});
    assert_eq!(result(found), ("s1".into(), false));
    let refused = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": {"type": "web_search_tool_result_error", "error_code": "x"}});
    assert_eq!(result(refused), ("s1".into(), true));
    let server = read(
        Wire::Anthropic,
        json!({"type": "mcp_tool_use", "id": "m1", "name": "roll", "server_name": "dice", "input": null}),
    );
    let Some(Told::Call(server, None)) = server else { panic!("{server:?}") };
    assert_eq!((server.name().as_str(), server.arguments.as_str()), ("hosted__dice__roll", "{}"));
    let failed = json!({"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": true, "content": [{"type": "text", "text": "no"}]});
    assert_eq!(result(failed), ("m1".into(), true));
}

#[test]
fn what_the_host_answers_and_what_says_nothing_is_left_out() {
    for kind in OF_HOST {
        assert_eq!(read(Wire::Responses, json!({"type": kind, "id": "1", "call_id": "1"})), None, "{kind}");
    }
    for value in [
        json!({"type": "mcp_list_tools", "id": "1"}),
        json!({"type": "web_search_call"}),
        json!({"type": "mcp_call", "id": "1"}),
        json!({}),
        json!("text"),
    ] {
        assert_eq!(read(Wire::Responses, value.clone()), None, "{value}");
        assert_eq!(read(Wire::Anthropic, value), None);
    }
    let new = call(json!({"type": "dream_call", "id": "d1", "status": "completed", "about": "sheep"}));
    assert_eq!((new.0.name().as_str(), new.0.arguments.as_str()), ("hosted__dream", r#"{"about":"sheep"}"#));
}
