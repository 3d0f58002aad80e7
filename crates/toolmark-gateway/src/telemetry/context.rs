//! Which trace is a call part of? What the client says in `_meta`, or else in its HTTP headers, by the rules of W3C Trace Context.

use std::fmt::Write as _;

use bytes::Bytes;
use toolmark_mcp::downstream::{Incoming, TraceHeaders, Via};
use toolmark_mcp::wire::{Change, RawObject, write};

/// The key of the span that a request is part of, in `_meta` and among headers.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// The key of what tracing systems add to it.
pub(crate) const TRACESTATE: &str = "tracestate";
/// The key of what is to be known all along the way.
pub(crate) const BAGGAGE: &str = "baggage";

/// The longest `tracestate` that is passed on: what everybody has to take. Spans wait in a queue, and a client chooses this text.
const LONGEST_STATE: usize = 512;
/// The longest `baggage` that is taken from a header.
const LONGEST_BAGGAGE: usize = 8_192;

/// A span somewhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) trace: [u8; 16],
    pub(crate) span: [u8; 8],
    pub(crate) flags: u8,
    pub(crate) state: Option<String>,
}

/// What a request says about its trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// The span that it is part of.
    pub(crate) parent: Option<Remote>,
    /// The span of the HTTP request, where that is another one.
    pub(crate) link: Option<Remote>,
    /// What the headers want to be known, where `_meta` says nothing of it.
    pub(crate) baggage: Option<String>,
}

impl Said {
    pub(crate) fn by(request: &Incoming) -> Self {
        let meta = request.params.object("_meta");
        let inside = meta.as_ref().and_then(|meta| {
            let state = meta.text(TRACESTATE);
            Remote::read(&meta.text(TRACEPARENT)?, state.as_deref())
        });
        let headers = match &request.via {
            Via::Http(Some(headers), _) => Some(&**headers),
            Via::Http(None, _) | Via::Pipe => None,
        };
        let outside = headers.and_then(remote);
        let baggage = match &meta {
            Some(meta) if meta.get(BAGGAGE).is_some() => None,
            _ => headers.and_then(|headers| headers.baggage.as_ref()?.to_str().ok()),
        };
        let baggage = baggage.filter(|text| text.len() <= LONGEST_BAGGAGE).map(str::to_owned);
        match inside {
            Some(parent) => Self { link: outside.filter(|outside| *outside != parent), parent: Some(parent), baggage },
            None => Self { parent: outside, link: None, baggage },
        }
    }
}

/// The trace that a request says it is part of. Looked for on the path of every call: one that says nothing costs next to nothing.
pub(crate) fn trace(request: &Incoming) -> Option<[u8; 16]> {
    let mentions = |meta: &[u8]| meta.windows(TRACEPARENT.len()).any(|window| window == TRACEPARENT.as_bytes());
    let said = matches!(request.via, Via::Http(Some(_), _)) || request.params.get("_meta").is_some_and(mentions);
    said.then(|| Said::by(request).parent).flatten().map(|parent| parent.trace)
}

fn remote(headers: &TraceHeaders) -> Option<Remote> {
    let state = headers.tracestate.as_ref().and_then(|state| state.to_str().ok());
    Remote::read(headers.traceparent.to_str().ok()?, state)
}

impl Remote {
    /// Reads `traceparent`. What is none means that there is no parent, as the specification wants it.
    pub(crate) fn read(text: &str, state: Option<&str>) -> Option<Self> {
        let mut parts = text.split('-');
        let version = hex::<1>(parts.next()?)?;
        let (trace, span, flags) = (hex::<16>(parts.next()?)?, hex::<8>(parts.next()?)?, hex::<1>(parts.next()?)?);
        // A later version may say more; version 0 may not, and 255 is none.
        if version == [0xff] || (version == [0] && parts.next().is_some()) || trace == [0; 16] || span == [0; 8] {
            return None;
        }
        let fits = |state: &&str| {
            !state.is_empty() && state.len() <= LONGEST_STATE && state.bytes().all(|b| matches!(b, b' '..=b'~'))
        };
        let flags = flags.first().copied().unwrap_or_default();
        Some(Self { trace, span, flags, state: state.filter(fits).map(str::to_owned) })
    }

    /// Writes `traceparent`.
    pub(crate) fn write(&self) -> String {
        let mut text = String::with_capacity(55);
        text.push_str("00-");
        for byte in self.trace {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('-');
        for byte in self.span {
            let _ = write!(text, "{byte:02x}");
        }
        // Flags that are not known here are not passed on.
        let _ = write!(text, "-{:02x}", self.flags & 0b11);
        text
    }

    /// The `_meta` of a request that is part of this span.
    pub(crate) fn put_into(&self, meta: Option<&RawObject>, baggage: Option<&str>) -> Bytes {
        let parent = write::quote(&self.write());
        let state = self.state.as_deref().map(write::quote);
        let baggage = baggage.map(write::quote);
        let mut changes = vec![Change::Set(TRACEPARENT, &parent)];
        changes.push(state.as_ref().map_or(Change::Remove(TRACESTATE), |state| Change::Set(TRACESTATE, state)));
        changes.extend(baggage.as_ref().map(|baggage| Change::Set(BAGGAGE, baggage)));
        match meta {
            Some(meta) => meta.rewrite(&changes),
            None => RawObject::empty().rewrite(&changes),
        }
    }
}

/// So many bytes in lower-case digits.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
