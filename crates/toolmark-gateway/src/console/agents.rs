//! `GET /api/agents`: the agents of the configuration, the tools that their names mean, and where to talk to them.

use serde_json::{Value, json};
use toolmark_config::values::Name;
use toolmark_core::explain::Explain as _;
use toolmark_core::text::visible;

use super::{Asked, Console};
use crate::agents::{running, tools_of};

/// How many tools are listed of one agent.
const TOOLS: usize = 500;

impl Console {
    pub(super) fn agents(&self, asked: &Asked) -> Value {
        let look = &asked.look;
        let (workspace, config) = (look.snapshot.workspace(), look.snapshot.config());
        let catalog = workspace.catalog();
        let (table, _) = running(catalog, config);
        let agents = config.agents.iter().map(|(name, agent)| {
            let (mut tools, mut problems) = (Vec::new(), Vec::new());
            for written in &agent.tools {
                match tools_of(catalog, &table, name.as_str(), std::slice::from_ref(written)) {
                    Ok(meant) => {
                        for canonical in meant.iter().flat_map(|meant| &meant.tools).take(TOOLS) {
                            let known = look.find(canonical.as_str()).map(|tool| workspace.known(tool));
                            let behavior = known.as_ref().and_then(toolmark_core::behavior::KnownBehavior::behavior);
                            tools.push(json!({
                                "written": visible(written, 200),
                                "tool": canonical,
                                "shown": look.canonical(canonical.as_str()),
                                "behavior": behavior.map(|behavior| behavior.to_string()),
                            }));
                        }
                    }
                    Err(errors) => problems.extend(errors.iter().map(|error| error.report().to_json())),
                }
            }
            let why = problems.first().and_then(|problem| problem.get("what")).cloned();
            json!({
                "name": name.as_str(),
                "shown": look.agent(name.as_str()),
                "description": agent.description,
                "model": agent.model.as_ref().map(ToString::to_string),
                "task": agent.task.as_ref().map(Name::as_str),
                "handoffs": agent.handoffs.iter().map(Name::as_str).collect::<Vec<_>>(),
                "agui": config.agui.enabled.then(|| format!("/agui/{name}")),
                "usable": problems.is_empty(),
                "why": why,
                "tools": tools,
                "problems": problems,
            })
        });
        json!({ "agents": agents.collect::<Vec<_>>() })
    }
}
