//! What is shown: calls with their way through the pipeline, the catalog, cards, confusables, the policy, health and agents.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{ASK, Running};

async fn flushed(running: &Running) {
    // Asking for one call waits until what was called is written.
    let _ = running.get("/api/calls/01a1e33b-9d7b-746c-9bd1-3160ee6f0e20").await;
}

#[tokio::test]
async fn calls_come_newest_first_page_by_page_and_by_filter() {
    let running = Running::start("").await;
    for number in 0..5 {
        running.call("slow", json!({"text": format!("n{number}")})).await;
    }
    running.call("read_query", json!({"query": "DELETE FROM users"})).await;
    running.call("nothing_like_it", json!({})).await;
    flushed(&running).await;
    let all = running.shown("/api/calls").await;
    let outcomes: Vec<&str> =
        all["calls"].as_array().expect("there").iter().map(|call| call["outcome"].as_str().expect("there")).collect();
    assert_eq!(outcomes, ["unknown-tool", "denied", "ok", "ok", "ok", "ok", "ok"], "{all}");
    assert!(all["next"].is_null());
    let mut seen = Vec::new();
    let mut path = "/api/calls?limit=3".to_owned();
    loop {
        let page = running.shown(&path).await;
        seen.extend(page["calls"].as_array().expect("there").iter().map(|call| call["id"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/calls?limit=3&before={next}");
    }
    assert_eq!(seen.len(), 7);
    seen.dedup();
    assert_eq!(seen.len(), 7, "no call comes twice");
    for (filter, count) in [
        ("outcome=denied", 1),
        ("verdict=deny", 1),
        ("tool=own.slow", 5),
        ("pack=own", 5),
        ("caller=local", 7),
        ("caller=nobody", 0),
        ("since=2100-01-01T00:00:00Z", 0),
        ("until=2000-01-01T00:00:00Z", 0),
    ] {
        let found = running.shown(&format!("/api/calls?{filter}")).await;
        assert_eq!(found["calls"].as_array().expect("there").len(), count, "{filter}");
    }
    for wrong in
        ["limit=x", "before=x", "outcome=fine", "verdict=maybe", "since=soon", "who=me", "tool=%zz", "limit=1&limit=2"]
    {
        let answer = running.get(&format!("/api/calls?{wrong}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
        assert!(["console-request", "audit-cursor"].contains(&answer.code().as_str()), "{wrong}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_refused_call_shows_what_each_stage_decided_and_why() {
    let running = Running::start("").await;
    running.call("read_query", json!({"query": "DELETE FROM users"})).await;
    flushed(&running).await;
    let id = running.shown("/api/calls").await["calls"][0]["id"].as_str().expect("there").to_owned();
    let told = running.shown(&format!("/api/calls/{id}")).await;
    let stages: Vec<(&str, &str)> = told["stages"]
        .as_array()
        .expect("there")
        .iter()
        .map(|stage| (stage["stage"].as_str().expect("there"), stage["state"].as_str().expect("there")))
        .collect();
    let expected = [
        ("identify", "passed"),
        ("validate", "passed"),
        ("analyze", "passed"),
        ("judge", "stopped"),
        ("approve", "skipped"),
        ("dispatch", "skipped"),
        ("shape", "passed"),
        ("record", "passed"),
    ];
    assert_eq!(stages, expected);
    let call = &told["call"];
    assert_eq!(call["tool"]["canonical"], "shop.read_query");
    assert_eq!(call["facts"][0]["effects"][0]["action"], "DELETE");
    assert!(!call["reasons"].as_array().expect("there").is_empty());
    assert!(told["stages"][2]["says"].as_str().expect("there").contains("sql in /query"), "{told}");
    assert!(told["stages"][7]["details"]["hash"].as_str().expect("there").len() == 64);
    for wrong in ["x", "01a1e33b-9d7b-746c-9bd1-3160ee6f0e20", "%2e%2e"] {
        let answer = running.get(&format!("/api/calls/{wrong}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::NOT_FOUND, "console-no-call"), "{wrong}");
    }
    running.stop().await;
}

#[tokio::test]
async fn the_catalog_is_rows_that_are_sent_again_only_when_they_changed() {
    let running =
        Running::start("[packs.x]\nurl = \"http://127.0.0.1:1/mcp\"\ndisplay_name = { en = \"Ecks\", nl = \"Iks\" }\n")
            .await;
    let answer = running.get("/api/catalog").await;
    let catalog = answer.json();
    let columns: Vec<&str> =
        catalog["columns"].as_array().expect("there").iter().map(|name| name.as_str().expect("there")).collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).expect("there");
    let rows = catalog["rows"].as_array().expect("there");
    assert_eq!(rows.len(), running.gateway.snapshot().workspace().catalog().len());
    let query = rows.iter().find(|row| row[at("canonical")] == "shop.read_query").expect("there");
    let behavior = query[at("behavior")].as_u64().expect("there");
    assert!(
        catalog["behaviors"][usize::try_from(behavior).expect("there")].as_str().expect("there").starts_with("PURE")
    );
    assert!(query[at("siblings")].as_u64().expect("there") > 0, "`write_query` takes the same");
    let pack = |catalog: &Value| {
        catalog["packs"].as_array().expect("there").iter().find(|pack| pack["name"] == "x").expect("there").clone()
    };
    assert_eq!(pack(&catalog)["shown"]["name"], "Ecks");
    let tag = answer.header("etag").to_owned();
    let again = running.ask(Method::GET, "/api/catalog", &[("if-none-match", &tag)], String::new()).await;
    assert!(
        matches!(again.status, StatusCode::NOT_MODIFIED | StatusCode::OK),
        "the server that is away is tried meanwhile"
    );
    let dutch =
        running.ask(Method::GET, "/api/catalog", &[("accept-language", "nl-BE, en;q=0.5")], String::new()).await;
    assert_eq!(pack(&dutch.json())["shown"]["name"], "Iks");
    assert_eq!((dutch.header("content-language"), dutch.header("vary")), ("nl", "Accept-Language"));
    for path in ["/api/me", "/api/approvals", "/api/grants", "/api/health", "/api/agents"] {
        let answer = running.ask(Method::GET, path, &[("accept-language", "nl")], String::new()).await;
        assert_eq!((answer.header("content-language"), answer.header("vary")), ("nl", "Accept-Language"), "{path}");
    }
    for (path, language) in [("/", "en"), ("/console/i18n/nl.json", "nl"), ("/console/i18n/de.json", "de")] {
        let page = running.ask(Method::GET, path, &[("accept-language", "nl")], String::new()).await;
        assert_eq!(page.header("content-language"), language, "{path}");
        assert!(page.headers.get("vary").is_none(), "{path} is the same for everybody");
    }
    let dutch = running.get("/api/catalog?lang=nl").await;
    assert_eq!(pack(&dutch.json())["shown"]["name"], "Iks");
    let odd = running.ask(Method::GET, "/api/me", &[("accept-language", ";;q=x,")], String::new()).await;
    assert_eq!(odd.status, StatusCode::OK, "a header that cannot be read counts as absent");
    assert!(odd.json()["language_problem"].is_string(), "and it is said");
    assert_eq!(running.get("/api/catalog?lang=%21%21").await.status, StatusCode::BAD_REQUEST);
    running.stop().await;
}

#[tokio::test]
async fn a_card_shows_every_layer_siblings_history_and_rules() {
    let rules = "[[rules]]\nid = \"no-writes\"\nverdict = \"deny\"\ntools = [\"shop.write_query\"]\n";
    let running = Running::start(rules).await;
    running.call("read_query", json!({"query": "SELECT 1"})).await;
    let card = running.shown("/api/catalog/shop.read_query").await;
    assert_eq!(card["canonical"], "shop.read_query");
    for key in [
        "raw",
        "pack",
        "mark",
        "digest",
        "lookup_key",
        "approval_key",
        "trace_name",
        "known",
        "inference",
        "input_schema",
        "exposed",
    ] {
        assert!(!card[key].is_null(), "{key}");
    }
    let sibling = card["siblings"]
        .as_array()
        .expect("there")
        .iter()
        .find(|one| one["tool"] == "shop.write_query")
        .expect("there")
        .clone();
    assert_eq!((sibling["separated"].as_str(), sibling["shown"]["name"].is_string()), (Some("v1"), true), "{sibling}");
    assert_eq!(card["display"].as_array().expect("there").last().expect("there")["layer"], "humanized");
    assert_eq!(card["calls"]["calls"], 1);
    assert!(card["rules"].as_array().expect("there").is_empty());
    let write = running.shown("/api/catalog/shop.write_query").await;
    assert_eq!((&write["rules"][0]["id"], &write["rules"][0]["verdict"]), (&json!("no-writes"), &json!("deny")));
    let missing = running.get("/api/catalog/shop.nothing").await;
    assert_eq!((missing.status, missing.code().as_str()), (StatusCode::NOT_FOUND, "tool-not-found"));
    let ambiguous = running.get("/api/catalog/search").await;
    assert_eq!(ambiguous.status, StatusCode::NOT_FOUND, "a short name of two tools is no address of one");
    running.stop().await;
}

#[tokio::test]
async fn confusables_are_groups_with_what_separates_each_pair() {
    let running = Running::start("").await;
    let found = running.shown("/api/confusables").await;
    let groups = found["groups"].as_array().expect("there");
    let of = |kind: &str, tool: &str| {
        let has = |group: &&Value| {
            group["kind"] == kind
                && group["tools"].as_array().expect("there").iter().any(|one| one["canonical"] == tool)
        };
        groups.iter().find(has).unwrap_or_else(|| panic!("no {kind} with {tool}: {found}"))
    };
    let queries = of("same-schema", "shop.read_query");
    let count = queries["tools"].as_array().expect("there").len();
    assert_eq!(queries["links"].as_array().expect("there").len(), count * (count - 1) / 2);
    assert!(queries["links"].as_array().expect("there").iter().any(|link| link[2] == "v1"));
    let search = of("same-name", "tracker.search");
    assert!(search["says"].as_str().expect("there").contains("search"), "{search}");
    assert_eq!(running.shown("/api/confusables").await, found, "and the same again");
    running.stop().await;
}

#[tokio::test]
async fn rules_are_counted_by_what_was_recorded() {
    let rules = format!("{ASK}[[rules]]\nid = \"no-deletes\"\nverdict = \"deny\"\neffect = \"MUTATES|DELETE\"\n");
    let running = Running::start(&rules).await;
    for _ in 0..3 {
        running.call("write_query", json!({"query": "DELETE FROM users WHERE id = 1"})).await;
    }
    running.call("touch", json!({"text": "a"})).await;
    flushed(&running).await;
    let policy = running.shown("/api/policy").await;
    let rule = |id: &str| {
        policy["rules"].as_array().expect("there").iter().find(|rule| rule["id"] == id).expect("there").clone()
    };
    assert_eq!((&rule("no-deletes")["hits"], &rule("no-deletes")["denied"]), (&json!(3), &json!(3)), "{policy}");
    assert_eq!(
        (&rule("careful")["hits"], &rule("careful")["asked"], &rule("careful")["tools"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!((&policy["window"]["calls"], &policy["window"]["whole"]), (&json!(4), &json!(true)));
    assert_eq!(policy["verdicts"], json!({"allow": 0, "ask": 1, "deny": 3}));
    let later = running.shown("/api/policy?since=2100-01-01T00:00:00Z").await;
    assert_eq!(later["window"]["calls"], 0);
    assert_eq!(running.get("/api/policy?since=whenever").await.status, StatusCode::BAD_REQUEST);
    running.stop().await;
}

#[tokio::test]
async fn health_shows_packs_figures_and_the_store() {
    let running = Running::start("[packs.away]\nurl = \"http://127.0.0.1:1/mcp\"\n").await;
    for _ in 0..4 {
        running.call("read_query", json!({"query": "SELECT 1"})).await;
    }
    running.call("read_query", json!({"query": "DELETE FROM users"})).await;
    let health = running.shown("/api/health").await;
    let pack = |name: &str| {
        health["packs"].as_array().expect("there").iter().find(|pack| pack["name"] == name).expect("there").clone()
    };
    assert_eq!(
        (&pack("shop")["state"], &pack("shop")["calls"], &pack("shop")["errors"]),
        (&json!("ready"), &json!(5), &json!(0))
    );
    assert!(pack("shop")["p95_us"].as_u64().expect("there") >= pack("shop")["p50_us"].as_u64().expect("there"));
    assert_eq!(pack("away")["state"], "unavailable");
    assert!(pack("away")["why"].is_string());
    assert_eq!(health["outcomes"], json!({"ok": 4, "denied": 1}));
    assert_eq!(health["tools"][0]["canonical"], "shop.read_query");
    assert_eq!(health["stages"]["examine"]["count"], 5);
    assert_eq!(health["stages"]["dispatch"]["count"], 4);
    let minutes = health["minutes"].as_array().expect("there");
    assert_eq!(minutes.len(), 60);
    assert_eq!(minutes.iter().map(|minute| minute["calls"].as_u64().expect("there")).sum::<u64>(), 5);
    assert_eq!((&health["store"]["works"], &health["store"]["kind"]), (&json!(true), &json!("sqlite")));
    assert!(health["nodes"].as_array().expect("there").iter().any(|node| node["name"] == "n1" && node["here"] == true));
    running.stop().await;
}

#[tokio::test]
async fn agents_are_shown_with_what_their_names_mean() {
    let config = "[agents.helper]\nmodel = \"openai:gpt-5\"\ntools = [\"shop.*\", \"no_such_tool\"]\ndisplay_name = { en = \"Helper\", nl = \"Hulp\" }\n";
    let running = Running::start(config).await;
    let agents = running.shown("/api/agents?lang=nl").await;
    let agent = &agents["agents"][0];
    assert_eq!(
        (&agent["name"], &agent["shown"]["name"], &agent["usable"]),
        (&json!("helper"), &json!("Hulp"), &json!(false))
    );
    assert!(agent["tools"].as_array().expect("there").iter().any(|tool| tool["tool"] == "shop.read_query"));
    assert!(agent["problems"][0]["what"].as_str().expect("there").contains("no_such_tool"), "{agents}");
    running.stop().await;
}
