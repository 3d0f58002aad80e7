//! What does `metadata["dev.toolmark/tool"]` look like? The JSON schema of it, which is published in `docs/schema/`.

use serde_json::{Value, json};

/// The schema of the object under [`TOOL`](crate::TOOL). What a later version adds is no error.
#[must_use]
pub fn tool() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dev.toolmark/tool",
        "description": "Which tool is called, and what people read of it. Names are for people; only `id` and `mark` say which tool it is.",
        "type": "object",
        "properties": {
            "id": text("The canonical name: `pack.tool`. The name of a handoff or of an agent that is asked as a tool has no pack; what a provider hosts begins with `hosted:`."),
            "displayName": text("What people call it, in the language that the reader asked for."),
            "lang": text("The language of the name as a BCP 47 tag; absent where nobody said."),
            "dir": {"enum": ["ltr", "rtl", "auto"], "description": "The direction of the name."},
            "names": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "What it is called in every language that has a name for it, by tag; `und` is for all others.",
            },
            "spoken": text("What is said while it works."),
            "icon": text("A small picture: one emoji, or a picture as `data:` address."),
            "category": text("The group that it is shown in."),
            "behavior": {
                "type": "object",
                "properties": {
                    "mutability": text("Whether it changes anything."),
                    "action": text("What it does."),
                    "output_domain": text("What it does it with."),
                    "content_type": text("What it returns."),
                    "identity": text("The behavior in 16 digits."),
                    "source": text("Who says so."),
                },
                "description": "What it does; the same object as `_meta[\"dev.toolmark/behavior\"]`.",
            },
            "mark": text("This tool in this version."),
            "pack": text("The pack that owns it."),
            "handoff": text("For a handoff: the agent that takes over."),
            "hosted": text("For what the provider of the model runs by itself, which nobody here judged: what it is, such as `web_search`, or `mcp`."),
            "server": text("For a tool of a server that the provider calls: what the server is called there."),
        },
        "required": ["id", "displayName", "dir"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Write it with `cargo xtask schema`.
    #[test]
    fn the_schema_in_the_documentation_is_the_one_of_the_code() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/agui-tool.schema.json");
        let written: Value = serde_json::from_str(&std::fs::read_to_string(page).unwrap()).unwrap();
        assert_eq!(written, tool());
    }
}
