//! `docs/agents-sdk-parity.md` says what shows each feature; all of it exists.

use std::path::Path;

/// The links of a cell, as text and target.
fn links(cell: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, _) in cell.match_indices("](") {
        let text = cell.get(..at).and_then(|before| before.rsplit_once('[')).map(|(_, text)| text);
        let target = cell.get(at + 2..).and_then(|after| after.split_once(')')).map(|(target, _)| target);
        found.extend(text.zip(target));
    }
    found
}

#[test]
fn every_feature_has_a_test_that_exists() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = std::fs::read_to_string(docs.join("agents-sdk-parity.md")).expect("the page");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let mut wrong = Vec::new();
    let mut tests = 0;
    for row in &rows {
        let shown = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let links = links(shown);
        if !links.iter().any(|(_, target)| target.starts_with("../crates/")) {
            wrong.push(format!("no test in: {row}"));
        }
        for (text, target) in links {
            let path = docs.join(target.split('#').next().unwrap_or_default());
            let test = text.trim_matches('`');
            if !path.exists() {
                wrong.push(format!("{target} is not there"));
            } else if test != text {
                tests += 1;
                let file = std::fs::read_to_string(&path).unwrap_or_default();
                if !file.contains(&format!("fn {test}(")) {
                    wrong.push(format!("no `{test}` in {target}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rows.len() > 50 && tests > 50, "{} rows, {tests} tests: is the page still written this way?", rows.len());
}
