//! How a dialect spells comments, strings and names: the differences that can hide a statement from another dialect.

use super::Dialect;

/// The spelling rules of one dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lexis {
    /// A backslash in quotes escapes what follows it.
    pub(super) backslash: bool,
    /// `#` begins a comment.
    pub(super) hash: bool,
    /// Block comments nest.
    pub(super) nested: bool,
    /// `$tag$ … $tag$` is a string.
    pub(super) dollar: bool,
    /// `[ … ]` is a name.
    pub(super) brackets: bool,
    /// `--` begins a comment only before a space.
    pub(super) spaced_dash: bool,
    /// `/*! … */` is code.
    pub(super) executed: bool,
    /// A lone carriage return ends a line comment.
    pub(super) carriage: bool,
    /// `"…"` is a string and not a name.
    pub(super) double_text: bool,
    /// A block comment may stay open at the end.
    pub(super) open_comment: bool,
    /// `'''…'''` is a string.
    pub(super) triple: bool,
}

/// Seen in a text: something that another dialect spells differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubts(u16);

impl Doubts {
    pub(super) const BACKSLASH: Self = Self(1);
    pub(super) const HASH: Self = Self(2);
    pub(super) const NESTED: Self = Self(4);
    pub(super) const DOLLAR: Self = Self(8);
    pub(super) const BRACKET: Self = Self(16);
    pub(super) const DASH: Self = Self(32);
    pub(super) const EXECUTED: Self = Self(64);
    pub(super) const CARRIAGE: Self = Self(128);
    pub(super) const OPEN: Self = Self(256);
    pub(super) const TRIPLE: Self = Self(512);

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn any(self) -> bool {
        self.0 != 0
    }
}

/// PostgreSQL, DuckDB, and what most texts mean when nobody says which database they are for.
pub(super) const STANDARD: Lexis = Lexis {
    backslash: false,
    hash: false,
    nested: true,
    dollar: true,
    brackets: false,
    spaced_dash: false,
    executed: false,
    carriage: true,
    double_text: false,
    open_comment: false,
    triple: false,
};

/// SQLite.
pub(super) const SQLITE: Lexis =
    Lexis { nested: false, dollar: false, brackets: true, carriage: false, open_comment: true, ..STANDARD };

/// MySQL and MariaDB, which run `/*! … */`.
pub(super) const MYSQL: Lexis = Lexis {
    backslash: true,
    hash: true,
    nested: false,
    dollar: false,
    spaced_dash: true,
    executed: true,
    carriage: false,
    double_text: true,
    ..STANDARD
};

/// MySQL older than the version that a `/*!99999 … */` asks for.
pub(super) const MYSQL_OLD: Lexis = Lexis { executed: false, ..MYSQL };

/// ClickHouse.
pub(super) const CLICKHOUSE: Lexis = Lexis { backslash: true, hash: true, nested: false, carriage: false, ..STANDARD };

/// BigQuery and its relatives.
pub(super) const BIGQUERY: Lexis = Lexis { double_text: true, triple: true, dollar: false, ..CLICKHOUSE };

/// T-SQL: names in brackets, comments that nest.
pub(super) const TRANSACT: Lexis = Lexis { brackets: true, dollar: false, carriage: false, ..STANDARD };

impl Dialect {
    /// The spelling in which a text of this dialect is read first.
    pub(super) fn lexis(self) -> Lexis {
        match self {
            Self::Postgres | Self::Duckdb | Self::Generic => STANDARD,
            Self::Sqlite => SQLITE,
            Self::Mysql => MYSQL,
            Self::Clickhouse => CLICKHOUSE,
        }
    }

    /// The other spellings that a text with such doubts might be meant in; all there are when it could not even be cut up.
    pub(super) fn others(self, doubts: Option<Doubts>) -> &'static [(Lexis, Self)] {
        match self {
            Self::Generic if doubts.is_none_or(Doubts::any) => &[
                (SQLITE, Self::Sqlite),
                (MYSQL, Self::Mysql),
                (MYSQL_OLD, Self::Mysql),
                (CLICKHOUSE, Self::Clickhouse),
                (BIGQUERY, Self::Generic),
                (TRANSACT, Self::Generic),
            ],
            Self::Mysql if doubts.is_none_or(|doubts| doubts.has(Doubts::EXECUTED)) => &[(MYSQL_OLD, Self::Mysql)],
            _ => &[],
        }
    }
}
