//! Snapshots from strangers: reading never panics, and every tool that is read can be resolved and exposed.

use toolmark_core::catalog::Resolution;
use toolmark_core::document::Document;
use toolmark_core::exposure::{ExposedTable, Mode, Profile, ProfileName, Published};
use toolmark_core::lock::Lock;
use toolmark_core::snapshot::Snapshot;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let document = Document::new("fuzz", text.to_owned());
    let catalog = Snapshot::of(&document, "fuzz").into_builder().build_partly();
    for tool in catalog.tools() {
        assert!(
            matches!(catalog.resolve(tool.canonical().as_str()), Resolution::Found(found) if std::ptr::eq(found, tool))
        );
    }
    let table = ExposedTable::build(&catalog, &Profile::new(ProfileName::Codex), Mode::Auto, &Published::default());
    assert_eq!(table.map(|table| table.len()).ok(), Some(catalog.len()));
    let lock = Lock::of(&catalog).to_string();
    assert_eq!(Lock::read(&Document::new("lock", lock.clone())).expect("our own").to_string(), lock);
    let _ = Lock::read(&document);
}
