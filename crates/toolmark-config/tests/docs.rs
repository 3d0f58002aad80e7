//! Every example of `docs/configuration.md` and `docs/policy.md` can be read, and every key is documented.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::path::Path;

use toolmark_config::{Config, schema};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).expect("a page")
}

#[test]
fn every_example_can_be_read() {
    for name in ["configuration.md", "policy.md"] {
        let text = page(name);
        let examples: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(examples.len() > 5, "{name}");
        for example in examples {
            if let Err(error) = Config::read(example, name) {
                panic!("{example}\n{:#?}", error.problems());
            }
        }
    }
}

#[test]
fn every_key_is_documented() {
    let text = page("configuration.md") + &page("policy.md");
    let schema = schema();
    let tables = schema["$defs"].as_object().expect("tables").values().chain([&schema]);
    let mut keys = 0;
    for table in tables {
        for key in table["properties"].as_object().into_iter().flatten().map(|(key, _)| key) {
            keys += 1;
            let spellings =
                [format!("`{key}`"), format!(".{key}`"), format!("{key} = "), format!("[{key}"), format!("[[{key}]]")];
            assert!(spellings.iter().any(|spelling| text.contains(spelling)), "`{key}` is not documented");
        }
    }
    assert!(keys > 80, "{keys}");
}
