//! Prints what the classifier makes of every tool of a `tools.jsonl`, one line a tool: `cargo run --example infer FILE`.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "an example may stop, and reports on standard output")]

use serde_json::json;
use toolmark_core::definition::{Definition, Form};
use toolmark_core::document::Slice;
use toolmark_core::inference::{Inference, Mode};

fn main() {
    let path = std::env::args().nth(1).expect("a path");
    let text = std::fs::read_to_string(path).expect("a readable file");
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let Ok(definition) = Definition::read(&Slice::of("tools", line.to_owned()), Form::Row) else { continue };
        let of = |mode| Inference::of(&definition, mode);
        let full = of(Mode::Full);
        println!(
            "{}",
            json!({
                "server": row.get("server"),
                "name": row.get("name"),
                "behavior": full.behavior(),
                "full": full.to_json(),
                "without_hints": of(Mode::WithoutHints).to_json(),
                "schema_only": of(Mode::SchemaOnly).to_json(),
                "by_argument": full.by_argument.as_ref().map(|by| json!({"pointer": by.pointer(), "values": by.values()})),
            })
        );
    }
}
