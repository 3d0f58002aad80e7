//! A service with the tools, prompts and resources that the conformance suite names, and a few for our own tests.
#![expect(clippy::indexing_slicing, reason = "a JSON value that is not there is null")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use toolmark_mcp::downstream::{
    About, Answer, AskError, Caller, Changed, Context, Endpoint, Fault, Incoming, InputRequired, Notification,
    Question, Reply, Service,
};
use toolmark_mcp::wire::headers::ParamHeaders;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Limits, RawObject, codes};

/// One red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

type Announce = Box<dyn Fn(&Changed) + Send + Sync>;

/// The service.
#[derive(Default)]
pub(crate) struct Fixture {
    announce: OnceLock<Announce>,
    /// What clients notified us of.
    pub(crate) heard: Mutex<Vec<String>>,
    /// Calls of `wait` that were dropped before they ended.
    pub(crate) dropped: Arc<AtomicUsize>,
    /// Sessions that ended.
    pub(crate) ended: AtomicUsize,
}

impl Fixture {
    /// Lets tools tell clients of changes.
    pub(crate) fn announce_through(&self, endpoint: &Endpoint<Self>) {
        let endpoint = endpoint.clone();
        drop(self.announce.set(Box::new(move |change| endpoint.broadcast(change))));
    }

    fn announce(&self, change: &Changed) {
        if let Some(announce) = self.announce.get() {
            announce(change);
        }
    }
}

impl Service for Fixture {
    async fn call(&self, request: Incoming, context: Context) -> Answer {
        match &*request.method {
            "tools/list" => result(&json!({"tools": tools(), "ttlMs": 1000, "cacheScope": "public"})),
            "tools/call" => self.tool(request, context).await,
            "prompts/list" => result(&json!({"prompts": [
                {"name": "test_simple_prompt", "description": "A simple prompt"},
                {"name": "test_prompt_with_arguments", "description": "A prompt with arguments", "arguments": [
                    {"name": "arg1", "description": "First", "required": true}, {"name": "arg2", "description": "Second", "required": true}]},
                {"name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource", "arguments": [
                    {"name": "resourceUri", "description": "Which", "required": true}]},
                {"name": "test_prompt_with_image", "description": "A prompt with an image"},
                {"name": "test_input_required_result_prompt", "description": "A prompt that asks"},
            ]})),
            "prompts/get" => prompt(&request),
            "resources/list" => result(&json!({"resources": [
                {"uri": "test://static-text", "name": "static-text", "description": "Text", "mimeType": "text/plain"},
                {"uri": "test://static-binary", "name": "static-binary", "description": "An image", "mimeType": "image/png"},
            ]})),
            "resources/templates/list" => result(&json!({"resourceTemplates": [
                {"uriTemplate": "test://template/{id}/data", "name": "template", "description": "By id", "mimeType": "application/json"},
            ]})),
            "resources/read" => read(&request),
            "resources/subscribe" | "resources/unsubscribe" => result(&json!({})),
            "completion/complete" => result(&json!({"completion": {"values": ["test"], "total": 1, "hasMore": false}})),
            "subscriptions/listen" => result(&json!({"toolsListChanged": true, "promptsListChanged": true,
                "resourcesListChanged": true, "resourceSubscriptions": ["test://watched-resource"]})),
            method => Answer::fault(codes::METHOD_NOT_FOUND, format!("there is no method `{method}`")),
        }
    }

    fn about(&self, _: &Caller) -> Arc<About> {
        static ABOUT: OnceLock<Arc<About>> = OnceLock::new();
        Arc::clone(ABOUT.get_or_init(|| {
            Arc::new(About {
                server_info: Bytes::from_static(br#"{"name":"toolmark-endpoint","version":"0.1.0"}"#),
                capabilities: object(&json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true},
                    "resources": {"subscribe": true, "listChanged": true}, "completions": {}, "logging": {}})),
                instructions: Some("Only for tests.".to_owned()),
                ttl_ms: 1000,
                public: true,
            })
        }))
    }

    async fn notified(&self, notification: Notification) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(notification.method.into_owned());
    }

    fn param_headers(&self, _: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
        (tool == "test_header_tool").then(|| ParamHeaders::read(&schema).ok().map(Arc::new))?
    }

    fn session_ended(&self, _: &str) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// Counts a call that ends early.
struct Dropped(Option<Arc<AtomicUsize>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Fixture {
    async fn tool(&self, request: Incoming, context: Context) -> Answer {
        let Some(name) = request.params.text("name").map(std::borrow::Cow::into_owned) else {
            return Answer::fault(codes::INVALID_PARAMS, "which tool?");
        };
        let arguments: Value =
            request.params.get("arguments").map_or(json!({}), |text| serde_json::from_slice(text).unwrap_or_default());
        match name.as_str() {
            "echo" | "test_header_tool" => text(&arguments.to_string()),
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => result(&json!({"content": [image()]})),
            "test_audio_content" => {
                result(&json!({"content": [{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]}))
            }
            "test_embedded_resource" => result(&json!({"content": [{"type": "resource", "resource": {
                "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."}}]})),
            "test_multiple_content_types" => result(&json!({"content": [
                {"type": "text", "text": "Multiple content types test:"}, image(),
                {"type": "resource", "resource": {"uri": "test://mixed-content-resource", "mimeType": "application/json",
                    "text": r#"{"test":"data","value":123}"#}}]})),
            "test_error_handling" => result(&json!({"isError": true,
                "content": [{"type": "text", "text": "This tool intentionally returns an error for testing"}]})),
            "test_tool_with_logging" | "test_logging_tool" => {
                for data in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    context.notify("notifications/message", &object(&json!({"level": "info", "data": data})));
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                text("done")
            }
            "test_tool_with_progress" => {
                for progress in [0, 50, 100] {
                    context.progress(&object(&json!({"progressToken": 0, "progress": progress, "total": 100})));
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                text("done")
            }
            "test_sampling" => ask(&context, vec![sampling(arguments["prompt"].as_str().unwrap_or("?"))]).await,
            "test_elicitation" => {
                let schema = json!({"type": "object", "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
                    "required": ["username", "email"]});
                ask(&context, vec![form("form", arguments["message"].as_str().unwrap_or("?"), &schema)]).await
            }
            "test_elicitation_sep1034_defaults" => ask(&context, vec![form("form", "Defaults?", &defaults())]).await,
            "test_elicitation_sep1330_enums" => ask(&context, vec![form("form", "Which?", &enums())]).await,
            "test_streaming_elicitation" => {
                context.notify("notifications/message", &object(&json!({"level": "info", "data": "before"})));
                ask(&context, vec![form("form", "Go on?", &confirmation())]).await
            }
            "test_reconnection" => {
                context.release_stream();
                tokio::time::sleep(Duration::from_millis(200)).await;
                text("Reconnection test completed successfully")
            }
            "test_missing_capability" => match context.can_ask("sampling/createMessage", b"{}") {
                Err(error @ AskError::Incapable(_)) => Answer::Fault(error.fault(request.era())),
                _ => text("the client can sample"),
            },
            "test_trigger_tool_change" => {
                self.announce(&Changed::Tools);
                text("changed")
            }
            "test_trigger_prompt_change" => {
                self.announce(&Changed::Prompts);
                text("changed")
            }
            "ask_twice" => {
                let first = ask(&context, vec![form("first", "First?", &confirmation()), sampling("And?")]).await;
                let Answer::Result(first) = first else { return first };
                let Answer::Result(second) = ask(&context, vec![form("first", "Second?", &confirmation())]).await
                else {
                    return text("no second");
                };
                text(&format!("{} {}", String::from_utf8_lossy(first.raw()), String::from_utf8_lossy(second.raw())))
            }
            "wait" => {
                let mut dropped = Dropped(Some(Arc::clone(&self.dropped)));
                if arguments["progress"] == true {
                    context.progress(&object(&json!({"progress": 1})));
                }
                tokio::time::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(60_000))).await;
                dropped.0 = None;
                text("waited")
            }
            #[expect(clippy::panic, reason = "what a broken service does")]
            "panic" => panic!("as asked"),
            _ if name.starts_with("test_input_required_result_") => input_required(&name, &request),
            _ => Answer::fault(codes::INVALID_PARAMS, format!("there is no tool `{name}`")),
        }
    }
}

/// Any value that is an object, as an object.
pub(crate) fn object(value: &Value) -> RawObject {
    let limits = Limits::ADMITTED;
    RawObject::read(Bytes::from(value.to_string()), limits).unwrap_or_else(|_| RawObject::empty())
}

fn result(value: &Value) -> Answer {
    Answer::Result(object(value))
}

fn text(text: &str) -> Answer {
    result(&json!({"content": [{"type": "text", "text": text}]}))
}

fn image() -> Value {
    json!({"type": "image", "data": PIXEL, "mimeType": "image/png"})
}

fn tools() -> Vec<Value> {
    let plain = [
        "echo",
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_logging",
        "test_logging_tool",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_streaming_elicitation",
        "test_reconnection",
        "test_missing_capability",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
        "ask_twice",
        "wait",
        "panic",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_request_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_input_required_result_tampered_state",
        "test_input_required_result_capabilities",
    ];
    let mut tools: Vec<Value> = plain
        .iter()
        .map(|name| json!({"name": name, "description": name, "inputSchema": {"type": "object"}}))
        .collect();
    for (name, argument) in [("test_sampling", "prompt"), ("test_elicitation", "message")] {
        tools.push(json!({"name": name, "description": name, "inputSchema": {"type": "object",
            "properties": {argument: {"type": "string"}}, "required": [argument]}}));
    }
    tools.push(
        json!({"name": "test_header_tool", "description": "An argument in a header", "inputSchema": {"type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}}),
    );
    tools.push(json!({"name": "json_schema_2020_12_tool", "description": "Tool with JSON Schema 2020-12 features", "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": false}}));
    tools
}

fn question(key: &str, method: &str, params: &Value) -> Question {
    Question { key: key.to_owned(), method: method.to_owned(), params: Bytes::from(params.to_string()) }
}

fn form(key: &str, message: &str, schema: &Value) -> Question {
    question(key, "elicitation/create", &json!({"message": message, "requestedSchema": schema}))
}

fn sampling(prompt: &str) -> Question {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": prompt}}]);
    question("sampling", "sampling/createMessage", &json!({"messages": messages, "maxTokens": 100}))
}

/// Asks, and answers with what came back.
async fn ask(context: &Context, questions: Vec<Question>) -> Answer {
    match context.ask(questions).await {
        Ok(replies) => {
            let replies: Vec<String> = replies
                .iter()
                .map(|reply| match reply {
                    Reply::Result(result) => String::from_utf8_lossy(result).into_owned(),
                    Reply::Error(error) => format!("error {}", String::from_utf8_lossy(error)),
                })
                .collect();
            text(&replies.join(" "))
        }
        Err(AskError::Gone) => Answer::fault(codes::INTERNAL_ERROR, "gone"),
        Err(error) => Answer::Fault(error.fault(Era::Stateless)),
    }
}

fn confirmation() -> Value {
    json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})
}

fn defaults() -> Value {
    json!({"type": "object", "required": [], "properties": {
        "name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5}, "verified": {"type": "boolean", "default": true},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}}})
}

fn enums() -> Value {
    let titled = |word: &str| {
        json!([{"const": "value1", "title": format!("First {word}")},
        {"const": "value2", "title": format!("Second {word}")}, {"const": "value3", "title": format!("Third {word}")}])
    };
    let untitled = json!(["option1", "option2", "option3"]);
    json!({"type": "object", "required": [], "properties": {
        "untitledSingle": {"type": "string", "enum": untitled},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": untitled}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}}}})
}

fn prompt(request: &Incoming) -> Answer {
    let name = request.params.text("name").unwrap_or_default();
    let arguments: Value =
        request.params.get("arguments").map_or(Value::Null, |text| serde_json::from_slice(text).unwrap_or_default());
    let says = |content: Value| json!({"role": "user", "content": content});
    let words = |text: String| says(json!({"type": "text", "text": text}));
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let messages = match &*name {
        "test_simple_prompt" => vec![words("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            vec![words(format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "test_prompt_with_embedded_resource" => vec![
            says(json!({"type": "resource", "resource": {"uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing."}})),
            words("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![says(image()), words("Please analyze the image above.".to_owned())],
        "test_input_required_result_prompt" => match response(request, "user_context") {
            None => {
                return wants(
                    &[("user_context", form("", "What context should the prompt use?", &text_form("context")))],
                    None,
                );
            }
            Some(context) => vec![words(context["content"]["context"].to_string())],
        },
        _ => return Answer::fault(codes::INVALID_PARAMS, format!("there is no prompt `{name}`")),
    };
    result(&json!({"messages": messages}))
}

fn read(request: &Incoming) -> Answer {
    let uri = request.params.text("uri").unwrap_or_default();
    let content = match &*uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content"}),
        _ => match uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
            Some(id) => json!({"uri": uri, "mimeType": "application/json",
                "text": json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()}),
            None => {
                let data = Some(Bytes::from(json!({"uri": uri}).to_string()));
                let code = codes::resource_not_found(request.era());
                return Answer::Fault(Fault { code, message: "there is no such resource".into(), data });
            }
        },
    };
    result(&json!({"contents": [content]}))
}

fn text_form(field: &str) -> Value {
    json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]})
}

fn response(request: &Incoming, key: &str) -> Option<Value> {
    serde_json::from_slice(request.input.responses.as_ref()?.get(key)?).ok()
}

fn wants(questions: &[(&str, Question)], state: Option<&str>) -> Answer {
    let requests = questions.iter().map(|(key, question)| {
        let params: Value = serde_json::from_slice(&question.params).unwrap_or_default();
        ((*key).to_owned(), json!({"method": question.method, "params": params}))
    });
    let requests = object(&Value::Object(requests.collect()));
    Answer::InputRequired(InputRequired {
        requests,
        state: state.map(|state| Bytes::copy_from_slice(state.as_bytes())),
        said: RawObject::empty(),
    })
}

fn input_required(name: &str, request: &Incoming) -> Answer {
    let state = request.input.state.as_deref();
    let roots = || question("", "roots/list", &json!({}));
    let capital = || sampling("What is the capital of France?");
    let name_form = || form("", "What is your name?", &text_form("name"));
    let ok_form = || form("", "Please confirm", &confirmation());
    match name.trim_start_matches("test_input_required_result_") {
        "elicitation" => match response(request, "user_name") {
            Some(reply) => text(&format!("Hello, {}!", reply["content"]["name"].as_str().unwrap_or("nobody"))),
            None => wants(&[("user_name", name_form())], None),
        },
        "sampling" => match response(request, "capital_question") {
            Some(reply) => text(&reply["content"]["text"].to_string()),
            None => wants(&[("capital_question", capital())], None),
        },
        "list_roots" => match response(request, "client_roots") {
            Some(reply) => text(&reply["roots"].to_string()),
            None => wants(&[("client_roots", roots())], None),
        },
        "request_state" | "tampered_state" => match (response(request, "confirm"), state) {
            (Some(_), Some(b"the state")) => text("state-ok"),
            _ => wants(&[("confirm", ok_form())], Some("the state")),
        },
        "multiple_inputs" => {
            match (response(request, "user_name"), response(request, "greeting"), response(request, "client_roots")) {
                (Some(_), Some(_), Some(_)) => text("all there"),
                _ => wants(
                    &[("user_name", name_form()), ("greeting", capital()), ("client_roots", roots())],
                    Some("several"),
                ),
            }
        }
        "multi_round" => match (state, response(request, "step1"), response(request, "step2")) {
            (Some(b"two"), _, Some(_)) => text("two rounds"),
            (Some(b"one"), Some(_), _) => {
                wants(&[("step2", form("", "Step 2: What is your favorite color?", &text_form("color")))], Some("two"))
            }
            _ => wants(&[("step1", form("", "Step 1: What is your name?", &text_form("name")))], Some("one")),
        },
        "capabilities" => {
            let all = [("name", name_form()), ("capital", capital())];
            let able: Vec<_> = all
                .into_iter()
                .filter(|(_, question)| request.client.lacks(&question.method, &question.params).is_none())
                .collect();
            if able.is_empty() { text("nothing to ask") } else { wants(&able, None) }
        }
        _ => Answer::fault(codes::INVALID_PARAMS, format!("there is no tool `{name}`")),
    }
}
