use toolmark_core::tool::Source;

use super::*;
use crate::listing::Tools;

/// Packs that list one tool each, as it was sent.
fn catalog(packs: &[(&str, &str)]) -> Catalog {
    let pack = |(name, tool): &(&str, &str)| {
        let name = name.parse().expect("a name");
        let listed = Listed { tools: Tools::new(&name, &[tool]), ..Listed::default() };
        listed.pack(&name, None, &Source::new("test"))
    };
    packs.iter().map(pack).fold(Catalog::builder(), CatalogBuilder::pack).build_partly()
}

#[test]
fn a_tool_that_is_left_out_is_told_once_and_with_its_pack() {
    let (one, good) = (("one", r#"{"name": ""}"#), ("two", r#"{"name": "fine"}"#));
    let first = catalog(&[one]);
    let told: Vec<String> = untold(&first, None).map(ToString::to_string).collect();
    assert!(matches!(told.as_slice(), [told] if told.contains("at: one (tools/list)")), "{told:?}");
    let second = catalog(&[one, good]);
    assert_eq!(untold(&second, Some(&first)).count(), 0, "another pack came; nothing is wrong that was not before");
    let third = catalog(&[one, ("two", r#"{"name": ""}"#)]);
    assert_eq!(untold(&third, Some(&second)).count(), 1);
}
