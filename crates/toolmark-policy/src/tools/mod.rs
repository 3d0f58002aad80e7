//! Which tools a rule names: every spelling people write, settled when the policy is loaded, or refused.

mod arguments;
mod bind;
mod spelling;
mod universe;

pub(crate) use arguments::UnknownArgument;
pub(crate) use bind::BindError;
pub(crate) use universe::{ToolAt, Universe};

#[cfg(test)]
mod tests;
