//! Toolmark makes sure that the tool that runs is the tool that was meant.
//!
//! This is the crate an application depends on. It re-exports and adds no logic of its own.
//!
//! ```
//! use toolmark::prelude::*;
//!
//! let github = Document::new("github.json", r#"[{"name": "search"}, {"name": "create_issue"}]"#.to_owned());
//! let jira = Document::new("jira.json", r#"[{"name": "search"}]"#.to_owned());
//!
//! let mut reader = SnapshotReader::default();
//! reader.read(&github, "github");
//! reader.read(&jira, "jira");
//! let catalog = reader.finish().into_builder().build().expect("no two tools share a canonical name");
//!
//! // A name that one tool has is that tool; a name that two have is nobody's.
//! assert!(matches!(catalog.resolve("create_issue"), Resolution::Found(_)));
//! assert!(matches!(catalog.resolve("search"), Resolution::Ambiguous(_)));
//! assert!(matches!(catalog.resolve("jira.search"), Resolution::Found(_)));
//! ```
//!
//! A function becomes a tool, and a call of it goes through the same pipeline as every other ([`tools`]):
//!
//! ```
//! use toolmark::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let toolbox = Toolbox::builder().toolset(toolset! { add }.unwrap()).build();
//! let turn = toolbox.turn(TurnContext::new("assistant", RunContext::new())).await.unwrap();
//! let id = "call_1".parse().unwrap();
//! let called = turn.call(&ToolCall::new("add", &id, r#"{"a": 20, "b": 22}"#)).await;
//! assert_eq!(called.answer().unwrap().output.to_text(), "42");
//! # });
//! ```

pub use toolmark_agents as agents;
pub use toolmark_core::{
    approval, behavior, call, canonical, catalog, compat, definition, digest, display, document, drift, explain,
    exposure, instructions, json, lock, names, pack, problem, schema, severity, snapshot, text, time, tool, verdict,
};
pub use toolmark_lint as lint;
pub use toolmark_macros::{pack, tool, toolset};
pub use toolmark_mcp::toolset as mcp;
pub use toolmark_models as models;
pub use toolmark_policy as policy;
pub use toolmark_runtime as runtime;
pub use toolmark_runtime::{approve, tools};
#[cfg(feature = "store")]
pub use toolmark_store as store;
pub use {schemars, serde_json};

/// What expanded code needs. Not for people.
#[doc(hidden)]
pub mod __private {
    pub use toolmark_runtime::tools::private::*;
    pub use {schemars, serde};
}

/// What most programs need.
pub mod prelude {
    pub use toolmark_agents::{Agent, Handoff, RunOutcome, RunState, Runner};
    pub use toolmark_core::behavior::Behavior;
    pub use toolmark_core::catalog::{Catalog, Declared, Resolution};
    pub use toolmark_core::definition::Definition;
    pub use toolmark_core::document::Document;
    pub use toolmark_core::explain::{Code, Explain, Report};
    pub use toolmark_core::exposure::{ExposedTable, Mode, Profile, ProfileName, Published};
    pub use toolmark_core::names::{CanonicalName, PackName, RawName};
    pub use toolmark_core::pack::Pack;
    pub use toolmark_core::snapshot::{Snapshot, SnapshotReader};
    pub use toolmark_core::tool::{Source, Tool, ToolKind};
    pub use toolmark_macros::{tool, toolset};
    pub use toolmark_mcp::toolset::McpServer;
    pub use toolmark_runtime::tools::{
        Called, FunctionTool, Part, RunContext, ToolCall, ToolContext, ToolError, ToolOutput, Toolbox, Tools, Toolset,
        ToolsetExt, TurnContext,
    };
}

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The chapter on agents compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents.md")]
struct ChapterOnAgents;

/// The chapter on tools compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tools.md")]
struct ChapterOnTools;

/// The chapter on names compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/names.md")]
struct ChapterOnNames;
