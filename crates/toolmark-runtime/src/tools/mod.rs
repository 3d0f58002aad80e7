//! Tools that a program offers: functions, and whatever else can be called like one.
//!
//! A [`FunctionTool`] is what is said of a tool and what runs when it is called. [`Toolset`]s list tools for one turn of an agent; small
//! wrappers filter, rename or guard them. A [`Toolbox`] makes a workspace of all that is listed, and a [`Turn`] takes calls through the
//! pipeline. Nothing else reaches a body: there is no function here that runs a tool without it.

mod answer;
mod arguments;
mod builder;
mod call;
mod condition;
mod context;
mod error;
mod function;
mod grammar;
mod guardrail;
mod listing;
mod names;
mod output;
mod perform;
mod returned;
mod schema;
mod toolbox;
mod toolset;
mod turn;
mod wrap;

pub use answer::{Answer, Called, Ended};
pub use arguments::Arguments;
pub use builder::{BuildToolError, ToolBuilder};
pub use call::{Shown, ToolCall};
pub use condition::Condition;
pub use context::{RunContext, ToolContext, TurnContext, Usage};
pub use error::{ToolError, ToolErrorKind};
pub use function::{FunctionTool, Namespace, OnError, OnTimeout, Says, Strict};
pub use grammar::Grammar;
pub use guardrail::{Guarded, InputGuardrail, OutputGuardrail};
pub use listing::OpenTurnError;
pub use names::DisplayNames;
pub use output::{Detail, FilePart, ImagePart, Part, ToolOutput};
pub use perform::{NoHooks, Raised, ToolHooks};
pub use toolbox::{Toolbox, ToolboxBuilder};
pub use toolset::{BuildToolsError, ListToolsError, Tools, ToolsBuilder, Toolset};
pub use turn::{Turn, UnknownCall};
pub use wrap::{ApprovalRequired, Combined, Deferred, EnabledIf, Filtered, Flat, Prefixed, Renamed, ToolsetExt};

/// What `#[tool]` needs. Not for people.
#[doc(hidden)]
pub mod private {
    pub use super::condition::private::*;
    pub use super::returned::*;
}
