//! Which tools does the page bring? A pack of their own, judged like any other; what they do, the page does.

use serde_json::Value;
use toolmark_agents::answered_outside;
use toolmark_agui::input::FrontendTool;
use toolmark_core::text::visible;
use toolmark_core::tool::Source;
use toolmark_runtime::tools::Tools;

use super::cards::GatewayCards;
use super::error::AguiError;
use crate::snapshot::Snapshot;

/// The pack of what the page brings.
pub(super) const PACK: &str = "frontend";

/// The tools as a pack.
pub(super) fn pack(snapshot: &Snapshot, tools: &[FrontendTool]) -> Result<Option<Tools>, AguiError> {
    if tools.is_empty() {
        return Ok(None);
    }
    if !snapshot.config().agui.frontend_tools {
        return Err(AguiError::FrontendOff);
    }
    if snapshot.workspace().catalog().pack(PACK).is_some() {
        let owner = format!("the pack `{PACK}` of the configuration");
        let name = tools.first().map(|tool| visible(&tool.name, 128)).unwrap_or_default();
        return Err(AguiError::FrontendCollision { name, owner });
    }
    for (at, tool) in tools.iter().enumerate() {
        if tools.iter().take(at).any(|other| other.name == tool.name) {
            let (name, owner) = (visible(&tool.name, 128), "the page itself".to_owned());
            return Err(AguiError::FrontendCollision { name, owner });
        }
    }
    let builder = Tools::pack(PACK)
        .description("What the page in front of the user can do.")
        .source(Source::new("agui:frontend"));
    let built = tools.iter().fold(builder, |builder, tool| {
        let parameters = match &tool.parameters {
            Value::Object(_) => tool.parameters.clone(),
            _ => serde_json::json!({"type": "object"}),
        };
        builder.tool(answered_outside(&tool.name, &tool.description, parameters))
    });
    built.build().map(Some).map_err(|error| AguiError::FrontendTools(visible(&error.to_string(), 400)))
}

/// Refuses a tool of the page that has the name of another.
pub(super) fn check(cards: &GatewayCards, tools: &[FrontendTool]) -> Result<(), AguiError> {
    for tool in tools {
        if let Some(owner) = cards.owner(&tool.name) {
            return Err(AguiError::FrontendCollision { name: visible(&tool.name, 128), owner });
        }
    }
    Ok(())
}
