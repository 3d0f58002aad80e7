//! The other way in: one client on a pair of pipes, within the same limits as those that come over HTTP.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use toolmark_mcp::downstream::{Binding, Caller, Endpoint};
use toolmark_store::StoreError;

use crate::access::Alone;
use crate::gateway::Gateway;
use crate::service::Front;

/// Who is on the other end of the pipes: whoever started us.
const CALLER: &str = "local";

/// A gateway for one client on a pair of pipes.
pub struct Piped {
    gateway: Arc<Gateway>,
    endpoint: Endpoint<Front>,
    limiter: Alone,
}

impl Piped {
    /// A way into this gateway, within the limits of its configuration. Whoever starts it comes before its packs: what they ask of them waits
    /// until they have started or failed, but no longer than `patience`.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be used.
    pub async fn new(gateway: Arc<Gateway>, patience: Duration) -> Result<Self, StoreError> {
        let front = Front::new(Arc::clone(&gateway)).patient(patience);
        let endpoint = Endpoint::new(Arc::new(front), gateway.settings().await?);
        let limiter = Alone::new(&gateway.snapshot().config().gateway.limits);
        Ok(Self { gateway, endpoint, limiter })
    }

    /// Serves the client until it closes its end and its calls are answered, or until `end`, which gives up calls that are running.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub async fn serve<R, W>(
        self,
        reader: R,
        writer: W,
        binding: Binding,
        end: impl Future<Output = ()>,
    ) -> std::io::Result<()>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        // Ends with this, however this ends.
        let mut teller = JoinSet::new();
        teller.spawn(Front::tell(self.endpoint.clone(), self.gateway.changes()));
        let caller = Caller::new(CALLER).bound_to(Arc::new(binding));
        let admit = || self.limiter.take().map_err(|error| error.fault());
        self.endpoint.stdio_until(reader, writer, caller, admit, end).await
    }
}
