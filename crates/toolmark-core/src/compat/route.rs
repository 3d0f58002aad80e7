//! What one call of a model leads to: a function, a handoff, a patch of files, or nothing. Exact keys only; nothing is guessed.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::lookup::{LookupConfigurationError, build_lookup_map};
use super::naming::is_apply_patch_name;
use super::tool::{BuiltIn, Handoff, Tool};
use super::wire::WireName;
use crate::explain::{Code, Explain, facts};
use crate::names::LookupKey;
use crate::text::visible;

/// Where the calls of one turn lead.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    functions: HashMap<LookupKey, usize>,
    handoffs: HashMap<Box<str>, usize>,
    patches: Option<usize>,
}

/// Where one call leads, as a position in the list that it was found in. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To a function tool.
    Function(usize),
    /// To another agent.
    Handoff(usize),
    /// To the tool that patches files.
    ApplyPatch(usize),
}

/// A call that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// There is no such tool.
    #[error("the call of `{called}` leads to no tool")]
    NotFound {
        /// The qualified name in the call.
        called: String,
    },
    /// It looks like a patch of files, and there is no tool for that.
    #[error("the call of `{called}` is one that patches files, and there is no tool for that")]
    NoPatchTool {
        /// The name in the call.
        called: String,
    },
}

impl Routes {
    /// The routes to these. Of several with one key, the last counts; whether there may be several is decided by
    /// [`super::resolve_tool_name_collisions`].
    ///
    /// # Errors
    /// [`LookupConfigurationError`] when the tools cannot be told apart.
    pub fn new(tools: &[Tool], handoffs: &[Handoff]) -> Result<Self, LookupConfigurationError> {
        let functions = build_lookup_map(tools)?.into_iter().collect();
        let named = handoffs.iter().enumerate();
        let handoffs = named.filter_map(|(index, handoff)| Some((handoff.tool_name()?.into(), index))).collect();
        let patches = tools.iter().position(|tool| *tool == Tool::BuiltIn(BuiltIn::ApplyPatch));
        Ok(Self { functions, handoffs, patches })
    }

    /// Where a call leads. A call in a namespace never leads to a handoff, and one without never into a namespace.
    ///
    /// # Errors
    /// [`RouteError`] when it leads nowhere.
    pub fn route(&self, call: WireName<'_>) -> Result<Route, RouteError> {
        let function = call.lookup_key().and_then(|key| self.functions.get(&key).copied());
        // A name that says that it patches files is believed, unless it is exactly a function's.
        let patch_tool = self.patches.map(|_| BuiltIn::ApplyPatch.runtime_name());
        if function.is_none() && is_apply_patch_name(call.name(), patch_tool) {
            let called = || visible(call.name().unwrap_or_default(), 200);
            return self.patches.map(Route::ApplyPatch).ok_or_else(|| RouteError::NoPatchTool { called: called() });
        }
        let handoff = call.name().filter(|_| call.namespace().is_none()).and_then(|name| self.handoffs.get(name));
        match (handoff, function) {
            (Some(handoff), _) => Ok(Route::Handoff(*handoff)),
            (None, Some(function)) => Ok(Route::Function(function)),
            (None, None) => {
                let called = call.qualified_name();
                Err(RouteError::NotFound { called: visible(called.as_ref().map_or("", |name| name.as_str()), 200) })
            }
        }
    }
}

impl RouteError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "tool_not_found",
            Self::NoPatchTool { .. } => "apply_patch_missing",
        }
    }

    fn called(&self) -> &str {
        match self {
            Self::NotFound { called } | Self::NoPatchTool { called } => called,
        }
    }
}

impl Explain for RouteError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } => Code::new("compat-tool-not-found"),
            Self::NoPatchTool { .. } => Code::new("compat-no-patch-tool"),
        }
    }

    fn why(&self) -> String {
        "a tool with a similar name, or in another namespace, is not the tool that was called".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::NotFound { .. } => {
                "let the model call one of the tools that it was given, by exactly that name".into()
            }
            Self::NoPatchTool { .. } => {
                "give the agent a tool that patches files, or a function of exactly that name".into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("called", self.called().into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::FunctionTool;

    fn routes() -> Routes {
        let tools = [
            Tool::Function(FunctionTool::new("list")),
            Tool::Function(FunctionTool::new("list").in_namespace("crm")),
            Tool::Function(FunctionTool::new("late").deferred()),
        ];
        Routes::new(&tools, &[Handoff::new("list"), Handoff::to_agent("Billing Agent", None)]).unwrap()
    }

    fn route(name: &str, namespace: Option<&str>) -> Result<Route, &'static str> {
        routes().route(WireName::new(Some(name), namespace)).map_err(|error| error.category())
    }

    #[test]
    fn a_handoff_comes_before_a_function_and_only_without_a_namespace() {
        assert_eq!(route("list", None), Ok(Route::Handoff(0)));
        assert_eq!(route("list", Some("")), Ok(Route::Handoff(0)));
        assert_eq!(route("list", Some("crm")), Ok(Route::Function(1)));
        assert_eq!(route("transfer_to_billing_agent", None), Ok(Route::Handoff(1)));
        assert_eq!(route("transfer_to_billing_agent", Some("crm")), Err("tool_not_found"));
    }

    #[test]
    fn a_deferred_tool_is_reached_by_its_name_as_namespace_only() {
        assert_eq!(route("late", Some("late")), Ok(Route::Function(2)));
        assert_eq!(route("late", None), Err("tool_not_found"));
    }

    #[test]
    fn a_name_that_begins_like_a_patch_needs_a_tool_for_patches() {
        assert_eq!(route(" Apply_Patch_v2", None), Err("apply_patch_missing"));
        let patch = Routes::new(&[Tool::BuiltIn(BuiltIn::ApplyPatch)], &[Handoff::new("apply_patch_team")]).unwrap();
        assert_eq!(patch.route(WireName::new(Some("apply_patch_team"), None)), Ok(Route::ApplyPatch(0)));
    }
}
