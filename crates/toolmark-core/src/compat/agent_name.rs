//! The tool names that are made of an agent's name: one underscore for every character that a function name cannot hold.
//!
//! Many names come out the same. That is found by [`super::resolve_tool_name_collisions`], not here.

use super::python::is_space;

/// A name made of another, and whether so much was replaced that the SDK warns about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedName {
    name: String,
    warned: bool,
}

impl DerivedName {
    /// The name. It may be empty, or underscores only.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True when characters were replaced that a reader would miss. A change of case never counts.
    #[must_use]
    pub fn warned(&self) -> bool {
        self.warned
    }
}

/// The name of an agent that is used as a tool.
#[must_use]
pub fn agent_tool_name(agent: &str) -> DerivedName {
    DerivedName { name: function_style(agent), warned: !agent.chars().all(is_kept) }
}

/// The name of a handoff to an agent. White space is replaced without a warning.
#[must_use]
pub fn handoff_name(agent: &str) -> DerivedName {
    DerivedName {
        name: format!("transfer_to_{}", function_style(agent)),
        warned: !agent.chars().all(|character| is_kept(character) || is_space(character)),
    }
}

fn function_style(text: &str) -> String {
    text.chars().map(|character| if is_kept(character) { character.to_ascii_lowercase() } else { '_' }).collect()
}

fn is_kept(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
