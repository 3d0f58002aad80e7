//! How threads end that nobody uses any more: a few at a time, as old records do. One that waits for an answer stays for as long as the
//! question can be answered.

use std::time::{Duration, SystemTime};

use toolmark_store::{Micros, TrimmedThreads};

use super::Agui;
use crate::approvals;
use crate::audit::retention::{EVERY, FIRST, PAUSE};

impl Agui {
    /// Forgets what was not used for as long as `agui.keep` says, until the gateway stops.
    pub(crate) async fn forget_old_threads(&self) {
        let mut next = FIRST;
        while self.lasts(next).await {
            next = EVERY;
            let mut gone = TrimmedThreads::default();
            loop {
                let (idle, waiting) = self.horizons();
                match self.store.trim_threads_step(idle, waiting).await {
                    Ok(step) if step == TrimmedThreads::default() => break,
                    Ok(step) => {
                        gone.idle += step.idle;
                        gone.waiting += step.waiting;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "old threads are not removed; tried again");
                        break;
                    }
                }
                if !self.lasts(PAUSE).await {
                    return;
                }
            }
            if gone.idle > 0 {
                tracing::info!(removed = gone.idle, "threads that nobody used any more were forgotten");
            }
            if gone.waiting > 0 {
                let removed = gone.waiting;
                tracing::warn!(
                    removed,
                    "threads were forgotten whose runs waited for answers that nobody gave in time"
                );
            }
        }
    }

    /// Waits; false where the gateway stops meanwhile.
    async fn lasts(&self, time: Duration) -> bool {
        tokio::time::timeout(time, self.stop.cancelled()).await.is_err()
    }

    /// What was not used since these moments is old: threads in which nothing waits, and those in which something does.
    fn horizons(&self) -> (Micros, Micros) {
        let snapshot = self.gateway.snapshot();
        let (now, keep) = (Micros::from(SystemTime::now()), snapshot.config().agui.keep.duration());
        let desk = approvals::settings(snapshot.config(), "");
        // A question was asked before the thread was left, and is open for no longer than this.
        let open = if desk.keep_pending { desk.keep.max(desk.timeout) } else { desk.timeout };
        (now.before(keep), now.before(keep.max(open)))
    }
}
