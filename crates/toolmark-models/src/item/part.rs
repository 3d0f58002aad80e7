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
    Image {
        /// Where it is.
        source: Source,
        /// How closely the model looks at it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Detail>,
    },
    /// A file.
    File {
        /// Where it is.
        source: Source,
        /// What it is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
    /// Something that is not known here.
    Other(Raw),
}

/// Where an image or a file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// At an address, which may be a `data:` URL.
    Url(String),
    /// Here, in base64.
    Data {
        /// What it is, such as `image/png`.
        media_type: String,
        /// The bytes in base64.
        base64: String,
    },
    /// With the provider, under an id that it gave.
    FileId(String),
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

impl Source {
    /// The address under which everybody can have it; data becomes a `data:` URL. None for an id of the provider.
    #[must_use]
    pub fn to_url(&self) -> Option<String> {
        match self {
            Self::Url(url) => Some(url.clone()),
            Self::Data { media_type, base64 } => Some(format!("data:{media_type};base64,{base64}")),
            Self::FileId(_) => None,
        }
    }

    /// The media type and the base64, from data or from a `data:` URL in base64.
    #[must_use]
    pub fn as_data(&self) -> Option<(&str, &str)> {
        match self {
            Self::Data { media_type, base64 } => Some((media_type, base64)),
            Self::Url(url) => url.strip_prefix("data:")?.split_once(";base64,"),
            Self::FileId(_) => None,
        }
    }
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
