//! `toolmark classify` and `toolmark eval decide` against servers that speak the formats of the providers, well and badly.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

#[path = "models/server.rs"]
mod server;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use server::Server;

const TOOLS: &str = r#"{"tools": [
    {"name": "read_query", "description": "read_query reads.", "inputSchema": {"type": "object", "title": "read_queryArguments", "properties": {"query": {"type": "string"}}}, "annotations": {"readOnlyHint": true}},
    {"name": "get_page", "inputSchema": {"type": "object", "properties": {"page": {"type": "string"}}}}
]}"#;

fn opinion(mutability: &str, action: &str) -> String {
    json!({"mutability": mutability, "action": action, "output_domain": "DATA", "content_type": "STRUCTURED"})
        .to_string()
}

fn toolmark(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolmark"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("TEST_KEY", "sk-very-secret-0123456789")
        .env("NO_COLOR", "1")
        .output()
        .expect("the program")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tools.json"), TOOLS).expect("tools");
    folder
}

#[test]
fn three_wire_formats_are_asked_in_their_own_shape_without_the_name_and_answers_are_kept() {
    let folder = folder();
    let says = |answer: fn(&str) -> String| {
        Server::start(move |path, body| {
            let text = body.to_string();
            server::answer(path, &answer(if text.contains("\\\"query\\\"") { "query" } else { "page" }))
        })
    };
    let dangerous =
        |about: &str| if about == "query" { opinion("MUTATES", "EXECUTE") } else { opinion("PURE", "READ") };
    let harmless = |_: &str| opinion("PURE", "READ");
    let (one, two, three) = (says(dangerous), says(dangerous), says(harmless));
    let names = [
        format!("responses:m,base_url=http://{}/v1,key_variable=TEST_KEY", one.address()),
        format!("openai-chat:m,base_url=http://{}/v1,key_variable=TEST_KEY", two.address()),
        format!("anthropic:m,base_url=http://{},key_variable=TEST_KEY", three.address()),
    ];
    let ask = || {
        let models: Vec<&str> = names.iter().flat_map(|name| ["--model", name]).collect();
        toolmark(
            folder.path(),
            &[&["classify", "--tools", "tools.json", "--yes", "--json"], models.as_slice()].concat(),
        )
    };
    let output = ask();
    assert_eq!(output.status.code(), Some(1), "a hint is disputed: {}", stderr(&output));
    assert!(!(stdout(&output) + &stderr(&output)).contains("sk-very-secret"), "a key was shown");
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(found["agreement"], json!({"tools": 2, "strict": 1, "majority": 2}));
    let query =
        found["tools"].as_array().expect("tools").iter().find(|tool| tool["tool"] == "tools.read_query").expect("it");
    assert_eq!(
        (&query["standing"], &query["majority"]),
        (&json!("disputed"), &json!("MUTATES|EXECUTE|DATA|STRUCTURED"))
    );
    assert_eq!(query["disputes"], json!([{"field": "mutability", "declared": "PURE", "found": "MUTATES"}]));
    assert!(found["models"].as_array().expect("models").iter().all(|model| model["asked"] == 2 && model["kept"] == 0));

    for (server, path) in [(&one, "/v1/responses"), (&two, "/v1/chat/completions"), (&three, "/v1/messages")] {
        let asked = server.asked();
        assert_eq!(asked.len(), 2);
        for (own, body) in asked {
            assert_eq!(own, path);
            let text = body.to_string();
            assert!(!text.contains("read_query") && !text.contains("get_page"), "the name is in {text}");
            assert!(text.contains("UNKNOWN") && text.contains("output_domain"), "no shape in {text}");
        }
    }

    let again = ask();
    let found: Value = serde_json::from_str(&stdout(&again)).expect("JSON");
    assert!(found["models"].as_array().expect("models").iter().all(|model| model["asked"] == 0 && model["kept"] == 2));
    assert_eq!(one.asked().len(), 2, "nothing is asked twice");
    // Another definition is another question.
    std::fs::write(folder.path().join("tools.json"), TOOLS.replace("reads.", "reads rows.")).expect("tools");
    let changed = ask();
    let found: Value = serde_json::from_str(&stdout(&changed)).expect("JSON");
    assert_eq!((&found["models"][0]["asked"], &found["models"][0]["kept"]), (&json!(1), &json!(1)));
}

#[test]
fn nonsense_is_asked_for_once_more_and_counted_and_a_wrong_key_ends_the_asking() {
    let folder = folder();
    let silly = Server::start(|path, _| server::answer(path, "it reads, I would say"));
    let closed =
        Server::start(|_, _| (401, json!({"error": {"message": "no sk-very-secret-0123456789 here"}}).to_string()));
    let silly_name = format!("openai-chat:silly,base_url=http://{}/v1", silly.address());
    let closed_name = format!("openai-chat:closed,base_url=http://{}/v1,key_variable=TEST_KEY", closed.address());
    let arguments = [
        "classify",
        "--tools",
        "tools.json",
        "--yes",
        "--parallel",
        "1",
        "--model",
        &silly_name,
        "--model",
        &closed_name,
    ];
    let output = toolmark(folder.path(), &[arguments.as_slice(), &["--json"]].concat());
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(!(stdout(&output) + &stderr(&output)).contains("sk-very-secret"), "a key was shown");
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let models = &found["models"];
    assert_eq!((&models[0]["asked"], &models[0]["nonsense"]), (&json!(4), &json!(2)), "each question twice");
    assert_eq!((&models[1]["asked"], &models[1]["not_asked"]), (&json!(1), &json!(1)), "a wrong key is wrong for all");
    assert_eq!(models[1]["failure"]["code"], "model-auth");
    assert!(found["tools"].as_array().expect("tools").iter().all(|tool| tool["majority"].is_null()), "no default");
    let shown = toolmark(folder.path(), &arguments);
    assert!(stdout(&shown).contains("nonsense about 2 tools"), "{}", stdout(&shown));
    assert!(stderr(&shown).contains("model-auth"), "{}", stderr(&shown));
}

#[test]
fn a_price_is_shown_before_and_nothing_is_sent_without_a_yes() {
    let folder = folder();
    let server = Server::start(|path, _| server::answer(path, "{}"));
    let config = format!(
        "[models.cheap]\nmodel = \"openai-chat:m\"\nbase_url = \"http://{}/v1\"\nprice = {{ input = 1000, output = 1000 }}\n",
        server.address()
    );
    std::fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    let output = toolmark(folder.path(), &["classify", "--tools", "tools.json", "--model", "cheap", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("2 questions to 1 model"), "{}", stderr(&output));
    assert!(stderr(&output).contains("cheap: about") && stderr(&output).contains("; about "), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(found["error"]["code"], "asking-not-confirmed");
    assert!(server.asked().is_empty(), "something was sent");
}

#[test]
fn models_decide_between_tools_and_what_they_choose_can_be_measured() {
    let folder = folder();
    let path = folder.path();
    let tools = [
        json!({"server": "db", "name": "read", "description": "Reads rows.", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}),
        json!({"server": "db", "name": "write", "description": "Writes rows.", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}),
        json!({"server": "wiki", "name": "read", "description": "Reads a page.", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}}}),
    ];
    let rows = |all: &[Value]| all.iter().map(|row| format!("{row}\n")).collect::<String>();
    std::fs::write(path.join("tools.jsonl"), rows(&tools)).expect("tools");
    let prompts = [
        json!({"id": "P1", "prompt": "Count the users.", "expected": "db/read"}),
        json!({"id": "P2", "prompt": "Remove the users.", "expected": {"server": "db", "name": "write"}}),
        json!({"prompt": "Sing a song.", "expected": null}),
        json!({"prompt": "Fly to the moon.", "expected": null}),
    ];
    std::fs::write(path.join("prompts.jsonl"), rows(&prompts)).expect("prompts");
    let server = Server::start(|path, body| {
        let text = body["messages"].to_string();
        let call = |name: &str| server::call(path, name, r#"{"query":"SELECT 1"}"#);
        match () {
            () if text.contains("Sing") => server::answer(path, "I cannot sing."),
            () if text.contains("Fly") => call("fly"),
            // As models do: the reading tool for a writing prompt.
            () => call("db__read"),
        }
    });
    let model = format!("openai-chat:m,base_url=http://{}/v1", server.address());
    let arguments = ["eval", "decide", ".", "--model", &model, "--yes", "--json"];
    let output = toolmark(path, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let one = &found["models"][0];
    assert_eq!((&one["right"], &one["wrong"], &one["unknown_tool"]), (&json!(2), &json!(1), &json!(1)), "{found}");
    let names: Vec<String> = server.asked()[0].1["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| tool["function"]["name"].to_string())
        .collect();
    assert_eq!(names, ["\"db__read\"", "\"db__write\"", "\"wiki__read\""], "two tools called read are two");
    let decisions = std::fs::read_to_string(path.join("decisions.jsonl")).expect("decisions");
    let first: Value = serde_json::from_str(decisions.lines().next().expect("a row")).expect("JSON");
    assert_eq!(
        first,
        json!({
            "prompt": "P1", "expected": "db/read", "chosen": {"server": "db", "name": "read"},
            "arguments": {"query": "SELECT 1"}, "model": "openai-chat:m",
        })
    );

    let measured = toolmark(path, &["eval", ".", "--json"]);
    let measured: Value = serde_json::from_str(&stdout(&measured)).expect("JSON");
    assert_eq!(
        (&measured["decisions"]["total"], &measured["decisions"]["wrong"]),
        (&json!(4), &json!(1)),
        "{measured}"
    );
    // What was paid for is not written over.
    let again = toolmark(path, &arguments);
    assert_eq!(again.status.code(), Some(3));
    assert!(stdout(&again).contains("evaluation-decided"));
    assert_eq!(server.asked().len(), 4, "nothing was asked");
}
