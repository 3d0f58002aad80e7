//! The codes of model errors, why there is no answer, and what to do.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use super::{ModelError, ModelErrorKind};

impl Explain for ModelError {
    fn code(&self) -> Code {
        match self.kind() {
            ModelErrorKind::Unsendable(error) => error.code(),
            ModelErrorKind::Auth { .. } => Code::new("model-auth"),
            ModelErrorKind::RateLimited { .. } => Code::new("model-rate-limited"),
            ModelErrorKind::Quota { .. } => Code::new("model-quota"),
            ModelErrorKind::BadRequest { .. } => Code::new("model-bad-request"),
            ModelErrorKind::Overloaded { .. } => Code::new("model-overloaded"),
            ModelErrorKind::ServerFailed { .. } => Code::new("model-server-failed"),
            ModelErrorKind::AnswerFailed { .. } => Code::new("model-answer-failed"),
            ModelErrorKind::Timeout { .. } => Code::new("model-timeout"),
            ModelErrorKind::Unreachable { .. } => Code::new("model-unreachable"),
            ModelErrorKind::Certificate { .. } => Code::new("model-certificate"),
            ModelErrorKind::Redirected { .. } => Code::new("model-redirected"),
            ModelErrorKind::Html { .. } => Code::new("model-html-answer"),
            ModelErrorKind::Malformed { .. } => Code::new("model-malformed-answer"),
            ModelErrorKind::Truncated => Code::new("model-stream-truncated"),
            ModelErrorKind::TooLarge { .. } => Code::new("model-answer-too-large"),
            ModelErrorKind::Script { .. } => Code::new("model-script-no-answer"),
        }
    }

    fn why(&self) -> String {
        match self.kind() {
            ModelErrorKind::Unsendable(error) => return error.why(),
            ModelErrorKind::Auth { .. } => "without a key that the provider knows there is nothing to ask",
            ModelErrorKind::RateLimited { .. } | ModelErrorKind::Overloaded { .. } => {
                "asking on would only make it worse; the provider was given the time it asked for, within the limits of the connection"
            }
            ModelErrorKind::Quota { .. } => "asking again does not help until somebody pays",
            ModelErrorKind::BadRequest { .. } => "the same request would be refused again",
            ModelErrorKind::ServerFailed { .. } => "the provider could not answer, however often it was asked",
            ModelErrorKind::AnswerFailed { .. } => {
                "a part of the answer may have been shown already, so the question is not put again in silence"
            }
            ModelErrorKind::Timeout { .. } => "a run must not hang on one answer",
            ModelErrorKind::Unreachable { .. } => "there is nobody who could answer",
            ModelErrorKind::Certificate { .. } => "whoever answers there could be anybody, and would be shown the key",
            ModelErrorKind::Redirected { .. } => "the key is shown to the configured address and to no other",
            ModelErrorKind::Html { .. } => "a page of a proxy or a login is not what the model said",
            ModelErrorKind::Malformed { .. } => "guessing what the model meant could run a tool that it did not call",
            ModelErrorKind::Truncated => "half an answer could hold half a tool call; nothing of it is acted on",
            ModelErrorKind::TooLarge { .. } => "one answer must not take the memory of all others",
            ModelErrorKind::Script { .. } => "a script answers what it was written for, and nothing else",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self.kind() {
            ModelErrorKind::Unsendable(error) => return error.fix(),
            ModelErrorKind::Auth { .. } => {
                "set the variable that holds the key to a valid one, and check that it belongs to this address"
            }
            ModelErrorKind::RateLimited { .. } => "wait, ask less often, or have the provider raise the limit",
            ModelErrorKind::Quota { .. } => "check the plan and the billing details of the account",
            ModelErrorKind::BadRequest { .. } => {
                "change what the provider's message names; often the name of the model or a schema"
            }
            ModelErrorKind::Overloaded { .. } | ModelErrorKind::ServerFailed { .. } => {
                "try again later, or use another model for now"
            }
            ModelErrorKind::AnswerFailed { .. } => "run it again; the run's state is as it was before the question",
            ModelErrorKind::Timeout { .. } => "raise the timeout of the model, or ask for less",
            ModelErrorKind::Unreachable { .. } => "check the base URL and the network, and that the server runs",
            ModelErrorKind::Certificate { .. } => {
                "if the server belongs to an organization with an authority of its own, name its certificate: `ca = \"ca.pem\"`; \
                 otherwise check the base URL and the server's certificate"
            }
            ModelErrorKind::Redirected { .. } => "set the base URL to the address that the provider answers at",
            ModelErrorKind::Html { .. } => {
                "check the base URL, and whether a proxy stands in between that wants a login"
            }
            ModelErrorKind::Malformed { .. } => "check that the server speaks the format that the model's name says",
            ModelErrorKind::Truncated => "run it again; if it happens often, look for a proxy that cuts long answers",
            ModelErrorKind::TooLarge { .. } => "ask for less, or raise the limit for answers of this model",
            ModelErrorKind::Script { .. } => "add a turn to the script",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        let mut all = facts([
            ("model", self.model().into()),
            ("attempts", self.attempts().into()),
            ("temporary", self.is_temporary().into()),
        ]);
        let mut add = |key: &str, value: Value| all.insert(key.to_owned(), value);
        match self.kind() {
            ModelErrorKind::Unsendable(error) => all.extend(error.facts()),
            ModelErrorKind::Auth { status, .. }
            | ModelErrorKind::BadRequest { status, .. }
            | ModelErrorKind::Redirected { status }
            | ModelErrorKind::Html { status, .. } => {
                add("status", (*status).into());
            }
            ModelErrorKind::RateLimited { retry_after, .. } | ModelErrorKind::Overloaded { retry_after, .. } => {
                add("retry_after_seconds", retry_after.map(|wait| wait.as_secs_f64()).into());
            }
            ModelErrorKind::ServerFailed { status, retry_after, .. } => {
                add("status", (*status).into());
                add("retry_after_seconds", retry_after.map(|wait| wait.as_secs_f64()).into());
            }
            ModelErrorKind::TooLarge { limit } => {
                add("limit", (*limit).into());
            }
            ModelErrorKind::Timeout { limit, .. } => {
                add("limit_seconds", limit.as_secs_f64().into());
            }
            _ => {}
        }
        all
    }
}
