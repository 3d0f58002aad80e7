use serde_json::json;

use super::*;
use crate::definition::Definition;
use crate::explain::Explain;
use crate::tool::{Source, ToolKind};

fn definition(name: &str) -> Definition {
    Definition::of_value("test", &json!({"name": name, "inputSchema": {"type": "object"}})).unwrap()
}

fn pack(name: &str, tools: &[&str]) -> Pack {
    let builder = Pack::builder(name.parse().unwrap(), Source::new(&format!("test:{name}")));
    tools.iter().fold(builder, |builder, tool| builder.tool(ToolKind::Mcp, definition(tool))).build()
}

fn globals(tools: &[&str]) -> Pack {
    let builder = Pack::without_name(Source::new("test:globals"));
    tools.iter().fold(builder, |builder, tool| builder.tool(ToolKind::Function, definition(tool))).build()
}

fn catalog(packs: impl IntoIterator<Item = Pack>) -> Catalog {
    Catalog::builder().packs(packs).build().unwrap()
}

fn found(catalog: &Catalog, lookup: &str) -> String {
    match catalog.resolve(lookup) {
        Resolution::Found(tool) => tool.canonical().to_string(),
        Resolution::Ambiguous(owners) => {
            let names: Vec<_> = owners.iter().map(|tool| tool.canonical().to_string()).collect();
            format!("ambiguous: {}", names.join(" "))
        }
        Resolution::NotFound => "not found".into(),
    }
}

#[test]
fn a_bare_name_shared_by_two_packs_is_ambiguous() {
    let catalog = catalog([pack("b", &["search", "get"]), pack("a", &["search"])]);
    assert_eq!(found(&catalog, "search"), "ambiguous: b.search a.search");
    assert_eq!(found(&catalog, "get"), "b.get");
    assert_eq!(found(&catalog, "a.search"), "a.search");
}

#[test]
fn a_tool_without_a_pack_does_not_win_over_a_pack() {
    let catalog = catalog([pack("a", &["search"]), globals(&["search", "own"])]);
    assert_eq!(found(&catalog, "search"), "ambiguous: a.search search");
    assert_eq!(found(&catalog, "own"), "own");
}

#[test]
fn a_name_with_a_dot_never_falls_back_to_a_short_name() {
    let catalog = catalog([pack("a", &["b.c", "c"])]);
    assert_eq!(found(&catalog, "a.b.c"), "a.b.c");
    assert_eq!(found(&catalog, "b.c"), "not found");
    assert_eq!(found(&catalog, "x.c"), "not found");
    assert_eq!(found(&catalog, ".c"), "not found");
    assert_eq!(found(&catalog, ""), "not found");
}

#[test]
fn case_and_space_count() {
    let catalog = catalog([pack("a", &["get"])]);
    for lookup in ["Get", "GET", " get", "get ", "A.get", "a.Get"] {
        assert_eq!(found(&catalog, lookup), "not found", "{lookup}");
    }
}

#[test]
fn disabling_a_pack_may_resolve_an_ambiguity_and_hides_its_tools() {
    let both = catalog([pack("a", &["search"]), pack("b", &["search"])]);
    let one = both.with_enabled(&"b".parse().unwrap(), false).unwrap();
    assert_eq!(found(&one, "search"), "a.search");
    assert_eq!(found(&one, "b.search"), "not found");
    let again = one.with_enabled(&"b".parse().unwrap(), true).unwrap();
    assert_eq!(found(&again, "search"), "ambiguous: a.search b.search");
}

#[test]
fn a_replaced_pack_keeps_its_place_and_the_others_are_shared() {
    let before = catalog([pack("a", &["search"]), pack("b", &["search"])]);
    let after = before.with_pack(pack("a", &["search", "new"])).unwrap();
    assert_eq!(found(&after, "search"), "ambiguous: a.search b.search");
    assert_eq!(found(&after, "new"), "a.new");
    assert_eq!(found(&before, "new"), "not found");
    let shared = |catalog: &Catalog| catalog.pack("b").unwrap().tools().as_ptr();
    assert_eq!(shared(&before), shared(&after));
}

#[test]
fn all_problems_are_reported_together_and_name_every_owner() {
    let error = Catalog::builder()
        .pack(pack("a", &["x", "x", "y", "z", "z", "z"]))
        .pack(pack("b", &["x"]))
        .pack(pack("b", &["q"]))
        .disable(&"nowhere".parse().unwrap())
        .build()
        .unwrap_err();
    let codes: Vec<_> = error.problems().iter().map(|problem| problem.code().as_str()).collect();
    assert_eq!(codes, ["no-such-pack", "duplicate-pack", "duplicate-tool", "duplicate-tool"]);
    let owners = |at: usize| error.problems()[at].report().facts()["owners"].as_array().unwrap().len();
    assert_eq!((owners(2), owners(3)), (2, 3));
    assert!(error.fix().contains("[packs.a]\ndeny = [\"x\"]"));
}

#[test]
fn of_two_that_claim_one_name_neither_is_used() {
    let catalog = Catalog::builder().pack(pack("a", &["x", "x", "y"])).build_partly();
    assert_eq!(found(&catalog, "a.x"), "not found");
    assert_eq!(found(&catalog, "a.y"), "a.y");
    assert_eq!(catalog.problems().len(), 1);
}

#[test]
fn kinds_of_tool_share_one_space_of_names() {
    let pack = Pack::without_name(Source::new("test"))
        .tool(ToolKind::Function, definition("transfer_to_billing"))
        .tool(ToolKind::Handoff, definition("transfer_to_billing"))
        .build();
    let error = Catalog::builder().pack(pack).build().unwrap_err();
    assert_eq!(error.problems()[0].code().as_str(), "duplicate-tool");
    let why = error.problems()[0].report().why().to_owned();
    assert!(why.contains("function tool") && why.contains("handoff tool"), "{why}");
}

#[test]
fn a_dotted_tool_without_a_pack_is_a_problem() {
    let error = Catalog::builder().pack(globals(&["crm.get"])).build().unwrap_err();
    assert_eq!(error.problems()[0].code().as_str(), "tool-name-dot-without-pack");
}

#[test]
fn suggestions_are_near_visible_and_never_more_than_three() {
    let catalog = catalog([pack("a", &["search", "serch", "searches", "find", "seerch", "saerch"])]);
    let names = |tools: Vec<&Tool>| tools.iter().map(|tool| tool.canonical().to_string()).collect::<Vec<_>>();
    assert_eq!(names(catalog.suggest("searc", |_| true)), ["a.search", "a.seerch", "a.serch"]);
    assert_eq!(names(catalog.suggest("searc", |tool| tool.raw().as_str() == "seerch")), ["a.seerch"]);
    assert_eq!(names(catalog.suggest("b.find", |_| true)), ["a.find"]);
    assert!(catalog.suggest("nothing_like_it", |_| true).is_empty());
}

#[test]
fn a_call_reaches_only_what_was_declared() {
    let catalog = catalog([pack("a", &["x", "y"]), pack("b", &["z"])]);
    let declared = catalog.declare(["a.x", "z"]).unwrap();
    assert_eq!(declared.resolve("a.x").unwrap().canonical().as_str(), "a.x");
    assert_eq!(declared.resolve("x").unwrap().canonical().as_str(), "a.x");
    let error = declared.resolve("a.y").unwrap_err();
    assert_eq!(error.code().as_str(), "unknown-tool");
    assert!(!error.fix().contains("a.y"), "what was not declared is not shown: {}", error.fix());
}

#[test]
fn declared_names_that_mean_nothing_are_all_reported_when_the_agent_is_built() {
    let catalog = catalog([pack("a", &["x"]), pack("b", &["x"])]);
    let error = catalog.declare(["x", "nope", "c.*", "a.*"]).unwrap_err();
    let codes: Vec<_> = error.reports().iter().map(|report| report.code().as_str()).collect();
    assert_eq!(codes, ["ambiguous-tool", "tool-not-found", "matches-nothing"]);
}

#[test]
fn a_pack_with_too_many_tools_is_refused_whole() {
    let names: Vec<String> = (0..=Pack::MAX_TOOLS).map(|n| format!("t{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = Catalog::builder().pack(pack("a", &names)).build().unwrap_err();
    assert_eq!(error.problems()[0].code().as_str(), "pack-too-large");
}

/// Invariant: a broken or hostile server cannot decide whose a short name is by having its own tool refused.
#[test]
fn a_short_name_does_not_become_unique_because_another_owner_was_refused() {
    let catalog = Catalog::builder().pack(pack("a", &["x", "x"])).pack(pack("b", &["x", "y"])).build_partly();
    assert_eq!(found(&catalog, "x"), "ambiguous: b.x");
    assert_eq!(found(&catalog, "b.x"), "b.x");
    let catalog =
        Catalog::builder().pack(pack("a", &["x"])).pack(pack("a", &["z"])).pack(pack("b", &["x"])).build_partly();
    assert_eq!(found(&catalog, "x"), "ambiguous: b.x");
}

#[test]
fn problems_from_before_stay_when_a_pack_is_switched_off_or_replaced() {
    let partly =
        Catalog::builder().pack(pack("a", &["x"])).pack(pack("a", &["z"])).pack(pack("b", &["y"])).build_partly();
    assert_eq!(partly.problems().len(), 1);
    assert!(partly.with_enabled(&"b".parse().unwrap(), false).is_err());
    assert_eq!(partly.rebuild().build_partly().problems().len(), 1);
    let broken = Catalog::builder().pack(pack("a", &["x", "x"])).build_partly();
    assert!(broken.with_pack(pack("a", &["x"])).is_ok(), "a pack's own problems go with it");
}
