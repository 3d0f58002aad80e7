use serde_json::json;

use super::*;
use crate::request::ToolChoice;
use crate::tool::{Computer, FileSearch, ToolSearch};

fn function_tool(name: &str) -> FunctionTool {
    FunctionTool::new(name, "d", json!({"type": "object"}))
}

fn bare(name: &str) -> WireTool {
    WireTool::Function(function_tool(name))
}

fn spaced(namespace: &str, name: &str, description: &str) -> WireTool {
    WireTool::Function(FunctionTool {
        namespace: Some(namespace.into()),
        namespace_description: Some(description.into()),
        ..function_tool(name)
    })
}

fn late(name: &str) -> WireTool {
    WireTool::Function(FunctionTool { defer_loading: true, ..function_tool(name) })
}

fn search() -> WireTool {
    WireTool::Hosted(HostedTool::ToolSearch(ToolSearch::default()))
}

fn category(tools: &[WireTool]) -> &'static str {
    wire_tools(tools, &[], "gpt-5").unwrap_err().category()
}

#[test]
fn a_namespace_stands_where_its_first_tool_stood() {
    let tools = [bare("a"), spaced("crm", "get", "n"), bare("b"), spaced("crm", "put", "n")];
    let wire = wire_tools(&tools, &[bare("transfer_to_x")], "gpt-5").unwrap();
    let names: Vec<_> = wire.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "crm", "b", "transfer_to_x"]);
    assert_eq!(wire.tools[1]["tools"].as_array().unwrap().len(), 2);
}

#[test]
fn tools_that_do_not_fit_together_are_refused() {
    assert_eq!(category(&[spaced("crm", "a", "x"), spaced("crm", "b", "y")]), "namespace_description_mismatch");
    assert_eq!(category(&[late("a")]), "tool_search_required");
    assert_eq!(category(&[bare("a"), search()]), "tool_search_without_surface");
    assert_eq!(category(&[late("a"), search(), search()]), "multiple_tool_search");
    assert_eq!(category(&[late("a"), late("a"), search()]), "duplicate_deferred_top_level");
    assert_eq!(category(&[spaced("crm", "crm", "")]), "reserved_synthetic_namespace");
    assert_eq!(category(&[bare("crm.get"), spaced("crm", "get", "")]), "ambiguous_qualified_name");
    let computer = || WireTool::Hosted(HostedTool::Computer(Computer::default()));
    assert_eq!(category(&[computer(), computer()]), "multiple_computers");
    let search = FileSearch { max_num_results: Some(51), ..FileSearch::default() };
    assert_eq!(category(&[WireTool::Hosted(HostedTool::FileSearch(search))]), "file_search_results");
}

#[test]
fn a_deferred_hosted_mcp_server_needs_a_search_too() {
    let server = json!({"server_label": "s", "defer_loading": true}).as_object().unwrap().clone();
    let server = WireTool::Hosted(HostedTool::Mcp { config: server });
    assert_eq!(category(std::slice::from_ref(&server)), "tool_search_required");
    let wire = wire_tools(&[server, search()], &[], "gpt-5").unwrap();
    assert_eq!(wire.tools[0], json!({"type": "mcp", "server_label": "s", "defer_loading": true}));
}

#[test]
fn only_the_preview_model_is_told_about_the_screen() {
    let computer = Computer { environment: Some("browser".into()), display: Some((800, 600)) };
    let tools = [WireTool::Hosted(HostedTool::Computer(computer))];
    assert_eq!(wire_tools(&tools, &[], "gpt-5.5").unwrap().tools, [json!({"type": "computer"})]);
    let preview = wire_tools(&tools, &[], "computer-use-preview-2025").unwrap();
    assert_eq!(preview.tools[0]["display_width"], 800);
    let blind = [WireTool::Hosted(HostedTool::Computer(Computer::default()))];
    assert!(wire_tools(&blind, &[], "computer-use-preview").is_err());
}

#[test]
fn results_of_a_file_search_are_asked_for_once() {
    let search = FileSearch { include_search_results: true, ..FileSearch::default() };
    let tool = WireTool::Hosted(HostedTool::FileSearch(search));
    let wire = wire_tools(&[tool.clone(), tool], &[], "gpt-5").unwrap();
    assert_eq!(wire.include, ["file_search_call.results"]);
}

#[test]
fn a_choice_names_what_can_be_called_and_nothing_else() {
    let tools = [bare("a"), spaced("crm", "get", ""), late("b"), search()];
    let choose = |name: &str| choice(&ToolChoice::Named(name.into()), &tools, "gpt-5");
    assert_eq!(choose("a").unwrap(), json!({"type": "function", "name": "a"}));
    for bad in ["get", "crm", "b", "tool_search", "nobody"] {
        assert!(choose(bad).is_err(), "{bad}");
    }
    let shell = [WireTool::Hosted(HostedTool::LocalShell)];
    let chosen = choice(&ToolChoice::Named("local_shell".into()), &shell, "gpt-5").unwrap();
    assert_eq!(chosen, json!({"type": "local_shell"}));
}
