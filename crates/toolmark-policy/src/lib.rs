//! Rules and Cedar policies → verdicts. The only crate that knows Cedar.
//!
//! A [`PolicyConfig`] is loaded against a catalog: every spelling of a tool is settled on an identity, and whatever names nothing,
//! means two things or cannot be evaluated is refused, everything at once. The [`Policy`] is then asked about calls. It answers with
//! reasons to ask or deny and with the rules that allow; the gate weighs them against the defaults.
//!
//! Pure: no async, no I/O, no clock. Adding a rule never weakens what is decided.
//!
//! ```
//! use serde_json::json;
//! use toolmark_core::behavior::KnownBehavior;
//! use toolmark_core::document::Document;
//! use toolmark_core::facts::Facts;
//! use toolmark_core::snapshot::Snapshot;
//! use toolmark_core::verdict::Decision;
//! use toolmark_policy::{Caller, Policy, PolicyConfig, Request, Rule};
//!
//! let tools = r#"[{"name": "merge", "inputSchema": {"type": "object", "properties": {"base": {"type": "string"}}}}]"#;
//! let catalog = Snapshot::of(&Document::new("tools.json", tools.into()), "github").into_builder().build()?;
//!
//! let rule = Rule::builder(Decision::Ask).id("main").tool("mcp__github__merge").argument("base", "main").build()?;
//! let policy = Policy::load(&PolicyConfig::new().rule(rule), &catalog)?;
//!
//! let tool = catalog.find("github.merge", |_| true)?;
//! let answer = policy.judge(&Request {
//!     tool,
//!     behavior: &KnownBehavior::of(tool.definition(), None),
//!     facts: &Facts::default(),
//!     arguments: &json!({"base": "main"}),
//!     task: None,
//!     caller: Caller::new("alice"),
//! });
//! assert_eq!(answer.decision(), Decision::Ask);
//! assert_eq!(answer.reasons[0].message, "rule `main` asks before `github.merge`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod cedar;
mod config;
mod error;
pub mod pattern;
mod plan;
mod policy;
mod request;
mod rule;
#[cfg(test)]
mod testing;
mod tools;
mod version;

pub use answer::{Author, Named, Open, Permission, PolicyAnswer};
pub use cedar::{CedarDefault, CedarText, ParseCedarDefaultError, SCHEMA};
pub use config::{PolicyConfig, PolicySettings};
pub use error::LoadPolicyError;
pub use policy::{Policy, SettledTool};
pub use request::{Caller, Request};
pub use rule::{BuildRuleError, OneOrMany, Patience, Rule, RuleBuilder, RuleConfig};
pub use toolmark_core::gate::{ParsePresetError, Preset};
pub use version::PolicyVersion;
