//! What is sent, whole, against files that a person can read. `TOOLMARK_GOLDEN=write` writes them anew.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolmark_models::tool::{FileSearch, ToolSearch, WebSearch};
use toolmark_models::{
    CustomTool, Detail, Effort, File, FunctionCall, FunctionOutput, FunctionTool, HostedTool, Image, Item, Message,
    ModelRequest, Output, OutputSchema, Part, Role, Settings, ToolChoice, WireTool,
};

use super::model;
use super::server::{Reply, Server};

async fn sent(name: &str, request: &ModelRequest) -> Value {
    let server = Server::start([Reply::new(400, "application/json", "{}")]).await;
    model(name, &server).respond(request).await.expect_err("an error");
    server.asked()[0].body.clone()
}

async fn is_golden(file: &str, name: &str, request: &ModelRequest) {
    let body = sent(name, request).await;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/wire").join(file);
    if std::env::var_os("TOOLMARK_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&body).expect("JSON") + "\n";
        fs::write(&path, text).expect("a file that can be written");
    }
    let expected: Value = serde_json::from_str(&fs::read_to_string(&path).expect("a file")).expect("JSON");
    assert_eq!(body, expected, "{file}");
}

fn tool(name: &str) -> FunctionTool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false});
    FunctionTool::new(name, "The weather of a city", schema)
}

fn conversation() -> Vec<Item> {
    let call = FunctionCall::new("call_1".parse().expect("an id"), "get_weather", "{\"city\": \"Delft\"}");
    let broken = FunctionCall::new("call_2".parse().expect("an id"), "get_weather", "{\"city\": \"De");
    let failed = FunctionOutput {
        call_id: broken.call_id.clone(),
        output: Output::Text("the arguments are no JSON".to_owned()),
        failed: true,
        extra: None,
    };
    vec![
        Item::Message(Message {
            role: Role::User,
            parts: vec![
                Part::text("What is this?"),
                Part::Image(Image { detail: Some(Detail::Low), ..Image::of_base64("image/png", "iVBORw0=") }),
                Part::File(File::of_base64("application/pdf", "JVBERi0=", "map.pdf")),
            ],
            extra: None,
        }),
        Item::assistant("Let me look."),
        Item::FunctionCall(call.clone()),
        Item::FunctionCall(broken),
        Item::output(call.call_id, "sunny"),
        Item::FunctionOutput(failed),
        Item::Message(Message::text(Role::Developer, "Answer in Dutch.")),
    ]
}

fn request() -> ModelRequest {
    ModelRequest {
        instructions: Some("Be brief.".to_owned()),
        input: conversation(),
        tools: vec![
            WireTool::Function(tool("get_weather")),
            WireTool::Function(FunctionTool { strict: false, ..tool("transfer_to_billing") }),
        ],
        tool_choice: Some(ToolChoice::Named("get_weather".to_owned())),
        parallel_tool_calls: Some(false),
        output: Some(OutputSchema { name: "answer".to_owned(), schema: json!({"type": "object"}), strict: true }),
        settings: Settings {
            temperature: Some(0.5),
            top_p: Some(0.9),
            max_output_tokens: Some(500),
            effort: Some(Effort::Low),
            timeout: None,
            extra: json!({"metadata": {"run": "1"}, "temperature": null}).as_object().expect("an object").clone(),
        },
        previous_response_id: None,
        conversation_id: None,
    }
}

#[tokio::test]
async fn the_same_request_in_three_formats() {
    is_golden("request-responses.json", "openai:gpt-5", &request()).await;
    is_golden("request-chat.json", "openai-chat:qwen", &request()).await;
    is_golden("request-anthropic.json", "anthropic:claude-x", &request()).await;
}

#[tokio::test]
async fn everything_that_only_responses_has() {
    let spaced = |name: &str, late| {
        WireTool::Function(FunctionTool {
            namespace: Some("crm".to_owned()),
            namespace_description: Some("Customers".to_owned()),
            defer_loading: late,
            ..tool(name)
        })
    };
    let map = |value: Value| value.as_object().expect("an object").clone();
    let tools = vec![
        WireTool::Function(FunctionTool {
            allowed_callers: Some(vec!["direct".to_owned(), "programmatic".to_owned()]),
            output_schema: Some(json!({"type": "object"})),
            ..tool("get_weather")
        }),
        spaced("find", false),
        WireTool::Custom(CustomTool {
            name: "sql".to_owned(),
            description: Some("Runs a query".to_owned()),
            format: Some(json!({"type": "grammar", "syntax": "lark", "definition": "start: /.+/"})),
            ..CustomTool::default()
        }),
        spaced("merge", true),
        WireTool::Hosted(HostedTool::WebSearch(WebSearch { external_web_access: Some(false), ..WebSearch::default() })),
        WireTool::Hosted(HostedTool::FileSearch(FileSearch {
            vector_store_ids: vec!["vs_1".to_owned()],
            max_num_results: Some(3),
            include_search_results: true,
            ..FileSearch::default()
        })),
        WireTool::Hosted(HostedTool::CodeInterpreter { config: map(json!({})) }),
        WireTool::Hosted(HostedTool::ImageGeneration { config: map(json!({"quality": "low"})) }),
        WireTool::Hosted(HostedTool::Mcp {
            config: map(json!({"server_label": "s", "server_url": "https://x.example/"})),
        }),
        WireTool::Hosted(HostedTool::Shell { environment: None }),
        WireTool::Hosted(HostedTool::LocalShell),
        WireTool::Hosted(HostedTool::ApplyPatch),
        WireTool::Hosted(HostedTool::ToolSearch(ToolSearch::default())),
        WireTool::Hosted(HostedTool::ProgrammaticToolCalling),
    ];
    let mut settings = Settings::default();
    settings.extra.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    let request = ModelRequest {
        tools,
        settings,
        previous_response_id: Some("resp_0".to_owned()),
        ..ModelRequest::of_text("hello")
    };
    is_golden("request-responses-tools.json", "openai:gpt-5", &request).await;
}

#[tokio::test]
async fn a_conversation_that_is_kept_is_named_and_not_beside_an_answer() {
    let request = ModelRequest { conversation_id: Some("conv_1".to_owned()), ..ModelRequest::of_text("hi") };
    let sent = sent("openai:gpt-5", &request).await;
    assert_eq!((&sent["conversation"], sent.get("previous_response_id")), (&json!("conv_1"), None));
}
