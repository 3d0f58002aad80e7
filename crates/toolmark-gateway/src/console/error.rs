//! Why does a request to the console's API get no answer? Every reason has a status and a stable code.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use toolmark_core::catalog::ResolveError;
use toolmark_core::explain::{Code, Explain, Report};
use toolmark_core::problem::Problem;
use toolmark_mcp::downstream::{Body, ReadBodyError};
use toolmark_store::StoreError;
use toolmark_store::audit::ParseCursorError;

use super::assets;
use super::keeper::NotKept;

/// Why a request gets no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConsoleError {
    #[error("an approver's token or the console's key is needed: `Authorization: Bearer …`")]
    NoToken,
    #[error("this token may not look into the console")]
    NoApprover,
    #[error("there is nothing at this address")]
    NotFound,
    #[error("this is not possible here")]
    Method(&'static str),
    #[error("`{0}` of the query cannot be read")]
    Query(String),
    #[error("the body is sent as `application/json`")]
    Media,
    #[error(transparent)]
    Unread(#[from] ReadBodyError),
    #[error("the body cannot be read: {0}")]
    Body(String),
    #[error("nothing is kept of this call")]
    NoCall,
    #[error("calls are not kept: this gateway has no audit")]
    NoAudit,
    #[error(transparent)]
    Tool(#[from] ResolveError),
    #[error(transparent)]
    Cursor(#[from] ParseCursorError),
    #[error(transparent)]
    Store(StoreError),
    #[error("another replay is under way")]
    Busy,
    #[error("the policy cannot be used")]
    Policy(Vec<Problem>),
    #[error("{0}")]
    Failed(String),
}

impl ConsoleError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::NoApprover => StatusCode::FORBIDDEN,
            Self::NotFound | Self::NoCall | Self::NoAudit | Self::Tool(_) => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Media => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unread(error) => error.status(),
            Self::Query(_) | Self::Body(_) | Self::Cursor(_) => StatusCode::BAD_REQUEST,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Busy => StatusCode::CONFLICT,
            Self::Policy(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// As it is told.
    pub(crate) fn told(&self) -> Report {
        match self {
            Self::Unread(error) => error.report(),
            Self::Tool(error) => error.report(),
            Self::Cursor(error) => error.report(),
            Self::Store(error) => error.report(),
            _ => self.report(),
        }
    }

    /// The error as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let mut all = json!({ "error": self.told().to_json() });
        if let (Self::Policy(problems), Some(members)) = (self, all.as_object_mut()) {
            members.insert("problems".into(), problems.iter().map(problem).collect());
        }
        all
    }

    pub(crate) fn response(&self) -> Response<Body> {
        let mut response = answer(self.status(), &self.to_json());
        match self {
            Self::NoToken => {
                let wanted = HeaderValue::from_static("Bearer realm=\"toolmark\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, wanted);
            }
            Self::Method(allowed) => {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
            }
            _ => {}
        }
        response
    }
}

/// A problem as JSON, for people.
pub(crate) fn problem(problem: &Problem) -> Value {
    let report = problem.report();
    json!({
        "code": report.code().as_str(),
        "what": report.what(),
        "why": report.why(),
        "fix": report.fix(),
        "place": problem.place().map(ToString::to_string),
    })
}

/// An answer in JSON, which no page frames or takes for something else.
pub(crate) fn answer(status: StatusCode, value: &Value) -> Response<Body> {
    written(status, value.to_string())
}

/// The same for what is written already.
pub(crate) fn written(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    assets::guard(headers);
    response
}

/// Where the store is, the log says and the page does not.
impl From<StoreError> for ConsoleError {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "the store failed a request of the console");
        Self::Store(error.for_callers())
    }
}

impl From<NotKept> for ConsoleError {
    fn from(refused: NotKept) -> Self {
        match refused {
            NotKept::Missing => Self::NoToken,
            NotKept::NoApprover => Self::NoApprover,
            NotKept::Store(error) => error.into(),
        }
    }
}

impl Explain for ConsoleError {
    fn code(&self) -> Code {
        match self {
            Self::NoToken => Code::new("approver-token-missing"),
            Self::NoApprover => Code::new("approver-token-wrong"),
            Self::NoCall | Self::NoAudit => Code::new("console-no-call"),
            Self::Busy => Code::new("replay-busy"),
            Self::Policy(_) => Code::new("replay-tried"),
            Self::Failed(_) => Code::new("console-failed"),
            _ => Code::new("console-request"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NoToken | Self::NoApprover => {
                "the console shows what everybody calls and decides about it; whoever calls tools must not".into()
            }
            Self::NoCall | Self::NoAudit => "what is not recorded cannot be shown".into(),
            Self::Busy => "a replay reads all that was recorded; two at once would slow down the gateway".into(),
            Self::Policy(_) => "what half of a policy would have decided says nothing about the whole".into(),
            Self::Failed(_) => "an answer that is not whole would be taken for one that is".into(),
            _ => "a request that is not understood gets no answer, rather than another one's".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::NoToken | Self::NoApprover => {
                "open the address that `toolmark up` or `toolmark console` prints, or make a token with `toolmark token create NAME --approver`"
                    .into()
            }
            Self::NoCall => "look for it with `toolmark audit list`; it may have been trimmed".into(),
            Self::NoAudit => "set `enabled = true` in `[audit]`".into(),
            Self::Busy => "wait until it has ended, or close the page that runs it".into(),
            Self::Policy(_) => "correct what `problems` lists; `toolmark policy check` finds the same".into(),
            Self::Failed(_) => "try again; the gateway's log says more".into(),
            _ => "see the page of the console's API in the documentation for addresses, queries and bodies".into(),
        }
    }
}
