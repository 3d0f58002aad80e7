//! What does a server say by itself? A bounded channel that may lose log lines in a flood, but never that a list changed,
//! that the server may be another one, or that the connection ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::list::ListKind;

/// Something that a server said, or that happened to it.
#[derive(Clone, Debug)]
pub enum UpstreamEvent {
    /// A list has changed. Templates change with resources.
    ListChanged(ListKind),
    /// A resource has changed; the parameters of the notification.
    ResourceUpdated(Bytes),
    /// A log message that belongs to no request; the parameters of the notification.
    Log(Bytes),
    /// A question of the server was put to nobody.
    Declined {
        /// What it asked.
        method: String,
        /// Why; the server was told the same.
        reason: String,
    },
    /// The server forgot us and we introduced ourselves again: everything known about it may be out of date.
    Reconnected,
    /// A stream in which the server tells of changes was opened again: what it said in between was not heard.
    ListeningAgain,
    /// The server could not be reached, or forgot our session, for this reason. Whoever keeps the connection should look whether it is
    /// there and still the same.
    Unreached(String),
    /// The connection has ended, for this reason.
    Closed(String),
}

/// Where events go.
#[derive(Clone, Debug)]
pub struct EventSender {
    channel: mpsc::Sender<UpstreamEvent>,
    /// Kinds of important events that already wait for room in the channel.
    waiting: Arc<AtomicU8>,
}

impl EventSender {
    /// A channel with room for so many events.
    #[must_use]
    pub fn channel(room: usize) -> (Self, mpsc::Receiver<UpstreamEvent>) {
        let (channel, receiver) = mpsc::channel(room.max(1));
        (Self { channel, waiting: Arc::default() }, receiver)
    }

    pub(crate) fn send(&self, event: UpstreamEvent) {
        let Err(mpsc::error::TrySendError::Full(event)) = self.channel.try_send(event) else { return };
        let kind: u8 = match &event {
            UpstreamEvent::ListChanged(kind) => 1 << (*kind as u8),
            UpstreamEvent::Reconnected => 1 << 4,
            UpstreamEvent::Closed(_) => 1 << 5,
            UpstreamEvent::ListeningAgain => 1 << 6,
            UpstreamEvent::Unreached(_) => 1 << 7,
            UpstreamEvent::ResourceUpdated(_) | UpstreamEvent::Log(_) | UpstreamEvent::Declined { .. } => return,
        };
        if self.waiting.fetch_or(kind, Ordering::AcqRel) & kind != 0 {
            return;
        }
        let (channel, waiting) = (self.channel.clone(), self.waiting.clone());
        // A connection may be dropped where no runtime is; then nobody is left to hear about it either.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let room = channel.reserve().await;
            waiting.fetch_and(!kind, Ordering::AcqRel);
            if let Ok(room) = room {
                room.send(event);
            }
        });
    }
}
