//! `toolmark audit`: the newest calls that match, and with `--follow` those that come.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use toolmark_store::audit::{AuditEntry, AuditFilter, Order};
use toolmark_store::{Micros, Store};

use super::{AuditQuery, columns, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// How often it is looked for new calls.
const EVERY: Duration = Duration::from_millis(300);
/// How far behind its time a record may be written: nodes write in batches, and clocks differ.
const LATE: Duration = Duration::from_secs(60);
/// How many lines are printed below one header, so that a long list can be read.
const PAGE: usize = 1_000;

pub(super) async fn run(arguments: &AuditQuery) -> Result<Exit, Failure> {
    let store = super::store(&arguments.place).await?;
    let mut filter = arguments.which.filter(&store).await?;
    filter.rows = arguments.rows;
    let mut reader = store.audit(filter.clone(), Order::Newest);
    if arguments.limit > 0 {
        reader = reader.limit(arguments.limit);
    }
    let mut found = reader.all().await.map_err(failed)?;
    found.reverse();
    let mut shown = Shown { json: arguments.json, header: true };
    for page in found.chunks(PAGE) {
        shown.print(page)?;
    }
    if arguments.follow {
        follow(&store, filter, found, &mut shown).await?;
    } else if found.is_empty() && !arguments.json {
        output::line("no calls")?;
    } else if arguments.limit > 0 && found.len() as u64 == arguments.limit {
        output::note(&format!("the newest {}; `--limit 0` shows all", arguments.limit));
    }
    store.close().await.map_err(failed)?;
    Ok(Exit::Success)
}

/// Looks again and again at the last minute, and shows what was not there before.
async fn follow(store: &Store, filter: AuditFilter, found: Vec<AuditEntry>, shown: &mut Shown) -> Result<(), Failure> {
    let mut newest = found.last().map_or(Micros::new(0), |entry| entry.record.time);
    let mut seen: HashMap<(Arc<str>, u64), Micros> = found.into_iter().map(known).collect();
    loop {
        tokio::time::sleep(EVERY).await;
        let since = filter.since.map_or(newest.before(LATE), |since| since.max(newest.before(LATE)));
        let recent = AuditFilter { since: Some(since), ..filter.clone() };
        let mut new = store.audit(recent, Order::Oldest).all().await.map_err(failed)?;
        new.retain(|entry| !seen.contains_key(&(Arc::clone(&entry.node), entry.link.seq)));
        shown.print(&new)?;
        newest = new.last().map_or(newest, |entry| newest.max(entry.record.time));
        seen.extend(new.into_iter().map(known));
        seen.retain(|_, time| *time >= newest.before(LATE * 2));
    }
}

fn known(entry: AuditEntry) -> ((Arc<str>, u64), Micros) {
    ((entry.node, entry.link.seq), entry.record.time)
}

/// What was printed so far.
struct Shown {
    json: bool,
    header: bool,
}

impl Shown {
    fn print(&mut self, entries: &[AuditEntry]) -> Result<(), Failure> {
        if entries.is_empty() {
            return Ok(());
        }
        if self.json {
            for entry in entries {
                output::line(entry.to_json())?;
            }
            return Ok(());
        }
        let mut table = output::table(if std::mem::take(&mut self.header) { &columns::HEADER } else { &[] });
        for entry in entries {
            table.add_row(columns::row(entry));
        }
        output::line(table.trim_fmt())?;
        Ok(())
    }
}
