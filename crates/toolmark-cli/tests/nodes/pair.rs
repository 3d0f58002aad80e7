//! Two gateways on one PostgreSQL: any of them shows, decides and resumes any approval.

mod postgres {
    use std::fs;
    use std::time::Duration;

    use serde_json::json;
    use tempfile::TempDir;

    use crate::support::{Effects, Node, approver, call, decide, json_of, question, send, text, write};

    struct Two {
        effects: Effects,
        folder: TempDir,
        store: String,
        first: Node,
        second: Node,
        token: String,
    }

    /// Two nodes on a database of their own.
    fn two(more: &str) -> Two {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = runtime.block_on(toolmark_testkit::Database::new()).url().to_owned();
        let effects = Effects::start();
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("toolmark.toml"), effects.configuration(more)).expect("written");
        let token = approver(folder.path(), &store);
        let (first, second) = (Node::start(folder.path(), &store), Node::start(folder.path(), &store));
        Two { effects, folder, store, first, second, token }
    }

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn what_one_node_asks_another_decides_and_a_third_party_sees_on_both() {
        let two = two("");
        let id = question(&write(&two.first.address, 1)).expect("a question");
        let head = format!("GET /api/approvals/{id} HTTP/1.1\r\nAuthorization: Bearer {}", two.token);
        let (status, shown) = send(&two.second.address, &head, "").expect("an answer");
        assert_eq!((status, shown["tool"].as_str()), (200, Some("effects.write")));
        let approve = json!({"decision": "approve"});
        let (status, _) = decide(&two.second.address, &two.token, &id, &approve).expect("an answer");
        assert_eq!(status, 200);
        let (status, late) =
            decide(&two.first.address, &two.token, &id, &json!({"decision": "reject"})).expect("an answer");
        assert_eq!((status, late["error"]["code"].as_str()), (409, Some("approval-decided")));
        assert_eq!(text(&write(&two.first.address, 1)), "wrote 1");
        assert!(question(&write(&two.second.address, 1)).is_some(), "one approval, one run");
        assert_eq!(two.effects.seen().get(&1), Some(&1));
    }

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn a_state_that_one_node_handed_out_runs_once_on_whichever_node_gets_it() {
        let two = two("");
        let capable = json!({"elicitation": {}});
        let asked = call(&two.first.address, "write", 2, &capable, &json!({})).expect("an answer");
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let back = json!({
            "requestState": asked["result"]["requestState"],
            "inputResponses": {"dev.toolmark/approval": {"action": "accept", "content": {"decision": "approve once"}}},
        });
        let (one, other) = std::thread::scope(|scope| {
            let back = &back;
            let send = |address: String| {
                let capable = capable.clone();
                scope.spawn(move || call(&address, "write", 2, &capable, back).expect("an answer"))
            };
            let (one, other) = (send(two.first.address.clone()), send(two.second.address.clone()));
            (one.join().expect("it ended"), other.join().expect("it ended"))
        });
        let ran = [&one, &other].into_iter().filter(|answer| text(answer) == "wrote 2").count();
        assert_eq!(ran, 1, "{one} {other}");
        assert_eq!(two.effects.seen().get(&2), Some(&1));
    }

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn a_decision_outlives_the_node_that_asked() {
        let mut two = two("\n[approvals]\nwait = \"30s\"\n");
        let address = two.first.address.clone();
        let waiting = std::thread::spawn(move || call(&address, "write", 3, &json!({}), &json!({})));
        let id = loop {
            let open = json_of(two.folder.path(), &["approvals", "list", "--json", "--store", &two.store]);
            match open["approvals"][0]["id"].as_str() {
                Some(id) => break id.to_owned(),
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        two.first.kill();
        assert!(waiting.join().expect("it ended").is_err(), "its node is gone");
        let (status, _) =
            decide(&two.second.address, &two.token, &id, &json!({"decision": "approve"})).expect("an answer");
        assert_eq!(status, 200);
        // The run of the dead node is there for whoever calls again as soon as somebody notices that the node is gone.
        let state = || {
            let shown = json_of(two.folder.path(), &["approvals", "show", &id, "--json", "--store", &two.store]);
            shown["runs"][0]["state"].as_str().map(str::to_owned)
        };
        while state().as_deref() == Some("waiting") {
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(state().as_deref(), Some("parked"));
        assert_eq!(text(&write(&two.second.address, 3)), "wrote 3", "the decision holds");
        assert_eq!(two.effects.seen().get(&3), Some(&1));
    }

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn a_grant_of_one_node_holds_on_the_other_and_so_does_taking_it_back() {
        let two = two("");
        let id = question(&write(&two.first.address, 4)).expect("a question");
        let always = json!({"decision": "approve", "scope": "always"});
        let (status, decided) = decide(&two.first.address, &two.token, &id, &always).expect("an answer");
        assert_eq!(status, 200, "{decided}");
        let holds = |wanted: bool, numbers: std::ops::Range<u64>| {
            numbers.into_iter().any(|number| {
                std::thread::sleep(Duration::from_millis(100));
                question(&write(&two.second.address, number)).is_none() == wanted
            })
        };
        assert!(holds(true, 100..150), "the other node hears of it");
        let grant = decided["decision"]["grant"].as_str().expect("a grant");
        let head = format!("DELETE /api/grants/{grant} HTTP/1.1\r\nAuthorization: Bearer {}", two.token);
        let (status, _) = send(&two.first.address, &head, "").expect("an answer");
        assert_eq!(status, 200);
        assert!(holds(false, 200..250), "the other node hears of that, too");
    }
}
