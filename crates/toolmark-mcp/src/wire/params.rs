//! What does a call ask for? The parameters of `tools/call` (and of the other requests that name something), looked at
//! where they stand.

use std::borrow::Cow;

use bytes::Bytes;
use toolmark_core::explain::{Code, Explain};

use super::object::{Change, RawObject};

/// Keys of `_meta` that 2026-07-28 gives a meaning.
pub mod meta {
    /// The revision a request speaks; required.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client is able to do; required.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who the client says it is.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Who the server says it is.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// From which level on log messages are wanted.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Which subscription a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Which languages a client wants to read (SEP-2792).
    pub const ACCEPT_LANGUAGE: &str = "io.modelcontextprotocol/acceptLanguage";
    /// The language of what a result shows (SEP-2792).
    pub const CONTENT_LANGUAGE: &str = "io.modelcontextprotocol/contentLanguage";
    /// Under which token progress is reported; all revisions.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// The parameters of `tools/call`. What is not listed here is kept all the same.
#[derive(Clone, Debug)]
pub struct CallParams<'a> {
    object: &'a RawObject,
    name: Cow<'a, str>,
}

/// Parameters that do not say which tool is called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadParamsError {
    /// No `name`, or one that is no string.
    #[error("the parameters of the call have no `name` that is a string")]
    Name,
    /// `arguments` are there, but no object.
    #[error("the `arguments` of the call are not an object")]
    Arguments,
    /// `_meta` is there, but no object.
    #[error("the `_meta` of the request is not an object")]
    Meta,
}

impl<'a> CallParams<'a> {
    /// Looks at parameters that were read with their message.
    ///
    /// # Errors
    /// When `name` is no string, or `arguments` or `_meta` no object.
    pub fn of(object: &'a RawObject) -> Result<Self, ReadParamsError> {
        let name = object.text("name").ok_or(ReadParamsError::Name)?;
        let is_object = |key: &str| object.get(key).is_none_or(|value| value.starts_with(b"{"));
        if !is_object("arguments") && object.get("arguments") != Some(b"null") {
            return Err(ReadParamsError::Arguments);
        }
        if !is_object("_meta") {
            return Err(ReadParamsError::Meta);
        }
        Ok(Self { object, name })
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as they were written; absent and `null` are the same.
    #[must_use]
    pub fn arguments(&self) -> Option<Bytes> {
        self.object.slice("arguments").filter(|value| &**value != b"null")
    }

    /// `_meta` as it was written.
    #[must_use]
    pub fn meta(&self) -> Option<Bytes> {
        self.object.slice("_meta")
    }

    /// Answers to what the server asked before (2026-07-28).
    #[must_use]
    pub fn input_responses(&self) -> Option<Bytes> {
        self.object.slice("inputResponses")
    }

    /// What the server wants to hear again (2026-07-28).
    #[must_use]
    pub fn request_state(&self) -> Option<Cow<'a, str>> {
        self.object.text("requestState")
    }

    /// The wish to run as a task (2025-11-25).
    #[must_use]
    pub fn task(&self) -> Option<Bytes> {
        self.object.slice("task")
    }

    /// All of the parameters.
    #[must_use]
    pub fn object(&self) -> &'a RawObject {
        self.object
    }

    /// The parameters under another name and, if given, with another `_meta`; every other byte stays as it is.
    #[must_use]
    pub fn renamed(&self, name: &str, meta: Option<&[u8]>) -> Bytes {
        let mut quoted = bytes::BytesMut::with_capacity(name.len() + 2);
        super::write::quote_into(&mut quoted, name);
        let name = Change::Set("name", &quoted);
        match meta {
            Some(meta) => self.object.rewrite(&[name, Change::Set("_meta", meta)]),
            None => self.object.rewrite(&[name]),
        }
    }
}

/// The token under which a request wants to hear of progress, from its `_meta`; absent and `null` are the same.
#[must_use]
pub fn progress_token(meta: &RawObject) -> Option<Bytes> {
    meta.slice(self::meta::PROGRESS_TOKEN).filter(|token| &**token != b"null")
}

/// What stands in `Mcp-Name` for a method: the value of this parameter.
#[must_use]
pub fn naming_parameter(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

impl Explain for ReadParamsError {
    fn code(&self) -> Code {
        match self {
            Self::Name => Code::new("params-name"),
            Self::Arguments => Code::new("params-arguments"),
            Self::Meta => Code::new("params-meta"),
        }
    }

    fn why(&self) -> String {
        "a call whose parameters have the wrong shape cannot be matched with a tool".to_owned()
    }

    fn fix(&self) -> String {
        r#"send parameters such as {"name":"echo","arguments":{}}"#.to_owned()
    }
}

#[cfg(test)]
mod tests;
