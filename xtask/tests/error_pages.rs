//! Every error code has a page, and every page has a code.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The codes in the sources: whatever stands in `Code::new("…")`.
fn codes() -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut codes = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        for part in text.split("Code::new(").skip(1) {
            if let Some(code) = part.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                codes.insert(code.to_owned());
            }
        }
    }
    codes
}

fn pages() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("docs/errors")).expect("docs/errors");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".md").map(ToOwned::to_owned)).filter(|name| name != "README").collect()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    assert!(codes().len() > 30, "the search for codes finds too little: {:?}", codes());
    let without_page: Vec<_> = codes().difference(&pages()).cloned().collect();
    let without_code: Vec<_> = pages().difference(&codes()).cloned().collect();
    assert!(without_page.is_empty(), "no page in docs/errors for {without_page:?}");
    assert!(without_code.is_empty(), "no code for the pages {without_code:?}");
}

#[test]
fn codes_are_kebab_case() {
    for code in codes() {
        let legal = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
        assert!(code.chars().all(legal) && !code.starts_with('-') && !code.ends_with('-'), "{code}");
    }
}

#[test]
fn each_page_says_what_happened_why_and_how_to_fix_it() {
    for page in pages() {
        let text = fs::read_to_string(root().join("docs/errors").join(format!("{page}.md"))).expect("a page");
        assert!(text.starts_with(&format!("# {page}\n")), "{page}: the title is the code");
        for part in ["## What happened", "## Why Toolmark refuses", "## Quickest fix"] {
            assert!(text.contains(part), "{page} has no `{part}`");
        }
    }
}

#[test]
fn the_index_lists_every_page() {
    let index = fs::read_to_string(root().join("docs/errors/README.md")).expect("docs/errors/README.md");
    for page in pages() {
        assert!(index.contains(&format!("({page}.md)")), "docs/errors/README.md does not link {page}.md");
    }
}
