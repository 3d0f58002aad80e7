use super::*;
use crate::compat::FunctionTool;
use crate::explain::Explain;

fn bare(name: &str) -> Tool {
    Tool::Function(FunctionTool::new(name))
}

fn agent(name: &str) -> Tool {
    Tool::Function(FunctionTool::of_agent(name, None))
}

fn warned(tools: &[Tool], handoffs: &[Handoff]) -> ResolvedCollisions {
    resolve_tool_name_collisions(tools, handoffs, CollisionPolicy::Warn).expect("valid")
}

#[test]
fn the_last_tool_wins_and_the_last_handoff_beats_every_tool() {
    let resolved = warned(&[bare("k"), bare("k")], &[]);
    assert_eq!(resolved.tools(), [1]);
    let resolved = warned(&[bare("k"), bare("z")], &[Handoff::new("k"), Handoff::new("k")]);
    assert_eq!((resolved.tools(), resolved.handoffs()), (&[1][..], &[1][..]));
}

#[test]
fn namespaced_deferred_custom_and_nameless_entries_never_collide() {
    let tools = [
        bare("k"),
        Tool::Function(FunctionTool::new("k").in_namespace("a")),
        Tool::Function(FunctionTool::new("k").deferred()),
        Tool::Custom("k".into()),
        bare(""),
        bare(""),
    ];
    let resolved = warned(&tools, &[Handoff::new(""), Handoff::new("")]);
    assert_eq!((resolved.tools().len(), resolved.handoffs().len()), (6, 2));
    assert!(resolved.warnings().is_empty());
}

#[test]
fn two_agents_whose_names_come_out_the_same_are_named() {
    let resolved = warned(&[agent("Billing Agent"), agent("billing-agent")], &[]);
    assert_eq!(resolved.warnings()[0].category(), "collision_agent_tools_derived");
    assert!(resolved.warnings()[0].warning().contains("agents 'Billing Agent' and 'billing-agent' both derive"));
    let mixed = warned(&[agent("transfer to x")], &[Handoff::to_agent("x", None)]);
    assert_eq!(mixed.warnings()[0].category(), "collision_agent_routing_derived");
}

#[test]
fn the_same_agent_twice_and_three_agents_are_plain_collisions() {
    let category = |tools: &[Tool]| warned(tools, &[]).warnings()[0].category();
    assert_eq!(category(&[agent("a b"), agent("a b")]), "collision_function_tools");
    assert_eq!(category(&[agent("a b"), agent("a-b"), agent("a.b")]), "collision_function_tools");
    assert_eq!(category(&[agent("a b"), bare("a_b")]), "collision_function_tools");
}

#[test]
fn an_error_names_every_collision_and_is_filed_under_the_first() {
    let tools = [bare("a"), bare("b"), bare("b"), bare("a")];
    let error =
        resolve_tool_name_collisions(&tools, &[Handoff::new("a")], CollisionPolicy::Error).expect_err("refused");
    assert_eq!(error.category(), "collision_tool_and_handoff");
    assert_eq!(error.to_string(), "`a`, `b` are names of more than one tool or handoff");
    assert_eq!(error.code().as_str(), "compat-name-collision");
}
