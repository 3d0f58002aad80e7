//! What does this message say? One JSON-RPC 2.0 message read from bytes in one pass; its payload stays as it was written.
//!
//! Members that nobody knows are tolerated. What readers might understand in two ways (a key twice, a batch, an id that is
//! neither a string nor a whole number) is refused.

use std::borrow::Cow;

use bytes::Bytes;

use super::id::Id;
use super::object::{RawObject, read_members, read_quoted};
use super::refusal::{ReadMessageError, ReadMessageErrorKind};
use super::scan::{Limits, Quoted, Scanner};

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

/// The `error` member of an answer, as it was written.
#[derive(Clone, Debug)]
pub struct RpcError(RawObject);

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
        let name = match key.escaped {
            true => read_quoted(written).unwrap_or(Cow::Borrowed(written)),
            false => Cow::Borrowed(text.get(key.start..key.end).unwrap_or_default()),
        };
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
        if self.version.and_then(read_quoted).as_deref() != Some("2.0") {
            return Err(shape("`jsonrpc` must be \"2.0\""));
        }
        if let Some(written) = self.method {
            if self.result.is_some() || self.error.is_some() {
                return Err(shape("a request has neither `result` nor `error`"));
            }
            let method = read_quoted(written).ok_or(shape("`method` must be a string"))?;
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

#[cfg(test)]
mod tests;
