//! What do the objects look like that Toolmark adds to `_meta`? A JSON schema for each, published in `docs/schema/`. What a later version
//! adds is no error.

use serde_json::{Value, json};
use toolmark_core::behavior::{Action, ContentType, Mutability, OutputDomain};

/// Every key, without `dev.toolmark/`, with the schema of what stands there.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    let schemas: [(&'static str, &str, Value); 8] = [
        (
            "identity",
            "Who a tool is, in lists. With `list_meta = \"mark\"`, and in lists of more than 250 tools, only `canonical` and `mark` are there; in lists of more than 500 nothing is, unless it is asked for.",
            identity(),
        ),
        ("behavior", "What a tool does, in lists, and who says so. What nobody knows is left out.", behavior()),
        (
            "names",
            "What people call a tool, by language tag; `und` is the operator's name for all other languages.",
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
        ),
        ("pack", "That the server of a tool cannot be called now.", state(&["starting", "unavailable", "stopped"])),
        (
            "pin",
            "That a tool is not the one that was accepted; its calls ask.",
            json!({
                "type": "object",
                "properties": {"state": text("How it differs from what was accepted.")},
                "required": ["state"],
            }),
        ),
        ("call", "What became of a call, in its result.", call()),
        (
            "list",
            "How much a list should say of each of its tools, in the request.",
            json!({
                "type": "object",
                "properties": {"meta": words("How much.", &["auto", "full", "mark", "none"])},
                "required": ["meta"],
            }),
        ),
        (
            "task",
            "The task that a request belongs to, in the request: it narrows what the request may do, beside the task of its address.",
            json!({"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"}),
        ),
    ];
    let whole = |(key, description, own): (&'static str, &str, Value)| {
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("dev.toolmark/{key}"),
            "description": description,
        });
        if let (Some(schema), Value::Object(own)) = (schema.as_object_mut(), own) {
            schema.extend(own);
        }
        (key, schema)
    };
    schemas.into_iter().map(whole).collect()
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn words(description: &str, words: &[&str]) -> Value {
    json!({"enum": words, "description": description})
}

fn state(states: &[&str]) -> Value {
    json!({"type": "object", "properties": {"state": words("How the pack stands.", states)}, "required": ["state"]})
}

fn identity() -> Value {
    json!({
        "type": "object",
        "properties": {
            "canonical": text("The canonical name: `pack.tool`."),
            "pack": text("The pack that owns it."),
            "raw": text("What its server calls it."),
            "mark": text("This tool in this version."),
            "digest": text("The digest of everything that its publisher says of it."),
        },
        "required": ["canonical", "mark"],
    })
}

fn behavior() -> Value {
    json!({
        "type": "object",
        "properties": {
            "mutability": words("Whether it changes anything.", &Mutability::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()),
            "action": words("What it does.", &Action::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()),
            "output_domain": words("What it does it with.", &OutputDomain::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()),
            "content_type": words("What it returns.", &ContentType::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()),
            "target": text("What is acted on, in one noun or two."),
            "polarity": text("Which way it goes."),
            "reach": text("How far it reaches."),
            "identity": {"type": "string", "pattern": "^[0-9a-f]{16}$", "description": "The first three in 16 digits."},
            "source": words("Who says so.", &["operator", "publisher", "annotations", "inferred", "models"]),
            "agreement": words(
                "Whether a second opinion agrees.",
                &["declared", "corroborated", "disputed", "inferred", "unknown"],
            ),
        },
        "required": ["agreement"],
    })
}

fn call() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": words("What was decided.", &["allow", "ask", "deny"]),
            "outcome": words("What became of that.", &["run", "answered", "observed", "ask", "refuse"]),
            "canonical": text("The canonical name of the tool; absent where the call could not be read."),
            "mark": text("The tool in the version that was judged."),
            "code": text("Why there is no result of the tool, as a stable code; `docs/errors/` has a page for each."),
            "upstream": {
                "type": "object",
                "description": "The error that the server answered with.",
                "properties": {
                    "code": {"type": ["integer", "null"], "description": "Its code."},
                    "data": {"description": "Its data, where that is small."},
                },
                "required": ["code"],
            },
            "grant": text("The grant that let it through."),
            "approved_by": text("Who let it through."),
            "edited_arguments": {"type": "object", "description": "The arguments that somebody put in place of those that came."},
            "reasons": {
                "type": "array",
                "description": "Why, where anything speaks against it.",
                "items": {
                    "type": "object",
                    "properties": {
                        "decision": words("What it asks for.", &["allow", "ask", "deny"]),
                        "code": text("The reason as a stable code."),
                        "message": text("The reason in words."),
                        "facts": {"type": "object", "description": "The reason as data."},
                    },
                    "required": ["decision", "code", "message"],
                },
            },
        },
        "required": ["verdict", "outcome"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Write them with `cargo xtask schema`.
    #[test]
    fn the_schemas_in_the_documentation_are_those_of_the_code() {
        for (key, schema) in all() {
            let page = format!("{}/../../docs/schema/meta-{key}.schema.json", env!("CARGO_MANIFEST_DIR"));
            let written: Value = serde_json::from_str(&std::fs::read_to_string(page).unwrap()).unwrap();
            assert_eq!(written, schema, "{key}");
        }
    }
}
