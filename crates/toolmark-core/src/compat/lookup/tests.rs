use super::*;

fn bare(name: &str) -> Tool {
    Tool::Function(FunctionTool::new(name))
}

fn inside(namespace: &str, name: &str) -> Tool {
    Tool::Function(FunctionTool::new(name).in_namespace(namespace))
}

fn late(name: &str) -> Tool {
    Tool::Function(FunctionTool::new(name).deferred())
}

fn category(tools: &[Tool]) -> &'static str {
    validate_lookup_configuration(tools).map_or_else(|error| error.category(), |()| "ok")
}

#[test]
fn a_namespace_may_not_repeat_the_name_of_a_tool_in_it() {
    assert_eq!(category(&[inside("k", "k")]), "reserved_synthetic_namespace");
}

#[test]
fn two_deferred_tools_may_not_share_a_name() {
    assert_eq!(category(&[late("k"), late("k")]), "duplicate_deferred_top_level");
    assert_eq!(category(&[late("k"), bare("k")]), "ok");
}

#[test]
fn a_dotted_name_and_a_namespace_may_not_read_the_same() {
    assert_eq!(category(&[bare("crm.get"), inside("crm", "get")]), "ambiguous_qualified_name");
    assert_eq!(category(&[late("crm.get"), inside("crm", "get")]), "ambiguous_qualified_name");
    assert_eq!(category(&[inside("crm", "get"), inside("crm", "get")]), "ambiguous_qualified_name");
    assert_eq!(category(&[bare("crm.get"), bare("crm.get")]), "ok");
}

#[test]
fn tools_without_a_name_or_without_a_schema_take_no_part() {
    let tools = [bare(""), bare(""), Tool::Custom("k".into()), late("k"), Tool::Custom("k".into())];
    assert_eq!(category(&tools), "ok");
}

#[test]
fn the_last_definition_wins_and_keys_are_sorted_by_kind() {
    let map = build_lookup_map(&[bare("k"), inside("a", "k"), late("k"), bare("k")]).expect("valid");
    let expected = [
        (LookupKey::Bare("k".into()), 3),
        (LookupKey::DeferredTopLevel("k".into()), 2),
        (LookupKey::Namespaced("a".into(), "k".into()), 1),
    ];
    assert_eq!(map, expected);
}
