//! The arguments of a recorded call, taken out of JSON into the types of `compat`.

use serde_json::Value;
use toolmark_core::compat::{BuiltIn, FunctionTool, Handoff, Tool};
use toolmark_core::json::Json;
use toolmark_core::names::LookupKey;

use super::Refusal;

/// The input of a vector, with numbers as written and as `serde_json` has them.
pub(super) struct Input<'a> {
    exact: &'a Json<'a>,
    loose: Value,
}

impl<'a> Input<'a> {
    pub(super) fn of(input: &'a Json<'a>) -> Self {
        Self { exact: input, loose: input.to_value() }
    }

    /// An argument with its numbers as written.
    pub(super) fn exact(&self, key: &str) -> Result<&'a Json<'a>, Refusal> {
        self.exact.get(key).ok_or_else(|| missing(key))
    }

    /// An argument that may be left out.
    pub(super) fn optional(&self, key: &str) -> Option<&Value> {
        self.loose.get(key)
    }

    /// An argument that must be there, whatever it is.
    pub(super) fn value(&self, key: &str) -> Result<&Value, Refusal> {
        self.optional(key).ok_or_else(|| missing(key))
    }

    /// A string that must be there.
    pub(super) fn text(&self, key: &str) -> Result<&str, Refusal> {
        self.value(key)?.as_str().ok_or_else(|| unfit(key, "a string"))
    }

    /// A string, or nothing.
    pub(super) fn optional_text(&self, key: &str) -> Option<&str> {
        self.optional(key).and_then(Value::as_str)
    }

    /// A flag that must be there.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Refusal> {
        self.value(key)?.as_bool().ok_or_else(|| unfit(key, "a flag"))
    }

    pub(super) fn list(&self, key: &str) -> Result<&[Value], Refusal> {
        self.value(key)?.as_array().map(Vec::as_slice).ok_or_else(|| unfit(key, "a list"))
    }

    /// A lookup key; null and absent are none.
    pub(super) fn lookup_key(&self, key: &str) -> Result<Option<LookupKey>, Refusal> {
        match self.optional(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => lookup_key(value).map(Some).ok_or_else(|| unfit(key, "a lookup key")),
        }
    }

    pub(super) fn tool(&self, key: &str) -> Result<Tool, Refusal> {
        tool(self.value(key)?)
    }

    pub(super) fn tools(&self, key: &str) -> Result<Vec<Tool>, Refusal> {
        self.list(key)?.iter().map(tool).collect()
    }

    pub(super) fn handoffs(&self, key: &str) -> Result<Vec<Handoff>, Refusal> {
        self.list(key)?
            .iter()
            .map(|value| match tool(value)? {
                Tool::Handoff(handoff) => Ok(handoff),
                _ => Err(unfit(key, "a list of handoffs")),
            })
            .collect()
    }
}

pub(super) fn unfit(key: &str, wanted: &str) -> Refusal {
    Refusal::BadInput(format!("`{key}` is not {wanted}"))
}

fn missing(key: &str) -> Refusal {
    Refusal::BadInput(format!("`{key}` is missing"))
}

fn lookup_key(value: &Value) -> Option<LookupKey> {
    let parts: Vec<&str> = value.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    match parts.as_slice() {
        ["bare", name] => Some(LookupKey::Bare((*name).into())),
        ["namespaced", namespace, name] => Some(LookupKey::Namespaced((*namespace).into(), (*name).into())),
        ["deferred_top_level", name] => Some(LookupKey::DeferredTopLevel((*name).into())),
        _ => None,
    }
}

/// A tool as the vectors describe it. A name or namespace that is no string is as good as none.
fn tool(value: &Value) -> Result<Tool, Refusal> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    let kind = text("kind").ok_or_else(|| unfit("tool", "a tool with a `kind`"))?;
    Ok(match kind {
        "function" => {
            let tool = FunctionTool::new(name).in_namespace(text("namespace").unwrap_or_default());
            let deferred = value.get("defer_loading").and_then(Value::as_bool).unwrap_or(false);
            Tool::Function(if deferred { tool.deferred() } else { tool })
        }
        "agent_tool" => {
            Tool::Function(FunctionTool::of_agent(text("agent_name").unwrap_or_default(), text("tool_name")))
        }
        "handoff" => Tool::Handoff(match text("agent_name") {
            Some(agent) => Handoff::to_agent(agent, text("tool_name_override")),
            None => Handoff::new(text("tool_name").unwrap_or_default()),
        }),
        "custom" => Tool::Custom(name.into()),
        other => Tool::BuiltIn(built_in(other).ok_or_else(|| unfit("tool", &format!("of a known kind (`{other}`)")))?),
    })
}

fn built_in(kind: &str) -> Option<BuiltIn> {
    Some(match kind {
        "web_search" => BuiltIn::WebSearch,
        "file_search" => BuiltIn::FileSearch,
        "code_interpreter" => BuiltIn::CodeInterpreter,
        "image_generation" => BuiltIn::ImageGeneration,
        "hosted_mcp" => BuiltIn::HostedMcp,
        "computer" => BuiltIn::Computer,
        "shell" => BuiltIn::Shell,
        "local_shell" => BuiltIn::LocalShell,
        "apply_patch" => BuiltIn::ApplyPatch,
        "tool_search" => BuiltIn::ToolSearch,
        "programmatic" => BuiltIn::ProgrammaticToolCalling,
        _ => return None,
    })
}
