//! `docs/security.md` points to files and tests; all of them exist.

use std::path::Path;

#[test]
fn every_file_and_test_that_the_threat_model_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/security.md")).expect("the page");
    let (mut file, mut files, mut tests) = (String::new(), 0, 0);
    let mut missing = Vec::new();
    for quoted in page.split('`').skip(1).step_by(2) {
        if ["crates/", "fuzz/", "xtask/"].iter().any(|folder| quoted.starts_with(folder)) {
            match std::fs::read_to_string(root.join(quoted)) {
                Ok(text) => file = text,
                Err(error) => missing.push(format!("{quoted}: {error}")),
            }
            files += 1;
        } else if quoted.matches('_').count() >= 3 && quoted.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            // A test is named after the file that it stands in.
            if !file.contains(&format!("fn {quoted}(")) {
                missing.push(format!("no test `{quoted}` in the file named before it"));
            }
            tests += 1;
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(files > 40 && tests > 40, "{files} files and {tests} tests: is the page still written this way?");
}
