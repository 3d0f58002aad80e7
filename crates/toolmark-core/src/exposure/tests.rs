use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalog::Catalog;
use crate::definition::Definition;
use crate::explain::Explain;
use crate::pack::Pack;
use crate::tool::{Source, ToolKind};

fn pack(name: &str, tools: &[&str]) -> Pack {
    let builder = Pack::builder(name.parse().unwrap(), Source::new(&format!("test:{name}")));
    tools
        .iter()
        .fold(builder, |builder, tool| {
            builder.tool(ToolKind::Mcp, Definition::of_value("test", &json!({"name": tool})).unwrap())
        })
        .build()
}

fn catalog(packs: &[(&str, &[&str])]) -> Catalog {
    Catalog::builder().packs(packs.iter().map(|(name, tools)| pack(name, tools))).build().unwrap()
}

fn build(catalog: &Catalog, profile: ProfileName, mode: Mode, published: &Published) -> ExposedTable {
    ExposedTable::build(catalog, &Profile::new(profile), mode, published).unwrap()
}

fn name_of(table: &ExposedTable, canonical: &str) -> String {
    let found = table.listed().find(|row| row.tool.canonical().as_str() == canonical);
    found.map(|row| row.name.to_string()).unwrap_or_default()
}

#[test]
fn a_unique_name_stays_bare_and_the_later_of_two_is_prefixed() {
    let catalog = catalog(&[("github", &["search", "create_issue"]), ("jira", &["search"])]);
    let table = build(&catalog, ProfileName::Generic, Mode::Auto, &Published::default());
    assert_eq!(name_of(&table, "github.create_issue"), "create_issue");
    assert_eq!(name_of(&table, "github.search"), "search");
    assert_eq!(name_of(&table, "jira.search"), "jira__search");
}

#[test]
fn a_pack_that_joins_later_and_earlier_in_the_config_takes_no_published_name() {
    let before = catalog(&[("jira", &["search"])]);
    let published = build(&before, ProfileName::Generic, Mode::Auto, &Published::default()).published();
    let after = catalog(&[("github", &["search"]), ("jira", &["search"])]);
    let table = build(&after, ProfileName::Generic, Mode::Auto, &published);
    assert_eq!(name_of(&table, "jira.search"), "search");
    assert_eq!(name_of(&table, "github.search"), "github__search");
}

#[test]
fn the_name_of_a_tool_that_is_away_stays_reserved() {
    let published =
        build(&catalog(&[("a", &["x"])]), ProfileName::Generic, Mode::Auto, &Published::default()).published();
    let table = build(&catalog(&[("b", &["x"])]), ProfileName::Generic, Mode::Auto, &published);
    assert_eq!(name_of(&table, "b.x"), "b__x");
}

#[test]
fn a_former_name_still_leads_to_its_tool_but_is_not_listed() {
    let catalog = catalog(&[("a", &["new_name"])]);
    let mut published = Published::default();
    published.remember("a.old_name", "old_name");
    published.renamed("a.old_name", "a.new_name");
    let table = build(&catalog, ProfileName::Generic, Mode::Auto, &published);
    let old = table.resolve("old_name").unwrap();
    assert!(old.alias && old.tool.canonical().as_str() == "a.new_name");
    assert_eq!(table.listed().map(|row| row.name.to_string()).collect::<Vec<_>>(), ["new_name"]);
}

#[test]
fn bare_mode_refuses_a_collision_and_names_both_owners() {
    let catalog = catalog(&[("a", &["x"]), ("b", &["x", "y"])]);
    let error = ExposedTable::build(&catalog, &Profile::new(ProfileName::Generic), Mode::Bare, &Published::default())
        .err()
        .unwrap();
    assert_eq!(error.code().as_str(), "exposed-name-taken");
    assert!(error.why().contains("`b.x` wants the name of `a.x`"), "{}", error.why());
}

#[test]
fn a_name_that_is_legal_is_never_taken_by_one_that_was_bent() {
    let catalog = catalog(&[("a", &["read-file"]), ("b", &["read_file"])]);
    let table = build(&catalog, ProfileName::Codex, Mode::Auto, &Published::default());
    assert_eq!(name_of(&table, "b.read_file"), "read_file");
    assert_eq!(name_of(&table, "a.read-file"), "a__read_file");
}

#[test]
fn joined_names_that_look_alike_stay_apart() {
    let catalog = catalog(&[("a", &["b__c", "x"]), ("a__b", &["c", "x"]), ("c", &["a__b__c"])]);
    for &profile in ProfileName::ALL {
        let table = build(&catalog, profile, Mode::Prefixed, &Published::default());
        let names: HashSet<String> = table.listed().map(|row| row.name.to_string()).collect();
        assert_eq!(names.len(), 5, "{profile}: {names:?}");
    }
}

#[test]
fn awkward_names_come_out_distinct_and_legal_for_every_profile() {
    let long_one = format!("{}one", "x".repeat(197));
    let long_two = format!("{}two", "x".repeat(197));
    let tools: &[&str] = &[
        "read-file",
        "read_file",
        "read.file",
        "read/file",
        "read file",
        "検索",
        "検査",
        "查询",
        "🤖",
        "_",
        "__",
        "-",
        ".",
        "a:b",
        &long_one,
        &long_two,
        "Read_File",
    ];
    let catalog = catalog(&[("first", tools), ("second", tools)]);
    for &profile in ProfileName::ALL {
        for mode in [Mode::Auto, Mode::Prefixed] {
            let table = build(&catalog, profile, mode, &Published::default());
            let names: BTreeSet<String> = table.listed().map(|row| row.name.to_string()).collect();
            assert_eq!(names.len(), tools.len() * 2, "{profile} {mode:?}");
            for name in &names {
                assert!(Profile::new(profile).accepts(name), "{profile} refuses {name}");
            }
        }
    }
}

#[test]
fn the_clients_own_prefix_counts() {
    let catalog = catalog(&[("p", &[&*"y".repeat(50)])]);
    let table = build(&catalog, ProfileName::ClaudeCode, Mode::Auto, &Published::default());
    let name = name_of(&table, &format!("p.{}", "y".repeat(50)));
    assert_eq!(name.len(), 49);
    assert_eq!(format!("{}{name}", table.profile().outer_prefix()).len(), 64);
    let table = build(&catalog, ProfileName::Openai, Mode::Auto, &Published::default());
    assert_eq!(name_of(&table, &format!("p.{}", "y".repeat(50))).len(), 50);
}

#[test]
fn a_server_name_that_leaves_no_room_is_refused() {
    let error = Profile::with_server(ProfileName::ClaudeCode, &"s".repeat(50)).unwrap_err();
    assert_eq!(error.code().as_str(), "profile-no-room");
}

#[test]
fn the_order_in_which_a_server_lists_its_tools_does_not_matter() {
    let names = |tools: &[&str]| {
        let table = build(&catalog(&[("p", tools)]), ProfileName::Codex, Mode::Auto, &Published::default());
        table.listed().map(|row| (row.name.to_string(), row.tool.canonical().to_string())).collect::<Vec<_>>()
    };
    assert_eq!(names(&["a-b", "a.b", "a b", "a/b"]), names(&["a/b", "a b", "a-b", "a.b"]));
}

fn any_packs() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let tool = prop_oneof![
        "[ab_.-]{1,4}",
        "[a-z_]{1,80}",
        "\\PC{1,12}".prop_filter("no control characters", |name| !name.chars().any(char::is_control)),
    ];
    let pack = ("[a-c][a-b_-]{0,2}", prop::collection::btree_set(tool, 0..8));
    prop::collection::btree_map(pack.0, pack.1, 0..5)
        .prop_map(|packs| packs.into_iter().map(|(name, tools)| (name, tools.into_iter().collect())).collect())
}

fn catalog_of(packs: &[(String, Vec<String>)]) -> Catalog {
    let build =
        |(name, tools): &(String, Vec<String>)| pack(name, &tools.iter().map(String::as_str).collect::<Vec<_>>());
    Catalog::builder().packs(packs.iter().map(build)).build().unwrap()
}

proptest! {
    #[test]
    fn exposed_names_are_injective_and_legal_for_any_catalog_and_profile(packs in any_packs(), profile in 0..ProfileName::ALL.len(), prefixed: bool) {
        let catalog = catalog_of(&packs);
        let profile = Profile::new(ProfileName::ALL[profile]);
        let mode = if prefixed { Mode::Prefixed } else { Mode::Auto };
        let table = ExposedTable::build(&catalog, &profile, mode, &Published::default()).unwrap();
        let names: HashSet<&str> = table.listed().map(|row| row.name.as_str()).collect();
        prop_assert_eq!(names.len(), catalog.len());
        for row in table.listed() {
            prop_assert!(profile.accepts(row.name.as_str()), "{} refuses {}", profile.name(), row.name);
            let back = table.resolve(row.name.as_str()).unwrap();
            prop_assert_eq!(back.tool.canonical(), row.tool.canonical());
        }
    }

    #[test]
    fn adding_an_unrelated_pack_changes_no_published_name(packs in any_packs(), extra in any_packs(), front: bool) {
        let profile = Profile::new(ProfileName::Vscode);
        let before = ExposedTable::build(&catalog_of(&packs), &profile, Mode::Auto, &Published::default()).unwrap();
        let extra = extra.into_iter().map(|(name, tools)| (format!("{name}x"), tools)).filter(|(name, _)| packs.iter().all(|(known, _)| known != name));
        let all: Vec<_> = if front { extra.chain(packs.clone()).collect() } else { packs.iter().cloned().chain(extra).collect() };
        let after = ExposedTable::build(&catalog_of(&all), &profile, Mode::Auto, &before.published()).unwrap();
        for row in before.listed() {
            prop_assert_eq!(name_of(&after, row.tool.canonical().as_str()), row.name.as_str());
        }
    }

    #[test]
    fn every_canonical_name_resolves_to_its_own_tool(packs in any_packs()) {
        let catalog = catalog_of(&packs);
        for tool in catalog.tools() {
            match catalog.resolve(tool.canonical().as_str()) {
                crate::catalog::Resolution::Found(found) => prop_assert!(std::ptr::eq(found, tool)),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}
