use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::display::{Given, Kind};
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, ToolKind};

use super::*;
use crate::{DeadLabel, Options, lint};

fn catalog(tools: &[serde_json::Value]) -> Catalog {
    let pack = Pack::builder("agora".parse().unwrap(), Source::new("test"));
    let tools = tools.iter().map(|tool| Definition::of_value("test", tool).unwrap());
    let pack = tools.fold(pack, |pack, tool| pack.tool(ToolKind::Mcp, tool)).build();
    Catalog::builder().pack(pack).build_partly()
}

fn tool(name: &str) -> serde_json::Value {
    serde_json::json!({"name": name, "description": "x", "inputSchema": {"type": "object"}})
}

/// The findings of the rules here, with names from outside.
fn found(catalog: &Catalog, given: &[(&str, &str, &str)], dead: Vec<DeadLabel>) -> Vec<(RuleId, String)> {
    let table = NameTable::new(LanguageTag::english(), catalog.tools(), |tool| {
        let mut own = Given::default();
        for (_, language, text) in given.iter().filter(|(name, ..)| *name == tool.raw().as_str()) {
            own.put(Layer::Locale, Kind::Name, Some(language.parse().unwrap()), text);
        }
        own
    });
    let labels = Labels { table, dead, shadowed: Vec::new() };
    let options =
        [RuleId::DuplicateDisplayName, RuleId::DeadLabel, RuleId::MissingTranslation, RuleId::UnsafeDisplayName]
            .into_iter()
            .fold(Options::default().labels(labels), Options::only);
    lint(catalog, &options).findings().iter().map(|found| (found.rule(), found.message().to_owned())).collect()
}

#[test]
fn two_tools_of_one_name_in_one_language_are_found() {
    let catalog = catalog(&[tool("search_files"), tool("search_rules"), tool("other")]);
    let given = [("search_files", "nl", "Zoeken"), ("search_rules", "nl", "zoeken"), ("other", "nl", "Ander")];
    assert_eq!(
        found(&catalog, &given, Vec::new()),
        [(
            RuleId::DuplicateDisplayName,
            "in `nl`, `agora.search_files`, `agora.search_rules` are all shown as `Zoeken`".to_owned()
        )]
    );
}

#[test]
fn a_language_that_one_tool_lacks_is_missing() {
    let catalog = catalog(&[tool("one"), tool("two")]);
    let found = found(&catalog, &[("one", "nl", "Een"), ("one", "en", "One"), ("two", "en", "Two")], Vec::new());
    assert_eq!(
        found,
        [(RuleId::MissingTranslation, "1 of 2 tools of `agora` have no name in `nl`: `agora.two`".to_owned())]
    );
}

#[test]
fn a_pack_that_nobody_translated_is_left_alone() {
    let catalog = catalog(&[tool("one"), tool("two")]);
    assert_eq!(found(&catalog, &[], Vec::new()), []);
}

#[test]
fn names_that_are_not_shown_as_written_are_found() {
    let mut hostile = tool("one");
    hostile["title"] = "a\nb".into();
    hostile["_meta"] = serde_json::json!({"dev.toolmark/names": {"nl_BE": "x", "de": 7}});
    let catalog = catalog(&[hostile]);
    let found = found(&catalog, &[], Vec::new());
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains("its title is shown as `a b`"), "{}", found[0].1);
    assert!(found[0].1.contains("`nl_BE` is no language tag"), "{}", found[0].1);
    assert!(found[0].1.contains("its name in `de` is no text"), "{}", found[0].1);
}

#[test]
fn a_dead_label_names_what_could_be_meant() {
    let catalog = catalog(&[tool("one")]);
    let dead = DeadLabel { key: "one".into(), near: vec!["agora.one".into()], place: None };
    assert_eq!(
        found(&catalog, &[], vec![dead]),
        [(RuleId::DeadLabel, "`one` is the name of nothing here; perhaps `agora.one` is meant".to_owned())]
    );
}
