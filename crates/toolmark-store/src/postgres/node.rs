//! Which process has which chain: an advisory lock on a connection of its own, and a lease that says that somebody has it.
//!
//! The server lets go of the lock when the connection ends. That is so when the process was killed, and also when the server restarted
//! or a network was cut, and then the process lives and takes the lock again a moment later. So a lock that is free is no proof: a
//! lease that nobody took back has to be seen unchanged for a while first ([`absence`](super::absence)).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Row as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::Postgres;
use super::absence::{Absences, Lease};
use super::text::kept;
use crate::backend::Claim;
use crate::error::StoreError;

/// How often a process says that it is alive.
const BEAT: Duration = Duration::from_secs(1);
/// How long an answer to that may take. What takes longer counts as a connection that is lost.
const ANSWER: Duration = Duration::from_secs(2);
/// How long another connection may take before it is tried anew.
const CONNECT: Duration = Duration::from_secs(3);
/// How often a lock is tried that somebody has: a process that was killed a moment ago still has it until the server notices.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(100);

/// The tasks that hold what this process has, and what is known about processes that may be gone.
#[derive(Default)]
pub(super) struct Holders {
    tasks: Mutex<Vec<JoinHandle<()>>>,
    absences: Absences,
}

/// A chain that is held.
struct Holding {
    node: Arc<str>,
    holder: Uuid,
    /// Where connections come from when the one with the lock is lost.
    pool: PgPool,
    patience: Duration,
}

impl Postgres {
    pub(super) async fn take_node(&self, node: &str) -> Result<Claim, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let pool = self.own_pool();
        let mut connection = pool.acquire().await.map_err(error)?.detach();
        let mut attempts = 1;
        while !lock(&mut connection, node).await.map_err(error)? {
            if attempts >= ATTEMPTS {
                self.holders.absences.forget(node);
                return Ok(Claim::Others);
            }
            attempts += 1;
            sleep(PAUSE).await;
        }
        if let Some(lease) = lease(&mut connection, node).await.map_err(error)?
            && !self.holders.absences.is_gone(node, lease, Instant::now())
        {
            // The lock goes with the connection.
            let _ = connection.close().await;
            return Ok(Claim::Unclear);
        }
        self.holders.absences.forget(node);
        let holding = Holding { node: node.into(), holder: Uuid::new_v4(), pool, patience: self.patience };
        holding.beat(&mut connection).await.map_err(error)?;
        let (release, released) = oneshot::channel::<()>();
        let store = self.pool.clone();
        self.holders.add(tokio::spawn(async move {
            let released = async {
                tokio::select! {
                    // Whoever holds the claim says nothing through it; it is dropped.
                    _ = released => {}
                    () = store.close_event() => {}
                }
            };
            holding.hold(connection, released).await;
        }));
        Ok(Claim::Ours(Box::new(release)))
    }
}

impl Holders {
    fn add(&self, task: JoinHandle<()>) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Waits until everything is given back, once the store is closed: a process that ends in good order keeps nobody waiting.
    pub(super) async fn ended(&self, patience: Duration) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            for task in tasks {
                let _ = task.await;
            }
        };
        if timeout(patience, all).await.is_err() {
            tracing::warn!(
                "the name of this node could not be given back; whoever wants it next waits for some seconds"
            );
        }
    }
}

impl Holding {
    /// Says that it is alive until it is released, and takes the lock again when the connection was lost.
    async fn hold(self, connection: PgConnection, released: impl Future<Output = ()>) {
        tokio::pin!(released);
        let mut holding = Some(connection);
        let mut told = false;
        loop {
            tokio::select! {
                () = &mut released => break,
                () = sleep(BEAT) => {}
            }
            if let Some(connection) = &mut holding {
                match timeout(ANSWER, self.beat(connection)).await {
                    Ok(Ok(())) => continue,
                    // A server that cannot write has its reasons; the lock is still ours.
                    Ok(Err(sqlx::Error::Database(error)))
                        if !error.code().is_some_and(|code| code.starts_with("57P")) =>
                    {
                        continue;
                    }
                    // Its end is found out by the server; nothing that is said over it would arrive.
                    _ => holding = None,
                }
            }
            match timeout(CONNECT, self.again()).await {
                Ok(Ok(Some(connection))) => (holding, told) = (Some(connection), false),
                Ok(Ok(None)) if !told => {
                    told = true;
                    tracing::error!(node = &*self.node, "another process has taken the chain of this node");
                }
                _ => {}
            }
        }
        if let Some(mut connection) = holding {
            let query = sqlx::query("DELETE FROM node_leases WHERE node = $1 AND holder = $2");
            let query = query.bind(kept(&self.node)).bind(self.holder);
            let _ = timeout(self.patience, query.execute(&mut connection)).await;
            let _ = timeout(self.patience, connection.close()).await;
        }
        self.pool.close().await;
    }

    /// A new connection with the lock, or nothing while another process has it.
    async fn again(&self) -> Result<Option<PgConnection>, sqlx::Error> {
        let mut connection = self.pool.acquire().await?.detach();
        while !lock(&mut connection, &self.node).await? {
            if lease(&mut connection, &self.node).await?.is_some_and(|lease| lease.holder != self.holder) {
                return Ok(None);
            }
            // Somebody looks whether we are gone, or the server has not noticed yet that our old connection is.
            sleep(PAUSE).await;
        }
        self.beat(&mut connection).await?;
        Ok(Some(connection))
    }

    /// Says over the connection with the lock that this process has it.
    async fn beat(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let query = sqlx::query(
            "INSERT INTO node_leases AS l (node, holder, beat) VALUES ($1, $2, 1) \
             ON CONFLICT (node) DO UPDATE SET holder = excluded.holder, beat = l.beat + 1",
        );
        query.bind(kept(&self.node)).bind(self.holder).execute(connection).await.map(|_| ())
    }
}

/// Whether the lock is ours now. Chains of other schemas are other chains.
async fn lock(connection: &mut PgConnection, node: &str) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(
        "SELECT pg_try_advisory_lock(hashtextextended('toolmark/node/' || current_schema() || '/' || $1, 0)) AS ours",
    );
    query.bind(kept(node)).fetch_one(connection).await?.try_get("ours")
}

/// What the process said last that had it, and did not give it back.
async fn lease(connection: &mut PgConnection, node: &str) -> Result<Option<Lease>, sqlx::Error> {
    let query = sqlx::query(
        "SELECT holder, beat, CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS BIGINT) AS server \
         FROM node_leases WHERE node = $1",
    );
    let row = query.bind(kept(node)).fetch_optional(connection).await?;
    row.map(|row| {
        Ok(Lease { holder: row.try_get("holder")?, beat: row.try_get("beat")?, server: row.try_get("server")? })
    })
    .transpose()
}
