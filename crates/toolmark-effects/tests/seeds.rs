//! What the fuzz targets check, for the inputs in `fuzz/seeds`: the same ones every time, without a fuzzer. An input that was trouble once
//! becomes a file there. The wire of MCP has its own in `toolmark-mcp`.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::items_after_statements,
    reason = "a test that cannot go on must stop, and the checks are written for the fuzzer too"
)]

#[path = "../../../fuzz/checks/canonical.rs"]
mod canonical;
#[path = "../../../fuzz/checks/effects_calls.rs"]
mod effects_calls;
#[path = "../../../fuzz/checks/effects_code.rs"]
mod effects_code;
#[path = "../../../fuzz/checks/effects_cypher.rs"]
mod effects_cypher;
#[path = "../../../fuzz/checks/effects_graphql.rs"]
mod effects_graphql;
#[path = "../../../fuzz/checks/effects_http.rs"]
mod effects_http;
#[path = "../../../fuzz/checks/effects_kubernetes.rs"]
mod effects_kubernetes;
#[path = "../../../fuzz/checks/effects_mongo.rs"]
mod effects_mongo;
#[path = "../../../fuzz/checks/effects_paths.rs"]
mod effects_paths;
#[path = "../../../fuzz/checks/effects_redis.rs"]
mod effects_redis;
#[path = "../../../fuzz/checks/effects_shell.rs"]
mod effects_shell;
#[path = "../../../fuzz/checks/effects_sql.rs"]
mod effects_sql;
#[path = "../../../fuzz/checks/names.rs"]
mod names;
#[path = "../../../fuzz/checks/schema.rs"]
mod schema;
#[path = "../../../fuzz/checks/snapshot.rs"]
mod snapshot;

use std::fs;
use std::path::Path;

/// What holds for every input.
type Check = fn(&str);

const CHECKS: [(&str, Check); 15] = [
    ("canonical", canonical::check),
    ("effects_calls", effects_calls::check),
    ("effects_code", effects_code::check),
    ("effects_cypher", effects_cypher::check),
    ("effects_graphql", effects_graphql::check),
    ("effects_http", effects_http::check),
    ("effects_kubernetes", effects_kubernetes::check),
    ("effects_mongo", effects_mongo::check),
    ("effects_paths", effects_paths::check),
    ("effects_redis", effects_redis::check),
    ("effects_shell", effects_shell::check),
    ("effects_sql", effects_sql::check),
    ("names", names::check),
    ("schema", schema::check),
    ("snapshot", snapshot::check),
];

#[test]
fn every_seed_passes_what_its_fuzz_target_checks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for target in fs::read_dir(root.join("fuzz_targets")).expect("the targets") {
        let target = target.expect("a target").path();
        let name = target.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        assert!(name == "mcp_wire" || CHECKS.iter().any(|(known, _)| *known == name), "`{name}` is not replayed");
    }
    for (name, check) in CHECKS {
        let folder = root.join("seeds").join(name);
        let mut count = 0;
        for seed in fs::read_dir(&folder).expect("seeds") {
            let seed = seed.expect("a seed").path();
            let text = fs::read_to_string(&seed).expect("a seed is text");
            let passed = std::panic::catch_unwind(|| check(&text));
            assert!(passed.is_ok(), "{}", seed.display());
            count += 1;
        }
        assert!(count >= 5, "{}: {count} seeds", folder.display());
    }
}
