//! Recorded calls, judged again under another policy: read in slices of time, judged on all cores, with no more in memory than a page for
//! each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinSet;
use toolmark_config::Config;
use toolmark_core::catalog::Catalog;
use toolmark_core::names::PackName;
use toolmark_core::tool::{Source, Tool};
use toolmark_runtime::Workspace;
use toolmark_runtime::replay::{Recorded, Replay, Report};
use toolmark_store::audit::{AuditCall, AuditFilter};
use toolmark_store::{Micros, Store, StoreError};

use crate::listing::Listed;

/// Into how many slices the time is cut: many, so that a busy hour is not one worker's alone.
const SLICES: u64 = 128;

/// How calls are judged again.
pub struct ReplaySettings {
    /// Which calls. With `bodies`, arguments that were kept are used.
    pub filter: AuditFilter,
    /// How many calls are named for each finding.
    pub examples: usize,
    /// How many work at once.
    pub workers: usize,
    /// After how many calls it ends, the oldest first; nothing for all of them.
    pub most: Option<u64>,
}

/// The tools of every pack that a store knows, as they were when last seen. What cannot be read is left out and listed as its problem.
///
/// # Errors
/// [`StoreError`] when the store cannot be read.
pub async fn remembered_catalog(store: &Store) -> Result<Catalog, StoreError> {
    let mut builder = Catalog::builder();
    for known in store.packs().await? {
        let (Ok(name), source) = (known.pack.parse::<PackName>(), Source::new(&known.source)) else { continue };
        if let Some(listed) = Listed::recall(store, &name, &source).await? {
            builder = builder.pack(listed.pack(&name, None, &source));
        }
    }
    Ok(builder.build_partly())
}

/// True for a tool that a configuration names and does not offer.
#[must_use]
pub fn is_hidden(config: &Config, tool: &Tool) -> bool {
    let pack = config.packs.iter().find(|(name, _)| Some(name.as_str()) == tool.pack());
    pack.is_some_and(|(_, pack)| !pack.enabled || !pack.admits(tool.raw()))
}

/// Is told how many calls were judged, and which part of the time they are from.
pub type Progress = dyn Fn(u64, f64) + Send + Sync;

/// Judges every call that matches by a workspace whose catalog is [`remembered_catalog`]. `done` is told now and then how far it is.
/// Dropped halfway, it judges no more.
///
/// # Errors
/// [`StoreError`] when the store cannot be read.
pub async fn replay(
    store: &Store,
    workspace: Arc<Workspace>,
    config: Arc<Config>,
    settings: &ReplaySettings,
    done: Arc<Progress>,
) -> Result<Report, StoreError> {
    let mut report = Report::new(settings.examples);
    let Some((first, last)) = store.audit_span(&settings.filter).await? else { return Ok(report) };
    let work = Arc::new(Work {
        store: store.clone(),
        workspace,
        config,
        filter: settings.filter.clone(),
        slices: Slices::new(first, last),
        examples: settings.examples,
        judged: AtomicU64::new(0),
        most: settings.most.unwrap_or(u64::MAX),
        done,
    });
    let mut workers = JoinSet::new();
    for _ in 0..settings.workers.max(1) {
        workers.spawn(Arc::clone(&work).run());
    }
    while let Some(ended) = workers.join_next().await {
        match ended {
            Ok(found) => report.merge(found?),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(cancelled) => tracing::warn!(%cancelled, "a part of the calls was not judged"),
            },
        }
    }
    Ok(report)
}

/// What the workers share.
struct Work {
    store: Store,
    workspace: Arc<Workspace>,
    config: Arc<Config>,
    filter: AuditFilter,
    slices: Slices,
    examples: usize,
    judged: AtomicU64,
    most: u64,
    done: Arc<Progress>,
}

impl Work {
    async fn run(self: Arc<Self>) -> Result<Report, StoreError> {
        let hidden = |tool: &Tool| is_hidden(&self.config, tool);
        let mut replay = Replay::new(&self.workspace, &hidden);
        let mut report = Report::new(self.examples);
        while let Some((since, until)) = self.slices.take() {
            let filter = AuditFilter { since: Some(since), until: Some(until), ..self.filter.clone() };
            let mut calls = self.store.calls(filter);
            loop {
                let page = calls.page().await?;
                if page.is_empty() {
                    break;
                }
                let count = page.len() as u64;
                for call in page {
                    let call = recorded(call);
                    let replayed = replay.judge(&call);
                    report.add(&call, &replayed);
                }
                let judged = self.judged.fetch_add(count, Ordering::Relaxed) + count;
                (self.done)(judged, self.slices.part());
                if judged >= self.most {
                    return Ok(report);
                }
                // Judging is work without a pause; others on this thread have some too.
                tokio::task::yield_now().await;
            }
        }
        Ok(report)
    }
}

fn recorded(call: AuditCall) -> Recorded {
    Recorded {
        id: call.id.as_u128(),
        tool: call.tool,
        caller: call.caller,
        session: call.session,
        task: call.task,
        verdict: call.verdict,
        code: call.code,
        rules: call.rules,
        judged: call.judged,
        digest: call.arguments,
        arguments: call.body,
    }
}

/// A span of time in equal parts, handed out one after the other.
struct Slices {
    first: i64,
    last: i64,
    width: i64,
    next: AtomicU64,
}

impl Slices {
    fn new(first: Micros, last: Micros) -> Self {
        let span = last.get().abs_diff(first.get());
        let width = i64::try_from(span / SLICES + 1).unwrap_or(i64::MAX);
        Self { first: first.get(), last: last.get(), width, next: AtomicU64::new(0) }
    }

    /// Which part was handed out.
    fn part(&self) -> f64 {
        (self.next.load(Ordering::Relaxed) as f64 / SLICES as f64).min(1.0)
    }

    /// From when on, and before when. Together they are the whole span, and no two share a moment.
    fn take(&self) -> Option<(Micros, Micros)> {
        let at = i64::try_from(self.next.fetch_add(1, Ordering::Relaxed)).ok()?;
        let since = self.first.checked_add(self.width.checked_mul(at)?)?;
        let until = since.saturating_add(self.width);
        (since <= self.last).then_some((Micros::new(since), Micros::new(until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_the_whole_span_and_share_nothing() {
        for (first, last) in [(0, 0), (5, 6), (-1_000, 1_000_000), (0, i64::MAX - 1)] {
            let slices = Slices::new(Micros::new(first), Micros::new(last));
            let all: Vec<(Micros, Micros)> = std::iter::from_fn(|| slices.take()).collect();
            assert_eq!(all.first().map(|(since, _)| since.get()), Some(first));
            assert!(all.last().is_some_and(|(_, until)| until.get() > last), "{first} {last}");
            assert!(all.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert!(all.len() <= usize::try_from(SLICES).unwrap() + 1);
        }
    }
}
