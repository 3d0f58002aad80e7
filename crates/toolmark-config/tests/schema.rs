//! The schema that is checked in is the one that the declarations give.

use std::path::Path;

#[test]
fn the_schema_that_is_checked_in_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/toolmark.schema.json");
    let written = std::fs::read_to_string(path).expect("the schema; `cargo xtask schema` writes it");
    let generated = serde_json::to_string_pretty(&toolmark_config::schema()).expect("JSON") + "\n";
    assert!(written == generated, "docs/schema/toolmark.schema.json is stale: run `cargo xtask schema`");
}
