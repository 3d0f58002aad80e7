//! The kinds of values that a configuration is made of: times, sizes, rates, words, texts with variables, secrets.

mod duration;
mod entries;
mod localized;
mod log_filter;
mod model;
mod name;
mod rate;
mod redact;
mod refresh;
mod secret;
mod size;
mod span;
mod tasks;
mod template;
mod words;

pub use entries::{Entries, Key};
pub use localized::{Localized, Sentences};
pub use log_filter::{LogFilter, ParseLogFilterError};
pub use model::{ModelText, PROVIDERS};
pub use name::{Name, ParseNameError};
pub use rate::Rate;
pub use redact::Redact;
pub use refresh::Refresh;
pub use secret::Secret;
pub use size::Size;
pub use span::Span;
pub use tasks::Tasks;
pub use template::{Filled, Part, Template};
pub(crate) use template::{is_environment_name, is_variable};
pub(crate) use words::no_word;
pub use words::{
    Durability, Effort, Era, FirstUse, Grant, KeptBodies, ListMeta, LogFormat, OnTimeout, Transport, Trust,
};

#[cfg(test)]
mod tests;
