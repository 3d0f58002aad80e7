//! How old records go: a few at a time, beside everything else, so that no call waits for it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolmark_store::Micros;

use crate::gateway::Gateway;

/// How often it is looked whether something is old.
pub(crate) const EVERY: Duration = Duration::from_secs(60);
/// How long after the start.
pub(crate) const FIRST: Duration = Duration::from_secs(1);
/// How long calls have the store to themselves between two steps.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

impl Gateway {
    /// Removes what is older than `audit.retention` says, until the gateway stops.
    pub(crate) async fn forget_old_records(self: Arc<Self>) {
        let Some(store) = self.store.clone() else { return };
        tokio::time::sleep(FIRST).await;
        loop {
            let mut removed = 0;
            while let Some(retention) = self.snapshot().config().audit.retention {
                let before = Micros::from(SystemTime::now()).before(retention.duration());
                match store.trim_audit_step(before).await {
                    Ok(0) => break,
                    Ok(step) => removed += step,
                    Err(error) => {
                        tracing::warn!(%error, "old records are not removed; tried again");
                        break;
                    }
                }
                tokio::time::sleep(PAUSE).await;
            }
            if removed > 0 {
                tracing::info!(removed, "old records were removed from the audit");
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}
