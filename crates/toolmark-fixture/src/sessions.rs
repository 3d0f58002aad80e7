//! Sessions of old clients, kept by `rmcp`, with one thing added: a tool can close the stream it answers on, so that its client has to come back.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, stream};
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::RestoreOutcome;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{EventStore, ServerSseMessage, SessionId, SessionManager};

/// How long a client is asked to wait before it comes back.
pub(crate) const RETRY: Duration = Duration::from_millis(200);

/// The sessions of one server.
#[derive(Debug, Default)]
pub(crate) struct Sessions(LocalSessionManager);

/// The stream that a request of an old client is answered on.
#[derive(Clone)]
pub(crate) struct AnswerStream {
    session: LocalSessionHandle,
    id: u64,
}

impl AnswerStream {
    /// Closes the stream while the call goes on; the client finds the rest by the last event it saw.
    pub(crate) async fn close(&self) -> io::Result<()> {
        Ok(self.session.close_sse_stream(self.id, Some(RETRY)).await?)
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.0.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.0.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.0.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.0.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let found = self.0.sessions.read().await.get(id).cloned();
        let session = found.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let receiver = session.establish_request_wise_channel().await?;
        if let (ClientJsonRpcMessage::Request(request), Some(stream)) = (&mut message, receiver.http_request_id) {
            request.request.extensions_mut().insert(AnswerStream { session: session.clone(), id: stream });
        }
        session.push_message(message, receiver.http_request_id).await?;
        let mut events = receiver.inner;
        Ok(stream::poll_fn(move |context| events.poll_recv(context)))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.0.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.resume(id, last_event_id).await
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.0.restore_session(id).await
    }

    fn event_store(&self) -> Option<Arc<dyn EventStore>> {
        self.0.event_store()
    }
}
