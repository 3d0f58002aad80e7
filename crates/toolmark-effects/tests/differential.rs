//! Against the real SQLite: whatever is called PURE leaves a scratch database as it was, byte for byte.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::Value;
use rusqlite::{Batch, Connection};
use toolmark_core::behavior::Mutability;
use toolmark_core::facts::Reading;
use toolmark_effects::sql::{Dialect, read};

const SCRATCH: &str = "
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, password TEXT, balance INT DEFAULT 0);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INT REFERENCES users(id) ON DELETE CASCADE, total REAL);
    CREATE TABLE audit (what TEXT);
    CREATE INDEX by_name ON users(name);
    CREATE VIEW rich AS SELECT * FROM users WHERE balance > 100;
    CREATE TRIGGER log AFTER DELETE ON users BEGIN INSERT INTO audit VALUES ('gone'); END;
    CREATE VIRTUAL TABLE docs USING fts5(body);
    INSERT INTO users VALUES (1, 'ann', 'x', 50), (2, 'bob', 'y', 500), (3, 'cy', 'z', 5);
    INSERT INTO orders VALUES (1, 1, 9.5), (2, 2, 1.25);
    INSERT INTO docs VALUES ('drop the table'), ('update me');
    PRAGMA user_version = 7;
    CREATE TEMP TABLE warm (a);
    DROP TABLE warm;
";

/// A database that gives up on what takes long.
fn scratch() -> Connection {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(SCRATCH).unwrap();
    let mut rounds = 0;
    database.progress_handler(
        10_000,
        Some(move || {
            rounds += 1;
            rounds > 20
        }),
    );
    database
}

/// Everything about the database and the session that a later statement could observe.
fn state(database: &Connection) -> (Vec<u8>, Vec<Vec<Value>>) {
    database.progress_handler(0, None::<fn() -> bool>);
    let bytes = database.serialize("main").unwrap().to_vec();
    let mut session = Vec::new();
    for pragma in [
        "database_list",
        "user_version",
        "application_id",
        "foreign_keys",
        "writable_schema",
        "query_only",
        "journal_mode",
        "synchronous",
        "cache_size",
        "recursive_triggers",
        "ignore_check_constraints",
        "trusted_schema",
        "temp_store",
        "locking_mode",
        "secure_delete",
        "busy_timeout",
        "auto_vacuum",
        "case_sensitive_like",
        "defer_foreign_keys",
        "max_page_count",
        "mmap_size",
        "journal_size_limit",
        "analysis_limit",
        "automatic_index",
        "cell_size_check",
        "checkpoint_fullfsync",
        "fullfsync",
        "legacy_alter_table",
        "read_uncommitted",
        "reverse_unordered_selects",
        "soft_heap_limit",
        "hard_heap_limit",
        "threads",
        "wal_autocheckpoint",
        "cache_spill",
        "encoding",
        "page_size",
    ] {
        session.extend(rows(database, &format!("PRAGMA {pragma}")));
    }
    session.extend(rows(database, "SELECT * FROM sqlite_temp_schema"));
    session.extend(rows(database, "SELECT total_changes()"));
    (bytes, session)
}

fn rows(database: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut found = statement.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = found.next().unwrap() {
        all.push((0..columns).map(|column| row.get::<_, Value>(column).unwrap()).collect());
    }
    all
}

/// Runs every statement to its end, or as far as SQLite goes along. True when all of them ran and none claims to write.
fn run(database: &Connection, sql: &str) -> bool {
    let mut batch = Batch::new(database, sql);
    let mut read_only = true;
    loop {
        let mut statement = match batch.next() {
            Ok(Some(statement)) => statement,
            Ok(None) => return read_only,
            Err(_) => return false,
        };
        read_only &= statement.readonly();
        let mut rows = statement.raw_query();
        loop {
            match rows.next() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return false,
            }
        }
    }
}

fn is_pure(sql: &str) -> bool {
    match read(sql, Dialect::Sqlite) {
        Reading::Understood(effects) => effects.iter().all(|effect| effect.mutability == Mutability::Pure),
        Reading::CannotTell { .. } => false,
    }
}

/// Runs what is called PURE and compares. Returns whether it was, and ran.
fn leaves_everything_as_it_was(sql: &str) -> Result<bool, TestCaseError> {
    if !is_pure(sql) {
        return Ok(false);
    }
    let database = scratch();
    let before = state(&scratch());
    let ran = run(&database, sql);
    // A transaction that was left open has changed nothing yet; what it holds back must be nothing, too.
    if !database.is_autocommit() {
        database.execute_batch("COMMIT").unwrap();
    }
    let after = state(&database);
    prop_assert!(before.1 == after.1, "the session changed after {sql}\n{:?}\n{:?}", before.1, after.1);
    prop_assert!(before.0 == after.0, "the file changed after {sql}");
    Ok(ran)
}

fn word() -> impl Strategy<Value = String> {
    select(
        "SELECT FROM WHERE users orders rich docs id name password * , ( ) = 1 'x' ; -- /* */ \n DELETE UPDATE INSERT INTO SET VALUES \
         WITH RECURSIVE AS UNION ALL PRAGMA table_info user_version EXPLAIN QUERY PLAN ANALYZE REPLACE OR DROP TABLE IF EXISTS VACUUM \
         REINDEX BEGIN COMMIT ROLLBACK RETURNING ORDER BY LIMIT count(*) \"delete\" [update] `insert` main. t x + || LIKE '%' CASE WHEN \
         THEN END NOT NULL IN JOIN ON USING CREATE VIEW TRIGGER TEMP ATTACH ':memory:' DETACH SAVEPOINT RELEASE random() $a :b ?1 \\ ''"
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>(),
    )
    .prop_map(str::to_owned)
}

/// Statements that SQLite mostly accepts.
fn statement() -> impl Strategy<Value = String> {
    let expression = select(vec![
        "1",
        "id",
        "name",
        "'DELETE FROM users'",
        "count(*)",
        "(SELECT max(total) FROM orders)",
        "random()",
        "CASE WHEN id > 1 THEN 'a' END",
        "replace(name, 'a', 'b')",
        "\"password\"",
        "total_changes()",
        "id IN (SELECT user_id FROM orders)",
        "EXISTS (SELECT 1)",
        "x'00'",
        "last_insert_rowid()",
        "json_remove('{}', '$.a')",
        "zeroblob(10)",
        "1 -- c\n",
        "1 /* ; DROP TABLE users */",
        "[name]",
        "NULL",
    ]);
    let from = select(vec![
        "",
        " FROM users",
        " FROM users u LEFT JOIN orders o ON o.user_id = u.id",
        " FROM rich",
        " FROM docs('drop')",
        " FROM users, orders",
        " FROM pragma_table_info('users')",
        " FROM (SELECT * FROM users)",
        " FROM sqlite_master",
        " FROM users WHERE id = 1",
        " FROM users GROUP BY name HAVING count(*) > 0",
        " FROM users ORDER BY 1 LIMIT 2",
        " FROM (VALUES (1), (2))",
        " FROM json_each('[1,2]')",
    ]);
    let before = select(vec![
        "",
        "",
        "",
        "EXPLAIN ",
        "EXPLAIN QUERY PLAN ",
        "WITH a AS (SELECT 1) ",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) ",
        "/* c */ ",
        "-- c\n",
        "; ;",
    ]);
    let other = select(vec![
        "DELETE FROM users",
        "DELETE FROM users WHERE id = 1 RETURNING *",
        "UPDATE users SET balance = 0",
        "INSERT INTO audit VALUES ('x')",
        "REPLACE INTO users VALUES (1, 'q', 'q', 1)",
        "WITH a AS (SELECT 1) DELETE FROM users",
        "PRAGMA user_version = 9",
        "PRAGMA user_version",
        "PRAGMA table_info(users)",
        "PRAGMA journal_mode(DELETE)",
        "PRAGMA optimize",
        "PRAGMA wal_checkpoint",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x AS SELECT 1",
        "DROP TABLE orders",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "ATTACH ':memory:' AS m",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT s",
        "RELEASE s",
        "INSERT INTO docs(docs) VALUES ('optimize')",
        "SELECT * FROM pragma_optimize",
        "PRAGMA foreign_keys = ON",
        "EXPLAIN DELETE FROM users",
        "EXPLAIN ANALYZE users",
        "VALUES (1, 2)",
        "ALTER TABLE users RENAME TO people",
        "PRAGMA integrity_check",
    ]);
    let query = (before, expression.clone(), expression, from)
        .prop_map(|(before, one, two, from)| format!("{before}SELECT {one}, {two} AS x{from}"));
    prop_oneof![4 => query, 2 => other.prop_map(str::to_owned)]
}

fn script() -> impl Strategy<Value = String> {
    let joint = select(vec![";", "; ", ";\n-- c\n", ";;", " ; /* c */ "]);
    prop_oneof![
        3 => (prop::collection::vec(statement(), 1..4), joint).prop_map(|(all, joint)| all.join(joint)),
        1 => prop::collection::vec(word(), 1..14).prop_map(|words| words.join(" ")),
        1 => (statement(), prop::collection::vec(word(), 1..4), 0..100_usize).prop_map(|(text, words, at)| {
            let at = (0..=text.len() * at / 100).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            format!("{} {} {}", &text[..at], words.join(" "), &text[at..])
        }),
    ]
}

#[test]
fn what_is_called_pure_leaves_the_database_as_it_was() {
    let ran = AtomicUsize::new(0);
    let config = Config { cases: Config::default().cases.max(1_000), failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&script(), |sql| {
            ran.fetch_add(usize::from(leaves_everything_as_it_was(&sql)?), Ordering::Relaxed);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let ran = ran.into_inner();
    assert!(ran > 100, "only {ran} pure statements ran: the generator is not worth much");
}

#[test]
fn every_pragma_that_is_called_pure_changes_nothing() {
    let names = rows(&scratch(), "PRAGMA pragma_list");
    assert!(names.len() > 50);
    for name in names.into_iter().flatten() {
        let Value::Text(name) = name else { continue };
        for form in [
            "PRAGMA @",
            "PRAGMA main.@",
            "PRAGMA @(1)",
            "PRAGMA @ = ON",
            "PRAGMA @('users')",
            "PRAGMA @ = 0",
            "SELECT * FROM pragma_@",
            "SELECT * FROM pragma_@('users')",
        ] {
            let sql = form.replace('@', &name);
            leaves_everything_as_it_was(&sql).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn every_case_of_the_corpus_that_is_called_pure_changes_nothing() {
    for line in include_str!("../corpus/sql.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        leaves_everything_as_it_was(case["text"].as_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    }
}
