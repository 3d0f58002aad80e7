//! What is said about colliding names: the SDK's own lines, which logs are searched for, and Toolmark's explanation.

use serde_json::{Map, Value};

use super::{Collision, CollisionKind, ResolveCollisionsError};
use crate::compat::python::repr;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

impl Collision {
    /// The slug under which recorded vectors file it.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self.kind {
            CollisionKind::Tools => "collision_function_tools",
            CollisionKind::Handoffs => "collision_handoffs",
            CollisionKind::ToolAndHandoff => "collision_tool_and_handoff",
            CollisionKind::DerivedTools(_) => "collision_agent_tools_derived",
            CollisionKind::DerivedHandoffs(_) => "collision_handoffs_derived",
            CollisionKind::DerivedRouting(_) => "collision_agent_routing_derived",
        }
    }

    /// The line that the SDK logs, word for word, so that programs which look for it still find it.
    #[must_use]
    pub fn warning(&self) -> String {
        let name = &self.name;
        let (what, agents, noun, option) = match &self.kind {
            CollisionKind::Tools => {
                return format!(
                    "Ambiguous function tool configuration: the tool name `{name}` is used by multiple tools. Assign a \
                     unique routed name to every colliding function tool with `name_override=`, `tool_name=`, or a \
                     namespace."
                );
            }
            CollisionKind::Handoffs => {
                return format!(
                    "Ambiguous handoff configuration: the handoff tool name `{name}` is used by multiple handoffs. Pass a \
                     unique `tool_name_override=` to each handoff."
                );
            }
            CollisionKind::ToolAndHandoff => {
                return format!(
                    "Ambiguous tool routing configuration: the tool name `{name}` is used by both a function tool and a \
                     handoff. Assign a unique routed name to every colliding function tool and handoff with \
                     `name_override=`, `tool_name=`, `tool_name_override=`, or a namespace."
                );
            }
            CollisionKind::DerivedTools(agents) => ("agent tool", agents, "tool name", "`tool_name=`"),
            CollisionKind::DerivedHandoffs(agents) => ("handoff", agents, "handoff tool name", "`tool_name_override=`"),
            CollisionKind::DerivedRouting(agents) => {
                ("agent routing", agents, "tool name", "`tool_name=` or `tool_name_override=`")
            }
        };
        let [first, second] = agents.each_ref().map(|agent| repr(agent));
        format!(
            "Ambiguous {what} configuration: agents {first} and {second} both derive the {noun} `{name}`. Pass an explicit \
             {option} to one of them."
        )
    }
}

impl ResolveCollisionsError {
    /// The slug under which recorded vectors file this error: that of the first collision.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::Configuration(error) => error.category(),
            Self::Collisions(all) => all.first().map_or("", Collision::category),
        }
    }
}

impl Explain for ResolveCollisionsError {
    fn code(&self) -> Code {
        match self {
            Self::Configuration(error) => error.code(),
            Self::Collisions(_) => Code::new("compat-name-collision"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Configuration(error) => error.why(),
            Self::Collisions(_) => {
                "only one of them can be reached by its name; the others would be dropped without the model knowing"
                    .into()
            }
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Configuration(error) => error.fix(),
            Self::Collisions(all) => all.iter().map(advice).collect::<Vec<_>>().join("\n"),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Configuration(error) => error.facts(),
            Self::Collisions(all) => {
                let all = all.iter().map(|one| {
                    Value::Object(facts([
                        ("name", visible(one.name(), 80).into()),
                        ("category", one.category().into()),
                    ]))
                });
                facts([("collisions", all.collect())])
            }
        }
    }
}

/// One line for all of the names.
pub(super) fn several(all: &[Collision]) -> String {
    let names: Vec<String> = all.iter().map(|one| format!("`{}`", visible(one.name(), 80))).collect();
    let verb = if names.len() == 1 { "is a name" } else { "are names" };
    format!("{} {verb} of more than one tool or handoff", names.join(", "))
}

fn advice(collision: &Collision) -> String {
    let name = visible(collision.name(), 80);
    match collision.kind() {
        CollisionKind::Tools => format!("rename all but one of the tools named `{name}`, or put them into namespaces"),
        CollisionKind::Handoffs => format!("give all but one of the handoffs named `{name}` a tool name of its own"),
        CollisionKind::ToolAndHandoff => format!("rename the tool or the handoff named `{name}`"),
        CollisionKind::DerivedTools([first, second])
        | CollisionKind::DerivedHandoffs([first, second])
        | CollisionKind::DerivedRouting([first, second]) => format!(
            "give the agent `{}` or the agent `{}` an explicit tool name: both come out as `{name}`",
            visible(first, 80),
            visible(second, 80)
        ),
    }
}
