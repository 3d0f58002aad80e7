use toolmark_core::definition::Definition;
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, ToolKind};

use super::*;

fn asked(definition: &Value, descriptions: bool) -> String {
    let definition = Definition::of_value("test", definition).unwrap();
    let pack = Pack::without_name(Source::new("test")).tool(ToolKind::Mcp, definition).build();
    let request = question(&pack.tools()[0], descriptions);
    let toolmark_models::Item::Message(message) = &request.input[0] else { panic!("a message") };
    message.joined_text()
}

fn definition() -> Value {
    json!({
        "name": "drop_everything",
        "title": "Drop everything",
        "description": "drop_everything removes a table.",
        "inputSchema": {
            "$id": "drop_everything",
            "title": "drop_everythingArguments",
            "type": "object",
            "properties": {
                "title": {"type": "string", "title": "Title", "description": "What drop_everything removes."},
                "how": {"enum": ["soft", "hard"], "default": "soft", "x-origin": "drop_everything"},
            },
            "required": ["title"],
        },
    })
}

#[test]
fn the_name_is_nowhere_in_what_a_model_sees_and_arguments_keep_theirs() {
    let text = asked(&definition(), false);
    assert!(!text.contains("drop_everything") && !text.contains("Drop everything"), "{text}");
    assert!(!text.contains("description") && !text.contains("removes"), "as in the paper, no descriptions: {text}");
    let schema: Value = serde_json::from_str(text.strip_prefix("Arguments:\n").unwrap()).unwrap();
    let expected = json!({
        "type": "object",
        "properties": {"title": {"type": "string"}, "how": {"enum": ["soft", "hard"], "default": "soft"}},
        "required": ["title"],
    });
    assert_eq!(schema, expected);
}

#[test]
fn descriptions_come_along_where_they_are_wanted_without_the_name() {
    let text = asked(&definition(), true);
    assert!(!text.contains("drop_everything"), "{text}");
    assert!(text.starts_with("Description:\nthis tool removes a table."), "{text}");
    assert!(text.contains("What this tool removes."), "{text}");
}
