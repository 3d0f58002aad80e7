//! Every tool without the gate in front, so that each is seen to work whatever a policy says.

use serde_json::{Value, json};

use super::database::Database;
use super::{PACKS, agora, mail, shop, tracker, wiki};

async fn run(database: &Database, pack: &str, tool: &str, arguments: Value) -> Result<Value, String> {
    let arguments = arguments.to_string();
    let arguments = arguments.as_bytes();
    let outcome = match pack {
        "shop" => shop::run(database, tool, arguments).await,
        "tracker" => tracker::run(database, tool, arguments).await,
        "wiki" => wiki::run(database, tool, arguments).await,
        "mail" => mail::run(database, tool, arguments).await,
        "agora" => agora::run(database, tool, arguments).await,
        _ => None,
    };
    outcome.expect("the pack has the tool").map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn every_listed_tool_is_there_and_refuses_arguments_it_does_not_know() {
    let database = Database::new();
    for (pack, text) in PACKS {
        let listed: Value = serde_json::from_str(text).expect("JSON");
        for tool in listed["tools"].as_array().expect("tools") {
            let name = tool["name"].as_str().expect("a name");
            let error = run(&database, pack, name, json!({"surprise": 1})).await.expect_err(name);
            assert!(error.starts_with("bad arguments: "), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn the_shop_executes_whatever_it_is_told() {
    let database = Database::new();
    let tables = run(&database, "shop", "list_tables", json!({})).await.expect("tables");
    assert!(tables["tables"].as_array().expect("a list").contains(&json!({"name": "orders"})));
    let table = run(&database, "shop", "describe_table", json!({"table": "products"})).await.expect("columns");
    assert_eq!(table["columns"][1], json!({"name": "name", "type": "TEXT", "required": 1, "default": null, "key": 0}));
    let wrong = run(&database, "shop", "describe_table", json!({"table": "nope"})).await;
    assert_eq!(wrong, Err("there is no table `nope`".into()));
    let wrong = run(&database, "shop", "read_query", json!({"query": "SELEC 1"})).await.expect_err("no SQL");
    assert!(wrong.starts_with("SQL error: "), "{wrong}");
    let deleted = run(&database, "shop", "read_query", json!({"query": "DELETE FROM orders"})).await.expect("it obeys");
    assert_eq!(deleted["count"], 0);
    let changed = run(&database, "shop", "write_query", json!({"query": "UPDATE users SET active = 0"})).await;
    assert_eq!(changed, Ok(json!({"rows_changed": 8})));
    let left = run(&database, "shop", "read_query", json!({"query": "SELECT count(*) AS n FROM orders"})).await;
    assert_eq!(left.expect("rows")["rows"], json!([{"n": 0}]));
}

#[tokio::test]
async fn values_keep_their_kind_and_columns_of_one_name_are_both_there() {
    let database = Database::new();
    let query = "SELECT 1 AS a, 2 AS a, 1.5 AS r, NULL AS n, x'0aff' AS b, 'é' AS t";
    let data = run(&database, "shop", "read_query", json!({"query": query})).await.expect("rows");
    assert_eq!(data["rows"], json!([{"a": 1, "a_2": 2, "r": 1.5, "n": null, "b": "0aff", "t": "é"}]));
}

#[tokio::test]
async fn a_query_without_end_is_cut() {
    let database = Database::new();
    let query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let data = run(&database, "shop", "read_query", json!({"query": query})).await.expect("rows");
    assert_eq!((&data["count"], &data["truncated"]), (&json!(1000), &json!(true)));
    let again = run(&database, "shop", "read_query", json!({"query": "SELECT count(*) AS n FROM users"})).await;
    assert_eq!(again.expect("rows")["rows"], json!([{"n": 8}]));
}

#[tokio::test]
async fn a_transaction_that_is_left_open_is_undone() {
    let database = Database::new();
    let begun = run(&database, "shop", "write_query", json!({"query": "BEGIN; DELETE FROM orders"})).await;
    assert_eq!(begun, Ok(json!({"rows_changed": 10})));
    let left = run(&database, "shop", "read_query", json!({"query": "SELECT count(*) AS n FROM orders"})).await;
    assert_eq!(left.expect("rows")["rows"], json!([{"n": 10}]));
}

#[tokio::test]
async fn an_issue_is_created_found_closed_and_deleted() {
    let database = Database::new();
    let issue = run(&database, "tracker", "create_issue", json!({"title": "Odd noise"})).await.expect("an issue");
    let number = issue["number"].clone();
    let found = run(&database, "tracker", "search", json!({"query": "noise odd", "limit": 5})).await.expect("issues");
    assert_eq!(found["issues"], json!([{"number": number, "title": "Odd noise", "state": "open"}]));
    let closed = run(&database, "tracker", "close_issue", json!({"number": number})).await.expect("an issue");
    assert_eq!(closed["state"], "closed");
    let first = run(&database, "tracker", "get_issue", json!({"number": 1})).await.expect("an issue");
    assert_eq!(first["comments"].as_array().map(Vec::len), Some(2));
    let deleted = run(&database, "tracker", "delete_issue", json!({"number": 1})).await;
    assert_eq!(deleted, Ok(json!({"deleted": 1})));
    let gone = run(&database, "tracker", "get_issue", json!({"number": 1})).await;
    assert_eq!(gone, Err("there is no issue 1".into()));
    let comments = database.ask("SELECT id FROM comments WHERE issue = 1", Vec::new()).await.expect("rows");
    assert!(comments.is_empty());
}

#[tokio::test]
async fn a_page_keeps_its_history() {
    let database = Database::new();
    let before = run(&database, "wiki", "read_page", json!({"title": "home"})).await.expect("a page");
    let updated = run(&database, "wiki", "update_page", json!({"title": "Home", "body": "# New"})).await;
    assert_eq!(updated.expect("a page")["revision"], 2);
    let after = run(&database, "wiki", "read_page", json!({"title": "Home"})).await.expect("a page");
    assert_eq!(after["body"], "# New");
    let kept = database.ask("SELECT revision, body FROM page_history", Vec::new()).await.expect("rows");
    assert_eq!(kept, [json!({"revision": 1, "body": before["body"]})]);
    let found = run(&database, "wiki", "search", json!({"query": "access"})).await.expect("pages");
    assert_eq!(found["pages"][0]["title"], "Onboarding");
    let missing = run(&database, "wiki", "update_page", json!({"title": "None", "body": ""})).await;
    assert_eq!(missing, Err("there is no page `None`".into()));
}

#[tokio::test]
async fn messages_are_listed_newest_first_sent_to_the_outbox_and_deleted() {
    let database = Database::new();
    let listed = run(&database, "mail", "list_messages", json!({"limit": 2})).await.expect("messages");
    let ids: Vec<&Value> =
        listed["messages"].as_array().expect("a list").iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, [&json!("m3"), &json!("m1")]);
    let letter = json!({"to": "ada@example.com", "subject": "Hello", "body": "Hi"});
    let sent = run(&database, "mail", "send_message", letter).await.expect("sent");
    assert_eq!((&sent["number"], &sent["recipient"]), (&json!(1), &json!("ada@example.com")));
    let nobody = run(&database, "mail", "send_message", json!({"to": "nobody", "subject": "", "body": ""})).await;
    assert_eq!(nobody, Err("`nobody` is not one address".into()));
    let outbox = database.ask("SELECT subject FROM outbox", Vec::new()).await.expect("rows");
    assert_eq!(outbox, [json!({"subject": "Hello"})]);
    let deleted = run(&database, "mail", "delete_message", json!({"id": "m2"})).await;
    assert_eq!(deleted, Ok(json!({"deleted": "m2"})));
    let again = run(&database, "mail", "delete_message", json!({"id": "m2"})).await;
    assert_eq!(again, Err("there is no message `m2`".into()));
}

#[tokio::test]
async fn inspections_are_found_and_reports_are_closed_once() {
    let database = Database::new();
    let agora = |tool: &'static str, arguments: Value| run(&database, "agora", tool, arguments);
    let found = agora("search_regulations", json!({"query": "cold chain"})).await.expect("articles");
    assert_eq!(found["articles"][0]["regulation_id"], "REG-852");
    assert_eq!(
        agora("check_company_exists", json!({"kvk_number": "00000000"})).await.expect("an answer")["exists"],
        false
    );
    let repeated = json!({"kvk_number": "23456789", "regulation_id": "REG-852"});
    assert_eq!(agora("check_repeat_violation", repeated).await.expect("an answer")["repeated"], true);
    let critical = json!({"kvk_number": "23456789", "severity": "critical"});
    assert_eq!(
        agora("get_company_violations", critical).await.expect("violations")["violations"].as_array().map(Vec::len),
        Some(1)
    );
    let all = agora("get_company_violations", json!({"kvk_number": "23456789"})).await.expect("violations");
    assert_eq!(all["violations"].as_array().map(Vec::len), Some(3));
    let last = json!({"kvk_number": "23456789", "limit": 1});
    assert_eq!(
        agora("get_inspection_history", last).await.expect("history")["inspections"][0]["inspection_id"],
        "INS-1003"
    );
    assert_eq!(
        agora("get_follow_up_status", json!({"inspection_id": "INS-1003"})).await.expect("a status")["follow_up"],
        "open"
    );
    let fatima = agora("search_inspections_by_inspector", json!({"inspector": "fatima"})).await.expect("inspections");
    assert_eq!(fatima["inspections"].as_array().map(Vec::len), Some(2));
    let context = agora("get_regulation_context", json!({"regulation_id": "REG-852"})).await.expect("a regulation");
    assert_eq!(context["articles"], "4, 5");
    let articles = json!({"regulation_id": "REG-852", "articles": ["5", "99"]});
    assert_eq!(
        agora("lookup_regulation_articles", articles).await.expect("articles")["articles"].as_array().map(Vec::len),
        Some(1)
    );
    let read = agora("analyze_document", json!({"text": "See reg-48."})).await.expect("an analysis");
    assert_eq!((&read["words"], &read["mentions"][0]["title"]), (&json!(2), &json!("Safety of toys")));
    assert_eq!(agora("get_database_stats", json!({})).await.expect("counts")["companies"], 3);
    let nobody = json!({"kvk_number": "00000000", "notes": "x"});
    assert_eq!(agora("extract_inspection_data", nobody).await, Err("there is no company `00000000`".into()));
    let draft =
        agora("extract_inspection_data", json!({"kvk_number": "12345678", "notes": "Clean."})).await.expect("a draft");
    let report = draft["report_id"].clone();
    let answers = json!({"report_id": report, "answers": {"Clean?": "Yes"}});
    assert_eq!(
        agora("submit_verification_answers", answers.clone()).await.expect("answers")["answers"],
        r#"{"Clean?":"Yes"}"#
    );
    let signed = json!({"report_id": report, "signed_by": "Jan de Vries"});
    assert_eq!(agora("generate_final_report", signed.clone()).await.expect("a report")["state"], "final");
    assert!(agora("generate_final_report", signed).await.is_err(), "once");
    assert!(agora("submit_verification_answers", answers).await.is_err(), "it is closed");
    assert_eq!(agora("get_report_status", json!({"report_id": report})).await.expect("a status")["state"], "final");
}
