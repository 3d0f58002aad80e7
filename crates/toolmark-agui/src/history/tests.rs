use toolmark_models::{FunctionCall, Image, Message as Saying};

use super::*;
use crate::translate::PlainCards;

fn run(items: impl IntoIterator<Item = Item>) -> Vec<RunItem> {
    items.into_iter().map(|item| RunItem { agent: "A".into(), item }).collect()
}

fn call(id: &str) -> Item {
    Item::FunctionCall(FunctionCall::new(id.parse().unwrap(), "f", "{}"))
}

fn output(id: &str) -> Item {
    Item::output(id.parse().unwrap(), "ok")
}

#[test]
fn a_turn_is_one_message_and_a_result_is_one() {
    let items =
        run([Item::assistant("I look."), call("1"), call("2"), output("1"), output("2"), Item::assistant("Done.")]);
    assert_eq!((turns(&items), turns(&items[..3]), turns(&[])), (2, 1, 0));
    let brought = HashMap::from([("2".parse().unwrap(), Id::from("mine"))]);
    let entries = entries("p", &items, &brought);
    let ids: Vec<&str> = entries.iter().map(|entry| entry.message.as_str()).collect();
    assert_eq!(ids, ["p-0", "p-0", "p-0", "p:1", "mine", "p-1"]);
    let messages = messages(&entries, &PlainCards);
    assert_eq!(
        serde_json::to_value(&messages).unwrap(),
        json!([
            {"role": "assistant", "id": "p-0", "content": "I look.", "toolCalls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "2", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "id": "p:1", "content": "ok", "toolCallId": "1"},
            {"role": "tool", "id": "mine", "content": "ok", "toolCallId": "2"},
            {"role": "assistant", "id": "p-1", "content": "Done."}
        ])
    );
}

#[test]
fn what_a_user_said_keeps_its_pieces_and_what_is_hidden_is_no_message() {
    let user = |hidden, item| Entry { message: "u".into(), agent: None, hidden, item };
    let parts = vec![Part::text("look"), Part::Image(Image::of_base64("image/png", "QQ=="))];
    let shown = Item::Message(Saying { role: Role::User, parts, extra: None });
    let messages = messages(&[user(true, Item::user("context")), user(false, shown)], &PlainCards);
    assert_eq!(
        serde_json::to_value(&messages).unwrap(),
        json!([{"role": "user", "id": "u", "content": [{"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "data", "value": "QQ==", "mimeType": "image/png"}}]}])
    );
}

#[test]
fn what_the_provider_called_is_a_call_with_a_result() {
    let hosted = |value| Item::Hosted(toolmark_models::Raw { wire: toolmark_models::Wire::Responses, value });
    let search = hosted(json!({"type": "web_search_call", "id": "ws_1", "action": {"query": "x"}, "status": "failed"}));
    let shell = hosted(json!({"type": "shell_call_output", "call_id": "of the host", "output": []}));
    let items = run([Item::assistant("I look."), search, Item::assistant("Done."), shell]);
    let entries = entries("p", &items, &HashMap::new());
    let messages = serde_json::to_value(messages(&entries, &PlainCards)).unwrap();
    assert_eq!(messages.as_array().unwrap().len(), 2, "{messages}");
    assert_eq!(messages[0]["content"], "I look.Done.");
    let call = &messages[0]["toolCalls"][0];
    assert_eq!((&call["id"], &call["function"]["name"]), (&json!("ws_1"), &json!("hosted__web_search")));
    let tool = &call["metadata"]["dev.toolmark/tool"];
    assert_eq!(
        tool,
        &json!({"displayName": "Web search", "dir": "auto", "id": "hosted:web_search", "hosted": "web_search"})
    );
    assert_eq!(
        messages[1],
        json!({"role": "tool", "id": "p:ws_1", "content": "failed", "toolCallId": "ws_1", "metadata": {"dev.toolmark/call": {"failed": true}}})
    );
}
