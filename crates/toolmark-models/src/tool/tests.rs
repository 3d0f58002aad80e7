use serde_json::Map;

use super::*;
use crate::item::{Raw, Wire};
use crate::request::{ModelRequest, Settings};

#[test]
fn a_request_with_every_kind_of_tool_can_be_stored() {
    let hosted = [
        HostedTool::WebSearch(WebSearch::default()),
        HostedTool::FileSearch(FileSearch::default()),
        HostedTool::CodeInterpreter { config: Map::new() },
        HostedTool::ImageGeneration { config: Map::new() },
        HostedTool::Mcp { config: Map::new() },
        HostedTool::Computer(Computer { environment: Some("mac".into()), display: Some((1, 2)) }),
        HostedTool::Shell { environment: Some(Map::new()) },
        HostedTool::LocalShell,
        HostedTool::ApplyPatch,
        HostedTool::ToolSearch(ToolSearch::default()),
        HostedTool::ProgrammaticToolCalling,
        HostedTool::Other(Raw { wire: Wire::Anthropic, value: json!({"type": "x"}) }),
    ];
    let functions = [
        WireTool::Function(FunctionTool::new("f", "d", json!({}))),
        WireTool::Custom(CustomTool { name: "c".into(), ..CustomTool::default() }),
    ];
    let timeout = Some(std::time::Duration::from_millis(1_500));
    let request = ModelRequest {
        tools: functions.into_iter().chain(hosted.into_iter().map(WireTool::Hosted)).collect(),
        settings: Settings { timeout, ..Settings::default() },
        ..ModelRequest::of_text("x")
    };
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<ModelRequest>(&text).unwrap(), request);
}
