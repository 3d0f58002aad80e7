//! What PostgreSQL reports, sorted by what a person can do about it.

use sqlx::Error;

use crate::error::{Fault, StoreError};
use crate::location::Location;

/// Sorts an error by its SQLSTATE. Only the message is kept: its detail may hold values.
pub(super) fn error_at(place: &Location, error: &Error) -> StoreError {
    let fault = match error {
        Error::Database(database) => database.code().map_or(Fault::Failed, |code| fault_of(&code)),
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::PoolTimedOut => Fault::Unreachable,
        Error::PoolClosed => Fault::Closed,
        Error::ColumnDecode { .. } | Error::Decode(_) => Fault::UnreadableRow,
        _ => Fault::Failed,
    };
    let detail = match error {
        Error::Database(database) => database.message().to_owned(),
        Error::PoolClosed => String::new(),
        Error::PoolTimedOut => "no connection in time".to_owned(),
        Error::Io(error) => error.to_string(),
        // May hold the whole configuration, password included.
        Error::Configuration(_) => "the address cannot be used".to_owned(),
        other => other.to_string(),
    };
    StoreError::new(place, fault, &detail)
}

fn fault_of(code: &str) -> Fault {
    match code {
        // Connections that break or are refused, servers that start or stop, users and databases that are not known.
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" | "3D000" | "3F000" => Fault::Unreachable,
        code if code.starts_with("08") || code.starts_with("28") => Fault::Unreachable,
        // A standby, or rights that are missing.
        "25006" | "42501" => Fault::ReadOnly,
        "53100" => Fault::Full,
        // Locks that others hold, and more connections than there may be.
        "53300" | "55P03" | "55006" | "40001" | "40P01" | "57014" => Fault::Busy,
        // Tables or columns that are gone, pages and indexes that cannot be read.
        "42P01" | "42703" | "XX001" | "XX002" => Fault::Damaged,
        _ => Fault::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_does_not() {
        let cases = [
            ("57P01", Fault::Unreachable),
            ("08006", Fault::Unreachable),
            ("28P01", Fault::Unreachable),
            ("25006", Fault::ReadOnly),
            ("53100", Fault::Full),
            ("53300", Fault::Busy),
            ("55P03", Fault::Busy),
            ("40P01", Fault::Busy),
            ("42P01", Fault::Damaged),
            ("22012", Fault::Failed),
        ];
        for (code, fault) in cases {
            assert_eq!(fault_of(code), fault, "{code}");
        }
    }

    #[test]
    fn a_configuration_is_not_repeated() {
        let place = Location::parse("postgres://me:secret@host/db").expect("a database");
        let error = error_at(&place, &Error::Configuration("password=secret".into()));
        assert!(!error.to_string().contains("secret"));
    }
}
