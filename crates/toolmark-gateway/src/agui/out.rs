//! The stream that a page reads: events in an order that it accepts, each written once, until it goes away.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolmark_agui::{Event, Guard, Id, sse};
use toolmark_core::explain::Explain as _;

/// How long a page may take nothing before it counts as gone.
const STALLED: Duration = Duration::from_secs(30);

/// The way to one page.
pub(super) struct Out {
    sender: mpsc::Sender<Bytes>,
    guard: Guard,
    /// Cancelled when the page is gone.
    gone: CancellationToken,
    over: bool,
}

impl Out {
    pub(super) fn new(sender: mpsc::Sender<Bytes>) -> Self {
        Self { sender, guard: Guard::new(), gone: CancellationToken::new(), over: false }
    }

    /// Calls that were made in earlier runs.
    pub(super) fn know(&mut self, calls: impl IntoIterator<Item = Id>) {
        self.guard = std::mem::take(&mut self.guard).knowing(calls);
    }

    /// Says when the page is gone.
    pub(super) fn watch(&self) -> (mpsc::Sender<Bytes>, CancellationToken) {
        (self.sender.clone(), self.gone.clone())
    }

    /// Sends events. One that may not come ends the stream with an error: clients would take it for something else.
    pub(super) async fn send(&mut self, events: Vec<Event>) {
        if self.over || events.is_empty() {
            return;
        }
        let mut frames = Vec::with_capacity(events.len() * 128);
        for event in &events {
            if let Err(error) = self.guard.check(event) {
                tracing::error!(%error, "an event is out of order; the stream ends");
                let failed = Event::RunError {
                    message: error.to_string(),
                    code: error.code().as_str().to_owned(),
                    usage: Vec::new(),
                    metadata: None,
                };
                sse::write(&failed, now(), &mut frames);
                self.over = true;
                break;
            }
            sse::write(event, now(), &mut frames);
        }
        self.over |= events.last().is_some_and(Event::is_terminal);
        if self.sender.send_timeout(Bytes::from(frames), STALLED).await.is_err() {
            self.gone.cancel();
        }
    }
}

fn now() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}
