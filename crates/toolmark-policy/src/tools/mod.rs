//! Which tools a rule names: every spelling people write, settled when the policy is loaded, or refused.

mod arguments;
mod bind;
mod error;
mod spelling;
mod universe;

pub(crate) use arguments::UnknownArgument;
pub(crate) use error::BindError;
pub(crate) use universe::{ToolAt, Universe};

#[cfg(test)]
mod tests;
