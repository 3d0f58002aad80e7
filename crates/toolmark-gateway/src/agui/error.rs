//! Why does a page get no run? Every reason has a stable code; what is known before a stream begins has a status too.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};
use toolmark_agui::input::ReadInputError;
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_mcp::downstream::{Body, ReadBodyError};
use toolmark_store::StoreError;

use crate::agents::{AgentUnknown, BuildError};

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AguiError {
    #[error("there is nothing at this address")]
    NotFound,
    #[error("this is not possible here")]
    Method,
    #[error("a request is sent as `application/json`")]
    Media,
    #[error("the request has more than {0} bytes")]
    TooLarge(usize),
    #[error("the request was not sent whole")]
    Unfinished,
    #[error(transparent)]
    Body(ReadBodyError),
    #[error(transparent)]
    Input(#[from] ReadInputError),
    #[error(transparent)]
    Agent(#[from] AgentUnknown),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Store(StoreError),
    #[error("{0} runs are under way, and more may not be")]
    Busy(u32),
    #[error("another run of the thread is under way")]
    ThreadBusy,
    #[error("all of the {0} threads that may be are in use or wait for an answer")]
    ThreadsFull(u32),
    #[error("nothing was said")]
    NothingSaid,
    #[error("the message `{0}` is another than the one of that id before")]
    MessageChanged(String),
    #[error("the run waits for answers to {}", listed(.0))]
    InterruptsOpen(Vec<String>),
    #[error("nothing waits for an answer to {}", listed(.0))]
    InterruptUnknown(Vec<String>),
    #[error("the question `{0}` is answered twice")]
    AnsweredTwice(String),
    #[error("the answer to `{id}` cannot be used: {problem}")]
    Payload { id: String, problem: &'static str },
    #[error("the time to answer `{0}` is over")]
    InterruptExpired(String),
    #[error("somebody else approved `{0}` as it was")]
    DecidedElsewhere(String),
    #[error("the page brings a tool `{name}`, which {owner} has too")]
    FrontendCollision { name: String, owner: String },
    #[error("the tools of the page cannot be used: {0}")]
    FrontendTools(String),
    #[error("pages may not bring tools here")]
    FrontendOff,
    #[error("what waits in the thread cannot be read: {0}")]
    Waits(String),
    #[error("the run took longer than it may")]
    Timeout,
    #[error("the run broke off; what it had begun may have had an effect")]
    Broke,
    #[error("another process took the thread over, and nothing was added to it")]
    ThreadLost,
    #[error("{}", .0.what())]
    Report(Box<Report>),
}

fn listed(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

impl AguiError {
    /// The status of an answer without a stream.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound | Self::Agent(_) => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Media => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(error) => error.status(),
            Self::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// An answer without a stream.
    pub(crate) fn response(&self) -> Response<Body> {
        let body = json!({ "error": self.report().to_json() }).to_string();
        let mut response = Response::new(Body::whole(Bytes::from(body)));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if matches!(self, Self::Busy(_)) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if matches!(self, Self::Method) {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, POST, OPTIONS"));
        }
        response
    }

    fn inner(&self) -> Option<&dyn Explain> {
        Some(match self {
            Self::Body(error) => error,
            Self::Input(error) => error,
            Self::Agent(error) => error,
            Self::Build(error) => error,
            Self::Store(error) => error,
            _ => return None,
        })
    }
}

/// Where the store is, the log says and the page does not.
impl From<StoreError> for AguiError {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "the store failed a run of an agent");
        Self::Store(error.for_callers())
    }
}

impl Explain for AguiError {
    fn code(&self) -> Code {
        if let Some(inner) = self.inner() {
            return inner.code();
        }
        match self {
            Self::TooLarge(_) => Code::new("agui-too-large"),
            Self::Busy(_) => Code::new("agui-busy"),
            Self::ThreadBusy | Self::ThreadLost => Code::new("agui-thread-busy"),
            Self::ThreadsFull(_) => Code::new("agui-threads-full"),
            Self::NothingSaid => Code::new("agui-nothing-said"),
            Self::MessageChanged(_) => Code::new("agui-message-changed"),
            Self::InterruptsOpen(_) => Code::new("agui-interrupts-open"),
            Self::InterruptUnknown(_) | Self::AnsweredTwice(_) => Code::new("agui-interrupt-unknown"),
            Self::Payload { .. } => Code::new("agui-resume-payload"),
            Self::InterruptExpired(_) => Code::new("agui-interrupt-expired"),
            Self::DecidedElsewhere(_) => Code::new("approval-decided"),
            Self::FrontendCollision { .. } | Self::FrontendTools(_) | Self::FrontendOff => {
                Code::new("agui-frontend-tool")
            }
            Self::Waits(_) => Code::new("run-state-unreadable"),
            Self::Timeout => Code::new("agui-timeout"),
            Self::Broke => Code::new("agui-run-broke"),
            Self::Report(report) => report.code(),
            _ => Code::new("agui-request"),
        }
    }

    fn why(&self) -> String {
        if let Some(inner) = self.inner() {
            return inner.why();
        }
        match self {
            Self::ThreadsFull(_) => "a run that waits for an answer is not forgotten to make room for another",
            Self::TooLarge(_) | Self::Busy(_) => "one caller must not take what all of them share",
            Self::ThreadBusy | Self::ThreadLost => {
                "two runs that do not hear each other would tear the conversation apart"
            }
            Self::NothingSaid => "an agent that nobody asked anything would make something up",
            Self::MessageChanged(_) => "the agent has answered what was said before; it would answer something else",
            Self::InterruptsOpen(_) => "a run that waits for several answers goes on with all of them, or not at all",
            Self::InterruptUnknown(_) | Self::AnsweredTwice(_) => "an answer is for one question, and only once",
            Self::Payload { .. } => "what is not clearly a yes approves nothing",
            Self::InterruptExpired(_) => "an approval that nobody waits for could run at a moment nobody expects",
            Self::DecidedElsewhere(_) => "a question is answered once: two answers could undo what ran already",
            Self::FrontendCollision { .. } => {
                "a call by that name could mean either of the two, and the page would run both"
            }
            Self::FrontendTools(_) | Self::FrontendOff => {
                "a tool that is not what it says must not be offered to a model"
            }
            Self::Waits(_) => "a run that is read wrongly could do something twice, or something that nobody approved",
            Self::Timeout => "an agent that never comes to an end costs money and may act for ever",
            Self::Broke => "what it did last is not known here, and nothing that may have run is repeated",
            Self::Report(report) => return report.why().to_owned(),
            _ => "a request that is not understood runs nothing",
        }
        .into()
    }

    fn fix(&self) -> String {
        if let Some(inner) = self.inner() {
            return inner.fix();
        }
        match self {
            Self::TooLarge(most) => format!(
                "send less: the thread is kept here, so that earlier messages need not be sent; or raise `body_bytes` in \
                 `[gateway.limits]` above {most}"
            ),
            Self::Busy(_) => "wait until one of them ends, or raise `runs` in `[agui]`".into(),
            Self::ThreadBusy => "wait until it ends; its messages come with the next run".into(),
            Self::ThreadLost => "send the request again".into(),
            Self::ThreadsFull(_) => {
                "answer what waits in these threads, go on in one of them, or raise `threads` in `[agui]`".into()
            }
            Self::NothingSaid => "send at least one message of a user".into(),
            Self::MessageChanged(_) => "send what changed as a message with an id of its own".into(),
            Self::InterruptsOpen(_) => "answer every one of them in `resume`, with `resolved` or `cancelled`".into(),
            Self::InterruptUnknown(_) | Self::AnsweredTwice(_) => {
                "answer exactly the interrupts of the last `RUN_FINISHED` of the thread, each once".into()
            }
            Self::Payload { .. } => {
                r#"send `{"approved": true}` or `{"approved": false, "message": "…"}`, with `editedArgs` for other arguments"#
                    .into()
            }
            Self::InterruptExpired(_) => "answer it with `cancelled`, and let the agent ask again".into(),
            Self::DecidedElsewhere(_) => "answer without `editedArgs`, or with `approved: false` to take the call back".into(),
            Self::FrontendCollision { .. } => "rename the tool of the page".into(),
            Self::FrontendTools(_) => "correct the tools in the request".into(),
            Self::FrontendOff => "leave `tools` out, or set `frontend_tools = true` in `[agui]`".into(),
            Self::Waits(_) => "begin another thread, or use the version of Toolmark that wrote it".into(),
            Self::Timeout => "raise `timeout` in `[agui]`, or send a message to go on: what was done is kept".into(),
            Self::Broke => "look into the log of the gateway and at the calls in `toolmark audit`, then say it again".into(),
            Self::Report(report) => report.fix().to_owned(),
            Self::Media => "set `Content-Type: application/json`".into(),
            _ => "`POST /agui/<agent>` runs an agent, `GET /agui` lists them; see docs/agui.md".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        if let Some(inner) = self.inner() {
            return inner.facts();
        }
        match self {
            Self::InterruptsOpen(ids) | Self::InterruptUnknown(ids) => facts([("interrupts", ids.as_slice().into())]),
            Self::AnsweredTwice(id) | Self::InterruptExpired(id) | Self::DecidedElsewhere(id) => {
                facts([("interrupts", vec![id.as_str()].into())])
            }
            Self::FrontendCollision { name, owner } => facts([
                ("name", name.as_str().into()),
                ("owners", vec![format!("frontend.{name}"), owner.clone()].into()),
            ]),
            Self::ThreadsFull(most) => facts([("most", (*most).into())]),
            Self::MessageChanged(id) => facts([("message", id.as_str().into())]),
            _ => Map::new(),
        }
    }
}
