//! One table of the file: which keys it may have, what they hold, and what to say about a key that means nothing.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};
use toolmark_core::explain::Explain;

use super::{FromToml, Node, Reader, Refused};

/// A table that is being read.
pub(crate) struct Section<'t, 'r> {
    table: &'t DeTable<'t>,
    at: usize,
    path: String,
    refused: Vec<String>,
    reader: &'r mut Reader,
}

impl<'t, 'r> Section<'t, 'r> {
    /// Opens a table and refuses every key that is not in `known`.
    pub(crate) fn open(node: &Node<'t>, known: &'static [&'static str], reader: &'r mut Reader) -> Option<Self> {
        let DeValue::Table(table) = node.value else {
            node.expected("a table", reader);
            return None;
        };
        for (key, _) in in_order(table) {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                reader.refuse_with(key.span().start, || Refused::unknown_key(name, &node.path, known).report());
            }
        }
        Some(Self { table, at: node.at, path: node.path.clone(), refused: Vec::new(), reader })
    }

    /// The value of a key, or the default when it is absent or wrong; what is wrong was noted.
    pub(crate) fn field<T: FromToml>(&mut self, key: &str, default: impl FnOnce() -> T) -> T {
        let Some((_, value)) = self.table.iter().find(|(name, _)| name.get_ref() == key) else { return default() };
        let node = Node { value: value.get_ref(), at: value.span().start, path: below(&self.path, key) };
        match T::from_toml(&node, self.reader) {
            Some(read) => read,
            None => {
                self.refused.push(key.to_owned());
                default()
            }
        }
    }

    /// True when the table has this key and its value could be read.
    pub(crate) fn reads(&self, key: &str) -> bool {
        self.has(key) && !self.refused.iter().any(|refused| refused == key)
    }

    /// True when the table has this key, whatever it holds.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(name, _)| name.get_ref() == key)
    }

    /// The keys that lead here.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Notes a problem at one of the keys, or at the table itself.
    pub(crate) fn refuse(&mut self, key: Option<&str>, error: &dyn Explain) {
        self.refuse_at(key.as_slice(), error);
    }

    /// Notes a problem at a key of a table further down, or as near to it as there is a key.
    pub(crate) fn refuse_at(&mut self, keys: &[&str], error: &dyn Explain) {
        let (mut table, mut at) = (Some(self.table), self.at);
        for wanted in keys {
            let found = table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == wanted));
            let Some((name, value)) = found else { break };
            at = name.span().start;
            table = value.get_ref().as_table();
        }
        self.reader.refuse(at, error);
    }
}

/// A key and its value.
pub(crate) type TomlEntry<'t> = (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>);

/// The entries as they stand in the text.
pub(crate) fn in_order<'t>(table: &'t DeTable<'t>) -> Vec<TomlEntry<'t>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The path of a key in a table.
pub(crate) fn below(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let key = if plain { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Declares a table of the file: a struct whose fields are its keys. One declaration gives the type, its defaults, its reader and its
/// part of the schema, so that none of them can fall behind the others.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(check $check:path)? {
            $($(#[$field_meta:meta])* pub $field:ident : $type:ty $(= $default:expr)?,)*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
        $(#[$meta])*
        #[schemars(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::read::table!(@default $($default)?),)* }
            }
        }

        impl $crate::read::FromToml for $name {
            fn from_toml(node: &$crate::read::Node<'_>, reader: &mut $crate::read::Reader) -> Option<Self> {
                const KEYS: &[&str] = &[$(stringify!($field)),*];
                let mut section = $crate::read::Section::open(node, KEYS, reader)?;
                let read = Self { $($field: section.field(stringify!($field), || $crate::read::table!(@default $($default)?)),)* };
                $($check(&read, &mut section);)?
                Some(read)
            }
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
}
pub(crate) use table;
