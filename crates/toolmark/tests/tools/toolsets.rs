//! Toolsets, their wrappers, packs as namespaces, and names that collide.

use toolmark::approve::Later;
use toolmark::prelude::*;
use toolmark::tools::{Combined, Ended, ListToolsError, OpenTurnError};

#[tool]
fn search(query: String) -> String {
    format!("here: {query}")
}

#[tool]
fn get(id: u32) -> String {
    format!("customer {id}")
}

#[tool]
fn delete(id: u32) -> String {
    format!("deleted {id}")
}

/// Customers and what they bought.
#[toolmark::pack]
mod crm {
    use toolmark::prelude::*;

    /// Finds customers.
    #[tool]
    pub(crate) fn search(query: String) -> String {
        format!("crm: {query}")
    }

    #[tool]
    fn get(id: u32) -> String {
        format!("crm {id}")
    }

    #[expect(dead_code, reason = "not every function of a pack is a tool")]
    fn helper() {}
}

#[toolmark::pack(name = "back-office")]
mod office {
    use toolmark::prelude::*;

    #[tool(name = "file_away")]
    fn file() {}

    #[cfg(any())]
    #[tool]
    fn of_another_platform(what: NotHere) {}
}

#[tokio::test]
async fn a_pack_may_have_another_name_and_tools_of_other_platforms() {
    assert_eq!(names(&super::turn(office::tools().expect("tools")).await), ["back-office.file_away"]);
}

fn names(turn: &toolmark::tools::Turn) -> Vec<String> {
    turn.offered().map(|(tool, _)| tool.lookup_key().trace_name().to_string()).collect()
}

async fn error(toolset: impl Toolset + 'static) -> OpenTurnError {
    let toolbox = Toolbox::builder().toolset(toolset).build();
    toolbox.turn(TurnContext::new("assistant", RunContext::new())).await.expect_err("an error")
}

#[tokio::test]
async fn a_module_is_a_pack_and_a_pack_is_a_namespace() {
    let tools = crm::tools().expect("tools");
    let namespace = tools.list()[0].namespace().expect("a namespace");
    assert_eq!((namespace.name().as_str(), namespace.description()), ("crm", "Customers and what they bought."));
    let turn = super::turn(Combined::new().with(tools).with(super::one(search::tool()))).await;
    assert_eq!(names(&turn), ["crm.search", "crm.get", "search"]);
    let id = "call_1".parse().expect("an id");
    for (namespace, said) in [(Some("crm"), "crm: x"), (None, "here: x"), (Some(""), "here: x")] {
        let call = ToolCall::new("search", &id, r#"{"query": "x"}"#).in_namespace(namespace);
        let called = turn.call(&call).await;
        assert_eq!(called.answer().expect("an answer").output.to_text(), said, "{namespace:?}");
    }
}

#[tokio::test]
async fn a_name_never_means_a_tool_of_another_namespace() {
    let turn = super::turn(crm::tools().expect("tools")).await;
    let id = "call_1".parse().expect("an id");
    for (name, namespace, said) in [
        ("get", None, "Nothing was called: there is no tool `get` in that namespace. Did you mean `crm.get`?"),
        (
            "get",
            Some("billing"),
            "Nothing was called: there is no tool `billing.get` in that namespace. Did you mean `crm.get`?",
        ),
        ("get", Some("get"), "Nothing was called: there is no tool `get` in that namespace. Did you mean `crm.get`?"),
        ("crm.get", None, "Nothing was called: there is no tool `crm.get`. Offered are: `crm.search`, `crm.get`."),
        ("", None, "Nothing was called: there is no tool ``. Offered are: `crm.search`, `crm.get`."),
    ] {
        let called = turn.call(&ToolCall::new(name, &id, "{}").in_namespace(namespace)).await;
        assert_eq!(called.answer().expect("an answer").output.to_text(), said);
    }
}

#[tokio::test]
async fn a_toolset_of_several_packs_is_written_in_one_place() {
    let tools = toolset! {
        /// Customers.
        pack "crm" { get, delete }
        /// What they owe.
        pack "billing" { search }
        crm::search
    }
    .expect("tools");
    let turn = super::turn(tools).await;
    assert_eq!(names(&turn), ["search", "crm.get", "crm.delete", "billing.search"]);
}

#[tokio::test]
async fn collisions_are_loud_and_name_both() {
    let twice = Combined::new().with(super::one(search::tool())).with(super::one(crm::search::tool()));
    let text = error(twice).await.to_string();
    assert!(text.contains("2 tools are named `search`"), "{text}");

    let packs =
        Combined::new().with(crm::tools().expect("tools")).with(toolset! { pack "crm" { delete } }.expect("tools"));
    let text = error(packs).await.to_string();
    assert!(text.contains("`crm`"), "{text}");

    let reserved = error(toolset! { pack "get" { get } }.expect("tools")).await.to_string();
    assert!(reserved.contains("has the name of its own pack"), "{reserved}");

    let dotted = error(super::one(get::tool().name("crm.get"))).await.to_string();
    assert!(dotted.contains("crm.get"), "{dotted}");
}

#[tokio::test]
async fn wrappers_compose() {
    let wrapped = crm::tools()
        .expect("tools")
        .filtered(|tool| tool.name().as_str() != "get")
        .renamed([("search", "find")])
        .prefixed("my")
        .deferred();
    let turn = super::turn(wrapped).await;
    assert_eq!(names(&turn), ["crm.my_find"]);
    let (tool, entry) = turn.offered().next().expect("a tool");
    assert!(tool.defers_loading());
    assert_eq!(entry.canonical().as_str(), "crm.my_find");
    let id = "call_1".parse().expect("an id");
    let called = turn.call(&ToolCall::new("my_find", &id, r#"{"query": "x"}"#).in_namespace(Some("crm"))).await;
    assert_eq!(called.answer().expect("an answer").output.to_text(), "crm: x");
}

#[tokio::test]
async fn a_wrapper_for_a_tool_that_is_not_there_is_an_error() {
    let text = error(super::one(get::tool()).renamed([("gt", "fetch")])).await.to_string();
    assert_eq!(text, "the tools of `gt` cannot be listed: it is to be renamed, and no tool has that name");
    let text = error(super::one(get::tool()).renamed([("get", "")])).await.to_string();
    assert!(text.contains("empty name"), "{text}");
}

#[tokio::test]
async fn approval_and_conditions_are_added_and_never_taken_away() {
    let guarded = super::one(get::tool()).approval_required();
    let turn = super::turn(guarded).await;
    let answer = super::answer(&turn, "get", r#"{"id": 1}"#).await;
    assert!(matches!(answer.ended, Ended::Refused { code: "needs-approval" }), "{answer:?}");

    let own = super::one(get::tool().enabled(false)).enabled_if(|_| true);
    assert_eq!(names(&super::turn(own).await), Vec::<String>::new());
    let hidden = super::one(get::tool()).enabled_if(|turn| turn.agent() == "somebody else");
    assert_eq!(names(&super::turn(hidden).await), Vec::<String>::new());
}

#[tokio::test]
async fn a_deferred_tool_without_a_pack_is_called_by_its_synthetic_namespace_only() {
    let turn = super::turn(super::one(get::tool()).deferred()).await;
    let id = "call_1".parse().expect("an id");
    let bare = turn.call(&ToolCall::new("get", &id, r#"{"id": 1}"#)).await;
    assert!(matches!(bare.answer().expect("an answer").ended, Ended::Stray(_)));
    let late = turn.call(&ToolCall::new("get", &id, r#"{"id": 1}"#).in_namespace(Some("get"))).await;
    assert_eq!(late.answer().expect("an answer").output.to_text(), "customer 1");
}

/// Lists what the program put into the run.
struct Dynamic;

impl Toolset for Dynamic {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        let listed = turn.get::<Tools>().map(|tools| tools.list().to_vec());
        Box::pin(std::future::ready(listed.ok_or_else(|| ListToolsError::new("dynamic", "the server is away"))))
    }
}

#[tokio::test]
async fn a_toolset_may_list_other_tools_in_another_turn() {
    let toolbox = Toolbox::builder().toolset(Dynamic).build();
    let with = |tools: Tools| TurnContext::new("assistant", RunContext::new().with(tools));
    let first = toolbox.turn(with(super::one(get::tool()))).await.expect("a turn");
    let second = toolbox.turn(with(super::one(search::tool()))).await.expect("a turn");
    assert_eq!((names(&first), names(&second)), (vec!["get".to_owned()], vec!["search".to_owned()]));
    // A call ends under the tools that its turn began with.
    assert_eq!(super::text(&first, "get", r#"{"id": 1}"#).await, "customer 1");
    let away = toolbox.turn(TurnContext::new("assistant", RunContext::new())).await.expect_err("away");
    assert_eq!(away.to_string(), "the tools of `dynamic` cannot be listed: the server is away");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_toolset_is_said_at_once() {
    let refused = Tools::pack("CRM")
        .tool(FunctionTool::builder("a"))
        .tool(get::tool().parameters(serde_json::json!({"type": "string"})))
        .tool(get::tool().parameters(serde_json::json!({"type": "object", "properties": {"x": {"type": "nonsense"}}})))
        .tool(get::tool().name("\u{0}"))
        .tool(get::tool().display_name_in("dutch language", "x"))
        .tool(get::tool().timeout(std::time::Duration::ZERO))
        .tool(get::tool().behavior_of("PURE|DELETE|USER"))
        .build()
        .expect_err("mistakes");
    let codes: Vec<&str> = refused.reports().iter().map(|report| report.code().as_str()).collect();
    assert_eq!(codes.len(), 8, "{refused}");
    for code in
        ["tool-without-body", "tool-parameters", "tool-name-control-character", "tool-locale", "tool-timeout-zero"]
    {
        assert!(codes.contains(&code), "{codes:?}");
    }
}

#[tokio::test]
async fn tools_of_packs_may_be_called_by_one_plain_name() {
    let turn = super::turn(crm::tools().expect("tools").flat()).await;
    assert_eq!(names(&turn), ["crm__search", "crm__get"]);
    assert_eq!(super::text(&turn, "crm__get", r#"{"id": 7}"#).await, "crm 7");
    // What they are stays what it was, and so does what rules and records call them.
    let canonical: Vec<String> = turn.offered().map(|(_, tool)| tool.canonical().to_string()).collect();
    assert_eq!(canonical, ["crm.search", "crm.get"]);
    let plain = super::turn(crm::tools().expect("tools")).await;
    let marks = |turn: &toolmark::tools::Turn| turn.offered().map(|(_, tool)| tool.mark()).collect::<Vec<_>>();
    assert_eq!(marks(&turn), marks(&plain));
    // Other spellings reach nothing, and the model reads which name it is.
    for (name, namespace) in [("get", None), ("get", Some("crm")), ("crm.get", None)] {
        let id = "call_1".parse().expect("an id");
        let called = turn.call(&ToolCall::new(name, &id, r#"{"id": 7}"#).in_namespace(namespace)).await;
        let answer = called.answer().expect("an answer");
        assert!(
            matches!(answer.ended, Ended::Stray(_)) && answer.output.to_text().contains("`crm__get`"),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn plain_names_fit_every_provider_and_never_mean_two_tools() {
    let long = "t".repeat(80);
    let run = |name: &str| FunctionTool::builder(name).run(|_, _| async { Ok("ran") });
    let pack = || Tools::pack("p").tool(run(&long)).tool(run(&format!("{long}2"))).tool(run("a.b/c")).build();
    let turn = super::turn(pack().expect("tools").flat()).await;
    let shown = names(&turn);
    assert!(
        shown
            .iter()
            .all(|name| name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)))
    );
    assert_eq!((shown[2].as_str(), shown[0] != shown[1]), ("p__a_b_c", true));
    assert_eq!(shown, names(&super::turn(pack().expect("tools").flat()).await), "they depend on nothing else");

    let taken = Tools::builder().tool(run("p__x")).build().expect("tools");
    let packed = Tools::pack("p").tool(run("x")).build().expect("tools");
    let toolbox = Toolbox::builder().toolset(taken).toolset(packed.flat()).build();
    let error = toolbox.turn(TurnContext::new("assistant", RunContext::new())).await.expect_err("they collide");
    assert!(error.to_string().contains("`p__x` and `p.x`"), "{error}");
}
