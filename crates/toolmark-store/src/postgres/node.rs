//! Which process has which chain: an advisory lock on a connection of its own. The server lets go of it when the process is gone.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Row as _};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::Postgres;
use super::text::kept;
use crate::backend::Held;
use crate::error::StoreError;

/// How often the connection is looked at.
const CHECK: Duration = Duration::from_secs(1);
/// How often a lock is tried that somebody has: a process that was killed a moment ago still has it until the server notices.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(100);

impl Postgres {
    pub(super) async fn take_node(&self, node: &str) -> Result<Option<Held>, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let pool = self.own_pool();
        let mut connection = pool.acquire().await.map_err(error)?.detach();
        let mut attempts = 1;
        while !lock(&mut connection, node).await.map_err(error)? {
            if attempts >= ATTEMPTS {
                return Ok(None);
            }
            attempts += 1;
            sleep(PAUSE).await;
        }
        let (release, released) = oneshot::channel::<()>();
        tokio::spawn(hold(pool, connection, node.into(), released, self.patience));
        Ok(Some(Box::new(release)))
    }
}

/// Whether the chain is ours now. Chains of other schemas are other chains.
async fn lock(connection: &mut PgConnection, node: &str) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(
        "SELECT pg_try_advisory_lock(hashtextextended('toolmark/node/' || current_schema() || '/' || $1, 0)) AS ours",
    );
    query.bind(kept(node)).fetch_one(connection).await?.try_get("ours")
}

/// Keeps the connection until the claim is dropped, and takes the lock again when the connection was lost.
async fn hold(
    pool: PgPool,
    connection: PgConnection,
    node: Arc<str>,
    mut released: oneshot::Receiver<()>,
    patience: Duration,
) {
    let mut holding = Some(connection);
    let mut told = false;
    loop {
        tokio::select! {
            // Whoever holds the claim says nothing through it; it is dropped.
            _ = &mut released => break,
            () = sleep(CHECK) => {}
        }
        if let Some(connection) = &mut holding {
            if timeout(patience, connection.ping()).await.is_ok_and(|pinged| pinged.is_ok()) {
                continue;
            }
            // Its end is found out by the server; nothing that is said over it would arrive.
            holding = None;
        }
        let Ok(connection) = pool.acquire().await else { continue };
        let mut connection = connection.detach();
        match lock(&mut connection, &node).await {
            Ok(true) => (holding, told) = (Some(connection), false),
            Ok(false) if !told => {
                told = true;
                tracing::error!(node = &*node, "another process has taken the chain of this node");
            }
            Ok(false) | Err(_) => {}
        }
    }
    if let Some(connection) = holding {
        let _ = connection.close().await;
    }
    pool.close().await;
}
