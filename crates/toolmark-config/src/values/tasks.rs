//! The tasks that something allows: some by name, or all.

use super::Name;
use crate::read::{FromToml, Node, Reader};

/// Some tasks, or all of them and whatever belongs to none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// Written as `"*"`.
    All,
    /// These.
    Only(Vec<Name>),
}

impl Tasks {
    /// The tasks that are named.
    #[must_use]
    pub fn named(&self) -> &[Name] {
        match self {
            Self::All => &[],
            Self::Only(names) => names,
        }
    }
}

impl FromToml for Tasks {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node.value.as_str() {
            Some("*") => Some(Self::All),
            Some(_) => Name::from_toml(node, reader).map(|name| Self::Only(vec![name])),
            None => Vec::from_toml(node, reader).map(Self::Only),
        }
    }
}
