//! Which token of the store is this? All of them are kept in memory, by hash, until the store says that they changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;
use toolmark_core::explain::Explain as _;
use toolmark_store::{Micros, Store, StoreError, Token, TokenHash, TokenSecret};

use super::{Admitted, Allowed, Why};

/// How long a revoked token may still be good: within this time the store is not asked again.
const FRESH: Duration = Duration::from_secs(1);
/// How soon the store is asked again about tokens that are not known; whoever shows one waits for that.
const RETRY: Duration = Duration::from_millis(100);
/// How often uses are written down.
const NOTED: Duration = Duration::from_secs(60);

/// The tokens of a store.
pub(crate) struct KnownTokens {
    store: Store,
    current: ArcSwapOption<Known>,
    asking: tokio::sync::Mutex<Option<Instant>>,
    pub(super) fresh: Duration,
    retry: Duration,
}

struct Known {
    version: u64,
    asked: Instant,
    by_hash: Arc<HashMap<TokenHash, Entry>>,
}

struct Entry {
    token: Token,
    admitted: Arc<Admitted>,
    /// When it was last used, in microseconds; 0 when that is written down.
    used: AtomicI64,
}

impl KnownTokens {
    pub(crate) fn new(store: Store) -> Self {
        let asking = tokio::sync::Mutex::new(None);
        Self { store, current: ArcSwapOption::empty(), asking, fresh: FRESH, retry: RETRY }
    }

    /// Who shows this text. Asks the store only when what is in memory may be old.
    pub(crate) async fn find(&self, shown: &str) -> Result<Arc<Admitted>, Why> {
        let hash = TokenSecret::parse(shown).map_err(|error| Why::Invalid(error.code(), error.to_string()))?.hash();
        let arrived = Instant::now();
        let mut known = self.no_older_than(self.fresh).await?;
        if !known.by_hash.contains_key(&hash) {
            // It may be younger than what is in memory.
            known = Box::pin(self.asked_after(arrived)).await?;
        }
        let unknown = || {
            let error = toolmark_store::TokenRefused::Unknown;
            Why::Invalid(error.code(), error.to_string())
        };
        let entry = known.by_hash.get(&hash).ok_or_else(unknown)?;
        let now = Micros::from(SystemTime::now());
        entry.token.check(now).map_err(|error| Why::Invalid(error.code(), error.to_string()))?;
        entry.used.store(now.get(), Ordering::Relaxed);
        Ok(Arc::clone(&entry.admitted))
    }

    async fn no_older_than(&self, age: Duration) -> Result<Arc<Known>, Why> {
        let fresh = |known: &Arc<Known>| known.asked.elapsed() < age;
        if let Some(known) = self.current.load_full().filter(fresh) {
            return Ok(known);
        }
        // Boxed, since it is rare and every request would have to make room for it.
        Box::pin(self.asked_anew(age)).await
    }

    async fn asked_anew(&self, age: Duration) -> Result<Arc<Known>, Why> {
        let fresh = |known: &Arc<Known>| known.asked.elapsed() < age;
        // One asks; those who waited for it take what it found.
        let mut noted = self.asking.lock().await;
        if let Some(known) = self.current.load_full().filter(fresh) {
            return Ok(known);
        }
        self.ask_and_keep(&mut noted).await
    }

    /// What the store says after a moment. A flood of guesses still asks it no more often than every `retry`.
    async fn asked_after(&self, moment: Instant) -> Result<Arc<Known>, Why> {
        let mut noted = self.asking.lock().await;
        if let Some(known) = self.current.load_full() {
            if known.asked > moment {
                return Ok(known);
            }
            tokio::time::sleep(self.retry.saturating_sub(known.asked.elapsed())).await;
        }
        self.ask_and_keep(&mut noted).await
    }

    async fn ask_and_keep(&self, noted: &mut Option<Instant>) -> Result<Arc<Known>, Why> {
        let known = Arc::new(self.ask().await.map_err(|error| {
            tracing::error!(%error, "the tokens cannot be read, so nobody is let in");
            Why::Unavailable
        })?);
        self.current.store(Some(Arc::clone(&known)));
        if noted.is_none_or(|last| last.elapsed() >= NOTED) {
            *noted = Some(Instant::now());
            self.write_uses(&known).await;
        }
        Ok(known)
    }

    async fn ask(&self) -> Result<Known, StoreError> {
        let asked = Instant::now();
        // The version is read first: tokens that change in between are read again next time.
        let version = self.store.tokens_version().await?;
        let old = self.current.load_full();
        if let Some(old) = old.as_ref().filter(|old| old.version == version) {
            return Ok(Known { version, asked, by_hash: Arc::clone(&old.by_hash) });
        }
        let rows = self.store.tokens().await?;
        let by_hash = rows.into_iter().map(|row| {
            let used = old.as_ref().and_then(|old| old.by_hash.get(&row.hash));
            let used = AtomicI64::new(used.map_or(0, |entry| entry.used.load(Ordering::Relaxed)));
            let scope = Allowed { tasks: row.token.tasks.clone(), profiles: row.token.profiles.clone() };
            let admitted = Admitted::new(&format!("token:{}", row.token.name), scope);
            let admitted = Arc::new(Admitted { approver: row.token.approver, ..admitted });
            (row.hash, Entry { token: row.token, admitted, used })
        });
        Ok(Known { version, asked, by_hash: Arc::new(by_hash.collect()) })
    }

    pub(super) async fn note_uses(&self) {
        if let Some(known) = self.current.load_full() {
            self.write_uses(&known).await;
        }
    }

    async fn write_uses(&self, known: &Known) {
        let used = known.by_hash.values().filter_map(|entry| match entry.used.swap(0, Ordering::Relaxed) {
            0 => None,
            time => Some((entry.token.id.clone(), Micros::new(time))),
        });
        let used: Vec<_> = used.collect();
        if let Err(error) = self.store.tokens_used(&used).await {
            tracing::warn!(%error, "when tokens were used is not written down");
        }
    }
}
