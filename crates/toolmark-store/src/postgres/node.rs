//! A node's name in PostgreSQL: an advisory lock on a connection of its own. The server lets go of it when the node is gone.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Row as _};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use super::Postgres;
use super::text::kept;
use crate::error::StoreError;
use crate::node::NodeClaim;

/// How often the connection is looked at.
const CHECK: Duration = Duration::from_secs(2);
/// How long to rest before another attempt.
const PAUSE: Duration = Duration::from_millis(200);

impl Postgres {
    pub(super) async fn take_node(&self, node: &str) -> Result<Option<NodeClaim>, StoreError> {
        let pool = self.own_pool();
        let ends = Instant::now() + self.patience;
        let connection = loop {
            let error = |error: sqlx::Error| self.error(&error);
            let mut connection = pool.acquire().await.map_err(error)?.detach();
            if lock(&mut connection, node).await.map_err(error)? {
                break connection;
            }
            // A node that was killed a moment ago still has its name until the server notices.
            if Instant::now() >= ends {
                return Ok(None);
            }
            sleep(PAUSE).await;
        };
        let node: Arc<str> = node.into();
        let (held, holding) = watch::channel(true);
        let (release, released) = oneshot::channel::<()>();
        tokio::spawn(hold(pool, connection, Arc::clone(&node), held, released, self.patience));
        Ok(Some(NodeClaim::new(node, holding, Box::new(release))))
    }
}

/// Whether the name is ours now. Names of other schemas are other names.
async fn lock(connection: &mut PgConnection, node: &str) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(
        "SELECT pg_try_advisory_lock(hashtextextended('toolmark/node/' || current_schema() || '/' || $1, 0)) AS ours",
    );
    query.bind(kept(node)).fetch_one(connection).await?.try_get("ours")
}

/// Keeps the connection until the claim is dropped, and takes the name again when the connection was lost.
async fn hold(
    pool: PgPool,
    connection: PgConnection,
    node: Arc<str>,
    held: watch::Sender<bool>,
    mut released: oneshot::Receiver<()>,
    patience: Duration,
) {
    let mut holding = Some(connection);
    loop {
        tokio::select! {
            // Whoever holds the claim says nothing through it; it is dropped.
            _ = &mut released => break,
            () = sleep(CHECK) => {}
        }
        let alive = match &mut holding {
            Some(connection) => timeout(patience, connection.ping()).await.is_ok_and(|pinged| pinged.is_ok()),
            None => false,
        };
        if alive {
            continue;
        }
        // Its end is found out by the server; nothing that is said over it would arrive.
        holding = None;
        if let Ok(connection) = pool.acquire().await {
            let mut connection = connection.detach();
            match lock(&mut connection, &node).await {
                Ok(true) => holding = Some(connection),
                Ok(false) if *held.borrow() => {
                    tracing::error!(node = &*node, "another process has the name of this node");
                }
                Ok(false) | Err(_) => {}
            }
        }
        let ours = holding.is_some();
        held.send_if_modified(|held| std::mem::replace(held, ours) != ours);
    }
    if let Some(connection) = holding {
        let _ = connection.close().await;
    }
    pool.close().await;
}
