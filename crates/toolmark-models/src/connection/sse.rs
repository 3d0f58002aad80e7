//! What does an event stream say? Server-sent events read from pieces of any size. Its memory is bounded by the limit on the
//! answer, which whoever feeds it keeps.

use crate::error::ModelErrorKind;
use crate::stream::RawEvent;

/// Reads one stream.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    waiting: Vec<u8>,
    /// How much of `waiting` was read already.
    read: usize,
    /// How much of it was searched for the end of a line.
    searched: usize,
    started: bool,
    skip_line_feed: bool,
    event: RawEvent,
    has_data: bool,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl Reader {
    /// Takes bytes in.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.waiting.drain(..self.read);
            self.searched -= self.read;
            self.read = 0;
        }
        self.waiting.extend_from_slice(bytes);
    }

    /// The next whole event. Comments, ids and retry times mean nothing here.
    pub(crate) fn next_event(&mut self) -> Result<Option<RawEvent>, ModelErrorKind> {
        while let Some(line) = self.next_line() {
            let line = line.map_err(|_| ModelErrorKind::malformed("an event that is not UTF-8"))?;
            if line.is_empty() {
                let event = std::mem::take(&mut self.event);
                if std::mem::take(&mut self.has_data) {
                    return Ok(Some(event));
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => self.event.kind = Some(value.to_owned()).filter(|kind| !kind.is_empty()),
                "data" => {
                    if self.has_data {
                        self.event.data.push('\n');
                    }
                    self.event.data.push_str(value);
                    self.has_data = true;
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn next_line(&mut self) -> Option<Result<String, std::string::FromUtf8Error>> {
        if !self.started {
            let start = self.waiting.get(..self.waiting.len().min(MARK.len()))?;
            if start.len() < MARK.len() && MARK.starts_with(start) {
                return None;
            }
            self.started = true;
            if start == MARK {
                self.read = MARK.len();
                self.searched = MARK.len();
            }
        }
        if self.skip_line_feed && self.waiting.len() > self.read {
            if self.waiting.get(self.read) == Some(&b'\n') {
                self.read += 1;
                self.searched = self.searched.max(self.read);
            }
            self.skip_line_feed = false;
        }
        let unsearched = self.waiting.get(self.searched..)?;
        let Some(length) = unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.searched = self.waiting.len();
            return None;
        };
        let end = self.searched + length;
        let line = self.waiting.get(self.read..end)?.to_vec();
        self.skip_line_feed = self.waiting.get(end) == Some(&b'\r');
        self.read = end + 1;
        self.searched = self.read;
        Some(String::from_utf8(line))
    }
}

#[cfg(test)]
mod tests;
