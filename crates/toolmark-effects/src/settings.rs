//! What an operator says about the arguments of tools: their languages, the places they may name, how much is read.

use std::collections::BTreeMap;

use crate::language::Language;

/// How arguments are analyzed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// What arguments are written in, by JSON pointer; `None` for an argument that holds no program whatever it looks like.
    pub languages: BTreeMap<String, Option<Language>>,
    /// The directories that paths may name. Without any, only places of the system and secrets are noticed.
    pub roots: Vec<String>,
    /// How much is read.
    pub limits: Limits,
}

/// Limits that keep every analysis short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest text that is read, in bytes.
    pub bytes: usize,
    /// How many items of an array are read.
    pub items: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 256 * 1024, items: 256 }
    }
}
