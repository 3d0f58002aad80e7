//! Arguments → facts: what a call would do, read from what it carries. Pure, bounded, never a guess.

mod analyze;
mod analyzer;
mod cache;
pub mod carriers;
pub mod code;
pub mod cypher;
mod dispatch;
pub mod graphql;
pub mod http;
pub mod kubernetes;
pub mod language;
pub mod mongo;
mod options;
pub mod paths;
pub mod redis;
pub mod settings;
pub mod shell;
pub mod sql;

pub use analyze::{analyze, analyze_with};
pub use analyzer::Analyzer;
pub use cache::{CacheLimits, EffectCache, analyze_cached};
