use std::path::Path;

use toolmark_agents::{RunOutcome, Runner};
use toolmark_core::document::Document;
use toolmark_core::names::CanonicalName;
use toolmark_core::snapshot::SnapshotReader;
use toolmark_models::ScriptedModel;
use toolmark_models::scripted::Turn;
use toolmark_runtime::tools::RunContext;

use super::*;
use crate::demo;

fn demo_catalog() -> toolmark_core::catalog::Catalog {
    let mut reader = SnapshotReader::default();
    for (pack, text) in demo::PACKS {
        reader.read(&Document::new(format!("demo/{pack}.json"), (*text).to_owned()), pack);
    }
    reader.finish().into_builder().build().expect("no problems")
}

#[test]
fn a_tool_is_meant_by_every_spelling_and_what_means_none_or_two_is_told_with_candidates() {
    let catalog = demo_catalog();
    let table = table(&catalog, &Config::default()).unwrap();
    let mark = catalog.find("get_issue", |_| true).unwrap().mark().to_string();
    let exposed = table.listed().find(|row| row.tool.canonical().as_str() == "wiki.search").unwrap().name.to_string();
    assert_ne!(exposed, "search");
    let names: Vec<String> =
        ["tracker.search", "read_query", &exposed, &mark, "mail.*"].iter().map(ToString::to_string).collect();
    let meant = tools_of(&catalog, &table, "one", &names).unwrap();
    let found: Vec<(Spelling, Vec<&str>)> =
        meant.iter().map(|one| (one.spelling, one.tools.iter().map(CanonicalName::as_str).collect())).collect();
    let expected = [
        (Spelling::Canonical, vec!["tracker.search"]),
        (Spelling::Own, vec!["shop.read_query"]),
        (Spelling::Exposed, vec!["wiki.search"]),
        (Spelling::Mark, vec!["tracker.get_issue"]),
        (Spelling::Pattern, vec!["mail.list_messages", "mail.send_message", "mail.delete_message"]),
    ];
    assert_eq!(found, expected);

    let names: Vec<String> = ["search", "read_qery", "nothing.*"].iter().map(ToString::to_string).collect();
    let errors = tools_of(&catalog, &table, "one", &names).unwrap_err();
    let said: Vec<(String, &str)> = errors.iter().map(|error| (error.to_string(), error.code().as_str())).collect();
    assert_eq!(said[0], ("the agent `one` names the tool `search`, which 2 packs have".into(), "agent-tool-ambiguous"));
    assert_eq!(
        said[1],
        ("the agent `one` names the tool `read_qery`, which is not there".into(), "agent-tool-unknown")
    );
    assert_eq!(errors[0].fix(), "use tracker.search or wiki.search");
    assert!(errors[1].fix().contains("shop.read_query"), "{}", errors[1].fix());
    assert_eq!(errors.len(), 3, "all are told at once");
}

async fn started() -> Arc<Gateway> {
    let builder = demo::builder().store(crate::tests::store().await).recall().await.expect("a store");
    let gateway = builder.start().expect("a gateway");
    gateway.settled().await;
    gateway
}

fn config(text: &str) -> Config {
    Config::read(text, "toolmark.toml").unwrap_or_else(|error| panic!("{:#?}", error.problems()))
}

#[tokio::test]
async fn the_demo_agent_asks_both_is_refused_once_and_waits_for_a_person() {
    let gateway = started().await;
    let config = demo::config();
    let (name, _) = AgentUnknown::find(&config, "demo").unwrap();
    let agent = build(&gateway, &config, name, &|_| demo::model().map_err(|error| Box::new(error.report()))).unwrap();
    let outcome = Runner::new().caller("local").run(&agent, "clean up", RunContext::new()).await.unwrap();
    let RunOutcome::Interrupted(mut state) = outcome else { panic!("nobody was asked") };
    let pending = state.pending();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].tool(), "shop.write_query");
    let said = format!("{:?}", state.items());
    assert!(said.contains("\\\"issues\\\"") && said.contains("\\\"pages\\\""), "both searches ran: {said}");
    assert!(said.contains("`shop.read_query` was not called"), "{said}");

    // The question is in the store, where others can answer it too.
    let desk = gateway.desk().expect("a desk");
    let (_, ask) = desk.ledger().run(pending[0].run()).await.unwrap().expect("the question");
    assert_eq!(ask.canonical, "shop.write_query");

    state.approve(&pending[0]).unwrap();
    let outcome = Runner::new().caller("local").resume(&agent, *state, RunContext::new()).await.unwrap();
    let output = outcome.finished().expect("an answer").output().to_owned();
    assert!(output.contains("rows_changed"), "{output}");
    gateway.stop().await;
}

#[tokio::test]
async fn agents_hand_over_in_a_circle_and_each_has_only_its_own_tools_and_task() {
    let gateway = started().await;
    let config = config(
        "[agents.one]\nmodel = \"scripted:x\"\ntools = [\"tracker.search\"]\nhandoffs = [\"two\"]\n\
         [agents.two]\nmodel = \"scripted:x\"\ntools = [\"shop.*\"]\nhandoffs = [\"one\"]\ntask = \"read-only\"\n",
    );
    let script = || {
        ScriptedModel::new([
            Turn::call("read_query", serde_json::json!({"query": "SELECT 1"})),
            Turn::call("transfer_to_two", serde_json::json!({})),
            Turn::calls([scripted("shop", "write_query", "UPDATE orders SET status = 'late' WHERE id = 1")]),
            Turn::text("{output}"),
        ])
    };
    let model: Arc<dyn Model> = Arc::new(script());
    let (name, _) = AgentUnknown::find(&config, "one").unwrap();
    let agent = build(&gateway, &config, name, &|_| Ok(Arc::clone(&model))).unwrap();
    let outcome = Runner::new().run(&agent, "go", RunContext::new()).await.unwrap();
    let result = outcome.finished().expect("an answer");
    assert_eq!(result.agent(), "two");
    let said = format!("{:?}", result.items());
    assert!(said.contains("there is no tool `read_query`"), "one has no such tool: {said}");
    assert!(
        result.output().contains("`shop.write_query` was not called"),
        "the task of two is read-only: {}",
        result.output()
    );
    gateway.stop().await;
}

fn scripted(pack: &str, name: &str, query: &str) -> toolmark_models::scripted::ScriptedCall {
    let call = toolmark_models::scripted::ScriptedCall::new(name, serde_json::json!({"query": query}));
    toolmark_models::scripted::ScriptedCall { namespace: Some(pack.to_owned()), ..call }
}

#[tokio::test]
async fn an_agent_with_a_name_that_means_nothing_is_not_built() {
    let gateway = started().await;
    let config = config("[agents.one]\nmodel = \"scripted:missing.json\"\ntools = [\"search\", \"fly\"]\n");
    let (name, _) = AgentUnknown::find(&config, "one").unwrap();
    let open = |text: &ModelText| {
        let at = crate::models::ModelAt::find(&config, text, Path::new(""), &|_| None)
            .map_err(|error| Box::new(error.report()))?;
        at.open(&|_| None).map_err(|error| Box::new(error.report()))
    };
    let error = build(&gateway, &config, name, &open).unwrap_err();
    let codes: Vec<&str> = error.reports().iter().map(|report| report.code().as_str()).collect();
    assert_eq!(codes, ["model-script-unreadable", "agent-tool-ambiguous", "agent-tool-unknown"]);
    let unknown = AgentUnknown::find(&config, "two").unwrap_err();
    assert_eq!(unknown.fix(), "use one of one");
    gateway.stop().await;
}
