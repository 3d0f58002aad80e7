use proptest::prelude::*;

use super::*;
use crate::explain::Explain;

#[test]
fn a_pack_name_is_lower_case_and_starts_with_a_letter() {
    for good in ["a", "github", "my_server-2", &"a".repeat(64)] {
        assert!(good.parse::<PackName>().is_ok(), "{good}");
    }
    for bad in ["", "A", "1a", "_a", "-a", "a.b", "a b", "é", "a\0", &"a".repeat(65)] {
        assert_eq!(bad.parse::<PackName>().unwrap_err().code().as_str(), "pack-name-syntax", "{bad}");
    }
}

#[test]
fn a_refused_pack_name_comes_with_one_that_works() {
    assert_eq!("GitHub MCP".parse::<PackName>().unwrap_err().fix(), "name it `github-mcp`");
}

#[test]
fn imported_keys_are_slugged() {
    for (key, slug) in [
        ("github", "github"),
        ("GitHub", "github"),
        ("a  b", "a-b"),
        ("@scope/pkg", "scope-pkg"),
        ("7z", "p-7z"),
        ("_x", "p-_x"),
        ("日本 a", "a"),
        ("x!", "x"),
    ] {
        assert_eq!(PackName::slug(key).unwrap().as_str(), slug, "{key}");
    }
    assert!(PackName::slug("日本").is_err());
    assert!(PackName::slug("").is_err());
}

#[test]
fn a_raw_name_may_hold_almost_anything_but_control_characters() {
    for good in ["read-file", "a.b/c", "検索", "with space", "…", &"x".repeat(200)] {
        assert_eq!(good.parse::<RawName>().unwrap().as_str(), good);
    }
    let code = |text: &str| text.parse::<RawName>().unwrap_err().code().as_str();
    assert_eq!(code(""), "tool-name-empty");
    assert_eq!(code("a\0b"), "tool-name-control-character");
    assert_eq!(code("a\nb"), "tool-name-control-character");
    assert_eq!(code(&"x".repeat(1025)), "tool-name-too-long");
}

#[test]
fn a_canonical_name_is_split_at_the_first_dot() {
    let name: CanonicalName = "fs.read.file".parse().unwrap();
    assert_eq!((name.pack(), name.raw()), (Some("fs"), "read.file"));
    let name: CanonicalName = "read".parse().unwrap();
    assert_eq!((name.pack(), name.raw()), (None, "read"));
}

#[test]
fn a_tool_without_a_pack_has_no_dot() {
    let raw: RawName = "crm.get".parse().unwrap();
    let error = CanonicalName::without_pack(&raw).unwrap_err();
    assert_eq!(error.code().as_str(), "tool-name-dot-without-pack");
    assert!(error.fix().contains("pack named `crm`"));
}

#[test]
fn the_synthetic_namespace_makes_a_deferred_key() {
    assert_eq!(LookupKey::of("k", Some("k")), Some(LookupKey::DeferredTopLevel("k".into())));
    assert_eq!(LookupKey::of("k", Some("")), Some(LookupKey::Bare("k".into())));
    assert_eq!(LookupKey::of("", Some("k")), None);
}

#[test]
fn a_deferred_tool_has_its_own_approval_key_and_a_plain_trace_name() {
    let key = LookupKey::of("k", Some("k")).unwrap();
    assert_eq!(key.approval_key().as_str(), "deferred_top_level:k");
    assert_eq!(key.trace_name().as_str(), "k");
}

proptest! {
    #[test]
    fn canonical_names_survive_printing_and_parsing(pack in "[a-z][a-z0-9_-]{0,20}", raw in "[^\\p{Cc}]{1,30}") {
        let name = CanonicalName::in_pack(&pack.parse().unwrap(), &raw.parse().unwrap());
        let again: CanonicalName = name.to_string().parse().unwrap();
        prop_assert_eq!(again.pack(), Some(pack.as_str()));
        prop_assert_eq!(again.raw(), raw.as_str());
        prop_assert_eq!(again, name);
    }

    #[test]
    fn every_slug_is_a_pack_name(key in any::<String>()) {
        if let Ok(name) = PackName::slug(&key) {
            prop_assert!(name.as_str().parse::<PackName>().is_ok());
        }
    }
}
