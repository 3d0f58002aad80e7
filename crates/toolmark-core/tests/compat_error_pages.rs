//! Every code of compatibility mode and of strict schemas has a page, and every such page has a code.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

const PREFIXES: [&str; 2] = ["compat-", "strict-schema-"];

/// Every string literal in the sources that looks like one of these codes.
fn codes(dir: &Path, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            codes(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let literals = text.split('"').filter(|piece| PREFIXES.iter().any(|prefix| piece.starts_with(prefix)));
            let is_code = |piece: &&str| piece.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            found.extend(literals.filter(is_code).map(ToOwned::to_owned));
        }
    }
    Ok(())
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    codes(&root.join("src"), &mut known).expect("the sources");
    assert!(known.len() > 25, "{known:?}");

    let pages = fs::read_dir(root.join("../../docs/errors")).expect("the folder of pages");
    let pages: BTreeSet<String> = pages
        .filter_map(|page| page.ok()?.path().file_stem()?.to_str().map(ToOwned::to_owned))
        .filter(|page| PREFIXES.iter().any(|prefix| page.starts_with(prefix)))
        .collect();
    assert_eq!(known, pages);
}
