use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolmark_agents::{
    Agent, Checked, InputCheck, Instructions, MemorySession, Models, OutputCheck, OutputType, RunOutcome, Runner,
    Session, Stop,
};
use toolmark_core::explain::Explain as _;
use toolmark_core::tool::ToolKind;
use toolmark_models::scripted::Turn;
use toolmark_models::{HostedTool, Item, ToolChoice, Usage, WireTool};
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{FunctionTool, RunContext, ToolContext, ToolOutput, TurnContext};

use super::*;

#[tokio::test]
async fn a_run_calls_a_tool_and_ends_with_the_answer() {
    let calls = Calls::default();
    let agent = agent("A", [Turn::call("note", text("x")), Turn::text("done: {output}")]).tool(calls.tool("note"));
    let result = finished(&agent.build().expect("it is an agent"), "go").await;
    assert_eq!(result.output(), "done: note x");
    assert_eq!((result.turns(), result.agent(), calls.all()), (2, "A", vec!["note x".to_owned()]));
}

#[tokio::test]
async fn outputs_stand_in_the_order_of_the_calls_whichever_ends_first() {
    let tool = FunctionTool::builder("wait")
        .parameters(json!({"properties": {"ms": {"type": "integer"}}, "required": ["ms"]}))
        .run(|_, arguments| async move {
            let ms = arguments.value()["ms"].as_u64().unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(format!("waited {ms}"))
        });
    let wait = |id: &str, ms: u64| call(id, "wait", json!({ "ms": ms }));
    let agent = agent("A", [Turn::calls([wait("a", 30), wait("b", 1), wait("c", 15)]), Turn::text("done")]).tool(tool);
    let result = finished(&agent.build().expect("it is an agent"), "go").await;
    let said: Vec<_> = outputs(&result).into_iter().map(|(id, text)| format!("{id}: {text}")).collect();
    assert_eq!(said, ["a: waited 30", "b: waited 1", "c: waited 15"]);
}

#[tokio::test]
async fn calls_of_one_answer_run_side_by_side_unless_there_is_a_limit() {
    for (limit, most) in [(None, 8), (std::num::NonZeroUsize::new(2), 2), (std::num::NonZeroUsize::new(1), 1)] {
        let (running, highest) = (Counter::new(), Arc::new(std::sync::Mutex::new(0)));
        let gate = Arc::new(tokio::sync::Barrier::new(most));
        let (seen, ended) = (Arc::clone(&highest), Counter::new());
        let tool = FunctionTool::builder("meet").run(move |_, _| {
            let (running, seen, gate, ended) =
                (Arc::clone(&running), Arc::clone(&seen), Arc::clone(&gate), Arc::clone(&ended));
            async move {
                let now = running.add() - ended.get();
                {
                    let mut seen = seen.lock().expect("nobody panics");
                    *seen = (*seen).max(now);
                }
                gate.wait().await;
                ended.add();
                Ok("met")
            }
        });
        let turn = Turn::calls((0..8).map(|at| call(&format!("c{at}"), "meet", json!({}))));
        let agent = agent("A", [turn, Turn::text("done")]).tool(tool).build().expect("it is an agent");
        let mut runner = Runner::new();
        if let Some(limit) = limit {
            runner = runner.max_parallel_calls(limit);
        }
        let outcome = runner.run(&agent, "go", RunContext::new()).await.expect("it runs");
        assert!(outcome.finished().is_some());
        assert!(*highest.lock().expect("nobody panics") <= most, "{limit:?}");
    }
}

#[tokio::test]
async fn a_run_without_end_is_ended_and_goes_on_with_a_higher_limit() {
    let calls = Calls::default();
    let turns = [Turn::call("note", text("1")), Turn::call("note", text("2")), Turn::text("done")];
    let agent = agent("A", turns).tool(calls.tool("note")).build().expect("it is an agent");
    let error = Runner::new().max_turns(2).run(&agent, "go", RunContext::new()).await.expect_err("two are too few");
    assert_eq!(error.code().as_str(), "run-max-turns");
    let state = error.into_state().expect("the state is kept");
    let outcome = Runner::new().max_turns(3).resume(&agent, state, RunContext::new()).await.expect("three are enough");
    assert_eq!(outcome.finished().expect("it has an answer").output(), "done");
    assert_eq!(calls.all(), ["note 1", "note 2"]);
}

#[tokio::test]
async fn what_is_used_is_summed_up() {
    let usage = |input, output| Usage { input_tokens: input, output_tokens: output, ..Usage::default() };
    let turns = [
        Turn { usage: usage(10, 1), ..Turn::call("note", text("1")) },
        Turn { usage: usage(20, 2), ..Turn::text("done") },
    ];
    let agent = agent("A", turns).tool(Calls::default().tool("note")).build().expect("it is an agent");
    let used = finished(&agent, "go").await.usage();
    assert_eq!((used.requests, used.input_tokens, used.output_tokens), (2, 30, 3));
}

#[tokio::test]
async fn a_tool_that_must_be_called_need_not_be_called_twice() {
    for (reset, last) in [(true, None), (false, Some(ToolChoice::Required))] {
        let model = scripted([Turn::call("note", text("1")), Turn::text("done")]);
        let agent = Agent::builder("A").model(model.clone()).tool(Calls::default().tool("note"));
        let agent = agent.tool_choice(ToolChoice::Required).reset_tool_choice(reset).build().expect("it is an agent");
        finished(&agent, "go").await;
        let choices: Vec<_> = model.requests().into_iter().map(|request| request.tool_choice).collect();
        assert_eq!(choices, [Some(ToolChoice::Required), last]);
    }
}

#[tokio::test]
async fn instructions_may_be_made_for_each_turn() {
    struct User(&'static str);
    let now = Instructions::from_turn(|turn| format!("Help {}.", turn.get::<User>().map_or("nobody", |user| user.0)));
    let later = Instructions::from_turn_later(|turn| async move { format!("You are {}.", turn.agent()) });
    for (instructions, said) in [(now, "Help Ada."), (later, "You are A."), ("Be brief.".into(), "Be brief.")] {
        let model = scripted([Turn::text("done")]);
        let agent = Agent::builder("A").model(model.clone()).instructions(instructions).build().expect("an agent");
        let outcome = Runner::new().run(&agent, "go", RunContext::new().with(User("Ada"))).await.expect("it runs");
        assert!(outcome.finished().is_some());
        assert_eq!(model.requests()[0].instructions.as_deref(), Some(said));
    }
}

#[tokio::test]
async fn what_a_tool_brings_may_be_the_answer() {
    let both = || Turn::calls([call("a", "one", text("1")), call("b", "two", text("2"))]);
    let stops = [
        (Stop::AfterFirstTool, "one 1"),
        (Stop::AtTools(vec!["two".into()]), "two 2"),
        (Stop::when(|results| Some(format!("{} results", results.len()))), "2 results"),
        (Stop::AtTools(vec!["three".into()]), "asked again"),
        (Stop::Never, "asked again"),
    ];
    for (stop, expected) in stops {
        let calls = Calls::default();
        let agent = agent("A", [both(), Turn::text("asked again")]).tool(calls.tool("one")).tool(calls.tool("two"));
        let result = finished(&agent.stop(stop).build().expect("it is an agent"), "go").await;
        assert_eq!(result.output(), expected);
        assert_eq!(outputs(&result).len(), 2, "the conversation is whole");
    }
}

#[tokio::test]
async fn an_answer_has_the_shape_of_a_type() {
    #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    struct Weather {
        city: String,
        degrees: i32,
    }
    let model = scripted([Turn::text(r#"{"city": "Delft", "degrees": 7}"#)]);
    let agent = Agent::builder("A").model(model.clone()).output(OutputType::of::<Weather>()).build().expect("an agent");
    let result = finished(&agent, "go").await;
    assert_eq!(result.parse::<Weather>().expect("it fits"), Weather { city: "Delft".into(), degrees: 7 });
    let asked = model.requests()[0].output.clone().expect("the provider is told");
    assert!(asked.strict);
    assert_eq!(asked.schema["additionalProperties"], false);

    let list = agent_of_list(r#"{"response": ["a", "b"]}"#);
    assert_eq!(finished(&list, "go").await.parse::<Vec<String>>().expect("it fits"), ["a", "b"]);
}

fn agent_of_list(said: &str) -> Agent {
    agent("A", [Turn::text(said)]).output(OutputType::of::<Vec<String>>()).build().expect("an agent")
}

#[tokio::test]
async fn an_answer_of_another_shape_is_an_error_and_the_model_can_be_asked_again() {
    for said in ["not JSON", r#"{"response": [1]}"#, r#"["a"]"#] {
        assert_eq!(code(&agent_of_list(said)).await.0, "run-output");
    }
    let turns = [Turn::text("oops"), Turn::text(r#"{"response": ["a"]}"#)];
    let agent = agent("A", turns).output(OutputType::of::<Vec<String>>()).build().expect("an agent");
    let (_, state) = code(&agent).await;
    let outcome = resumed(&agent, &state.expect("it is kept")).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), r#"["a"]"#);
}

#[tokio::test]
async fn checks_stop_a_run_before_a_model_reads_and_before_an_answer_leaves() {
    let input = InputCheck::new("no secrets", |_, items| async move {
        let secret =
            items.iter().any(|item| matches!(item, Item::Message(said) if said.joined_text().contains("secret")));
        if secret { Checked::Stop("it says secret".into()) } else { Checked::Pass }
    });
    let output = OutputCheck::new("polite", |_, said| async move {
        if said.contains("rude") { Checked::Stop("it is rude".into()) } else { Checked::Pass }
    });
    let model = scripted([Turn::text("rude")]);
    let agent = Agent::builder("A").model(model.clone()).input_check(input).output_check(output).build().expect("ok");
    let error = Runner::new().run(&agent, "my secret", RunContext::new()).await.expect_err("stopped");
    assert_eq!((error.code().as_str(), model.requests().len()), ("run-check", 0));
    let error = Runner::new().run(&agent, "hello", RunContext::new()).await.expect_err("stopped");
    assert_eq!(error.to_string(), "the check `polite` stopped the run: it is rude");
}

#[tokio::test]
async fn a_check_that_panics_lets_nothing_through() {
    let check = InputCheck::new("broken", |_, _| async move { panic!("broken") });
    let agent = agent("A", [Turn::text("done")]).input_check(check).build().expect("an agent");
    assert_eq!(code(&agent).await.0, "run-check");
}

#[tokio::test]
async fn a_session_remembers_what_was_said() {
    let session = Arc::new(MemorySession::new("s1"));
    let model = scripted([Turn::text("hello"), Turn::text("again")]);
    let agent = Agent::builder("A").model(model.clone()).build().expect("an agent");
    let runner = Runner::new().session(session.clone());
    for said in ["first", "second"] {
        let outcome = runner.run(&agent, said, RunContext::new()).await.expect("it runs");
        assert!(matches!(outcome, RunOutcome::Finished(_)));
    }
    let read: Vec<usize> = model.requests().iter().map(|request| request.input.len()).collect();
    assert_eq!(read, [1, 3]);
    assert_eq!(session.items(None).await.expect("it is there").len(), 4);
    assert_eq!(session.items(Some(1)).await.expect("it is there"), [Item::assistant("again")]);
    assert_eq!(session.pop().await.expect("it is there"), Some(Item::assistant("again")));
    session.clear().await.expect("it is there");
    assert!(session.items(None).await.expect("it is there").is_empty());
}

#[tokio::test]
async fn models_are_found_by_name_and_a_wrong_name_is_an_error() {
    let models =
        Models::new().with("fast", scripted([Turn::text("fast")])).default_model(scripted([Turn::text("default")]));
    let runner = Runner::new().models(models);
    let named = |name: Option<&str>| {
        let builder = Agent::builder("A");
        name.map_or(Agent::builder("A"), |name| builder.model_named(name)).build().expect("an agent")
    };
    for (name, said) in [(Some("fast"), "fast"), (None, "default")] {
        let outcome = runner.run(&named(name), "go", RunContext::new()).await.expect("it runs");
        assert_eq!(outcome.finished().expect("it has an answer").output(), said);
    }
    let error = runner.run(&named(Some("fats")), "go", RunContext::new()).await.expect_err("there is none");
    assert_eq!(error.code().as_str(), "agent-model-unknown");
    assert!(error.fix().contains("`fast`"), "{}", error.fix());
}

#[tokio::test]
async fn hooks_of_the_run_and_of_the_agent_hear_everything() {
    struct Heard(&'static str, Calls);
    impl toolmark_agents::Hooks for Heard {
        fn agent_started<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, ()> {
            self.1.say(format!("{}: {} started", self.0, turn.agent()));
            Box::pin(async {})
        }
        fn agent_ended<'a>(&'a self, _: &'a TurnContext, output: &'a str) -> Later<'a, ()> {
            self.1.say(format!("{}: ended with {output}", self.0));
            Box::pin(async {})
        }
        fn model_asked<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, ()> {
            self.1.say(format!("{}: asked after {} requests", self.0, turn.usage().requests));
            Box::pin(async {})
        }
        fn tool_ended<'a>(&'a self, context: &'a ToolContext, output: &'a ToolOutput) -> Later<'a, ()> {
            self.1.say(format!("{}: {} brought {}", self.0, context.tool(), output.to_text()));
            Box::pin(async {})
        }
        fn handed_over<'a>(&'a self, turn: &'a TurnContext, to: &'a str) -> Later<'a, ()> {
            self.1.say(format!("{}: {} to {to}", self.0, turn.agent()));
            Box::pin(async {})
        }
    }
    let (calls, notes) = (Calls::default(), Calls::default());
    let b = agent("B", [Turn::text("done")]).build().expect("an agent");
    let a =
        agent("A", [Turn::call("note", text("x")), Turn::call("transfer_to_b", json!({}))]).tool(notes.tool("note"));
    let a = a.handoff(&b).hooks(Arc::new(Heard("agent", calls.clone()))).build().expect("an agent");
    let runner = Runner::new().hooks(Arc::new(Heard("run", calls.clone())));
    assert!(runner.run(&a, "go", RunContext::new()).await.expect("it runs").finished().is_some());
    let heard = calls.all();
    let of = |who: &str| heard.iter().filter_map(|said| said.strip_prefix(who)).collect::<Vec<_>>();
    let first =
        [": A started", ": asked after 0 requests", ": note brought note x", ": asked after 1 requests", ": A to B"];
    assert_eq!(of("agent"), first);
    assert_eq!(of("run")[..5], first);
    assert_eq!(of("run")[5..], [": B started", ": asked after 2 requests", ": ended with done"]);
}

#[tokio::test]
async fn a_tool_that_takes_free_text_is_offered_and_answered_as_one() {
    let tool = FunctionTool::builder("sql")
        .kind(ToolKind::Custom)
        .parameters(json!({"properties": {"input": {"type": "string"}}, "required": ["input"]}))
        .run(|_, arguments| async move { Ok(arguments.value()["input"].as_str().unwrap_or_default().to_uppercase()) });
    let free = ScriptedCall { input: Some("select 1".into()), ..ScriptedCall::new("sql", json!(null)) };
    let model = scripted([Turn::calls([free]), Turn::text("{output}")]);
    let agent = Agent::builder("A").model(model.clone()).tool(tool).build().expect("an agent");
    let result = finished(&agent, "go").await;
    assert_eq!(result.output(), "SELECT 1");
    assert!(matches!(model.requests()[0].tools[0], WireTool::Custom(_)));
    assert!(result.items().iter().any(|item| matches!(item.item, Item::CustomOutput(_))));
}

fn free(grammar: toolmark_runtime::tools::Grammar) -> ToolBuilder {
    FunctionTool::builder("sql")
        .kind(ToolKind::Custom)
        .parameters(json!({"properties": {"input": {"type": "string"}}, "required": ["input"]}))
        .grammar(grammar)
        .run(|_, _| async { Ok("done") })
}

#[tokio::test]
async fn what_free_text_looks_like_is_said_as_it_was_written() {
    use toolmark_runtime::tools::Grammar;
    let lark = "// numbers\n?start.2: NUMBER (\",\" NUMBER)*\nNUMBER: /[0-9]+/\n";
    let mut digests = Vec::new();
    for (grammar, syntax, definition) in
        [(Grammar::lark(lark), "lark", lark), (Grammar::regex(r"^SELECT \w+$"), "regex", r"^SELECT \w+$")]
    {
        let model = scripted([Turn::text("done")]);
        let built = free(grammar.clone()).build().expect("a tool");
        digests.push(built.definition().digest());
        let agent = Agent::builder("A").model(model.clone()).tool(free(grammar)).build().expect("an agent");
        finished(&agent, "go").await;
        let WireTool::Custom(tool) = &model.requests()[0].tools[0] else { panic!("free text") };
        assert_eq!(tool.format, Some(json!({"type": "grammar", "syntax": syntax, "definition": definition})));
    }
    assert_ne!(digests[0], digests[1], "another grammar is another tool");
}

#[test]
fn a_grammar_that_no_provider_takes_is_refused_when_the_tool_is_built() {
    use toolmark_runtime::tools::Grammar;
    for wrong in [
        Grammar::regex("(a"),
        Grammar::regex("(?=a)b"),
        Grammar::regex("(?:\\p{L}{1000}){1000}"),
        Grammar::regex(" "),
        Grammar::regex("a".repeat(70_000)),
        Grammar::lark("begin: \"a\""),
        Grammar::lark("restart: \"a\""),
        Grammar::lark(""),
    ] {
        let error = free(wrong.clone()).build().expect_err("it is refused");
        assert_eq!(error.code().as_str(), "tool-grammar", "{wrong:?}");
    }
    let function = free(Grammar::regex("a")).kind(ToolKind::Function).build();
    assert_eq!(function.expect_err("functions take arguments").code().as_str(), "tool-grammar");
}

#[tokio::test]
async fn tools_of_the_provider_are_offered_and_their_names_are_taken() {
    let model = scripted([Turn::text("done")]);
    let search = || HostedTool::WebSearch(toolmark_models::tool::WebSearch::default());
    let agent = Agent::builder("A").model(model.clone()).hosted(search()).build().expect("an agent");
    finished(&agent, "go").await;
    assert_eq!(model.requests()[0].tools, [WireTool::Hosted(search())]);
    let taken = super::agent("A", [Turn::text("done")]).hosted(search()).tool(Calls::default().tool("web_search"));
    assert_eq!(code(&taken.build().expect("an agent")).await.0, "hosted-tool-collision");
}
