use proptest::prelude::*;
use toolmark_core::facts::{Danger, Effect, Reading};

use super::functions::{self, Does, Where};
use super::lex::{Kind, lex};
use super::lexis::{Doubts, MYSQL, SQLITE, STANDARD};
use super::place::Place;
use super::secrets::{is_secret_column, is_secret_column_of, is_secret_table};
use super::{Dialect, read};

const ALL: [Dialect; 6] =
    [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql, Dialect::Duckdb, Dialect::Clickhouse, Dialect::Generic];

fn effects(text: &str, dialect: Dialect) -> Vec<Effect> {
    match read(text, dialect) {
        Reading::Understood(effects) => effects,
        Reading::CannotTell { reason } => panic!("{text}: {reason}"),
    }
}

fn reason(text: &str, dialect: Dialect) -> String {
    match read(text, dialect) {
        Reading::Understood(effects) => panic!("{text}: {effects:?}"),
        Reading::CannotTell { reason } => reason,
    }
}

#[test]
fn a_query_without_a_word_that_writes_is_a_read_however_exotic() {
    for text in [
        "SELECT a FROM t FROBNICATE (b) OVER THE 'moon' !! ?| @> <-> c",
        "SELECT * FROM t WINDOW TUMBLING (SIZE 5 MINUTES) EMIT CHANGES",
        "FROM a |> WHERE b |> AGGREGATE sum(c) GROUP BY d",
    ] {
        for dialect in ALL {
            assert!(effects(text, dialect).iter().all(Effect::is_harmless), "{text} in {dialect:?}");
        }
    }
    assert!(reason("SELECT a FROM t FROBNICATE UPDATE u SET b = 1", Dialect::Generic).contains("parsed"));
}

#[test]
fn targets_are_tables_and_not_what_a_with_defines() {
    let one = effects(
        "WITH recent AS (SELECT * FROM app.orders) SELECT * FROM recent JOIN \"Users\" u ON true",
        Dialect::Postgres,
    );
    assert_eq!(one[0].targets, ["app.orders", "Users"]);
    let gone = effects("DELETE FROM sessions USING users WHERE sessions.u = users.id", Dialect::Postgres);
    assert_eq!(gone[0].targets, ["sessions", "users"]);
    assert!(effects("SELECT EXTRACT(year FROM ts) FROM t", Dialect::Postgres)[0].targets == ["t"]);
}

#[test]
fn a_statement_is_summed_up_for_people() {
    assert_eq!(effects("DELETE FROM users", Dialect::Sqlite)[0].summary, "deletes from `users`, every row");
    assert_eq!(effects("DROP TABLE users", Dialect::Sqlite)[0].summary, "drops the table `users`");
    let hidden = effects("DROP TABLE \"a\u{202e}b\"", Dialect::Sqlite);
    assert_eq!(hidden[0].targets, ["a\\u{202e}b"]);
}

#[test]
fn long_deep_and_endless_texts_are_refused() {
    assert_eq!(reason(&"SELECT 1;".repeat(600_000), Dialect::Generic), "it is longer than 256 KiB");
    assert!(reason(&format!("SELECT {}", "(".repeat(90_000)), Dialect::Generic).contains("nests"));
    assert!(reason(&"SELECT 1;".repeat(2_000), Dialect::Generic).contains("more than 1,000"));
    assert!(reason(&format!("SELECT {}1", "a,".repeat(100_000)), Dialect::Generic).contains("100,000"));
    assert!(reason(&format!("{}SELECT 1", "EXPLAIN ANALYZE ".repeat(5_000)), Dialect::Generic).contains("each other"));
    assert!(reason(&format!("{}SELECT 1", "BEGIN ".repeat(5_000)), Dialect::Generic).contains("each other"));
}

#[test]
fn no_text_overflows_a_small_stack() {
    let run = || {
        for (open, middle, close) in
            [("(", "1", ")"), ("f(", "1", ")"), ("CASE WHEN ", "1", " THEN 1 END"), ("NOT ", "1", ""), ("- ", "1", "")]
        {
            for times in [50, 150, 199] {
                let text = format!("DELETE FROM t WHERE {}{middle}{}", open.repeat(times), close.repeat(times));
                let _ = read(&text, Dialect::Generic);
            }
        }
        for chain in ["1 + ", "a = 1 OR ", "x IS NULL AND ", "a::int::", "SELECT 1 UNION "] {
            for times in [100, 300, 700, 20_000] {
                let _ = read(
                    &format!("DELETE FROM t WHERE a IN (SELECT 1) AND {}1", chain.repeat(times)),
                    Dialect::Postgres,
                );
                let _ = read(
                    &format!("WITH a AS (DELETE FROM b) SELECT 1 UNION {}SELECT 1", chain.repeat(times)),
                    Dialect::Generic,
                );
            }
        }
    };
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn doubts_are_noted_where_dialects_disagree() {
    let doubts = |text: &str| lex(text, STANDARD).unwrap().doubts;
    assert!(!doubts("SELECT \"a\", 'b', [1, 2] -- c\n FROM t /* d */").any());
    assert!(doubts("SELECT '\\'").has(Doubts::BACKSLASH));
    assert!(doubts("SELECT 1 --1").has(Doubts::DASH));
    assert!(doubts("SELECT 1 # 1").has(Doubts::HASH));
    assert!(doubts("/*! a */").has(Doubts::EXECUTED));
    assert!(doubts("/* /* */ */").has(Doubts::NESTED));
    assert!(doubts("$$ a $$").has(Doubts::DOLLAR));
    assert!(doubts("[a;b]").has(Doubts::BRACKET));
    assert!(doubts("-- a\rb").has(Doubts::CARRIAGE));
    assert!(doubts("'''a'''").has(Doubts::TRIPLE));
}

#[test]
fn each_dialect_cuts_a_text_its_own_way() {
    let kinds = |text: &str, lexis| lex(text, lexis).unwrap().tokens.iter().map(|token| token.kind).collect::<Vec<_>>();
    assert_eq!(kinds("'a\\' b'", MYSQL), [Kind::Text]);
    assert_eq!(kinds("'a\\' b", STANDARD), [Kind::Text, Kind::Word]);
    assert_eq!(kinds("[a;b]", SQLITE), [Kind::Quoted]);
    assert_eq!(kinds("/*! a */ b", MYSQL), [Kind::Word, Kind::Word]);
    assert_eq!(kinds("/*! a */ b", STANDARD), [Kind::Word]);
    assert_eq!(kinds("E'a\\'b' $x$ ' $x$", STANDARD), [Kind::Text, Kind::Text]);
    assert_eq!(kinds("1.5e10 .5 t.1 @v ?1 $1", STANDARD)[..2], [Kind::Number, Kind::Number]);
}

#[test]
fn the_table_of_functions_is_sorted_and_knows_its_places() {
    assert!(functions::names().is_sorted_by(|one, two| one < two));
    assert_eq!(functions::find("pg_catalog.pg_sleep", Where::Anywhere), Some(Does::Waits));
    assert_eq!(functions::find("url", Where::Anywhere), None);
    assert_eq!(functions::find("url", Where::Relation), Some(Does::Fetches));
    assert!(
        functions::is_named_after_a_change("app.delete_user") && !functions::is_named_after_a_change("deleted_users")
    );
}

#[test]
fn names_of_secrets_are_told_from_names_about_them() {
    for secret in [
        "password",
        "passwordHash",
        "user_pass",
        "api_key",
        "ACCESS_TOKEN",
        "client_secret",
        "encrypted_password",
        "ssn",
        "private_key",
        "rolpassword",
        "card_number",
        "token_hash",
    ] {
        assert!(is_secret_column(secret), "{secret}");
    }
    for harmless in [
        "token_count",
        "max_tokens",
        "password_changed_at",
        "has_password",
        "public_key",
        "primary_key",
        "secretary",
        "pass_rate",
        "tokens",
        "key",
        "number",
        "passenger",
        "account_number",
    ] {
        assert!(!is_secret_column(harmless), "{harmless}");
    }
    assert!(is_secret_table("app.api_keys") && is_secret_table("mysql.user") && !is_secret_table("users"));
    assert!(is_secret_column_of("token", "sessions") && !is_secret_column_of("token", "vocabulary"));
    assert!(is_secret_column_of("value", "secrets") && !is_secret_column_of("value", "settings"));
}

#[test]
fn places_are_near_elsewhere_or_remote() {
    for (text, place) in [
        ("data/a.csv", Place::Near),
        ("a..b/c.csv", Place::Near),
        ("../a.csv", Place::Elsewhere),
        ("/etc/passwd", Place::Elsewhere),
        ("C:\\a", Place::Elsewhere),
        ("~/.ssh/id", Place::Elsewhere),
        ("s3://b/x", Place::Remote),
        ("https://x", Place::Remote),
        ("md:db", Place::Remote),
        (":memory:", Place::Nowhere),
        ("file:a.db?mode=ro", Place::Near),
        ("file:///etc/passwd", Place::Elsewhere),
        ("cat /etc/passwd |", Place::Elsewhere),
    ] {
        assert_eq!(Place::of(text), place, "{text}");
    }
}

#[test]
fn a_commit_among_others_is_marked_unless_the_text_began_the_transaction() {
    let marked =
        |text: &str| effects(text, Dialect::Postgres).iter().any(|effect| effect.dangers.contains(&Danger::Escape));
    assert!(!marked("COMMIT") && !marked("BEGIN; SELECT 1; COMMIT") && !marked("SELECT 1; ROLLBACK TO s"));
    assert!(marked("SELECT 1; COMMIT") && marked("ROLLBACK; SELECT 1") && marked("BEGIN; COMMIT; COMMIT"));
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,80}") {
        ALL.iter().for_each(|&dialect| drop(read(&text, dialect)));
    }

    #[test]
    fn any_heap_of_words_is_read_without_a_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..24)) {
        let text = words.join(" ");
        for dialect in ALL {
            if let Reading::Understood(effects) = read(&text, dialect) {
                prop_assert!(!effects.is_empty());
            }
        }
    }

    #[test]
    fn comments_and_case_change_nothing(at in 0..CASES.len(), comment in prop::sample::select(vec!["/**/", "/* DROP TABLE x; */", "-- DELETE FROM x\n", "\n\t"])) {
        let text = CASES[at];
        let disguised = text.to_ascii_lowercase().replace(' ', comment);
        let before = effects(text, Dialect::Sqlite);
        let after = effects(&disguised, Dialect::Sqlite);
        let facts = |all: &[Effect]| all.iter().map(|effect| (effect.mutability, effect.action, effect.bounded, effect.dangers.clone())).collect::<Vec<_>>();
        prop_assert_eq!(facts(&before), facts(&after));
    }
}

const CASES: &[&str] = &[
    "SELECT * FROM users",
    "DELETE FROM users",
    "DELETE FROM users WHERE id = 1",
    "PRAGMA user_version = 5",
    "PRAGMA table_info(users)",
    "DROP TABLE t",
    "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
    "SELECT load_extension('x')",
    "VACUUM INTO 'x'",
    "INSERT OR REPLACE INTO t VALUES (1)",
    "EXPLAIN DELETE FROM users",
    "SELECT password FROM users",
    "CREATE TABLE t AS SELECT 1",
    "ATTACH 'x' AS y",
    "SELECT 1; UPDATE t SET a = 1",
];

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "DELETE",
    "UPDATE",
    "INSERT",
    "INTO",
    "SET",
    "VALUES",
    "WITH",
    "AS",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "'a'",
    "\"b\"",
    "`c`",
    "1",
    "1e9",
    "t",
    "a.b",
    "*",
    "=",
    "/*",
    "*/",
    "/*!",
    "--",
    "#",
    "$$",
    "\\",
    "CREATE",
    "TABLE",
    "DROP",
    "PRAGMA",
    "EXPLAIN",
    "ANALYZE",
    "COPY",
    "TO",
    "DO",
    "CALL",
    "EXECUTE",
    "sleep",
    "url",
    "query_to_xml",
    "'DROP TABLE x'",
    "UNION",
    "RECURSIVE",
    "FOR",
    "BEGIN",
    "END",
    "CASE",
    "MERGE",
    "USING",
    "ON",
    "RETURNING",
    "GRANT",
    "@v",
    "?",
    ":x",
    "::",
    "ALTER",
    "JOIN",
    "CROSS",
    "LATERAL",
    "ATTACH",
    "OUTFILE",
    "NEXT",
    "VALUE",
    "é",
    "\u{a0}",
];
