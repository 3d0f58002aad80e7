//! What a tool brings: text, JSON, or parts that a model can look at; and its shape on the wire.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::ToolError;

/// What a tool brought.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOutput {
    /// Text, which stays as it is.
    Text(String),
    /// A value; the model reads it as compact JSON.
    Json(Value),
    /// Texts, images and files in their order.
    Parts(Vec<Part>),
}

/// One part of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image(ImagePart),
    /// A file.
    File(FilePart),
}

/// An image, by its address (a `data:` URL has the bytes in it) or by the id of a file that the provider keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImagePart {
    /// Its address.
    pub url: Option<String>,
    /// The provider's id.
    pub file_id: Option<String>,
    /// How closely the model looks.
    pub detail: Option<Detail>,
}

/// How closely a model looks at an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Roughly.
    Low,
    /// Closely.
    High,
    /// As the model likes.
    Auto,
}

/// A file: its bytes in base64, its address, or the provider's id of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePart {
    /// The bytes in base64.
    pub data: Option<String>,
    /// Its address.
    pub url: Option<String>,
    /// The provider's id.
    pub file_id: Option<String>,
    /// What it is called.
    pub filename: Option<String>,
}

impl ToolOutput {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Anything that can be serialized. A string stays text.
    ///
    /// # Errors
    /// [`ToolError`] when it cannot be serialized, such as a map whose keys are no strings.
    pub fn json(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(match serde_json::to_value(value)? {
            Value::String(text) => Self::Text(text),
            value => Self::Json(value),
        })
    }

    /// What the model reads where only text can be sent. Images and files are named, not shown.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(value) => value.to_string(),
            Self::Parts(parts) => parts.iter().map(Part::to_text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The `output` of a `function_call_output` item: a string, or a list of content.
    #[must_use]
    pub fn to_wire(&self) -> Value {
        match self {
            Self::Text(_) | Self::Json(_) => Value::String(self.to_text()),
            Self::Parts(parts) => parts.iter().map(Part::to_wire).collect(),
        }
    }

    /// An output as it is kept, such as in a saved run.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({"text": text}),
            Self::Json(value) => json!({"json": value}),
            Self::Parts(parts) => json!({"parts": parts.iter().map(Part::to_wire).collect::<Vec<_>>()}),
        }
    }

    /// Reads what [`ToolOutput::to_json`] wrote; nothing for anything else.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Self> {
        let (key, value) = value.as_object().filter(|all| all.len() == 1)?.iter().next()?;
        match key.as_str() {
            "text" => value.as_str().map(Self::text),
            "json" => Some(Self::Json(value.clone())),
            "parts" => {
                value.as_array()?.iter().map(|part| Part::read(part, "input_")).collect::<Option<_>>().map(Self::Parts)
            }
            _ => None,
        }
    }

    /// The parts that a plain value stands for: an object with a `type` of `text`, `image` or `file`, or a list of nothing else.
    /// For everything else there are none, and the value is JSON.
    #[must_use]
    pub fn parts_of(value: &Value) -> Option<Vec<Part>> {
        match value {
            Value::Array(items) if items.is_empty() => None,
            Value::Array(items) => items.iter().map(|item| Part::read(item, "")).collect(),
            other => Part::read(other, "").map(|part| vec![part]),
        }
    }
}

impl Part {
    /// An image at an address.
    #[must_use]
    pub fn image_url(url: impl Into<String>) -> Self {
        Self::Image(ImagePart { url: Some(url.into()), ..ImagePart::default() })
    }

    /// A file with its bytes in base64.
    #[must_use]
    pub fn file_data(filename: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::File(FilePart { data: Some(base64.into()), filename: Some(filename.into()), ..FilePart::default() })
    }

    /// A file at an address.
    #[must_use]
    pub fn file_url(url: impl Into<String>) -> Self {
        Self::File(FilePart { url: Some(url.into()), ..FilePart::default() })
    }

    /// The part on the Responses wire; only fields that are set.
    #[must_use]
    pub fn to_wire(&self) -> Value {
        let mut all = Map::new();
        let mut set = |key: &str, value: &Option<String>| {
            if let Some(value) = value {
                all.insert(key.into(), value.as_str().into());
            }
        };
        match self {
            Self::Text(text) => return json!({"type": "input_text", "text": text}),
            Self::Image(image) => {
                set("type", &Some("input_image".into()));
                set("image_url", &image.url);
                set("file_id", &image.file_id);
                set("detail", &image.detail.map(|detail| detail.as_str().into()));
            }
            Self::File(file) => {
                set("type", &Some("input_file".into()));
                set("file_data", &file.data);
                set("file_url", &file.url);
                set("file_id", &file.file_id);
                set("filename", &file.filename);
            }
        }
        Value::Object(all)
    }

    /// Reads a part whose type has this prefix. A field of the wrong type makes it none; fields that nobody knows are ignored.
    fn read(value: &Value, prefix: &str) -> Option<Self> {
        let all = value.as_object()?;
        let text = |key: &str| match all.get(key) {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => None,
        };
        match all.get("type")?.as_str()?.strip_prefix(prefix)? {
            "text" => text("text")?.map(Self::Text),
            "image" => {
                let detail = match text("detail")? {
                    None => None,
                    Some(word) => Some(Detail::ALL.into_iter().find(|detail| detail.as_str() == word)?),
                };
                let image = ImagePart { url: text("image_url")?, file_id: text("file_id")?, detail };
                (image.url.is_some() || image.file_id.is_some()).then_some(Self::Image(image))
            }
            "file" => {
                let file = FilePart {
                    data: text("file_data")?,
                    url: text("file_url")?,
                    file_id: text("file_id")?,
                    filename: text("filename")?,
                };
                (file.data.is_some() || file.url.is_some() || file.file_id.is_some()).then_some(Self::File(file))
            }
            _ => None,
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Image(ImagePart { url: Some(url), .. }) if !url.starts_with("data:") => format!("[image: {url}]"),
            Self::Image(_) => "[image]".into(),
            Self::File(FilePart { filename: Some(name), .. }) => format!("[file: {name}]"),
            Self::File(FilePart { url: Some(url), .. }) => format!("[file: {url}]"),
            Self::File(_) => "[file]".into(),
        }
    }
}

impl Detail {
    const ALL: [Self; 3] = [Self::Low, Self::High, Self::Auto];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
            Self::Auto => "auto",
        }
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            value => Self::Json(value),
        }
    }
}

impl From<Part> for ToolOutput {
    fn from(part: Part) -> Self {
        Self::Parts(vec![part])
    }
}

impl From<Vec<Part>> for ToolOutput {
    fn from(parts: Vec<Part>) -> Self {
        Self::Parts(parts)
    }
}

#[cfg(test)]
mod tests;
