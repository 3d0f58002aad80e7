//! Two gateways on one PostgreSQL that goes away, comes back, or cannot be reached: no decision is lost, none is applied twice, and
//! what the server behind saw is there exactly once.

mod postgres {
    use std::fs;
    use std::io;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread::JoinHandle;

    use serde_json::{Value, json};
    use tempfile::TempDir;
    use toolmark_testkit::Database;
    use toolmark_testkit::postgres::Server;

    use crate::support::{Effects, Node, approver, call, decide, json_of, question, send, text, until, write};

    /// A call that waits for a person waits until it is decided.
    const WAIT: &str = "\n[approvals]\nwait = \"10min\"\n";

    /// Two nodes on a server that is ours to stop. The first reaches it through a cable.
    struct Two {
        effects: Effects,
        folder: TempDir,
        server: Server,
        database: Database,
        cable: Cable,
        first: Node,
        second: Node,
        token: String,
    }

    impl Two {
        fn start(more: &str) -> Self {
            let server = Server::start().expect("a server");
            let database = block_on(Database::on(&server.url()));
            let cable = Cable::to(database.url());
            let effects = Effects::start();
            let folder = TempDir::new().expect("a folder");
            fs::write(folder.path().join("toolmark.toml"), effects.configuration(more)).expect("written");
            let token = approver(folder.path(), database.url());
            let first = Node::start(folder.path(), &cable.near);
            let second = Node::start(folder.path(), database.url());
            Self { effects, folder, server, database, cable, first, second, token }
        }

        /// A call on the first node that stays under way until it is decided.
        fn waiting(&self, number: u64) -> JoinHandle<io::Result<Value>> {
            let address = self.first.address.clone();
            std::thread::spawn(move || call(&address, "write", number, &json!({}), &json!({})))
        }

        /// The question about a number, once it is there.
        fn asked(&self, number: u64) -> String {
            let wanted = json!({"n": number});
            until("it is asked", || {
                let open = self.json(&["approvals", "list", "--json"]);
                let asks = open["approvals"].as_array()?.clone();
                let ask = asks.into_iter().find(|ask| arguments(ask) == wanted)?;
                ask["id"].as_str().map(str::to_owned)
            })
        }

        /// Decides on a node until it is decided, however often that fails on the way.
        fn approved(&self, node: &Node, id: &str) {
            let approve = json!({"decision": "approve"});
            until("it is decided", || match decide(&node.address, &self.token, id, &approve) {
                Ok((200, _)) => Some(()),
                // An answer that got lost on the way was given all the same.
                Ok((409, _)) => (self.shown(id)["state"] == "approved").then_some(()),
                Ok((status, answer)) => {
                    assert_eq!(status, 503, "{answer}");
                    None
                }
                Err(_) => None,
            });
        }

        /// Calls until it ran: while the database is away, nothing runs that needs asking.
        fn ran(&self, node: &Node, number: u64) {
            until("it ran", || (text(&write(&node.address, number)) == format!("wrote {number}")).then_some(()));
        }

        fn shown(&self, id: &str) -> Value {
            self.json(&["approvals", "show", id, "--json"])
        }

        fn json(&self, arguments: &[&str]) -> Value {
            let arguments: Vec<&str> = arguments.iter().copied().chain(["--store", self.database.url()]).collect();
            json_of(self.folder.path(), &arguments)
        }

        /// What the audit says became of the runs of a number, once nothing is under way.
        fn ends(&self, number: u64) -> Vec<String> {
            let head = |node: &Node| send(&node.address, "GET /readyz HTTP/1.1", "").is_ok();
            assert!(head(&self.first) && head(&self.second), "both live");
            let listed = self.json(&["audit", "--json", "--limit", "0", "--tool", "effects.write"]);
            let text = match &listed {
                Value::String(text) => text.clone(),
                one => one.to_string(),
            };
            let size = json!({"n": number}).to_string().len();
            let records: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let ran =
                records.iter().filter(|record| record["outcome"] != "asked" && record["arguments"]["size"] == size);
            ran.filter_map(|record| record["outcome"].as_str().map(str::to_owned)).collect()
        }
    }

    fn arguments(ask: &Value) -> Value {
        match &ask["arguments"] {
            Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
            object => object.clone(),
        }
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
    }

    /// A cable between a node and the server, which can be cut.
    struct Cable {
        near: String,
        is_cut: Arc<AtomicBool>,
        ends: Arc<Mutex<Vec<TcpStream>>>,
    }

    impl Cable {
        fn to(url: &str) -> Self {
            let (before, rest) = url.rsplit_once('@').expect("an address");
            let (far, database) = rest.split_once('/').expect("an address");
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let near = format!("{before}@{}/{database}", listener.local_addr().expect("an address"));
            let (is_cut, ends) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
            let (cut, plugged, far) = (Arc::clone(&is_cut), Arc::clone(&ends), far.to_owned());
            std::thread::spawn(move || {
                for client in listener.incoming().map_while(Result::ok) {
                    // Both ends are kept before anybody can miss them.
                    let mut plugged = plugged.lock().expect("not poisoned");
                    if cut.load(Ordering::SeqCst) {
                        continue;
                    }
                    let Ok(server) = TcpStream::connect(&far) else { continue };
                    for (from, to) in [(&client, &server), (&server, &client)] {
                        let (mut from, mut to) =
                            (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
                        std::thread::spawn(move || {
                            let _ = io::copy(&mut from, &mut to);
                            let _ = to.shutdown(Shutdown::Both);
                        });
                    }
                    plugged.extend([client, server]);
                }
            });
            Self { near, is_cut, ends }
        }

        fn cut(&self) {
            let mut ends = self.ends.lock().expect("not poisoned");
            self.is_cut.store(true, Ordering::SeqCst);
            for end in ends.drain(..) {
                let _ = end.shutdown(Shutdown::Both);
            }
        }

        fn mend(&self) {
            self.is_cut.store(false, Ordering::SeqCst);
        }
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn the_database_restarts_while_calls_wait_for_a_person() {
        let mut two = Two::start(WAIT);
        let (early, late) = (two.waiting(1), two.waiting(2));
        let (first, second) = (two.asked(1), two.asked(2));
        two.approved(&two.second, &first);
        two.server.restart().expect("restarted");
        two.approved(&two.second, &second);
        for (number, waiting) in [(1, early), (2, late)] {
            let answer = waiting.join().expect("it ended").expect("an answer");
            let ran = text(&answer) == format!("wrote {number}");
            // The first was approved just before: if nothing could be written down just then, it says so, and did not run.
            let refused = number == 1 && text(&answer).starts_with("`write` was not called");
            assert!(ran || refused, "{answer}");
            assert_eq!(two.effects.of(number), u32::from(ran), "{answer}");
            // The decision is not lost with it: the same call runs when it comes again.
            if refused {
                until("it can be taken up", || (two.shown(&first)["runs"][0]["state"] == "parked").then_some(()));
                two.ran(&two.first, number);
            }
            assert_eq!(two.effects.of(number), 1);
        }
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn the_database_restarts_while_an_approved_call_runs() {
        let mut two = Two::start("");
        let id = question(&write(&two.first.address, 3)).expect("a question");
        two.approved(&two.second, &id);
        two.effects.hold(3);
        let running = two.waiting(3);
        until("it runs", || (two.effects.of(3) == 1).then_some(()));
        two.server.restart().expect("restarted");
        // The other node looks for runs that somebody left behind; this one is not.
        assert!(question(&write(&two.second.address, 30)).is_some(), "the database is back");
        two.effects.free(3);
        let answer = running.join().expect("it ended").expect("an answer");
        assert_eq!(text(&answer), "wrote 3", "{answer}");
        // That it is over is written down behind the answer, and again until the database takes it.
        until("it is over", || (two.shown(&id)["runs"][0]["state"] == "done").then_some(()));
        assert!(question(&write(&two.second.address, 3)).is_some(), "one approval, one run");
        assert_eq!((two.effects.of(3), two.ends(3)), (1, vec!["approved".to_owned()]));
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn the_database_is_away_for_a_while_and_nothing_that_needs_asking_runs_meanwhile() {
        let mut two = Two::start("");
        let id = question(&write(&two.first.address, 4)).expect("a question");
        two.approved(&two.second, &id);
        two.server.stop().expect("stopped");
        for node in [&two.first, &two.second] {
            let refused = write(&node.address, 4);
            assert!(refused["result"]["isError"] == true && question(&refused).is_none(), "{refused}");
            let (status, refused) =
                decide(&node.address, &two.token, &id, &json!({"decision": "reject"})).expect("an answer");
            assert_eq!(status, 503, "{refused}");
        }
        assert_eq!(two.effects.of(4), 0);
        two.server.run().expect("started");
        two.ran(&two.first, 4);
        assert!(question(&write(&two.second.address, 4)).is_some(), "one approval, one run");
        assert_eq!((two.effects.of(4), two.ends(4)), (1, vec!["approved".to_owned()]));
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn a_node_that_is_cut_off_decides_nothing_and_hears_afterwards_what_was_decided() {
        let two = Two::start("");
        let (yes, no) = (write(&two.first.address, 5), write(&two.first.address, 6));
        let (yes, no) = (question(&yes).expect("a question"), question(&no).expect("a question"));
        two.cable.cut();
        let (status, refused) =
            decide(&two.first.address, &two.token, &no, &json!({"decision": "approve"})).expect("an answer");
        assert_eq!(status, 503, "{refused}");
        two.approved(&two.second, &yes);
        let reject = json!({"decision": "reject", "message": "not today"});
        assert_eq!(decide(&two.second.address, &two.token, &no, &reject).expect("an answer").0, 200);
        assert!(write(&two.first.address, 5)["result"]["isError"] == true, "it cannot know");
        assert_eq!((two.effects.of(5), two.effects.of(6)), (0, 0));
        two.cable.mend();
        two.ran(&two.first, 5);
        until("the no is heard", || text(&write(&two.first.address, 6)).contains("not today").then_some(()));
        assert!(question(&write(&two.second.address, 5)).is_some(), "one approval, one run");
        assert_eq!((two.effects.of(5), two.effects.of(6)), (1, 0));
        assert_eq!(two.ends(5), ["approved"]);
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn a_node_that_is_cut_off_for_a_moment_while_it_runs_a_call_ends_it_as_its_own() {
        let two = Two::start("");
        let id = question(&write(&two.first.address, 7)).expect("a question");
        two.approved(&two.second, &id);
        two.effects.hold(7);
        let running = two.waiting(7);
        until("it runs", || (two.effects.of(7) == 1).then_some(()));
        two.cable.cut();
        assert!(question(&write(&two.second.address, 7)).is_some(), "the other asks anew and does not run it");
        two.effects.free(7);
        // It ends while nothing can be written down, and its answer waits a little for that to pass.
        std::thread::sleep(std::time::Duration::from_millis(100));
        two.cable.mend();
        let answer = running.join().expect("it ended").expect("an answer");
        assert_eq!(text(&answer), "wrote 7", "{answer}");
        assert_eq!((two.effects.of(7), two.ends(7)), (1, vec!["approved".to_owned()]));
        until("it is over", || (two.shown(&id)["runs"][0]["state"] == "done").then_some(()));
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn a_node_that_is_cut_off_for_long_loses_its_waiting_calls_to_others_and_none_runs_twice() {
        let two = Two::start(WAIT);
        let waiting = two.waiting(8);
        let id = two.asked(8);
        two.cable.cut();
        let state = || two.shown(&id)["runs"][0]["state"].as_str().map(str::to_owned);
        until("it is given up", || state().filter(|state| state == "parked"));
        two.approved(&two.second, &id);
        two.ran(&two.second, 8);
        two.cable.mend();
        let gone = two.waiting(80);
        let other = two.asked(80);
        two.approved(&two.first, &other);
        assert_eq!(text(&gone.join().expect("it ended").expect("an answer")), "wrote 80", "it is of use again");
        assert_eq!((two.effects.of(8), two.effects.of(80)), (1, 1));
        let spent = waiting.join().expect("it ended").expect("an answer");
        assert_eq!(spent["result"]["_meta"]["dev.toolmark/call"]["code"], "approval-spent", "{spent}");
    }

    #[test]
    #[ignore = "needs a PostgreSQL that it may stop; `cargo xtask test` installs one"]
    fn a_notice_that_is_lost_costs_time_and_no_decision() {
        let two = Two::start(WAIT);
        for number in [9, 10, 11] {
            let waiting = two.waiting(number);
            let id = two.asked(number);
            block_on(two.database.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND query ILIKE 'LISTEN%' AND pid <> pg_backend_pid()",
            ));
            two.approved(&two.second, &id);
            let answer = waiting.join().expect("it ended").expect("an answer");
            let ran = text(&answer) == format!("wrote {number}");
            // The first was approved just before: if nothing could be written down just then, it says so, and did not run.
            let refused = number == 1 && text(&answer).starts_with("`write` was not called");
            assert!(ran || refused, "{answer}");
            assert_eq!(two.effects.of(number), u32::from(ran), "{answer}");
        }
    }
}
