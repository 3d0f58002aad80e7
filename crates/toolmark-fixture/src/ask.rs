//! How a tool or a prompt asks its client something: an old client gets a request while the call waits, a new one gets the question as the
//! answer and repeats the call.

#![expect(deprecated, reason = "sampling and roots are on their way out of the protocol, but clients still have them")]

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ListRootsRequest, ListRootsResult, ProtocolVersion, RequestStateCodec, SamplingMessage,
    SealOptions,
};
use rmcp::service::{RequestContext, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(600);

/// Who asks, and what the client has sent along already.
pub(crate) struct Asker<'a> {
    /// The tool or prompt; states of one are of no use to another.
    pub(crate) name: &'a str,
    pub(crate) context: &'a RequestContext<RoleServer>,
    pub(crate) responses: Option<&'a InputResponses>,
    pub(crate) state: Option<&'a str>,
    pub(crate) seal: &'a Seal,
}

/// What came of asking.
pub(crate) enum Asked {
    /// The client has answered everything, under the keys of the questions.
    Answered(InputResponses),
    /// The client must be sent away with the questions.
    Later(InputRequiredResult),
}

/// The key that states are sealed with, so that a client cannot write one.
#[derive(Clone, Debug)]
pub(crate) struct Seal(RequestStateCodec);

impl Seal {
    /// A seal with a key of its own: states do not outlive the process.
    pub(crate) fn new() -> Self {
        let key = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
        Self(RequestStateCodec::new_unchecked(key))
    }
}

/// Whether a request is of the era without sessions.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let modern = ProtocolVersion::V_2026_07_28;
    context.protocol_version().is_some_and(|version| version.as_str() >= modern.as_str())
}

/// What a client is told that lacks a capability; old ones know no code for it.
pub(crate) fn refusal(context: &RequestContext<RoleServer>, missing: ClientCapabilities) -> ErrorData {
    let error = ErrorData::missing_required_client_capability(missing);
    if is_modern(context) { error } else { ErrorData::invalid_request(error.message, error.data) }
}

/// A question to the person behind the client.
pub(crate) fn form(message: impl Into<String>, schema: Value) -> Result<InputRequest, ErrorData> {
    let requested_schema =
        serde_json::from_value(schema).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message: message.into(), requested_schema };
    Ok(InputRequest::Elicitation(ElicitRequest::new(params)))
}

/// A question for one text.
pub(crate) fn text_form(message: &str, field: &str) -> Result<InputRequest, ErrorData> {
    form(message, json!({ "type": "object", "properties": { field: { "type": "string" } }, "required": [field] }))
}

/// A question to the model behind the client.
pub(crate) fn sampling(prompt: impl Into<String>, max_tokens: u32) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(prompt)];
    InputRequest::CreateMessage(CreateMessageRequest::new(CreateMessageRequestParams::new(messages, max_tokens)))
}

/// A question for the folders the client works in.
pub(crate) fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

impl Asker<'_> {
    /// Asks all questions at once; `state` is what the client is to bring back with the answers.
    pub(crate) async fn ask<const N: usize>(
        &self,
        questions: [(&str, InputRequest); N],
        state: Option<String>,
    ) -> Result<Asked, ErrorData> {
        let questions: InputRequests = questions.into_iter().map(|(key, request)| (key.to_owned(), request)).collect();
        if let Some(missing) = questions.values().find_map(|question| self.missing(question)) {
            return Err(refusal(self.context, missing));
        }
        if is_modern(self.context) { self.later(questions, state) } else { self.now(questions).await }
    }

    /// The capability that a question needs and that the client has not declared.
    pub(crate) fn missing(&self, question: &InputRequest) -> Option<ClientCapabilities> {
        let declared = self.context.client_capabilities().unwrap_or_default();
        let (there, needed) = match question {
            InputRequest::CreateMessage(_) => {
                (declared.sampling.is_some(), ClientCapabilities::builder().enable_sampling().build())
            }
            InputRequest::Elicitation(_) => {
                (declared.elicitation.is_some(), ClientCapabilities::builder().enable_elicitation().build())
            }
            _ => (declared.roots.is_some(), ClientCapabilities::builder().enable_roots().build()),
        };
        (!there).then_some(needed)
    }

    /// Seals what the tool wants to know again when the client comes back.
    pub(crate) fn seal<T: Serialize>(&self, state: &T) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(self.name.as_bytes()).ttl(PATIENCE);
        self.seal.0.seal_json_with(state, &options).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// What the tool sealed before; a state that was not sealed by it is refused.
    pub(crate) fn open<T: DeserializeOwned>(&self) -> Result<Option<T>, ErrorData> {
        let Some(state) = self.state else { return Ok(None) };
        self.seal
            .0
            .open_json_with(state, self.name.as_bytes())
            .map(Some)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
    }

    fn later(&self, questions: InputRequests, state: Option<String>) -> Result<Asked, ErrorData> {
        let mut answers = InputResponses::new();
        for (key, question) in &questions {
            let Some(answer) = self.responses.and_then(|responses| responses.get(key)) else {
                return Ok(Asked::Later(InputRequiredResult::new(Some(questions), state)));
            };
            check(key, question, answer)?;
            answers.insert(key.clone(), answer.clone());
        }
        Ok(Asked::Answered(answers))
    }

    async fn now(&self, questions: InputRequests) -> Result<Asked, ErrorData> {
        let peer = &self.context.peer;
        let mut answers = InputResponses::new();
        for (key, question) in questions {
            let answer = match question {
                InputRequest::CreateMessage(request) => value(peer.create_message(request.params).await),
                InputRequest::Elicitation(request) => value(peer.create_elicitation(request.params).await),
                _ => value(peer.list_roots().await),
            }?;
            answers.insert(key, answer);
        }
        Ok(Asked::Answered(answers))
    }
}

fn value<T: Serialize>(answer: Result<T, ServiceError>) -> Result<Value, ErrorData> {
    let internal = |text: String| ErrorData::internal_error(text, None);
    match answer {
        Ok(answer) => serde_json::to_value(answer).map_err(|error| internal(error.to_string())),
        Err(ServiceError::McpError(error)) => Err(error),
        Err(error) => Err(internal(error.to_string())),
    }
}

/// An answer must have the shape that its question asks for.
fn check(key: &str, question: &InputRequest, answer: &Value) -> Result<(), ErrorData> {
    let answer = answer.clone();
    let read = match question {
        InputRequest::CreateMessage(_) => serde_json::from_value::<CreateMessageResult>(answer).map(drop),
        InputRequest::Elicitation(_) => serde_json::from_value::<ElicitResult>(answer).map(drop),
        _ => serde_json::from_value::<ListRootsResult>(answer).map(drop),
    };
    read.map_err(|error| ErrorData::invalid_params(format!("the answer to `{key}` cannot be read: {error}"), None))
}

/// One field of an answered form; `None` when the person did not accept, or left it out.
pub(crate) fn field<'a>(answers: &'a InputResponses, key: &str, field: &str) -> Option<&'a Value> {
    let answer = answers.get(key)?;
    let accepted = serde_json::to_value(ElicitationAction::Accept).ok()?;
    (answer.get("action")? == &accepted).then(|| answer.get("content")?.get(field)).flatten()
}

/// The text that a model answered.
pub(crate) fn sampled<'a>(answers: &'a InputResponses, key: &str) -> Option<&'a str> {
    answers.get(key)?.get("content")?.get("text")?.as_str()
}
