//! The schema that is checked in is the one that the declarations give.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::path::Path;

#[test]
fn the_schema_that_is_checked_in_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/toolmark.schema.json");
    let written = std::fs::read_to_string(path).expect("the schema; `cargo xtask schema` writes it");
    let generated = serde_json::to_string_pretty(&toolmark_config::schema()).expect("JSON") + "\n";
    assert!(written == generated, "docs/schema/toolmark.schema.json is stale: run `cargo xtask schema`");
}

/// What the schema says about a text.
fn is_valid(text: &str) -> bool {
    let value: serde_json::Value = toml::from_str(text).expect("TOML");
    jsonschema::draft202012::new(&toolmark_config::schema()).expect("a schema").is_valid(&value)
}

#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    for page in ["configuration.md", "policy.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
        let text = std::fs::read_to_string(path).expect("a page");
        for example in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            assert!(is_valid(example), "{page}: {example}");
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    for text in [
        "servers = {}",
        "[packs.A]\ncommand = 'x'",
        "[packs.a]\ncomand = 'x'",
        "[packs.a]\ncommand = 'x'\nurl = 'https://x'",
        "[packs.a]\ncommand = 'x'\nlimits = { timeout = '30' }",
        "[packs.a]\ncommand = 'x'\nera = '2024-11-05'",
        "[packs.a]\nurl = 'https://x'\nauth = {}",
        "[[rules]]\ntools = ['*']",
        "[policy]\npreset = 'lax'",
        "[profiles.p]\nclient = 'zed'",
        "[gateway]\nlimits = { rate = '5' }",
        "[packs.a]\ncommand = 'x'\ntools.t.languages = { q = 'latin' }",
    ] {
        assert!(!is_valid(text), "{text}");
        assert!(toolmark_config::Config::read(text, "t").is_err(), "{text}");
    }
}
