//! What does this message say? One JSON-RPC 2.0 message read from bytes in one pass; its payload stays as it was written.
//!
//! Members that nobody knows are tolerated. What readers might understand in two ways (a key twice, a batch, an id that is
//! neither a string nor a whole number) is refused.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use super::codes;
use super::object::{RawObject, read_members, read_text};
use super::scan::{Limits, Quoted, ScanError, Scanner};

/// One message. Texts borrow from the bytes it was read from; payloads share their memory.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request {
        /// Under which id.
        id: Id,
        /// What is wanted.
        method: Cow<'a, str>,
        /// With which parameters; absent and `null` are the same.
        params: Option<RawObject>,
    },
    /// Wants no answer.
    Notification {
        /// What happened.
        method: Cow<'a, str>,
        /// With which parameters.
        params: Option<RawObject>,
    },
    /// Answers a request.
    Response {
        /// The id of the request.
        id: Id,
        /// The answer.
        result: RawObject,
    },
    /// Says why a request got no answer.
    Error {
        /// The id of the request, if the peer could tell.
        id: Option<Id>,
        /// What went wrong.
        error: RpcError,
    },
}

/// The id of a request as it was written: a string in quotes, or a whole number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Bytes);

/// The `error` member of an answer, as it was written.
#[derive(Clone, Debug)]
pub struct RpcError(RawObject);

/// A text that is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ReadMessageError {
    kind: ReadMessageErrorKind,
    id: Option<Id>,
}

/// Why a text is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadMessageErrorKind {
    /// Not UTF-8.
    #[error("the message is not UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// Not JSON.
    #[error("the message is not JSON at byte {at}")]
    Syntax {
        /// Where reading stopped.
        at: usize,
    },
    /// Too many brackets inside one another.
    #[error("the message nests too far at byte {at}")]
    TooDeep {
        /// Where the limit was passed.
        at: usize,
    },
    /// Too many bytes.
    #[error("the message has more than {limit} bytes")]
    TooLarge {
        /// How many are read at most.
        limit: usize,
    },
    /// Several messages in an array.
    #[error("the message is a batch")]
    Batch,
    /// JSON, but no object.
    #[error("the message is not an object")]
    NotAnObject,
    /// The same key twice.
    #[error("`{name}` stands twice in one object")]
    DuplicateMember {
        /// The key.
        name: String,
    },
    /// An id that is neither a string nor a whole number.
    #[error("the id of the message is neither a string nor a whole number")]
    Id,
    /// An object, but not one that JSON-RPC 2.0 knows.
    #[error("the message is not JSON-RPC 2.0: {reason}")]
    Shape {
        /// What is missing or too much.
        reason: &'static str,
    },
}

/// Longest id; it is repeated in every answer.
const LONGEST_ID: usize = 1024;

/// The members of the envelope while it is read.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<Payload>,
    result: Option<Payload>,
    error: Option<Payload>,
    unknown: Vec<Cow<'a, str>>,
}

enum Payload {
    Object(RawObject),
    Null,
    Other,
}

impl<'a> Message<'a> {
    /// Reads one message.
    ///
    /// # Errors
    /// Says why the text is no message, with the code for the peer and, if it could be read, the id.
    pub fn read(bytes: &'a Bytes, limits: Limits) -> Result<Self, ReadMessageError> {
        let mut envelope = Envelope::default();
        let read = envelope.read(bytes, limits);
        let id = envelope.id.map(|written| Id::from_written(bytes, written));
        let for_answer = id.as_ref().and_then(|id| id.as_ref().ok()?.clone());
        let failed = |kind| ReadMessageError { kind, id: for_answer.clone() };
        read.map_err(failed)?;
        let message = id.transpose().and_then(|id| envelope.into_message(id));
        message.map_err(failed)
    }

    /// The method of a request or notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match self {
            Message::Request { method, .. } | Message::Notification { method, .. } => Some(method),
            Message::Response { .. } | Message::Error { .. } => None,
        }
    }
}

impl<'a> Envelope<'a> {
    fn read(&mut self, bytes: &'a Bytes, limits: Limits) -> Result<(), ReadMessageErrorKind> {
        if bytes.len() > limits.bytes {
            return Err(ReadMessageErrorKind::TooLarge { limit: limits.bytes });
        }
        let text = str::from_utf8(bytes).map_err(|error| ReadMessageErrorKind::NotUtf8 { at: error.valid_up_to() })?;
        let mut scanner = Scanner::new(text, limits.depth);
        match scanner.peek() {
            Some(b'{') => {}
            found => {
                scanner.value()?;
                scanner.finish()?;
                return Err(match found {
                    Some(b'[') => ReadMessageErrorKind::Batch,
                    _ => ReadMessageErrorKind::NotAnObject,
                });
            }
        }
        scanner.enter(b'{')?;
        if !scanner.take(b'}') {
            loop {
                let key = scanner.key()?;
                self.member(bytes, text, key, &mut scanner)?;
                if !scanner.take(b',') {
                    scanner.expect(b'}')?;
                    break;
                }
            }
        }
        scanner.finish()?;
        self.unknown.sort_unstable();
        match self.unknown.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => Err(twice(pair.first().map_or("", |name| name))),
            None => Ok(()),
        }
    }

    fn member(
        &mut self,
        bytes: &'a Bytes,
        text: &'a str,
        key: Quoted,
        scanner: &mut Scanner<'_>,
    ) -> Result<(), ReadMessageErrorKind> {
        let written = text.get(key.start - 1..key.end + 1).unwrap_or_default();
        let name = read_text(written.as_bytes()).unwrap_or(Cow::Borrowed(written));
        let slot = match &*name {
            "params" => return payload(&mut self.params, bytes, scanner, "params"),
            "result" => return payload(&mut self.result, bytes, scanner, "result"),
            "error" => return payload(&mut self.error, bytes, scanner, "error"),
            "jsonrpc" => &mut self.version,
            "id" => &mut self.id,
            "method" => &mut self.method,
            _ => {
                self.unknown.push(name);
                return Ok(scanner.value()?);
            }
        };
        scanner.peek();
        let start = scanner.at();
        scanner.value()?;
        match slot.replace(text.get(start..scanner.at()).unwrap_or_default()) {
            Some(_) => Err(twice(&name)),
            None => Ok(()),
        }
    }

    fn into_message(self, id: Option<Option<Id>>) -> Result<Message<'a>, ReadMessageErrorKind> {
        let shape = |reason| ReadMessageErrorKind::Shape { reason };
        if self.version.and_then(|version| read_text(version.as_bytes())).as_deref() != Some("2.0") {
            return Err(shape("`jsonrpc` must be \"2.0\""));
        }
        if let Some(written) = self.method {
            if self.result.is_some() || self.error.is_some() {
                return Err(shape("a request has neither `result` nor `error`"));
            }
            let method = read_text(written.as_bytes()).ok_or(shape("`method` must be a string"))?;
            let params = match self.params {
                None | Some(Payload::Null) => None,
                Some(Payload::Object(params)) => Some(params),
                Some(Payload::Other) => return Err(shape("`params` must be an object")),
            };
            return match id {
                None => Ok(Message::Notification { method, params }),
                Some(Some(id)) => Ok(Message::Request { id, method, params }),
                Some(None) => Err(ReadMessageErrorKind::Id),
            };
        }
        // Some servers write both members and leave one of them `null`.
        match (id, self.result, self.error) {
            (Some(Some(id)), Some(Payload::Object(result)), None | Some(Payload::Null)) => {
                Ok(Message::Response { id, result })
            }
            (Some(id), None | Some(Payload::Null), Some(Payload::Object(error))) => {
                Ok(Message::Error { id, error: RpcError(error) })
            }
            (None, None, Some(Payload::Object(error))) => Ok(Message::Error { id: None, error: RpcError(error) }),
            (_, Some(Payload::Object(_)), Some(Payload::Object(_))) => {
                Err(shape("an answer has `result` or `error`, not both"))
            }
            (None, Some(_), _) => Err(shape("an answer needs an `id`")),
            (Some(None), Some(_), _) => Err(ReadMessageErrorKind::Id),
            (_, Some(_), _) => Err(shape("`result` must be an object")),
            (_, _, Some(_)) => Err(shape("`error` must be an object")),
            _ => Err(shape("there is no `method`, no `result` and no `error`")),
        }
    }
}

fn payload(
    slot: &mut Option<Payload>,
    bytes: &Bytes,
    scanner: &mut Scanner<'_>,
    name: &str,
) -> Result<(), ReadMessageErrorKind> {
    let first = scanner.peek();
    let start = scanner.at();
    let payload = if first == Some(b'{') {
        let members = read_members(scanner)?;
        Payload::Object(RawObject::from_parts(bytes.slice(start..scanner.at()), members)?)
    } else {
        scanner.value()?;
        if first == Some(b'n') { Payload::Null } else { Payload::Other }
    };
    match slot.replace(payload) {
        Some(_) => Err(twice(name)),
        None => Ok(()),
    }
}

fn twice(name: &str) -> ReadMessageErrorKind {
    ReadMessageErrorKind::DuplicateMember { name: name.chars().take(64).collect() }
}

impl Id {
    /// An id of ours.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Self(Bytes::from(number.to_string()))
    }

    /// An id that is a string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let mut out = bytes::BytesMut::with_capacity(text.len() + 2);
        super::write::quote_into(&mut out, text);
        Self(out.freeze())
    }

    /// Reads an id that stands alone, such as `requestId` of a cancellation. `None` if it is neither a string nor a whole
    /// number.
    #[must_use]
    pub fn read(written: &Bytes) -> Option<Self> {
        let text = str::from_utf8(written).ok()?;
        let mut scanner = Scanner::new(text, 1);
        scanner.value().and_then(|()| scanner.finish()).ok()?;
        Self::from_written(written, text.trim_ascii()).ok().flatten()
    }

    /// `Ok(None)` for `null`.
    fn from_written(bytes: &Bytes, written: &str) -> Result<Option<Self>, ReadMessageErrorKind> {
        if written == "null" {
            return Ok(None);
        }
        if written.len() > LONGEST_ID {
            return Err(ReadMessageErrorKind::Id);
        }
        if written.starts_with('"') {
            // Written anew where something is escaped, so that two spellings of one id are one id.
            return match read_text(written.as_bytes()) {
                Some(Cow::Borrowed(_)) => Ok(Some(Self(bytes.slice_ref(written.as_bytes())))),
                Some(Cow::Owned(text)) => Ok(Some(Self::text(&text))),
                None => Err(ReadMessageErrorKind::Id),
            };
        }
        let digits = written.strip_prefix('-').unwrap_or(written);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Some(Self(bytes.slice_ref(written.as_bytes()))));
        }
        Err(ReadMessageErrorKind::Id)
    }

    /// The id as JSON text.
    #[must_use]
    pub fn as_json(&self) -> &[u8] {
        &self.0
    }

    /// The number, if it is one of ours.
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        str::from_utf8(&self.0).ok()?.parse().ok()
    }

    /// The same id in memory of its own, for keeping longer than the message it came in.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl RpcError {
    /// The code, if it is a whole number.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        str::from_utf8(self.0.get("code")?).ok()?.parse().ok()
    }

    /// The message, if it is text.
    #[must_use]
    pub fn message(&self) -> Option<Cow<'_, str>> {
        self.0.text("message")
    }

    /// The data, as it was written.
    #[must_use]
    pub fn data(&self) -> Option<&[u8]> {
        self.0.get("data")
    }

    /// The whole `error` member.
    #[must_use]
    pub fn object(&self) -> &RawObject {
        &self.0
    }
}

impl ReadMessageError {
    /// Why.
    #[must_use]
    pub fn kind(&self) -> &ReadMessageErrorKind {
        &self.kind
    }

    /// The id of the message, if it could be read.
    #[must_use]
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    /// The code to answer with.
    #[must_use]
    pub fn rpc_code(&self) -> i64 {
        self.kind.rpc_code()
    }
}

impl ReadMessageErrorKind {
    /// The JSON-RPC code to answer with.
    #[must_use]
    pub fn rpc_code(&self) -> i64 {
        match self {
            Self::NotUtf8 { .. } | Self::Syntax { .. } => codes::PARSE_ERROR,
            _ => codes::INVALID_REQUEST,
        }
    }
}

impl From<ScanError> for ReadMessageErrorKind {
    fn from(error: ScanError) -> Self {
        match error {
            ScanError::Syntax(at) => Self::Syntax { at },
            ScanError::TooDeep(at) => Self::TooDeep { at },
        }
    }
}

impl Explain for ReadMessageError {
    fn code(&self) -> Code {
        self.kind.code()
    }

    fn why(&self) -> String {
        self.kind.why()
    }

    fn fix(&self) -> String {
        self.kind.fix()
    }

    fn facts(&self) -> Map<String, Value> {
        self.kind.facts()
    }
}

impl Explain for ReadMessageErrorKind {
    fn code(&self) -> Code {
        match self {
            Self::NotUtf8 { .. } => Code::new("message-not-utf8"),
            Self::Syntax { .. } => Code::new("message-syntax"),
            Self::TooDeep { .. } => Code::new("message-too-deep"),
            Self::TooLarge { .. } => Code::new("message-too-large"),
            Self::Batch => Code::new("message-batch"),
            Self::NotAnObject => Code::new("message-not-an-object"),
            Self::DuplicateMember { .. } => Code::new("message-duplicate-member"),
            Self::Id => Code::new("message-id"),
            Self::Shape { .. } => Code::new("message-shape"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NotUtf8 { .. } => "JSON between programs is UTF-8, and repairing bytes would change what was said",
            Self::Syntax { .. } => "a reader that repairs JSON may understand something else than the writer meant",
            Self::TooDeep { .. } | Self::TooLarge { .. } => "one message must not take the memory of all others",
            Self::Batch => "batches were removed from MCP, and their parts could not be answered one by one",
            Self::NotAnObject | Self::Shape { .. } => "MCP is carried by single JSON-RPC 2.0 objects",
            Self::DuplicateMember { .. } => "readers disagree about which of two equal keys counts",
            Self::Id => "an answer could not be matched with its request",
        }
        .to_owned()
    }

    fn fix(&self) -> String {
        match self {
            Self::NotUtf8 { .. } => "send UTF-8".to_owned(),
            Self::Syntax { .. } => "send one strict JSON object".to_owned(),
            Self::TooDeep { .. } => "send less deeply nested values".to_owned(),
            Self::TooLarge { limit } => format!("send at most {limit} bytes, or raise the limit"),
            Self::Batch => "send one message at a time".to_owned(),
            Self::NotAnObject | Self::Shape { .. } => {
                r#"send an object such as {"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned()
            }
            Self::DuplicateMember { name } => format!("send `{name}` once"),
            Self::Id => "use a string or a whole number as `id`".to_owned(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NotUtf8 { at } | Self::Syntax { at } | Self::TooDeep { at } => facts([("at", Value::from(*at))]),
            Self::TooLarge { limit } => facts([("limit", Value::from(*limit))]),
            Self::DuplicateMember { name } => facts([("name", Value::from(name.as_str()))]),
            Self::Shape { reason } => facts([("reason", Value::from(*reason))]),
            Self::Batch | Self::NotAnObject | Self::Id => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests;
