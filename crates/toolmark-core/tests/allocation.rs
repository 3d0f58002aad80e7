//! A name that is found costs no memory.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use toolmark_core::catalog::{Catalog, Resolution};
use toolmark_core::document::Document;
use toolmark_core::exposure::{ExposedTable, Mode, Profile, ProfileName, Published};
use toolmark_core::snapshot::Snapshot;

fn catalog() -> Catalog {
    let tools: Vec<String> = (0..1000).map(|n| format!("{{\"name\":\"tool_{n}\"}}")).collect();
    let document = Document::new("test", format!("[{}]", tools.join(",")));
    Snapshot::of(&document, "pack").into_builder().build().expect("no problems")
}

#[test]
fn resolving_a_canonical_or_short_name_allocates_nothing() {
    let catalog = catalog();
    let counted = allocation_counter::measure(|| {
        assert!(matches!(catalog.resolve("pack.tool_500"), Resolution::Found(_)));
        assert!(matches!(catalog.resolve("tool_500"), Resolution::Found(_)));
        assert!(matches!(catalog.resolve("tool_5000"), Resolution::NotFound));
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn resolving_an_exposed_name_allocates_nothing() {
    let profile = Profile::new(ProfileName::Openai);
    let table = ExposedTable::build(&catalog(), &profile, Mode::Auto, &Published::default()).expect("auto never fails");
    let counted = allocation_counter::measure(|| assert!(table.resolve("tool_500").is_some()));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn cloning_a_catalog_allocates_nothing() {
    let catalog = catalog();
    let counted = allocation_counter::measure(|| drop(catalog.clone()));
    assert_eq!(counted.count_total, 0);
}
