//! What changed since I looked? Tells of changes by whatever process shares the store.
//!
//! A back end that can call out does so, and changes arrive at once. Beside that, counters are compared now and then: a notice that
//! is lost makes a change known later, never never.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use toolmark_core::approval::AskId;

use crate::backend::{Backend, Counters};
use crate::error::{Fault, StoreError};
use crate::store::Store;

/// How often counters are compared where nobody calls out.
const OFTEN: Duration = Duration::from_millis(250);
/// How often where somebody does.
const SELDOM: Duration = Duration::from_secs(5);

/// What may look different now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A token was made or revoked.
    Tokens,
    /// A grant was given, used up or taken back.
    Grants,
    /// A question was asked, answered or closed.
    Ask(AskId),
    /// Names were published.
    Names,
    /// A tool was pinned, or its pin forgotten.
    Pins,
    /// Anything: look again at everything.
    Unknown,
}

/// Changes, one after the other.
pub struct Changes(mpsc::Receiver<Change>);

impl Change {
    /// What a notice or a counter of that name means.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "tokens" => Self::Tokens,
            "grants" => Self::Grants,
            "names" => Self::Names,
            "pins" => Self::Pins,
            other => other.strip_prefix("asks:").and_then(|id| id.parse().ok()).map_or(Self::Unknown, Self::Ask),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens => f.write_str("tokens"),
            Self::Grants => f.write_str("grants"),
            Self::Ask(id) => write!(f, "asks:{id}"),
            Self::Names => f.write_str("names"),
            Self::Pins => f.write_str("pins"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl Store {
    /// Tells of every change from now on, by whatever process. Some are told twice, none is left out.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be watched now.
    pub async fn watch(&self) -> Result<Changes, StoreError> {
        let backend = Arc::clone(self.backend());
        // Whoever listens first and counts then misses nothing in between.
        let notices = backend.notices().await?;
        let counters = backend.counters().await?;
        let (tell, told) = mpsc::channel(256);
        tokio::spawn(follow(backend, notices, counters, tell));
        Ok(Changes(told))
    }
}

impl Changes {
    /// The next change; none when the store was closed.
    pub async fn next(&mut self) -> Option<Change> {
        self.0.recv().await
    }
}

async fn follow(
    backend: Arc<dyn Backend>,
    mut notices: Option<mpsc::Receiver<Change>>,
    mut known: Counters,
    tell: mpsc::Sender<Change>,
) {
    let mut tick = tokio::time::interval(if notices.is_some() { SELDOM } else { OFTEN });
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.reset();
    loop {
        let noticed = tokio::select! {
            () = tell.closed() => return,
            notice = notice(&mut notices) => Some(notice),
            _ = tick.tick() => None,
        };
        let changes = match noticed {
            Some(Some(change)) => vec![change],
            // Nobody calls out any more: the store was closed, or the counters will tell.
            Some(None) => {
                notices = None;
                continue;
            }
            None => match backend.counters().await {
                Ok(now) => {
                    let changes = different(&known, &now);
                    known = now;
                    changes
                }
                Err(error) if error.fault() == Fault::Closed => return,
                Err(_) => continue,
            },
        };
        for change in changes {
            if tell.send(change).await.is_err() {
                return;
            }
        }
    }
}

async fn notice(notices: &mut Option<mpsc::Receiver<Change>>) -> Option<Change> {
    match notices {
        Some(notices) => notices.recv().await,
        None => std::future::pending().await,
    }
}

fn different(before: &Counters, now: &Counters) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (name, _) in now.iter().filter(|(name, value)| before.get(*name) != Some(value)) {
        let change = Change::parse(name);
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_spelled_as_it_is_read() {
        for change in
            [Change::Tokens, Change::Grants, Change::Names, Change::Pins, Change::Unknown, Change::Ask(AskId::new(7))]
        {
            assert_eq!(Change::parse(&change.to_string()), change);
        }
        for other in ["", "asks:", "asks:7x", "something new"] {
            assert_eq!(Change::parse(other), Change::Unknown, "{other}");
        }
    }

    #[test]
    fn counters_that_are_new_or_differ_are_changes() {
        let counters = |all: &[(&str, u64)]| all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let before: Counters = counters(&[("tokens", 1), ("names", 4)]);
        assert_eq!(different(&before, &before), []);
        let now = counters(&[("tokens", 2), ("names", 4), ("asks", 1), ("later", 1)]);
        assert_eq!(different(&before, &now), [Change::Unknown, Change::Tokens]);
    }
}
