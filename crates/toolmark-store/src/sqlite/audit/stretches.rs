//! Where to look for what is rare: only in the stretches of time that it was seen in, one after the other.

use sqlx::{QueryBuilder, Row as _};
use toolmark_core::verdict::Decision;

use super::kinds::{NO_KIND, STRETCH_BITS, stretch};
use crate::audit::{AuditCursor, AuditFilter, Order, Outcome};
use crate::error::StoreError;
use crate::sqlite::Sqlite;
use crate::time::Micros;

impl Sqlite {
    /// The same question about each stretch of time that may have an answer, in the order of the answers; the question itself where
    /// nothing is known that narrows it.
    pub(super) async fn stretches(
        &self,
        filter: &AuditFilter,
        order: Order,
        after: Option<AuditCursor>,
    ) -> Result<Vec<AuditFilter>, StoreError> {
        let mut query = QueryBuilder::new(
            "SELECT DISTINCT s.stretch FROM audit_seen s LEFT JOIN audit_kinds k ON k.id = s.kind WHERE (s.kind = ",
        );
        query.push_bind(NO_KIND).push(" OR (TRUE");
        let mut narrowed = false;
        let words = [
            (" AND k.canonical = ", filter.tool.as_deref()),
            (" AND k.task = ", filter.task.as_deref()),
            (" AND k.verdict = ", filter.verdict.map(Decision::as_str)),
            (" AND k.outcome = ", filter.outcome.map(Outcome::as_str)),
        ];
        for (condition, word) in words {
            if let Some(word) = word {
                query.push(condition).push_bind(word.to_owned());
                narrowed = true;
            }
        }
        if let Some(pack) = &filter.pack {
            query.push(" AND k.canonical >= ").push_bind(format!("{pack}."));
            query.push(" AND k.canonical < ").push_bind(format!("{pack}/"));
            narrowed = true;
        }
        if !narrowed {
            return Ok(vec![filter.clone()]);
        }
        query.push("))");
        // What was returned already lies on one side of the cursor.
        let (from, to) = match order {
            Order::Newest => (filter.since, earlier(filter.until, after.map(|after| after.time))),
            Order::Oldest => (later(filter.since, after.map(|after| after.time)), filter.until),
        };
        for (condition, time) in [(" AND s.stretch >= ", from), (" AND s.stretch <= ", to)] {
            if let Some(time) = time {
                query.push(condition).push_bind(stretch(time));
            }
        }
        query.push(" ORDER BY s.stretch");
        let rows = query.build().fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        let seen = rows.iter().map(|row| row.try_get::<i64, _>(0)).collect::<Result<Vec<_>, _>>();
        let mut stretches = together(&seen.map_err(|error| self.unreadable(&error.to_string()))?);
        if order == Order::Newest {
            stretches.reverse();
        }
        let within = |(first, last): (i64, i64)| AuditFilter {
            since: later(filter.since, begin(first)),
            until: earlier(filter.until, last.checked_add(1).and_then(begin)),
            ..filter.clone()
        };
        Ok(stretches.into_iter().map(within).collect())
    }
}

/// When a stretch begins; nothing for one beyond all time.
fn begin(stretch: i64) -> Option<Micros> {
    stretch.checked_mul(1 << STRETCH_BITS).map(Micros::new)
}

/// Stretches that follow each other as one, first and last.
fn together(seen: &[i64]) -> Vec<(i64, i64)> {
    let mut stretches: Vec<(i64, i64)> = Vec::new();
    for stretch in seen {
        match stretches.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*stretch) => *last = *stretch,
            _ => stretches.push((*stretch, *stretch)),
        }
    }
    stretches
}

fn earlier(one: Option<Micros>, other: Option<Micros>) -> Option<Micros> {
    one.into_iter().chain(other).min()
}

fn later(one: Option<Micros>, other: Option<Micros>) -> Option<Micros> {
    one.into_iter().chain(other).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_follow_each_other_are_one() {
        assert_eq!(together(&[]), []);
        assert_eq!(together(&[-3, -2, 0, 4, 5, 6, i64::MAX]), [(-3, -2), (0, 0), (4, 6), (i64::MAX, i64::MAX)]);
    }
}
