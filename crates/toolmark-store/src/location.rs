//! Where the store is: a file, a database or memory. Text that means none of them is refused before anything is created.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::postgres::{Address, Misspelled};

/// Where a store is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a SQLite file.
    File(PathBuf),
    /// In a PostgreSQL database, which several nodes may share.
    Postgres(Address),
    /// In memory: gone with the process.
    Memory,
}

/// Text that names no place this program can keep a store in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseLocationError {
    /// There is nothing in it.
    #[error("the place of the store is empty")]
    Empty,
    /// It has a scheme that is neither `sqlite` nor `postgres`. Only the scheme is kept: what follows may hold a password.
    #[error("a store cannot be kept at `{0}://…`")]
    Scheme(String),
    /// It is no address of a PostgreSQL database. Nothing of it is kept.
    #[error("this is not the address of a PostgreSQL database")]
    Address,
    /// The address of a PostgreSQL database has a parameter that means nothing.
    #[error("the address of the store has an unknown parameter `{0}`")]
    Parameter(String),
}

/// Nobody says where data belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no default place for the store: neither `XDG_DATA_HOME` nor `HOME` is an absolute path")]
pub struct NoPlaceError;

impl Location {
    /// Reads `path/to/file.db`, `sqlite:path`, `sqlite://path`, `sqlite::memory:`, `postgres://…` or `postgresql://…`.
    ///
    /// # Errors
    /// [`ParseLocationError`] for an empty text, for other schemes, and for addresses that cannot be read.
    pub fn parse(text: &str) -> Result<Self, ParseLocationError> {
        let rest = match text.split_once(':') {
            Some(("sqlite", rest)) => rest.strip_prefix("//").unwrap_or(rest),
            Some(("postgres" | "postgresql", _)) => {
                return Address::parse(text).map(Self::Postgres).map_err(|misspelled| match misspelled {
                    Misspelled::Parameter(name) => ParseLocationError::Parameter(name),
                    Misspelled::Address => ParseLocationError::Address,
                });
            }
            Some((scheme, rest)) if rest.starts_with("//") && is_scheme(scheme) => {
                return Err(ParseLocationError::Scheme(visible(scheme, 40)));
            }
            _ => text,
        };
        match rest {
            "" => Err(ParseLocationError::Empty),
            ":memory:" => Ok(Self::Memory),
            path => Ok(Self::File(path.into())),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.');
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(legal)
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.into())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(&visible(&path.to_string_lossy(), 500)),
            Self::Postgres(address) => address.fmt(f),
            Self::Memory => f.write_str(":memory:"),
        }
    }
}

/// The file of a workspace below `$XDG_DATA_HOME/toolmark`, or below `$HOME/.local/share/toolmark`. A workspace is known by the path of
/// its configuration; without one it is the demo. Two workspaces share nothing: a name or a token of one means nothing in the other.
/// The variables come in as arguments; one that is empty or not absolute counts as absent.
///
/// # Errors
/// [`NoPlaceError`] when both are absent.
pub fn default_path(
    xdg_data_home: Option<&OsStr>,
    home: Option<&OsStr>,
    configuration: Option<&Path>,
) -> Result<PathBuf, NoPlaceError> {
    let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    let data = xdg_data_home
        .and_then(absolute)
        .or_else(|| home.and_then(absolute).map(|home| home.join(".local").join("share")))
        .ok_or(NoPlaceError)?;
    Ok(data.join("toolmark").join(configuration.map_or_else(|| "demo.db".to_owned(), file_name)))
}

/// A name that people recognize, and that no other configuration has.
fn file_name(configuration: &Path) -> String {
    let folder = configuration.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let legal = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let shown: String = folder.unwrap_or_default().chars().filter(legal).take(40).collect();
    let digest = Sha256::digest(configuration.as_os_str().as_encoded_bytes());
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    if shown.is_empty() { format!("{short}.db") } else { format!("{shown}-{short}.db") }
}

impl Explain for ParseLocationError {
    fn code(&self) -> Code {
        Code::new("store-url")
    }

    fn why(&self) -> String {
        "a store that was meant to be elsewhere would start empty: names would change and decisions be lost".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Address => {
                "write `postgres://user:password@host:5432/database`; in a password, `@`, `/`, `:`, `?`, `#` and `%` are \
                 written `%40`, `%2F`, `%3A`, `%3F`, `%23` and `%25`"
            }
            Self::Parameter(_) => "take it out, or spell it as `psql` does, such as `sslmode` or `sslrootcert`",
            Self::Empty | Self::Scheme(_) => {
                "give the path of a file, such as `--store ./toolmark.db`, `sqlite::memory:` for one that is forgotten, or \
                 `postgres://user@host/database`"
            }
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Empty | Self::Address => Map::new(),
            Self::Scheme(scheme) => facts([("scheme", scheme.as_str().into())]),
            Self::Parameter(name) => facts([("parameter", name.as_str().into())]),
        }
    }
}

impl Explain for NoPlaceError {
    fn code(&self) -> Code {
        Code::new("store-no-place")
    }

    fn why(&self) -> String {
        "a store in whatever folder a program happens to start in would be another one each time".into()
    }

    fn fix(&self) -> String {
        "say where it belongs: `--store /var/lib/toolmark/toolmark.db`, or set `XDG_DATA_HOME`".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_or_without_a_scheme_is_a_file() {
        for text in ["a/b.db", "sqlite:a/b.db", "sqlite://a/b.db"] {
            assert_eq!(Location::parse(text), Ok(Location::File("a/b.db".into())), "{text}");
        }
        assert_eq!(Location::parse("sqlite:///a.db"), Ok(Location::File("/a.db".into())));
        assert_eq!(Location::parse("C:\\data\\a.db"), Ok(Location::File("C:\\data\\a.db".into())));
    }

    #[test]
    fn memory_is_asked_for_by_name() {
        for text in ["sqlite::memory:", ":memory:", "sqlite://:memory:"] {
            assert_eq!(Location::parse(text), Ok(Location::Memory), "{text}");
        }
    }

    #[test]
    fn another_scheme_is_refused_and_its_password_is_not_repeated() {
        let error = Location::parse("mysql://me:secret@host/db").expect_err("no such back end here");
        assert_eq!(error.code().as_str(), "store-url");
        assert!(!error.report().to_string().contains("secret"));
        assert_eq!(Location::parse("sqlite:"), Err(ParseLocationError::Empty));
    }

    #[test]
    fn the_password_of_a_database_is_never_shown() {
        for text in [
            "postgres://me:se%40cret@db.example:6432/tools",
            "postgresql://me@db.example:6432/tools?password=secret&sslmode=disable",
            "postgres://db.example/?user=me&password=secret&port=6432&dbname=tools",
        ] {
            let place = Location::parse(text).expect("a database");
            assert_eq!(place.to_string(), "postgres://me@db.example:6432/tools");
            assert!(!format!("{place:?}").contains("cret"), "{place:?}");
        }
        let socket = Location::parse("postgres://me@%2Frun%2Fpostgresql/tools").expect("a database");
        assert_eq!(socket.to_string(), "postgres://me@/run/postgresql/tools");
    }

    #[test]
    fn an_address_that_cannot_be_read_is_refused_and_not_repeated() {
        let wrong = [
            "postgres:",
            "postgres:me:secret@host/db",
            "postgres://me:sec/ret@host:port/db",
            "postgres://me:secret@host:99999/db",
            "postgres://me:secret@host/db?sslmode=secret",
            "postgres://me@host/db?passwd=secret",
            "postgres://me@host/db?secret",
        ];
        for text in wrong {
            let error = Location::parse(text).expect_err(text);
            assert_eq!(error.code().as_str(), "store-url");
            let told = format!("{error:?} {}", error.report());
            assert!(!told.contains("secret") && !told.contains("ret@"), "{text}: {told}");
        }
        assert_eq!(
            Location::parse("postgres://me@host/db?passwd=secret"),
            Err(ParseLocationError::Parameter("passwd".into()))
        );
    }

    #[test]
    fn the_default_place_follows_xdg_and_ignores_what_is_not_absolute() {
        let (data, home) = (OsStr::new("/data"), OsStr::new("/home/me"));
        assert_eq!(default_path(Some(data), Some(home), None), Ok("/data/toolmark/demo.db".into()));
        let below_home = Ok(PathBuf::from("/home/me/.local/share/toolmark/demo.db"));
        assert_eq!(default_path(None, Some(home), None), below_home);
        assert_eq!(default_path(Some(OsStr::new("data")), Some(home), None), below_home);
        assert_eq!(default_path(Some(OsStr::new("")), None, None), Err(NoPlaceError));
    }

    #[test]
    fn every_configuration_has_a_file_of_its_own() {
        let of = |path: &str| default_path(Some(OsStr::new("/data")), None, Some(Path::new(path))).expect("a place");
        let (one, other) = (of("/srv/shop/toolmark.toml"), of("/home/shop/toolmark.toml"));
        assert_ne!(one, other);
        assert_eq!(one, of("/srv/shop/toolmark.toml"));
        assert!(one.to_string_lossy().starts_with("/data/toolmark/shop-"), "{}", one.display());
    }
}
