//! `toolmark call`: one call through a running gateway, judged like any other.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_mcp::upstream::{Reply, Upstream, UpstreamRequest};
use toolmark_mcp::wire::{Change, Limits, RawObject, ResultType, RpcError, write};

use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::questions;
use crate::remote::Remote;
use crate::{input, output};

/// A call that takes longer is given up; the gateway has limits of its own.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Questions of one call, one after another; a server that asks more often goes in circles.
const ROUNDS: usize = 32;

#[derive(Debug, Args)]
pub(crate) struct CallTool {
    /// The tool, by the name that the gateway lists it under
    tool: String,

    /// The arguments as a JSON object, `@FILE` for a file that holds them, or `-` for standard input
    #[arg(value_name = "ARGS", default_value = "{}")]
    arguments: String,

    #[command(flatten)]
    gateway: Remote,

    /// Print JSON: the whole result
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments that are not a JSON object.
#[derive(Debug, thiserror::Error)]
#[error("the arguments are no JSON object: {0}")]
struct NotArguments(String);

/// A call that the gateway answers with an error instead of a result.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Refused {
    message: String,
    code: Code,
    number: i64,
    candidates: Vec<String>,
}

/// A server that asks without an end.
#[derive(Debug, thiserror::Error)]
#[error("the server asked {ROUNDS} times and still does not answer")]
struct KeepsAsking;

pub(crate) fn run(arguments: &CallTool) -> Result<Exit, Failure> {
    let text = read(&arguments.arguments)?;
    let given = RawObject::read(Bytes::from(text), Limits::default())
        .map_err(|error| Failure::refused(Exit::BadInput, &NotArguments(error.to_string())))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(call(arguments, &given))?;
    let failed = result.is_error();
    let result: Value = serde_json::from_slice(result.raw())
        .map_err(|error| Failure::refused(Exit::Failed, &Refused::unreadable(&error.to_string())))?;
    if arguments.json {
        output::json(&result)?;
    } else {
        show(&result)?;
    }
    Ok(if failed { Exit::Findings } else { Exit::Success })
}

/// The text of the arguments, wherever it is.
fn read(written: &str) -> Result<Vec<u8>, Failure> {
    if written == "-" {
        let mut text = Vec::new();
        let standard_input = |error| Failure::refused(Exit::BadInput, &FileError::reading(Path::new("-"), &error));
        std::io::stdin().lock().read_to_end(&mut text).map_err(standard_input)?;
        return Ok(text);
    }
    match written.strip_prefix('@') {
        Some(path) => Ok(input::document(Path::new(path))?.text().as_bytes().to_vec()),
        None => Ok(written.as_bytes().to_vec()),
    }
}

/// Makes the call, and again with every answer that the gateway asks for.
async fn call(arguments: &CallTool, given: &RawObject) -> Result<RawObject, Failure> {
    // Only somebody who sits there can answer, and only while standard input is theirs.
    let attended = arguments.arguments != "-" && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let gateway = arguments.gateway.connect(if attended { questions::CAPABILITIES } else { "{}" }).await?;
    let name = write::quote(&arguments.tool);
    let mut params =
        changed(&RawObject::empty(), &[Change::Set("name", &name), Change::Set("arguments", given.raw())])?;
    for _ in 0..ROUNDS {
        let result = send(&gateway, params.clone()).await?;
        if result.result_type() != ResultType::InputRequired {
            gateway.close().await;
            return Ok(result);
        }
        let answers = questions::answer(&result, &mut std::io::stdin().lock(), &mut std::io::stderr())?;
        let state = result.slice("requestState");
        let state = state.as_deref().map_or(Change::Remove("requestState"), |state| Change::Set("requestState", state));
        params = changed(&params, &[Change::Set("inputResponses", answers.as_bytes()), state])?;
    }
    Err(Failure::refused(Exit::Failed, &KeepsAsking))
}

async fn send(gateway: &Upstream, params: RawObject) -> Result<RawObject, Failure> {
    let request = UpstreamRequest { timeout: Some(PATIENCE), ..UpstreamRequest::new("tools/call", params) };
    match gateway.request(request).await {
        Ok(Reply::Result(result)) => Ok(result),
        Ok(Reply::Error(error)) => {
            let refused = Refused::of(&error);
            Err(Failure::refused(refused.exit(), &refused))
        }
        Err(error) => Err(Failure::refused(Exit::Failed, &error)),
    }
}

fn changed(object: &RawObject, changes: &[Change<'_>]) -> Result<RawObject, Failure> {
    RawObject::read(object.rewrite(changes), Limits::ADMITTED)
        .map_err(|error| Failure::refused(Exit::BadInput, &NotArguments(error.to_string())))
}

/// What people read: texts as they are, and what else there is by its kind.
fn show(result: &Value) -> Result<(), Failure> {
    let content = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for block in content {
        let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match text("/type") {
            "text" => output::line(printable(text("/text")))?,
            "resource" if block.pointer("/resource/text").is_some() => output::line(printable(text("/resource/text")))?,
            "resource" => output::line(format_args!("[resource {}]", output::safe(text("/resource/uri"))))?,
            "resource_link" => output::line(format_args!("[resource {}]", output::safe(text("/uri"))))?,
            kind => output::line(format_args!("[{} {}]", output::safe(kind), output::safe(text("/mimeType"))))?,
        }
    }
    if content.is_empty() {
        match result.get("structuredContent") {
            Some(structured) => output::json(structured)?,
            None => output::note("the result is empty"),
        }
    }
    Ok(())
}

/// A stranger's text without what would move the cursor or hide something; lines stay lines.
fn printable(text: &str) -> String {
    let lines =
        text.lines().map(|line| line.split('\t').map(|part| visible(part, usize::MAX)).collect::<Vec<_>>().join("\t"));
    lines.collect::<Vec<_>>().join("\n")
}

impl Refused {
    fn of(error: &RpcError) -> Self {
        let data: Value = error.data().and_then(|data| serde_json::from_slice(data).ok()).unwrap_or_default();
        let candidates = data.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let code = match data.get("code").and_then(Value::as_str) {
            Some("ambiguous-tool") => Code::new("ambiguous-tool"),
            Some("tool-not-found") => Code::new("tool-not-found"),
            _ => Code::new("gateway-answer"),
        };
        Self {
            message: visible(&error.message().unwrap_or_default(), 500),
            code,
            number: error.code().unwrap_or_default(),
            candidates: candidates.iter().filter_map(Value::as_str).map(output::safe).collect(),
        }
    }

    fn unreadable(why: &str) -> Self {
        let message = format!("the result cannot be read: {}", visible(why, 200));
        Self { message, code: Code::new("gateway-answer"), number: 0, candidates: Vec::new() }
    }

    fn exit(&self) -> Exit {
        match self.code.as_str() {
            "ambiguous-tool" => Exit::Ambiguous,
            "tool-not-found" => Exit::NotFound,
            _ => Exit::Failed,
        }
    }
}

impl Explain for Refused {
    fn code(&self) -> Code {
        self.code
    }

    fn why(&self) -> String {
        match self.exit() {
            Exit::Ambiguous => "two tools may do very different things, so nobody guesses which is meant",
            Exit::NotFound => "a name that is nearly right may mean another tool",
            _ => "the gateway, or the server behind it, refuses the request as a whole",
        }
        .to_owned()
    }

    fn fix(&self) -> String {
        match self.candidates.as_slice() {
            [] if self.exit() == Exit::Failed => "see the log of the gateway".to_owned(),
            [] => "`toolmark tools` lists what there is".to_owned(),
            all => format!("use {}", all.join(" or ")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("number", self.number.into()), ("candidates", self.candidates.clone().into())])
    }
}

impl Explain for NotArguments {
    fn code(&self) -> Code {
        Code::new("call-arguments")
    }

    fn why(&self) -> String {
        "the arguments of a tool are the members of one object".to_owned()
    }

    fn fix(&self) -> String {
        r#"write them as `'{"name": "value"}'`, or put them into a file and name it with `@FILE`"#.to_owned()
    }
}

impl Explain for KeepsAsking {
    fn code(&self) -> Code {
        Code::new("gateway-answer")
    }

    fn why(&self) -> String {
        "a server that never has enough goes in circles".to_owned()
    }

    fn fix(&self) -> String {
        "tell the author of the server".to_owned()
    }
}
