//! What does a client ask for? `RunAgentInput`, read generously: what is not known is passed over, a `null` is nothing, as clients before
//! 1.0 send it. What is needed and wrong is refused with its place, and nothing is without a limit.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::json;
use toolmark_core::text::visible;
use toolmark_models::{File, Image, Part};

use crate::id::Id;

/// What a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAgentInput {
    /// The conversation.
    pub thread_id: Id,
    /// What the client calls this run.
    pub run_id: Id,
    /// The run that this one belongs to, as the client sees it.
    pub parent_run_id: Option<Id>,
    /// The conversation as the client has it, whole.
    pub messages: Vec<Sent>,
    /// Tools that the client runs.
    pub tools: Vec<FrontendTool>,
    /// What the page wants the agent to know: a description and a value each.
    pub context: Vec<(String, String)>,
    /// The state that page and agent share.
    pub state: Option<Value>,
    /// Whatever else the page sends along.
    pub forwarded_props: Option<Value>,
    /// Answers to questions that interrupted the run before.
    pub resume: Vec<Answer>,
}

/// One message as the client has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Its id.
    pub id: Id,
    /// What it says.
    pub said: Said,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The person.
    User(Vec<Part>),
    /// The page, to the model.
    System(String),
    /// The page, to the model.
    Developer(String),
    /// The model, with the ids and names of what it called.
    Assistant {
        /// What it said.
        text: String,
        /// What it called: the id, the name and the arguments.
        calls: Vec<(Id, String, String)>,
    },
    /// A tool.
    Tool {
        /// The call.
        call_id: Id,
        /// What came of it.
        text: String,
        /// Whether it failed.
        failed: bool,
    },
    /// Something else, which is no part of the conversation: reasoning, activities.
    Other,
}

/// A tool that the client runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontendTool {
    /// The name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// What it takes, as JSON Schema.
    pub parameters: Value,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The question.
    pub interrupt_id: Id,
    /// What was answered; nothing where the person walked away.
    pub payload: Option<Value>,
}

/// A request that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request cannot be read: {problem}")]
pub struct ReadInputError {
    problem: String,
}

const MESSAGES: usize = 20_000;
const TOOLS: usize = 256;
const ENTRIES: usize = 256;
const ID: usize = 1024;
const NAME: usize = 128;

type Read<T> = Result<T, ReadInputError>;

impl RunAgentInput {
    /// Reads a request. How long it may be is for the caller to say.
    ///
    /// # Errors
    /// [`ReadInputError`], with the place, when it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadInputError> {
        let text = std::str::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8"))?;
        let read = json::read(text).map_err(|error| refuse(&error.to_string()))?;
        let Value::Object(members) = read.to_value() else { return Err(refuse("it is no JSON object")) };
        let at = At { members: &members, path: "" };
        let list = at.list("messages", MESSAGES)?.ok_or_else(|| refuse("`messages` is missing"))?;
        let messages = list.iter().enumerate().map(|(n, one)| message(one, &format!("/messages/{n}")));
        Ok(Self {
            thread_id: at.id("threadId")?,
            run_id: at.id("runId")?,
            parent_run_id: at.text("parentRunId")?.map(Id::from),
            messages: messages.collect::<Read<_>>()?,
            tools: at.each("tools", TOOLS, tool)?,
            context: at.each("context", ENTRIES, context)?,
            state: at.any("state").cloned(),
            forwarded_props: at.any("forwardedProps").cloned(),
            resume: at.each("resume", ENTRIES, answer)?,
        })
    }
}

/// The members of one object.
#[derive(Clone, Copy)]
struct At<'v> {
    members: &'v Map<String, Value>,
    path: &'v str,
}

impl<'v> At<'v> {
    fn object(value: &'v Value, path: &'v str) -> Read<Self> {
        let members = value.as_object().ok_or_else(|| refuse(&format!("`{path}` is no object")))?;
        Ok(Self { members, path })
    }

    fn any(&self, key: &str) -> Option<&'v Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Read<Option<&'v str>> {
        let Some(value) = self.any(key) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| refuse(&format!("`{}/{key}` is no text", self.path)))
    }

    fn need(&self, key: &str) -> Read<&'v str> {
        self.text(key)?.ok_or_else(|| refuse(&format!("`{}/{key}` is missing", self.path)))
    }

    fn id(&self, key: &str) -> Read<Id> {
        let text = self.need(key)?;
        match text.len() {
            0 => Err(refuse(&format!("`{}/{key}` is empty", self.path))),
            length if length > ID => Err(refuse(&format!("`{}/{key}` has more than {ID} bytes", self.path))),
            _ => Ok(text.into()),
        }
    }

    fn list(&self, key: &str, most: usize) -> Read<Option<&'v Vec<Value>>> {
        let Some(value) = self.any(key) else { return Ok(None) };
        let list = value.as_array().ok_or_else(|| refuse(&format!("`{}/{key}` is no list", self.path)))?;
        if list.len() > most {
            return Err(refuse(&format!("`{}/{key}` has more than {most} entries", self.path)));
        }
        Ok(Some(list))
    }

    fn each<T>(&self, key: &str, most: usize, read: fn(At<'_>) -> Read<T>) -> Read<Vec<T>> {
        let list = self.list(key, most)?;
        let each = list.into_iter().flatten().enumerate();
        each.map(|(n, value)| read(At::object(value, &format!("{}/{key}/{n}", self.path))?)).collect()
    }
}

fn message(value: &Value, path: &str) -> Read<Sent> {
    let at = At::object(value, path)?;
    let said = match at.need("role")? {
        "user" => Said::User(parts(&at)?),
        "system" => Said::System(text_of(&at)?),
        "developer" => Said::Developer(text_of(&at)?),
        "assistant" => {
            let calls = at.each("toolCalls", ENTRIES, |call| {
                let path = format!("{}/function", call.path);
                let value = call.any("function").ok_or_else(|| refuse(&format!("`{path}` is missing")))?;
                let function = At::object(value, &path)?;
                let arguments = function.text("arguments")?.unwrap_or_default().to_owned();
                Ok((call.id("id")?, function.need("name")?.to_owned(), arguments))
            })?;
            Said::Assistant { text: text_of(&at)?, calls }
        }
        "tool" => Said::Tool {
            call_id: at.id("toolCallId")?,
            text: text_of(&at)?,
            failed: at.text("error")?.is_some_and(|error| !error.is_empty()),
        },
        _ => Said::Other,
    };
    Ok(Sent { id: at.id("id")?, said })
}

/// The text of a message; of one in pieces, what they say.
fn text_of(at: &At<'_>) -> Read<String> {
    match at.any("content") {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Ok(parts(at)?.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")),
    }
}

fn parts(at: &At<'_>) -> Read<Vec<Part>> {
    match at.any("content") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::text(text)]),
        Some(_) => at.each("content", ENTRIES, part),
    }
}

fn part(at: At<'_>) -> Read<Part> {
    let kind = at.need("type")?;
    match kind {
        "text" => Ok(Part::text(at.need("text")?)),
        "image" | "audio" | "video" | "document" => {
            let path = format!("{}/source", at.path);
            let source = at.any("source").ok_or_else(|| refuse(&format!("`{path}` is missing")))?;
            media(kind, At::object(source, &path)?)
        }
        // What 0.x calls everything that is not text.
        "binary" => {
            let mime = at.text("mimeType")?.unwrap_or("application/octet-stream");
            let data = at.text("data")?.map(|data| data_url(mime, data));
            let (url, file_id) = (at.text("url")?.map(str::to_owned), at.text("id")?.map(str::to_owned));
            Ok(match mime.starts_with("image/") {
                true => Part::Image(Image { url: data.or(url), file_id, detail: None }),
                false => Part::File(File { data, url, file_id, filename: at.text("filename")?.map(str::to_owned) }),
            })
        }
        other => Err(refuse(&format!("`{}/type` is `{}`, which is not known", at.path, visible(other, 60)))),
    }
}

fn media(kind: &str, source: At<'_>) -> Read<Part> {
    let value = source.need("value")?.to_owned();
    let (mut data, mut url, mut file_id) = (None, None, None);
    match source.need("type")? {
        "data" => data = Some(data_url(source.need("mimeType")?, &value)),
        "url" => url = Some(value),
        "file" => file_id = Some(value),
        other => {
            let other = visible(other, 60);
            return Err(refuse(&format!("`{}/type` is `{other}`, which is not known", source.path)));
        }
    }
    Ok(match kind {
        "image" => Part::Image(Image { url: data.or(url), file_id, detail: None }),
        _ => Part::File(File { data, url, file_id, filename: None }),
    })
}

fn data_url(mime: &str, base64: &str) -> String {
    format!("data:{mime};base64,{base64}")
}

fn tool(at: At<'_>) -> Read<FrontendTool> {
    let name = at.need("name")?.to_owned();
    if name.is_empty() || name.len() > NAME {
        return Err(refuse(&format!("`{}/name` is empty or has more than {NAME} bytes", at.path)));
    }
    let parameters = match at.any("parameters") {
        None => serde_json::json!({"type": "object", "properties": {}}),
        Some(schema) if schema.is_object() => schema.clone(),
        Some(_) => return Err(refuse(&format!("`{}/parameters` is no object", at.path))),
    };
    Ok(FrontendTool { name, description: at.text("description")?.unwrap_or_default().to_owned(), parameters })
}

fn context(at: At<'_>) -> Read<(String, String)> {
    // Pages send values as text, and some as what they are.
    let value = match at.any("value") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    Ok((at.text("description")?.unwrap_or_default().to_owned(), value))
}

fn answer(at: At<'_>) -> Read<Answer> {
    let payload = match at.need("status")? {
        "resolved" => Some(at.any("payload").cloned().unwrap_or(Value::Null)),
        "cancelled" => None,
        other => {
            let other = visible(other, 60);
            return Err(refuse(&format!("`{}/status` is `{other}`, neither `resolved` nor `cancelled`", at.path)));
        }
    };
    Ok(Answer { interrupt_id: at.id("interruptId")?, payload })
}

fn refuse(problem: &str) -> ReadInputError {
    ReadInputError { problem: visible(problem, 400) }
}

impl Explain for ReadInputError {
    fn code(&self) -> Code {
        Code::new("agui-input")
    }

    fn why(&self) -> String {
        "a request that is read wrongly runs something else than was asked for".into()
    }

    fn fix(&self) -> String {
        "send a `RunAgentInput` of AG-UI 1.0: `threadId`, `runId`, `messages`; see docs/agui.md".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problem", self.problem.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
