//! What do the headers of a request say about the media it takes and the era it speaks?

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use crate::wire::headers::{HeaderMismatchError, PROTOCOL_VERSION, check_version, single};
use crate::wire::version::{Era, ProtocolVersion};

/// Which kinds of answer a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Reads `Accept`; without one, everything is taken.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut accepts = Self { json: false, events: false };
        let mut any = false;
        for value in headers.get_all(ACCEPT) {
            any = true;
            // What the protocol tells clients to send.
            if value == "application/json, text/event-stream" {
                (accepts.json, accepts.events) = (true, true);
                continue;
            }
            for range in value.to_str().unwrap_or_default().split(',') {
                let mut parts = range.split(';').map(str::trim);
                let media = parts.next().unwrap_or_default();
                // `q=0` means: not this.
                let refused = parts.any(|part| {
                    let quality = part.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
                    quality.is_some_and(|(_, quality)| quality.trim().parse::<f32>() == Ok(0.0))
                });
                if refused {
                    continue;
                }
                let is = |wanted: &str| media.eq_ignore_ascii_case(wanted);
                accepts.json |= is("application/json") || is("application/*") || is("*/*");
                accepts.events |= is("text/event-stream") || is("text/*") || is("*/*");
            }
        }
        if any { accepts } else { Self { json: true, events: true } }
    }
}

/// Whether the body is said to be JSON, as it is: nothing compressed is read.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let media = |value: &HeaderValue| {
        let media = value.to_str().ok()?.split(';').next()?.trim();
        Some(media.eq_ignore_ascii_case("application/json"))
    };
    let plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    headers.get(CONTENT_TYPE).and_then(media) == Some(true) && headers.get_all(CONTENT_ENCODING).iter().all(plain)
}

/// The era that a message speaks, by what its body says first and its headers second; the version for the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    Session(Option<ProtocolVersion>),
    Stateless,
    /// A version that nobody knows, and no word about it in the body.
    Unknown,
}

pub(super) fn speaks(
    headers: &HeaderMap,
    method: Option<&str>,
    named: Option<&str>,
) -> Result<Speaks, HeaderMismatchError> {
    let header = single(headers, &PROTOCOL_VERSION)?;
    let known = |text: &str| text.parse::<ProtocolVersion>().ok();
    if let Some(named) = named {
        return match known(named) {
            Some(version) if version.era() == Era::Session => {
                // Something in between may have believed the header.
                if header.is_some() {
                    check_version(headers, named)?;
                }
                Ok(Speaks::Session(Some(version)))
            }
            _ => Ok(Speaks::Stateless),
        };
    }
    if method == Some("initialize") {
        return Ok(Speaks::Session(None));
    }
    Ok(match header.map(|value| value.to_str().ok().and_then(known)) {
        None if matches!(method, Some("server/discover" | "subscriptions/listen")) => Speaks::Stateless,
        None => Speaks::Session(None),
        Some(Some(version)) if version.era() == Era::Session => Speaks::Session(Some(version)),
        Some(Some(_)) => Speaks::Stateless,
        Some(None) => Speaks::Unknown,
    })
}

#[cfg(test)]
mod tests;
