use serde_json::json;

use super::*;
use crate::scripted::{ScriptedModel, Turn};
use crate::tool::FunctionTool;

fn tool(namespace: Option<&str>, name: &str) -> WireTool {
    let namespace = namespace.map(str::to_owned);
    WireTool::Function(FunctionTool { namespace, ..FunctionTool::new(name, "", json!({"type": "object"})) })
}

fn named(names: &Names, request: &ModelRequest) -> Vec<String> {
    let name = |tool: &WireTool| match tool {
        WireTool::Function(tool) => {
            assert_eq!(tool.namespace, None);
            tool.name.clone()
        }
        _ => panic!("a function"),
    };
    names.request(request).tools.iter().map(name).collect()
}

#[test]
fn names_say_the_namespace_and_differ_where_they_would_come_out_the_same() {
    let long = "x".repeat(80);
    let request = ModelRequest {
        tools: vec![
            tool(Some("wiki"), "search"),
            tool(Some("a"), "b__c"),
            tool(Some("a__b"), "c"),
            tool(Some("wiki"), &long),
            tool(Some("wiki"), "read.page"),
            tool(None, "transfer_to_billing"),
        ],
        ..ModelRequest::default()
    };
    let names = Names::of(&request);
    let found = named(&names, &request);
    assert_eq!(found[0], "wiki__search");
    assert_eq!(found[5], "transfer_to_billing");
    assert!(found[1].starts_with("a__b__c_") && found[2].starts_with("a__b__c_"), "{found:?}");
    let distinct: BTreeSet<&String> = found.iter().collect();
    assert_eq!(distinct.len(), 6);
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let longest = toolmark_core::names::LONGEST_FLAT_NAME;
    assert!(found.iter().all(|name| name.len() <= longest && name.bytes().all(is_legal)), "{found:?}");
    for (tool, name) in request.tools.iter().zip(&found).take(5) {
        let WireTool::Function(tool) = tool else { panic!("a function") };
        let mut call = FunctionCall::new("call_1".parse().unwrap(), name.as_str(), "{}");
        names.call(&mut call);
        assert_eq!((call.namespace.as_deref(), &call.name), (tool.namespace.as_deref(), &tool.name));
    }
}

#[tokio::test]
async fn what_a_model_calls_comes_back_with_its_namespace_whole_and_streamed() {
    let script =
        || ScriptedModel::new([Turn::call("wiki__search", json!({"q": "x"})), Turn::call("nowhere", json!({}))]);
    let mut request = ModelRequest { tools: vec![tool(Some("wiki"), "search")], ..ModelRequest::of_text("find x") };
    let mut earlier = FunctionCall::new("call_0".parse().unwrap(), "read", "{}");
    earlier.namespace = Some("gone".into());
    request.input.push(Item::FunctionCall(earlier));
    let model = Flat(Arc::new(script()));
    let response = model.respond(&request).await.unwrap();
    let call = response.function_calls().next().unwrap();
    assert_eq!((call.namespace.as_deref(), call.name.as_str()), (Some("wiki"), "search"));
    let unknown = model.respond(&request).await.unwrap();
    let call = unknown.function_calls().next().unwrap();
    assert_eq!((call.namespace.as_deref(), call.name.as_str()), (None, "nowhere"), "nothing is guessed");

    let model = Flat(Arc::new(script()));
    let mut stream = model.stream(&request).await.unwrap();
    let (mut started, mut done) = (0, 0);
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            ModelEvent::CallStarted { name, namespace, .. } => {
                started += 1;
                assert_eq!((namespace.as_deref(), name.as_str()), (Some("wiki"), "search"));
            }
            ModelEvent::Completed(response) => {
                done += 1;
                let call = response.function_calls().next().unwrap();
                assert_eq!((call.namespace.as_deref(), call.name.as_str()), (Some("wiki"), "search"));
            }
            _ => {}
        }
    }
    assert_eq!((started, done), (1, 1));
}
