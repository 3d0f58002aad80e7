//! Which database is meant by `postgres://…`, and what of that address may be shown to anybody.

use std::fmt;
use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;
use toolmark_core::text::visible;

/// What may follow the `?`. Anything else is refused: an option that is misspelled must not be left out in silence.
const PARAMETERS: &[&str] = &[
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// The address of a database. Neither `Debug` nor `Display` tells its password.
#[derive(Clone)]
pub struct Address {
    options: Box<PgConnectOptions>,
    shown: String,
}

/// What is wrong with an address. Holds nothing of the address but the name of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misspelled {
    Parameter(String),
    Address,
}

impl Address {
    /// Reads an address. What it leaves out comes from where `psql` takes it: `PGUSER`, `PGPASSWORD`, `~/.pgpass` and so on.
    pub(crate) fn parse(text: &str) -> Result<Self, Misspelled> {
        // What follows the scheme without `//` is no host, and would be left out.
        let (_, rest) = text.split_once("://").ok_or(Misspelled::Address)?;
        let (_, query) = rest.split_once('?').unwrap_or((rest, ""));
        let query = query.split_once('#').map_or(query, |(query, _)| query);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, _) = pair.split_once('=').ok_or(Misspelled::Address)?;
            let option = key.starts_with("options[") && key.ends_with(']');
            if !PARAMETERS.contains(&key) && !option {
                return Err(Misspelled::Parameter(visible(key, 40)));
            }
        }
        let options = PgConnectOptions::from_str(text).map_err(|_| Misspelled::Address)?;
        let options = options.disable_statement_logging();
        let named = options.get_application_name().is_some();
        let options = if named { options } else { options.application_name("toolmark") };
        Ok(Self { shown: shown(&options), options: Box::new(options) })
    }

    pub(super) fn options(&self) -> &PgConnectOptions {
        &self.options
    }
}

/// User, host, port and database: what tells two databases apart.
fn shown(options: &PgConnectOptions) -> String {
    let user = visible(options.get_username(), 63);
    let host = options.get_socket().map_or_else(
        || format!("{}:{}", visible(options.get_host(), 255), options.get_port()),
        |socket| visible(&socket.to_string_lossy(), 255),
    );
    let database = options.get_database().unwrap_or_else(|| options.get_username());
    format!("postgres://{user}@{host}/{}", visible(database, 63))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

/// Two addresses are one when they lead the same user to the same database.
impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown && self.options.get_options() == other.options.get_options()
    }
}

impl Eq for Address {}
