//! The built-in workspace that is used when nothing else is named: five small packs with a name that two of them share.

use toolmark_core::document::Document;
use toolmark_core::snapshot::SnapshotReader;
use toolmark_gateway::demo::PACKS;

/// Reads all of it.
pub(crate) fn read(reader: &mut SnapshotReader) {
    for (pack, text) in PACKS {
        reader.read(&Document::new(format!("demo/{pack}.json"), (*text).to_owned()), pack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_workspace_has_no_problems_and_one_ambiguity() {
        let mut reader = SnapshotReader::default();
        read(&mut reader);
        let catalog = reader.finish().into_builder().build().expect("no problems");
        assert_eq!(catalog.len(), 30);
        let error = catalog.find("search", |_| true).expect_err("two packs have it");
        assert_eq!(error.to_string(), "`search` is ambiguous: 2 tools have that name");
    }
}
