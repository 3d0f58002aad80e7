//! How does an answer arrive piece by piece? What every wire format's reader does with one server-sent event.

use serde_json::Value;

use crate::body::text_of;
use crate::error::ModelErrorKind;
use crate::event::ModelEvent;

/// Reads the events of one stream. It does no I/O, so that it can be shown every way in which a stream can be cut.
pub(crate) trait StreamReader: Send {
    /// Takes one event in and puts what it means into `out`. An event that is not known means nothing.
    fn take(&mut self, event: &RawEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind>;

    /// The stream ended. An answer that is whole without its last event is completed here.
    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind>;
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RawEvent {
    /// Its type, if it has one.
    pub(crate) kind: Option<String>,
    /// Its data.
    pub(crate) data: String,
}

impl RawEvent {
    /// Its data as JSON.
    pub(crate) fn json(&self) -> Result<Value, ModelErrorKind> {
        serde_json::from_str(&self.data)
            .map_err(|error| ModelErrorKind::malformed(format!("an event that is no JSON: {error}")))
    }

    /// What it says and what kind of event that is, for formats whose data names the kind; nothing where it says nothing.
    pub(crate) fn typed(&self) -> Result<Option<(String, Value)>, ModelErrorKind> {
        if self.data.is_empty() || self.data == "[DONE]" {
            return Ok(None);
        }
        let value = self.json()?;
        let kind = text_of(&value, "type").or(self.kind.as_deref()).unwrap_or_default().to_owned();
        Ok(Some((kind, value)))
    }
}

#[cfg(test)]
mod tests;
