//! Is the server there, and is its list what we think? Found out before each turn, and before a call where anything changed since.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use toolmark_runtime::tools::FunctionTool;

use super::{Inner, McpServerError};
use crate::upstream::{EventSender, ListKind, Upstream, UpstreamEvent};

/// What is known of a server.
#[derive(Default)]
pub(crate) struct Connection {
    open: Option<(Upstream, Signals)>,
    tools: Arc<[FunctionTool]>,
    /// Whether the tools are those of this connection.
    listed: bool,
    /// Until when the server says that its list is good.
    until: Option<Instant>,
    closed: bool,
}

/// What a server said by itself since somebody looked.
#[derive(Clone, Default)]
pub(crate) struct Signals(Arc<AtomicBool>);

impl Signals {
    pub(super) fn changed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn take(&self) {
        self.0.store(false, Ordering::Release);
    }

    fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Listens for as long as the connection lasts.
async fn listen(mut events: mpsc::Receiver<UpstreamEvent>, signals: Signals, server: String) {
    while let Some(event) = events.recv().await {
        match event {
            UpstreamEvent::ListChanged(ListKind::Tools)
            | UpstreamEvent::Reconnected
            | UpstreamEvent::ListeningAgain => signals.raise(),
            UpstreamEvent::Declined { method, reason } => {
                tracing::debug!(%server, %method, %reason, "a question of a server was put to nobody");
            }
            UpstreamEvent::Closed(reason) => {
                tracing::debug!(%server, %reason, "the connection to a server has ended");
                return;
            }
            _ => {}
        }
    }
}

impl Inner {
    /// The tools as they are now: as they were, where the server is there and nothing changed.
    pub(super) async fn tools(self: &Arc<Self>) -> Result<Arc<[FunctionTool]>, McpServerError> {
        let mut connection = self.connection.lock().await;
        let (upstream, signals) = self.open(&mut connection).await?;
        let expired = connection.until.is_some_and(|until| until <= Instant::now());
        if connection.listed && !expired && !signals.changed() {
            return Ok(Arc::clone(&connection.tools));
        }
        // Before the question: what changes while it is answered is asked about again.
        signals.take();
        let read = match upstream.list(ListKind::Tools).await {
            Ok(listing) => {
                let until = listing.ttl_ms.and_then(|ttl| Instant::now().checked_add(Duration::from_millis(ttl)));
                self.read(&listing, &connection.tools).map(|tools| (tools, until))
            }
            Err(error) => Err(McpServerError::List { server: self.name(), error }),
        };
        match read {
            Ok((tools, until)) => {
                connection.tools = tools.into();
                connection.listed = true;
                connection.until = until;
                Ok(Arc::clone(&connection.tools))
            }
            Err(error) => {
                connection.listed = false;
                signals.raise();
                Err(error)
            }
        }
    }

    async fn open(&self, connection: &mut Connection) -> Result<(Upstream, Signals), McpServerError> {
        if connection.closed {
            return Err(McpServerError::Closed { server: self.name() });
        }
        if let Some((upstream, signals)) = &connection.open
            && !upstream.is_closed()
        {
            return Ok((upstream.clone(), signals.clone()));
        }
        connection.open = None;
        connection.listed = false;
        self.set_live(None);
        let (events, heard) = EventSender::channel(64);
        let upstream = Upstream::connect(self.target.clone(), self.options.clone(), events)
            .await
            .map_err(|error| McpServerError::Connect { server: self.name(), error })?;
        let signals = Signals::default();
        tokio::spawn(listen(heard, signals.clone(), self.name()));
        connection.open = Some((upstream.clone(), signals.clone()));
        self.set_live(Some((upstream.clone(), signals.clone())));
        Ok((upstream, signals))
    }

    pub(super) async fn close(&self) {
        let open = {
            let mut connection = self.connection.lock().await;
            connection.closed = true;
            connection.tools = Arc::default();
            connection.listed = false;
            connection.open.take()
        };
        self.set_live(None);
        if let Some((upstream, _)) = open {
            upstream.close().await;
        }
    }
}
