//! What must somebody be able to do who answers clients of MCP?

use std::future::Future;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::answer::Answer;
use super::caller::Caller;
use super::context::Context;
use super::incoming::{Incoming, Notification};
use crate::wire::headers::ParamHeaders;
use crate::wire::params::meta;
use crate::wire::version::ProtocolVersion;
use crate::wire::{RawObject, write};

/// Answers requests. The endpoint takes care of eras, sessions, streams and headers.
pub trait Service: Send + Sync + 'static {
    /// Answers one request. Dropping the future cancels it.
    ///
    /// Of `subscriptions/listen`, the result is the filter that is accepted; [`Context::cancelled`] fires when the stream ends.
    fn call(&self, request: Incoming, context: Context) -> impl Future<Output = Answer> + Send;

    /// Who we are to this caller.
    fn about(&self, caller: &Caller) -> Arc<About>;

    /// Hears of a notification. The client waits for nothing, so neither should this.
    fn notified(&self, _notification: Notification) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Which arguments of a tool are repeated in headers. Asked for every call of 2026-07-28, so it should be a look-up.
    fn param_headers(&self, _caller: &Caller, _tool: &str) -> Option<Arc<ParamHeaders>> {
        None
    }

    /// Hears that a session has ended.
    fn session_ended(&self, _session: &str) {}
}

/// What a server says about itself in `initialize` and `server/discover`.
#[derive(Clone, Debug)]
pub struct About {
    /// `serverInfo`, the text of an object.
    pub server_info: Bytes,
    /// The capabilities.
    pub capabilities: RawObject,
    /// Text for the model.
    pub instructions: Option<String>,
    /// How long `server/discover` holds, in milliseconds.
    pub ttl_ms: u64,
    /// Whether all callers get the same.
    pub public: bool,
}

impl About {
    /// The result of `initialize`.
    pub(super) fn initialize(&self, version: ProtocolVersion) -> Bytes {
        let mut out = self.start(&format!(r#"{{"protocolVersion":"{version}""#));
        out.put_slice(br#","serverInfo":"#);
        out.put_slice(&self.server_info);
        out.put_u8(b'}');
        out.freeze()
    }

    /// The result of `server/discover`.
    pub(super) fn discover(&self) -> Bytes {
        let scope = if self.public { "public" } else { "private" };
        let mut out = self.start(&format!(
            r#"{{"resultType":"complete","supportedVersions":{},"ttlMs":{},"cacheScope":"{scope}""#,
            supported_versions(),
            self.ttl_ms
        ));
        out.put_slice(format!(r#","_meta":{{"{}":"#, meta::SERVER_INFO).as_bytes());
        out.put_slice(&self.server_info);
        out.put_slice(b"}}");
        out.freeze()
    }

    fn start(&self, head: &str) -> BytesMut {
        let mut out = BytesMut::from(head);
        out.put_slice(br#","capabilities":"#);
        out.put_slice(self.capabilities.raw());
        if let Some(instructions) = &self.instructions {
            out.put_slice(br#","instructions":"#);
            write::quote_into(&mut out, instructions);
        }
        out
    }
}

/// All revisions as a JSON array, the newest first.
pub(super) fn supported_versions() -> String {
    let versions: Vec<String> = ProtocolVersion::ALL.iter().rev().map(|version| format!("\"{version}\"")).collect();
    format!("[{}]", versions.join(","))
}
