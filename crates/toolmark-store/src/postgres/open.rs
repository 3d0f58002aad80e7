//! How a database becomes a store: looked at first, changed only when it is ours or nobody's, and waited for when it restarts.

use std::future::Future;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tokio::time::{Instant, timeout};

use super::error::error_at;
use super::{Address, Postgres, migrate};
use crate::error::{Fault, StoreError};
use crate::location::Location;
use crate::store::Settings;

/// Connections beside those that read: what is written waits for disks, and must not keep readers waiting.
const WRITERS: u32 = 4;
/// How long a transaction may do nothing before the server ends it: a node that is cut off must not hold locks for ever.
const IDLE_IN_TRANSACTION: &str = "60s";

impl Postgres {
    /// Opens a database, and makes the tables if it is empty.
    ///
    /// # Errors
    /// [`StoreError`]; a database that is not ours is left as it was.
    pub async fn open(address: &Address, settings: &Settings) -> Result<Self, StoreError> {
        Self::open_from(address, settings).await.map(|(store, _)| store)
    }

    /// The same, with the version that the database had before.
    pub(crate) async fn open_from(address: &Address, settings: &Settings) -> Result<(Self, i64), StoreError> {
        let place = Location::Postgres(address.clone());
        let mut connection = patiently(settings.patience, || connect(address.options(), &place, settings)).await?;
        let before = migrate::run(&mut connection, &place).await?;
        connection.close().await.map_err(|error| error_at(&place, &error))?;
        let pool = pool(settings, settings.readers.max(1) + WRITERS).connect_lazy_with(address.options().clone());
        let patience = settings.patience;
        let (doubts, holders) = (super::Doubts::default(), super::Holders::default());
        let store = Self { pool, address: address.clone(), place, patience, doubts, holders };
        Ok((store, before))
    }

    /// A pool of one, for those who keep their connection.
    pub(super) fn own_pool(&self) -> PgPool {
        let settings = Settings { patience: self.patience, ..Settings::new(crate::time::Micros::default) };
        pool(&settings, 1).connect_lazy_with(self.address.options().clone())
    }
}

/// What every connection is told before it is used.
///
/// A server may be set up to answer before a commit is on its disk; then it is told not to. Whoever can do without says so.
fn greeting(settings: &Settings) -> String {
    let patience = settings.patience.as_millis().max(1);
    format!(
        "SET default_transaction_isolation = 'read committed'; SET lock_timeout = {patience}; \
         SET idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION}'; \
         SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; \
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
}

fn pool(settings: &Settings, connections: u32) -> PgPoolOptions {
    let greeting = greeting(settings);
    let patience = settings.patience;
    PgPoolOptions::new()
        .min_connections(0)
        .max_connections(connections)
        .acquire_timeout(patience + Duration::from_secs(1))
        .idle_timeout(Duration::from_secs(600))
        .max_lifetime(None)
        // A server that restarted has forgotten its connections: nobody must be the one to find out.
        .test_before_acquire(true)
        .after_connect(move |connection, _| {
            let greeting = greeting.clone();
            Box::pin(async move { connection.execute(sqlx::raw_sql(AssertSqlSafe(greeting))).await.map(|_| ()) })
        })
        // A connection that does not answer any more must not keep its place.
        .after_release(move |connection, _| {
            Box::pin(async move {
                timeout(patience, connection.ping()).await.map_err(|_| sqlx::Error::PoolTimedOut)?.map(|()| true)
            })
        })
}

async fn connect(
    options: &PgConnectOptions,
    place: &Location,
    settings: &Settings,
) -> Result<PgConnection, StoreError> {
    let late = || StoreError::new(place, Fault::Unreachable, "it does not answer");
    let connected = timeout(settings.patience, options.connect()).await.map_err(|_| late())?;
    let mut connection = connected.map_err(|error| error_at(place, &error))?;
    let greeting = sqlx::raw_sql(AssertSqlSafe(greeting(settings)));
    connection.execute(greeting).await.map_err(|error| error_at(place, &error))?;
    Ok(connection)
}

/// A database and its users are often started together: one that is not there yet is waited for.
async fn patiently<F, T>(patience: Duration, mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let ends = Instant::now() + patience;
    loop {
        match attempt().await {
            Err(error) if error.may_pass() && Instant::now() < ends => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            result => return result,
        }
    }
}
