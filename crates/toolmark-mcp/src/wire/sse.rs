//! What does an event stream say? Server-sent events read piece by piece as they arrive, with a limit on their size, and
//! written so that every reader understands them.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use memchr::memchr2;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The type; `None` means `message`.
    pub event: Option<String>,
    /// The data, its lines joined by `\n`; may be empty.
    pub data: Bytes,
    /// The id of this event or, as the standard has it, the last one before it.
    pub id: Option<String>,
}

/// Reads a stream. Bytes go in with [`feed`](Self::feed), events come out of [`next_event`](Self::next_event).
#[derive(Debug)]
pub struct Reader {
    waiting: BytesMut,
    /// How much of `waiting` was searched for the end of a line already.
    searched: usize,
    skip_line_feed: bool,
    started: bool,
    event: Option<String>,
    data: Option<Data>,
    /// The id that counts from the next empty line on: a stream that breaks off inside an event has not delivered it.
    next_id: Option<String>,
    last_id: Option<String>,
    retry: Option<u64>,
    limit: usize,
}

#[derive(Debug)]
enum Data {
    /// One line so far, which is the usual case and needs no copy.
    Line(Bytes),
    Lines(BytesMut),
}

/// An event that is larger than allowed. The stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream has more than {limit} bytes")]
pub struct EventTooLargeError {
    limit: usize,
}

impl Reader {
    /// Starts to read a stream whose events have at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            waiting: BytesMut::new(),
            searched: 0,
            skip_line_feed: false,
            started: false,
            event: None,
            data: None,
            next_id: None,
            last_id: None,
            retry: None,
            limit,
        }
    }

    /// Takes bytes in.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.waiting.put_slice(bytes);
    }

    /// The next whole event, or `None` if more bytes are needed. An event that only sets the id or the retry time is passed
    /// over, one with empty data is not: servers use it to give an id to the beginning of a stream.
    ///
    /// # Errors
    /// When an event grows beyond the limit.
    pub fn next_event(&mut self) -> Result<Option<Event>, EventTooLargeError> {
        while let Some(line) = self.next_line()? {
            if line.is_empty() {
                let event = self.event.take();
                self.last_id.clone_from(&self.next_id);
                if let Some(data) = self.data.take() {
                    let data = match data {
                        Data::Line(line) => line,
                        Data::Lines(lines) => lines.freeze(),
                    };
                    return Ok(Some(Event { event, data, id: self.last_id.clone() }));
                }
            } else {
                self.field(&line)?;
            }
        }
        Ok(None)
    }

    /// The id of the last event that was read whole.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long to wait before connecting again, in milliseconds, if the server said so.
    #[must_use]
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Begins anew with another stream that goes on where this one broke off; ids and times are kept.
    pub fn restart(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self { next_id: last_id.clone(), last_id, retry, ..Self::new(self.limit) };
    }

    fn next_line(&mut self) -> Result<Option<Bytes>, EventTooLargeError> {
        if self.skip_line_feed && !self.waiting.is_empty() {
            if self.waiting.first() == Some(&b'\n') {
                self.waiting.advance(1);
            }
            self.skip_line_feed = false;
        }
        if !self.started {
            // A byte order mark may stand at the very beginning.
            if self.waiting.len() < 3 && b"\xef\xbb\xbf".starts_with(&self.waiting) {
                return Ok(None);
            }
            if self.waiting.starts_with(b"\xef\xbb\xbf") {
                self.waiting.advance(3);
            }
            self.started = true;
        }
        let unsearched = self.waiting.get(self.searched..).unwrap_or_default();
        let Some(length) = memchr2(b'\n', b'\r', unsearched) else {
            self.searched = self.waiting.len();
            let held = match &self.data {
                None => 0,
                Some(Data::Line(line)) => line.len(),
                Some(Data::Lines(lines)) => lines.len(),
            };
            return if self.waiting.len() + held > self.limit { Err(self.too_large()) } else { Ok(None) };
        };
        let end = self.searched + length;
        self.searched = 0;
        let line = self.waiting.split_to(end).freeze();
        if line.len() > self.limit {
            return Err(self.too_large());
        }
        self.skip_line_feed = self.waiting.first() == Some(&b'\r');
        self.waiting.advance(1);
        Ok(Some(line))
    }

    fn field(&mut self, line: &Bytes) -> Result<(), EventTooLargeError> {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let mut start = (colon + 1).min(line.len());
        if line.get(start) == Some(&b' ') {
            start += 1;
        }
        let value = line.slice(start..);
        let text = |value: &[u8]| str::from_utf8(value).ok().map(ToOwned::to_owned);
        match line.get(..colon) {
            Some(b"data") => {
                let data = match self.data.take() {
                    None => Data::Line(value),
                    Some(held) => {
                        let mut lines = match held {
                            Data::Line(line) => BytesMut::from(line),
                            Data::Lines(lines) => lines,
                        };
                        if lines.len() + value.len() + 1 > self.limit {
                            return Err(self.too_large());
                        }
                        lines.put_u8(b'\n');
                        lines.put_slice(&value);
                        Data::Lines(lines)
                    }
                };
                self.data = Some(data);
            }
            Some(b"event") => self.event = text(&value).filter(|name| !name.is_empty()),
            Some(b"id") if !value.contains(&0) => self.next_id = text(&value).filter(|id| !id.is_empty()),
            Some(b"retry") if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = text(&value).and_then(|digits| digits.parse().ok());
            }
            _ => {}
        }
        Ok(())
    }

    fn too_large(&self) -> EventTooLargeError {
        EventTooLargeError { limit: self.limit }
    }
}

/// Writes one event. Line breaks in the data become several `data` lines; an id or type with a line break is cut there, since
/// nothing can carry it.
#[must_use]
pub fn write(event: Option<&str>, id: Option<&str>, data: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(data.len() + 32);
    let mut put_field = |name: &[u8], value: &str| {
        out.put_slice(name);
        out.put_slice(value.split(['\r', '\n', '\0']).next().unwrap_or_default().as_bytes());
        out.put_u8(b'\n');
    };
    if let Some(event) = event {
        put_field(b"event: ", event);
    }
    if let Some(id) = id {
        put_field(b"id: ", id);
    }
    let mut rest = data;
    loop {
        out.put_slice(b"data: ");
        let Some(end) = memchr2(b'\n', b'\r', rest) else { break };
        out.put_slice(rest.get(..end).unwrap_or_default());
        out.put_u8(b'\n');
        let skip = if rest.get(end..).is_some_and(|tail| tail.starts_with(b"\r\n")) { 2 } else { 1 };
        rest = rest.get(end + skip..).unwrap_or_default();
    }
    out.put_slice(rest);
    out.put_slice(b"\n\n");
    out.freeze()
}

/// Writes an event that has an id and no data but an empty line, and says when to come back.
#[must_use]
pub fn write_priming(id: &str, retry: Option<u64>) -> Bytes {
    let id = id.split(['\r', '\n', '\0']).next().unwrap_or_default();
    let retry = retry.map_or(String::new(), |retry| format!("retry: {retry}\n"));
    Bytes::from(format!("id: {id}\n{retry}data: \n\n"))
}

/// A comment, which keeps a stream alive that has nothing to say.
pub const KEEP_ALIVE: &[u8] = b": \n\n";

impl Explain for EventTooLargeError {
    fn code(&self) -> Code {
        Code::new("event-too-large")
    }

    fn why(&self) -> String {
        "one event must not take the memory of all others".to_owned()
    }

    fn fix(&self) -> String {
        "have the server send smaller results, or raise the limit for this pack".to_owned()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("limit", Value::from(self.limit))])
    }
}

#[cfg(test)]
mod tests;
