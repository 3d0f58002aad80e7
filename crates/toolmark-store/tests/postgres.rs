//! What only PostgreSQL can do to us: databases that are not ours, servers that stop, connections that break, rows that somebody
//! changed. A clear error with its code, nothing lost, nothing twice, and nothing that needs to be started again.
//!
//! All of it needs a real server. See `toolmark_testkit::postgres`.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod in_postgres {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use toolmark_core::explain::Explain as _;
    use toolmark_store::audit::{AuditFilter, AuditRecord, Bodies, Order, Outcome, SinkSettings};
    use toolmark_store::{Change, Fault, Location, Micros, NewToken, Settings, Store, StoreError, TokenSecret};
    use toolmark_testkit::Database;
    use toolmark_testkit::postgres::Server;

    /// Machines under load take their time to connect.
    const PATIENT: Duration = Duration::from_secs(60);
    /// Long enough to connect, short enough to wait for what does not come.
    const HASTY: Duration = Duration::from_secs(3);

    async fn open_within(url: &str, patience: Duration) -> Result<Store, StoreError> {
        let settings = Settings { patience, ..Settings::new(|| Micros::new(1)) };
        Store::open(&Location::parse(url).expect("an address"), &settings).await
    }

    async fn open(url: &str) -> Result<Store, StoreError> {
        open_within(url, PATIENT).await
    }

    async fn refusal(url: &str, patience: Duration) -> String {
        let error = open_within(url, patience).await.err().expect("refused");
        let told = format!("{error:?} {}", error.report());
        let password = url.split(['/', ':', '@']).nth(4).expect("an address with a password");
        assert!(!told.contains(password), "the password is told");
        error.code().as_str().to_owned()
    }

    fn record(number: u128) -> AuditRecord {
        let time = Micros::new(i64::try_from(number).expect("small"));
        AuditRecord::new(uuid::Uuid::from_u128(number), time, "tool".into(), Outcome::Ok)
    }

    async fn write(store: &Store, count: u128) {
        let sink = store.audit_sink(SinkSettings::new("n"));
        for number in 1..=count {
            let bodies = Box::new(Bodies { arguments: Some(format!("{{\"n\":{number}}}").into()), result: None });
            sink.record(AuditRecord { bodies: Some(bodies), ..record(number) }).await.expect("taken");
        }
        sink.close().await.expect("written");
    }

    fn named(name: &str) -> NewToken {
        NewToken { name: name.into(), ..NewToken::default() }
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn a_database_of_another_program_is_refused_and_left_as_it_was() {
        let database = Database::new().await;
        database.run("CREATE TABLE photos (id BIGINT)").await;
        assert_eq!(refusal(database.url(), PATIENT).await, "store-foreign");
        // If anything had been made, this would fail.
        database.run("CREATE TABLE toolmark_store (id BIGINT); DROP TABLE toolmark_store; DROP TABLE photos").await;
        let store = open(database.url()).await.expect("an empty one is taken");
        store.tokens().await.expect("tokens");
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn a_schema_of_its_own_lies_beside_other_programs() {
        let database = Database::new().await;
        database.run("CREATE TABLE photos (id BIGINT); CREATE SCHEMA toolmark").await;
        let url = format!("{}?options[search_path]=toolmark", database.url());
        let store = open(&url).await.expect("a store");
        write(&store, 3).await;
        database.run("DROP TABLE photos; SELECT hash FROM toolmark.audit").await;
        let nowhere = format!("{}?options[search_path]=elsewhere", database.url());
        assert_eq!(refusal(&nowhere, PATIENT).await, "store-unreachable");
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn a_store_of_a_newer_version_is_refused_and_left_as_it_was() {
        let database = Database::new().await;
        write(&open(database.url()).await.expect("a store"), 3).await;
        database.run("UPDATE toolmark_store SET version = version + 98; CREATE TABLE from_the_future (x TEXT)").await;
        let error = open(database.url()).await.err().expect("refused");
        assert!(matches!(error.fault(), Fault::Newer { found, known } if found == known + 98), "{error}");
        database.run("UPDATE toolmark_store SET version = version - 98").await;
        let store = open(database.url()).await.expect("a store");
        assert!(store.verify_audit(&[]).await.expect("verified").is_whole());
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn a_database_that_cannot_be_reached_or_used_says_so() {
        let database = Database::new().await;
        assert_eq!(refusal("postgres://me:hidden@127.0.0.1:1/db", HASTY).await, "store-unreachable");
        let (base, _) = database.url().rsplit_once('/').expect("an address");
        assert_eq!(refusal(&format!("{base}/no_such_database"), HASTY).await, "store-unreachable");
        let (_, host) = database.url().rsplit_once('@').expect("an address");
        assert_eq!(refusal(&format!("postgres://toolmark:wrong_password@{host}"), HASTY).await, "store-unreachable");
        open(database.url()).await.expect("a store").close().await.expect("closed");
        let name = database.url().rsplit_once('/').expect("an address").1;
        database.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
        let store = open(database.url()).await.expect("reading needs no writing");
        let error =
            store.create_token(&named("a"), &TokenSecret::random().expect("entropy")).await.expect_err("refused");
        assert_eq!(error.code().as_str(), "store-read-only");
        database.run(&format!("SET TRANSACTION READ WRITE; ALTER DATABASE {name} RESET ALL; DROP TABLE tokens")).await;
        let store = open(database.url()).await.expect("a store");
        assert_eq!(store.tokens().await.expect_err("gone").code().as_str(), "store-damaged");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn many_who_open_a_new_store_at_once_all_get_it() {
        let database = Database::new().await;
        let opening: Vec<_> = (0..8)
            .map(|_| {
                let url = database.url().to_owned();
                tokio::spawn(async move { open(&url).await.map(|_| ()) })
            })
            .collect();
        for one in opening {
            one.await.expect("no panic").expect("a store");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn a_chain_has_one_writer_at_a_time_and_what_another_has_under_way_is_left_alone() {
        let database = Database::new().await;
        let (one, other) = (open(database.url()).await.expect("a store"), open(database.url()).await.expect("a store"));
        let claim = one.claim_node("eu").await.expect("a node");
        let sink = one.audit_sink_of(claim, SinkSettings::new("anything"));
        sink.record_strictly(AuditRecord { outcome: Outcome::Intent, ..record(1) }).await.expect("kept");
        let second = other.claim_node("eu").await.expect("a node");
        assert_eq!(&**second.node(), "eu-2");
        assert_eq!(other.recover_audit(&second).await.expect("recovered"), 0, "its process is alive");
        sink.close().await.expect("closed");
        drop(sink);
        while other.recover_audit(&second).await.expect("recovered") == 0 {
            tokio::task::yield_now().await;
        }
        let ended = other.audit(AuditFilter::default(), Order::Oldest).all().await.expect("records");
        assert_eq!(ended.iter().map(|entry| entry.record.outcome).collect::<Vec<_>>(), [Outcome::Interrupted]);
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn whoever_waits_too_long_for_a_lock_is_told_and_nothing_is_lost() {
        let database = Database::new().await;
        let store = open_within(database.url(), HASTY).await.expect("a store");
        write(&store, 1).await;
        let locked = sqlx::PgPool::connect(database.url()).await.expect("a connection");
        let mut other = locked.begin().await.expect("begun");
        sqlx::Executor::execute(&mut *other, "SELECT * FROM audit_nodes FOR UPDATE").await.expect("held");
        let sink = store.audit_sink(SinkSettings::new("n"));
        sink.record(record(2)).await.expect("taken");
        assert_eq!(sink.flush().await.expect_err("held").code().as_str(), "store-busy");
        other.rollback().await.expect("let go");
        sink.close().await.expect("what could not be written before is written now");
        assert_eq!(store.verify_audit(&[]).await.expect("verified").rows(), 2);
        assert_eq!(sink.stats().lost, 0);
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn whatever_is_done_to_the_rows_shows() {
        let cases = [
            ("UPDATE audit SET caller = 'somebody else' WHERE seq = 5", 5),
            ("UPDATE audit SET outcome = 'denied' WHERE seq = 5", 5),
            ("DELETE FROM audit WHERE seq = 5", 5),
            ("DELETE FROM audit WHERE seq > 8", 9),
            ("UPDATE audit SET outcome = 'fine' WHERE seq = 5", 5),
            ("UPDATE audit SET prev = decode(repeat('00', 32), 'hex') WHERE seq = 5", 5),
            ("UPDATE audit_bodies SET arguments = '{}' WHERE seq = 5", 5),
            ("UPDATE audit_nodes SET head_seq = 9", 9),
        ];
        for (sql, seq) in cases {
            let database = Database::new().await;
            let store = open(database.url()).await.expect("a store");
            write(&store, 10).await;
            assert!(store.verify_audit(&[]).await.expect("verified").is_whole());
            database.run(sql).await;
            let found = store.verify_audit(&[]).await.expect("verified");
            assert_eq!(found.breaks.first().map(|one| one.seq), Some(seq), "{sql}: {:?}", found.breaks);
        }
    }

    #[tokio::test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn what_is_rare_is_found_by_an_index_and_needs_no_sorting() {
        let database = Database::new().await;
        open(database.url()).await.expect("a store");
        let pool = sqlx::PgPool::connect(database.url()).await.expect("a connection");
        let mut connection = pool.acquire().await.expect("a connection");
        // An empty table is read from end to end unless that is forbidden; what is asked here is whether there is another way.
        sqlx::Executor::execute(
            &mut *connection,
            "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off",
        )
        .await
        .expect("set");
        let cases = [
            ("a.outcome = 'denied'", "audit_outcome"),
            ("a.verdict = 'ask'", "audit_verdict"),
            ("a.canonical = 'github.create'", "audit_tool"),
            ("a.caller = 'me'", "audit_caller"),
            ("a.time_us >= 5 AND a.time_us < 9", "audit_time"),
            ("TRUE", "audit_time"),
            (
                "(a.outcome <> 'intent' OR EXISTS (SELECT 1 FROM audit_open o WHERE o.node = a.node AND o.id = a.id))",
                "audit_time",
            ),
        ];
        for (condition, index) in cases {
            for order in ["DESC", "ASC"] {
                let sql = format!(
                    "EXPLAIN SELECT a.* FROM audit a WHERE TRUE AND {condition} \
                     ORDER BY a.time_us {order}, a.position {order} LIMIT 10"
                );
                let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *connection).await.expect("a plan");
                let plan: Vec<String> = rows.iter().map(|row| sqlx::Row::get(row, 0)).collect();
                assert!(plan.iter().any(|step| step.contains(index)), "{condition}: {plan:?}");
                assert!(!plan.iter().any(|step| step.contains("Sort")), "{condition} is sorted: {plan:?}");
            }
        }
    }

    /// The server stops and comes back, twice, while records are written: nothing is lost, nothing is there twice, nobody restarts.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    async fn a_server_that_restarts_needs_no_restarted_gateway() {
        let mut server = Server::start().expect("a server of our own");
        let database = Database::on(&server.url()).await;
        let store = open_within(database.url(), HASTY).await.expect("a store");
        let mut changes = store.watch().await.expect("watched");
        let claim = store.claim_node("n").await.expect("free");
        let sink = store.audit_sink(SinkSettings {
            linger: Duration::from_millis(1),
            batch: 8,
            patience: Duration::from_secs(600),
            ..SinkSettings::new("n")
        });
        let writing = {
            let sink = sink.clone();
            tokio::spawn(async move {
                for number in 1..=600 {
                    sink.record(record(number)).await.expect("taken");
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            })
        };
        for _ in 0..2 {
            tokio::time::sleep(Duration::from_millis(300)).await;
            server.stop().expect("stopped");
            let error = store.tokens().await.expect_err("nobody is there");
            assert!(error.fault() == Fault::Unreachable && error.may_pass(), "{error}");
            server.run().expect("started");
            while store.tokens().await.is_err() {}
        }
        writing.await.expect("no panic");
        sink.close().await.expect("written");
        assert_eq!(sink.stats().lost, 0);
        let found = store.verify_audit(&[]).await.expect("verified");
        assert!(found.is_whole(), "{:?}", found.breaks);
        let all = store.audit(AuditFilter::default(), Order::Oldest).all().await.expect("records");
        let ids: BTreeSet<_> = all.iter().map(|entry| entry.record.id).collect();
        assert_eq!((all.len(), ids.len()), (600, 600), "each record is there once");
        while changes.next().await.expect("still watched") != Change::Unknown {}
        open(database.url())
            .await
            .expect("a store")
            .create_token(&named("a"), &TokenSecret::random().expect("entropy"))
            .await
            .expect("made");
        while changes.next().await.expect("still watched") != Change::Tokens {}
        // The lock went with the server; it is taken again by itself.
        let other = open(database.url()).await.expect("a store");
        while **other.claim_node("n").await.expect("a node").node() == *"n" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(claim);
    }

    fn intent(number: u128) -> AuditRecord {
        AuditRecord { outcome: Outcome::Intent, ..record(number) }
    }

    /// The server forgets all locks when it restarts, and when it ends a connection. Whoever lives takes its own again, but not at once.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    async fn a_node_that_lives_keeps_its_name_and_what_it_has_under_way_when_its_lock_is_lost() {
        let mut server = Server::start().expect("a server of our own");
        let database = Database::on(&server.url()).await;
        let store = open(database.url()).await.expect("a store");
        let claim = store.claim_node("n").await.expect("free");
        let sink = store.audit_sink_of(claim, SinkSettings::new("n"));
        sink.record_strictly(intent(1)).await.expect("kept");
        for round in 0..4 {
            if round % 2 == 0 {
                server.restart().expect("restarted");
            } else {
                database
                    .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
                    .await;
            }
            // Whoever starts now finds the lock free.
            let other = open(database.url()).await.expect("a store");
            let second = other.claim_node("n").await.expect("a node");
            assert_eq!(&**second.node(), "n-2", "round {round}");
            assert_eq!(other.recover_audit(&second).await.expect("recovered"), 0, "round {round}");
            drop(second);
            other.close().await.expect("closed");
        }
        while sink.record_strictly(record(1)).await.is_err() {}
        sink.close().await.expect("written");
        drop(sink);
        store.close().await.expect("closed");
        let other = open(database.url()).await.expect("a store");
        assert_eq!(&**other.claim_node("n").await.expect("a node").node(), "n", "it was given back");
        let all = other.audit(AuditFilter::default(), Order::Oldest).all().await.expect("records");
        assert_eq!(all.iter().map(|entry| entry.record.outcome).collect::<Vec<_>>(), [Outcome::Ok]);
    }

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn the_name_of_a_node_that_was_killed_and_what_it_left_are_taken_over() {
        let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let (first, second) = (runtime().expect("a runtime"), runtime().expect("a runtime"));
        let (database, kept) = first.block_on(async {
            let database = Database::new().await;
            let store = open(database.url()).await.expect("a store");
            let (claim, beside) =
                (store.claim_node("n").await.expect("free"), store.claim_node("n").await.expect("free"));
            assert_eq!((&**claim.node(), &**beside.node()), ("n", "n-2"));
            for claim in [claim, beside] {
                let sink = store.audit_sink_of(claim, SinkSettings::new("n"));
                sink.record_strictly(intent(1)).await.expect("kept");
                std::mem::forget(sink);
            }
            (database, store)
        });
        // Every task ends where it is, as in a process that is killed.
        first.shutdown_background();
        second.block_on(async {
            let store = open(database.url()).await.expect("a store");
            let claim = store.claim_node("n").await.expect("a node");
            assert_eq!(&**claim.node(), "n");
            assert_eq!(store.recover_audit(&claim).await.expect("recovered"), 2, "its own and its neighbour's");
            assert_eq!(store.recover_audit(&claim).await.expect("recovered"), 0);
        });
        drop(kept);
    }

    /// Somebody ends our connections again and again, also in the middle of commits.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn records_are_neither_lost_nor_doubled_when_connections_break() {
        let database = Database::new().await;
        let store = open(database.url()).await.expect("a store");
        let sinks: Vec<_> = (0..2)
            .map(|_| {
                store.audit_sink(SinkSettings {
                    linger: Duration::ZERO,
                    batch: 3,
                    patience: Duration::from_secs(600),
                    ..SinkSettings::new("n")
                })
            })
            .collect();
        let writing: Vec<_> = sinks
            .iter()
            .cloned()
            .zip([0u128, 10_000])
            .map(|(sink, first)| {
                tokio::spawn(async move {
                    for number in first..first + 400 {
                        sink.record(record(number)).await.expect("taken");
                        tokio::task::yield_now().await;
                    }
                    sink.close().await
                })
            })
            .collect();
        while writing.iter().any(|writing| !writing.is_finished()) {
            database
                .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
                .await;
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        let mut lost = 0;
        for (writing, sink) in writing.into_iter().zip(&sinks) {
            // The last attempts of a sink that closes may all be cut off; then it says how many records it gave up.
            let _ = writing.await.expect("no panic");
            lost += usize::try_from(sink.stats().lost).expect("few");
        }
        let found = store.verify_audit(&[]).await.expect("verified");
        assert!(found.is_whole(), "{:?}", found.breaks);
        let all = store.audit(AuditFilter::default(), Order::Oldest).all().await.expect("records");
        let ids: BTreeSet<_> = all.iter().map(|entry| entry.record.id).collect();
        assert_eq!(all.len(), ids.len(), "none is there twice");
        assert!(all.len() + lost >= 800, "{} are there and {lost} were given up", all.len());
    }

    /// What the cable between us and the server does with the next commit.
    const PASS: u8 = 0;
    const CUT_BEFORE: u8 = 1;
    const CUT_BEHIND: u8 = 2;

    /// A cable to the server, and the address of its near end.
    async fn cable(url: &str) -> (String, Arc<AtomicU8>) {
        let (before, rest) = url.rsplit_once('@').expect("an address");
        let (far, database) = rest.split_once('/').expect("an address");
        let (far, mood) = (far.to_owned(), Arc::new(AtomicU8::new(PASS)));
        let near = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = near.local_addr().expect("an address");
        let moods = Arc::clone(&mood);
        tokio::spawn(async move {
            while let Ok((client, _)) = near.accept().await {
                let server = TcpStream::connect(&far).await.expect("the server");
                tokio::spawn(carry(client, server, Arc::clone(&moods)));
            }
        });
        (format!("{before}@{address}/{database}?sslmode=disable"), mood)
    }

    async fn carry(mut client: TcpStream, mut server: TcpStream, mood: Arc<AtomicU8>) {
        let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
        loop {
            tokio::select! {
                read = client.read(&mut up) => {
                    let Ok(size @ 1..) = read else { return };
                    let commit = up[..size].windows(6).any(|window| window == b"COMMIT");
                    let cut = if commit { mood.swap(PASS, Ordering::SeqCst) } else { PASS };
                    if cut == CUT_BEFORE || server.write_all(&up[..size]).await.is_err() {
                        return;
                    }
                    if cut == CUT_BEHIND {
                        // The server answers, and nobody hears it.
                        let _ = server.read(&mut down).await;
                        return;
                    }
                }
                read = server.read(&mut down) => {
                    let Ok(size @ 1..) = read else { return };
                    if client.write_all(&down[..size]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn a_commit_whose_answer_is_lost_is_not_made_twice() {
        let database = Database::new().await;
        let (url, mood) = cable(database.url()).await;
        let store = open(&url).await.expect("a store");
        let sink = store.audit_sink(SinkSettings::new("n"));
        let mut number = 0;
        for cut in [PASS, CUT_BEFORE, CUT_BEHIND, CUT_BEHIND, CUT_BEFORE, PASS] {
            mood.store(cut, Ordering::SeqCst);
            for _ in 0..3 {
                number += 1;
                sink.record(record(number)).await.expect("taken");
            }
            sink.flush().await.expect("the doubt is settled at once");
            number += 1;
            mood.store(cut, Ordering::SeqCst);
            sink.record_strictly(record(number)).await.expect("the doubt is settled at once");
            assert_eq!(mood.load(Ordering::SeqCst), PASS, "a commit was cut");
        }
        sink.close().await.expect("written");
        let all = store.audit(AuditFilter::default(), Order::Oldest).all().await.expect("records");
        let ids: Vec<u128> = all.iter().map(|entry| entry.record.id.as_u128()).collect();
        assert!(ids.iter().copied().eq(1..=number), "{ids:?}");
        assert!(store.verify_audit(&[]).await.expect("verified").is_whole());
    }
}
