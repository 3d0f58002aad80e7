//! The pieces that a message or a tool output consists of.

use serde::{Deserialize, Serialize};

use super::raw::{Extra, Raw};

/// A piece of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What the provider says about it, such as citations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<Extra>,
    },
    /// The model says that it will not answer.
    Refusal {
        /// What it says.
        text: String,
    },
    /// An image.
    Image(Image),
    /// A file.
    File(File),
    /// Something that is not known here.
    Other(Raw),
}

/// An image: at an address, which may be a `data:` URL, or with the provider under an id that it gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Image {
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The provider's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// How closely the model looks at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// A file: here, at an address, or with the provider under an id that it gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct File {
    /// The file itself, as a `data:` URL or in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The provider's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// How closely a model looks at an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the detail of that name")]
pub enum Detail {
    Low,
    High,
    Auto,
    Original,
}

impl Part {
    /// A piece of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: None }
    }

    /// The text, if this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

impl Image {
    /// An image at an address.
    #[must_use]
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// An image given in base64, with its media type, such as `image/png`.
    #[must_use]
    pub fn of_base64(media_type: &str, base64: &str) -> Self {
        Self::at(data_url(media_type, base64))
    }
}

impl File {
    /// A file given in base64, with its media type, such as `application/pdf`.
    #[must_use]
    pub fn of_base64(media_type: &str, base64: &str, filename: impl Into<String>) -> Self {
        Self { data: Some(data_url(media_type, base64)), filename: Some(filename.into()), ..Self::default() }
    }
}

fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

/// The media type and the base64 of a `data:` URL.
pub(crate) fn read_data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

impl Detail {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
            Self::Auto => "auto",
            Self::Original => "original",
        }
    }
}
