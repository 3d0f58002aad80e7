//! What does a server offer? All pages of a list as the items it sent, with limits on pages, items and bytes, and an end to
//! cursors that go round in circles.

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use super::request::{Reply, UpstreamError, UpstreamRequest};
use super::{Upstream, UpstreamLimits};
use crate::wire::{Change, RawObject, codes, read_items, write};

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `prompts/list`
    Prompts,
}

/// All items of a list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Each item as it was sent.
    pub items: Vec<Bytes>,
    /// For how many milliseconds the list is good, if the server says so; the least of all pages.
    pub ttl_ms: Option<u64>,
    /// Whether the server says that others may see this list (`"public"`); `None` if it says nothing.
    pub public: Option<bool>,
}

/// A list that could not be read to its end.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A request failed.
    #[error(transparent)]
    Request(#[from] UpstreamError),
    /// The server answered with an error.
    #[error("the server refuses to list: {message} ({code})")]
    Refused {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// A page has no list.
    #[error("a page of `{method}` holds no list")]
    Shape {
        /// The method.
        method: &'static str,
    },
    /// A cursor came twice.
    #[error("the pages of `{method}` never end: a cursor came twice")]
    Loop {
        /// The method.
        method: &'static str,
    },
    /// The list is larger than allowed.
    #[error("the list of `{method}` has more than {limit} {what}")]
    TooLarge {
        /// The method.
        method: &'static str,
        /// How many are read at most.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
}

impl ListKind {
    /// The method that lists it.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    const fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }
}

impl Upstream {
    /// Reads a whole list. A server that does not declare the capability has an empty one, as has one that does not know the
    /// method.
    ///
    /// # Errors
    /// When a request fails, or the list is not one, too large or endless.
    pub async fn list(&self, kind: ListKind) -> Result<Listing, ListError> {
        self.list_with(kind, None).await
    }

    /// The same, with this `_meta` (JSON text) in every request.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub async fn list_with(&self, kind: ListKind, meta: Option<&[u8]>) -> Result<Listing, ListError> {
        let method = kind.method();
        if self.capabilities().get(kind.capability()).is_none() {
            return Ok(Listing::default());
        }
        let limits: UpstreamLimits = self.limits();
        let mut listing = Listing::default();
        let mut seen = HashSet::new();
        let mut cursor: Option<Bytes> = None;
        let mut bytes = 0;
        for _ in 0..limits.pages {
            let cursor_member = cursor.as_deref().map(|cursor| Change::Set("cursor", cursor));
            let members: Vec<Change<'_>> =
                cursor_member.into_iter().chain(meta.map(|meta| Change::Set("_meta", meta))).collect();
            let params = RawObject::read(RawObject::empty().rewrite(&members), self.wire_limits());
            let params = params.map_err(|_| ListError::Shape { method })?;
            let page = match self.request(UpstreamRequest::new(method, params)).await? {
                Reply::Result(page) => page,
                Reply::Error(error) if error.code() == Some(codes::METHOD_NOT_FOUND) && cursor.is_none() => {
                    return Ok(listing);
                }
                Reply::Error(error) => {
                    let message = error.message().unwrap_or_default().chars().take(200).collect();
                    return Err(ListError::Refused { code: error.code().unwrap_or(codes::INTERNAL_ERROR), message });
                }
            };
            bytes += page.raw().len();
            if bytes > limits.list_bytes {
                return Err(ListError::TooLarge { method, limit: limits.list_bytes, what: "bytes" });
            }
            let items = page.slice(kind.member()).and_then(|items| read_items(&items));
            listing.items.extend(items.ok_or(ListError::Shape { method })?);
            if listing.items.len() > limits.items {
                return Err(ListError::TooLarge { method, limit: limits.items, what: "items" });
            }
            listing.note(&page);
            // An empty cursor is a cursor like any other; only its absence ends the list.
            let Some(next) = page.text("nextCursor") else { return Ok(listing) };
            if !seen.insert(next.clone().into_owned()) {
                return Err(ListError::Loop { method });
            }
            cursor = Some(write::quote(&next));
        }
        Err(ListError::TooLarge { method, limit: limits.pages, what: "pages" })
    }
}

impl Listing {
    fn note(&mut self, page: &RawObject) {
        if let Some(ttl) = page.count("ttlMs") {
            self.ttl_ms = Some(self.ttl_ms.map_or(ttl, |least| least.min(ttl)));
        }
        if let Some(scope) = page.text("cacheScope") {
            self.public = Some(self.public.unwrap_or(true) && scope == "public");
        }
    }
}

impl Explain for ListError {
    fn code(&self) -> Code {
        match self {
            Self::Request(error) => error.code(),
            Self::Refused { .. } => Code::new("upstream-list-refused"),
            Self::Shape { .. } => Code::new("upstream-list-shape"),
            Self::Loop { .. } => Code::new("upstream-list-loop"),
            Self::TooLarge { .. } => Code::new("upstream-list-too-large"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Request(error) => error.why(),
            _ => "a list that is known only in part would hide tools, or show some that are gone".to_owned(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Request(error) => error.fix(),
            Self::TooLarge { .. } => "raise the limits of this pack".to_owned(),
            Self::Refused { .. } | Self::Shape { .. } | Self::Loop { .. } => "tell the author of the server".to_owned(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Request(error) => error.facts(),
            Self::Refused { code, .. } => facts([("code", Value::from(*code))]),
            Self::Shape { method } | Self::Loop { method } => facts([("method", Value::from(*method))]),
            Self::TooLarge { method, limit, .. } => {
                facts([("method", Value::from(*method)), ("limit", Value::from(*limit))])
            }
        }
    }
}
