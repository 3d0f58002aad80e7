//! Hearing of changes at once: `LISTEN` on a connection of its own, made anew when it is lost.

use std::time::Duration;

use sqlx::postgres::PgListener;
use tokio::sync::mpsc;

use super::{CHANNEL, Postgres};
use crate::backend::Counters;
use crate::error::StoreError;
use crate::watch::Change;

/// How long to rest before another attempt.
const PAUSE: Duration = Duration::from_millis(500);

impl Postgres {
    /// Starts to listen, and returns when it does. The task behind it ends with the store or with whoever hears it.
    pub(super) async fn listen(&self) -> Result<mpsc::Receiver<Change>, StoreError> {
        let pool = self.own_pool();
        let error = |error: sqlx::Error| self.error(&error);
        let mut listener = PgListener::connect_with(&pool).await.map_err(error)?;
        listener.listen(CHANNEL).await.map_err(error)?;
        let (heard, hearing) = mpsc::channel(256);
        let store = self.pool.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = follow(&mut listener, &heard) => {}
                () = heard.closed() => {}
                () = store.close_event() => {}
            }
            drop(listener);
            pool.close().await;
        });
        Ok(hearing)
    }

    pub(super) async fn load_counters(&self) -> Result<Counters, StoreError> {
        let sql = "SELECT name, value FROM counters \
                   UNION ALL SELECT 'names', CAST(coalesce(sum(version), 0) AS BIGINT) FROM name_scopes";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((self.text(row, "name")?.into_owned(), self.count(row, "value")?))).collect()
    }
}

/// Passes on what is heard. A connection that was lost may have lost notices with it: then everything may have changed.
async fn follow(listener: &mut PgListener, heard: &mpsc::Sender<Change>) {
    loop {
        let change = match listener.try_recv().await {
            Ok(Some(notice)) => Change::parse(notice.payload()),
            Ok(None) => Change::Unknown,
            Err(error) => {
                tracing::warn!("the store cannot be listened to, and is asked instead: {error}");
                tokio::time::sleep(PAUSE).await;
                Change::Unknown
            }
        };
        if heard.send(change).await.is_err() {
            return;
        }
    }
}
