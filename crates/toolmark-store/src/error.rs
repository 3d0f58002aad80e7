//! What a database can fail at, sorted by what a person can do about it.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::location::Location;

/// Why the store could not do what was asked. Nothing of what was asked has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// None where whoever hears of it is not to know.
    place: Option<String>,
    /// It is a database of a server, not a file.
    served: bool,
    fault: Fault,
    detail: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file cannot be opened or created, or the database cannot be reached.
    Unreachable,
    /// The file is something else.
    NotADatabase,
    /// It is a database, but of another program.
    Foreign,
    /// It was written by a newer version.
    Newer {
        /// The version in the file.
        found: i64,
        /// The newest version this program reads.
        known: i64,
    },
    /// It may be read but not written.
    ReadOnly,
    /// The disk, or the size that the store may have, is used up.
    Full,
    /// Another program holds it for longer than we wait.
    Busy,
    /// Its structure is broken.
    Damaged,
    /// A row holds what no version of this program writes.
    UnreadableRow,
    /// The store was closed.
    Closed,
    /// Reading or writing failed otherwise.
    Failed,
}

impl StoreError {
    /// A failure at a place, with the words of whoever reported it.
    #[must_use]
    pub fn new(place: &Location, fault: Fault, detail: &str) -> Self {
        let served = matches!(place, Location::Postgres(_));
        Self { place: Some(place.to_string()), served, fault, detail: visible(detail, 300) }
    }

    /// The same for whoever calls over the network: it says neither where the store is nor what the database said.
    #[must_use]
    pub fn for_callers(&self) -> Self {
        Self { place: None, served: self.served, fault: self.fault, detail: String::new() }
    }

    /// The kind of failure.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Whether the same request may succeed when it is made again a little later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self.fault, Fault::Busy | Fault::Full | Fault::ReadOnly | Fault::Failed | Fault::Unreachable)
    }
}

impl StoreError {
    fn fix_of_a_server(&self) -> &'static str {
        match self.fault {
            Fault::Unreachable => {
                "check that PostgreSQL runs there, and the user, the password and the name of the database"
            }
            Fault::NotADatabase | Fault::Foreign => {
                "give Toolmark a database of its own: `createdb toolmark`, or a schema: `?options[search_path]=toolmark`"
            }
            Fault::Newer { .. } => "use the newer Toolmark, or another database",
            Fault::ReadOnly => "connect to the server that may be written, as a user who owns the database",
            Fault::Full => "make room on the disk of the server, then try again",
            Fault::Busy => "look in `pg_stat_activity` for who holds a lock, or allow more connections, then try again",
            Fault::Damaged => "restore the database from a backup; keep the damaged one to look at",
            Fault::UnreadableRow => "restore the database from a backup, and find out who may write it",
            Fault::Closed => "start Toolmark again",
            Fault::Failed => "read the words of the database at the end of the message, then try again",
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = match (&self.place, self.fault) {
            (Some(place), Fault::NotADatabase | Fault::Foreign) => format!("`{place}`"),
            (Some(place), _) => format!("the store `{place}`"),
            (None, _) => "the store".to_owned(),
        };
        match self.fault {
            Fault::Unreachable => write!(f, "{store} cannot be opened")?,
            Fault::NotADatabase => write!(f, "{store} is not a database")?,
            Fault::Foreign => write!(f, "{store} is a database of another program")?,
            Fault::Newer { found, known } => {
                write!(f, "{store} has version {found}, and this program reads up to {known}")?;
            }
            Fault::ReadOnly => write!(f, "{store} may not be written")?,
            Fault::Full => write!(f, "there is no room left for {store}")?,
            Fault::Busy => write!(f, "{store} is held by another program")?,
            Fault::Damaged => write!(f, "{store} is damaged")?,
            Fault::UnreadableRow => write!(f, "{store} holds a row that cannot be read")?,
            Fault::Closed => write!(f, "{store} is closed")?,
            Fault::Failed => write!(f, "{store} failed")?,
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for StoreError {}

impl Explain for StoreError {
    fn code(&self) -> Code {
        match self.fault {
            Fault::Unreachable => Code::new("store-unreachable"),
            Fault::NotADatabase => Code::new("store-not-a-database"),
            Fault::Foreign => Code::new("store-foreign"),
            Fault::Newer { .. } => Code::new("store-newer"),
            Fault::ReadOnly => Code::new("store-read-only"),
            Fault::Full => Code::new("store-full"),
            Fault::Busy => Code::new("store-busy"),
            Fault::Damaged => Code::new("store-damaged"),
            Fault::UnreadableRow => Code::new("store-row-unreadable"),
            Fault::Closed => Code::new("store-closed"),
            Fault::Failed => Code::new("store-failed"),
        }
    }

    fn why(&self) -> String {
        match self.fault {
            Fault::Unreachable => "without its store Toolmark would forget names, tokens and what was called",
            Fault::NotADatabase | Fault::Foreign => "it belongs to somebody else; nothing in it was changed",
            Fault::Newer { .. } => "a newer format may hold conditions that this program would overlook",
            Fault::ReadOnly => "what happens from now on could not be recorded",
            Fault::Full => "a record that cannot be written must not be reported as written",
            Fault::Busy => "writing beside the other program could lose what either of them wrote",
            Fault::Damaged => "what a damaged file says about names, tokens and calls cannot be relied on",
            Fault::UnreadableRow => "a value that was changed by hand must not be guessed at",
            Fault::Closed => "nothing is kept once the store has written its last record",
            Fault::Failed => "what was asked for has not been kept, and is not reported as if it were",
        }
        .into()
    }

    fn fix(&self) -> String {
        if self.place.is_none() {
            return "try again later, or tell whoever runs the gateway: its log names the store".into();
        }
        if self.served {
            return self.fix_of_a_server().into();
        }
        match self.fault {
            Fault::Unreachable => {
                "check that the folder exists and is yours, or choose another: `--store ./toolmark.db`"
            }
            Fault::NotADatabase | Fault::Foreign => "choose another file: `--store ./toolmark.db`",
            Fault::Newer { .. } => "use the newer Toolmark, or another file: `--store ./toolmark.db`",
            Fault::ReadOnly => "make the file and its folder writable: `chmod u+w`, or choose another with `--store`",
            Fault::Full => "make room on the disk, or raise the limit of the store, then try again",
            Fault::Busy => "end the program that holds it, or give each its own file with `--store`",
            Fault::Damaged => "restore the file from a backup; keep the damaged one to look at",
            Fault::UnreadableRow => "restore the file from a backup, and find out who may write it",
            Fault::Closed => "start Toolmark again",
            Fault::Failed => "read the words of the database at the end of the message, then try again",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = match &self.place {
            Some(place) => facts([("store", place.as_str().into()), ("error", self.detail.as_str().into())]),
            None => Map::new(),
        };
        if let Fault::Newer { found, known } = self.fault {
            facts.insert("found".into(), found.into());
            facts.insert("known".into(), known.into());
        }
        facts
    }
}
