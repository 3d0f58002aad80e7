//! Threads in SQLite: sessions that are held for a while, and what waits in them.

use super::{Sqlite, Survives, Writing};
use crate::error::StoreError;
use crate::threads::{TakenThread, ThreadClaim, TrimmedThreads};
use crate::time::Micros;

impl Sqlite {
    pub(super) async fn hold_session(&self, claim: ThreadClaim<'_>, at: Micros) -> Result<TakenThread, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql = "UPDATE sessions SET holder = ?1, since_us = ?2, until_us = ?3, owner = ?4 WHERE name = ?5 \
                   AND (holder IS NULL OR holder = ?1 OR until_us <= ?2) RETURNING waits";
        let query = sqlx::query(sql).bind(claim.holder.to_owned()).bind(at.get()).bind(claim.until.get());
        let query = query.bind(claim.owner.to_owned()).bind(claim.thread.to_owned());
        if let Some(row) = &query.fetch_optional(&mut *writing).await.map_err(error)? {
            let waits = self.column(row, "waits")?;
            self.commit(writing).await?;
            return Ok(TakenThread::Ours { waits, forgotten: 0 });
        }
        let query = sqlx::query("SELECT 1 AS one FROM sessions WHERE name = ?1").bind(claim.thread.to_owned());
        if query.fetch_optional(&mut *writing).await.map_err(error)?.is_some() {
            return Ok(TakenThread::Held);
        }
        let Some(forgotten) = self.make_room(&mut writing, claim.owner, claim.most, at).await? else {
            return Ok(TakenThread::Full);
        };
        let sql = "INSERT INTO sessions (name, owner, holder, since_us, until_us, changed_us) VALUES (?1, ?2, ?3, ?4, ?5, ?4) \
                   ON CONFLICT DO NOTHING";
        let query =
            sqlx::query(sql).bind(claim.thread.to_owned()).bind(claim.owner.to_owned()).bind(claim.holder.to_owned());
        let query = query.bind(at.get()).bind(claim.until.get());
        if query.execute(&mut *writing).await.map_err(error)?.rows_affected() == 0 {
            return Ok(TakenThread::Held);
        }
        self.commit(writing).await?;
        Ok(TakenThread::Ours { waits: None, forgotten })
    }

    /// Forgets threads of an owner until there is room for one more, and says how many; nothing where there is none.
    async fn make_room(
        &self,
        writing: &mut Writing,
        owner: &str,
        most: u32,
        at: Micros,
    ) -> Result<Option<u64>, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("SELECT count(*) AS count FROM sessions WHERE owner = ?1").bind(owner.to_owned());
        let row = query.fetch_one(&mut **writing).await.map_err(error)?;
        let there = self.count(&row, "count")?;
        let over = there.saturating_add(1).saturating_sub(most.into());
        if over == 0 {
            return Ok(Some(0));
        }
        let sql = "DELETE FROM sessions WHERE name IN (SELECT name FROM sessions WHERE owner = ?1 AND waits IS NULL \
                   AND (holder IS NULL OR until_us <= ?2) ORDER BY changed_us LIMIT ?3)";
        let query =
            sqlx::query(sql).bind(owner.to_owned()).bind(at.get()).bind(i64::try_from(over).unwrap_or(i64::MAX));
        let gone = query.execute(&mut **writing).await.map_err(error)?.rows_affected();
        Ok((gone == over).then_some(gone))
    }

    pub(super) async fn remove_threads(
        &self,
        idle: Micros,
        waiting: Micros,
        limit: u32,
        at: Micros,
    ) -> Result<TrimmedThreads, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut writing = self.begin(Survives::Crash).await?;
        let sql = "DELETE FROM sessions WHERE name IN (SELECT name FROM sessions WHERE owner IS NOT NULL \
                   AND changed_us < CASE WHEN waits IS NULL THEN ?1 ELSE ?2 END AND changed_us < ?3 \
                   AND (holder IS NULL OR until_us <= ?4) ORDER BY changed_us LIMIT ?5) \
                   RETURNING waits IS NOT NULL AS waited";
        let query = sqlx::query(sql).bind(idle.get()).bind(waiting.get()).bind(idle.max(waiting).get());
        let query = query.bind(at.get()).bind(i64::from(limit));
        let rows = query.fetch_all(&mut *writing).await.map_err(error)?;
        let mut gone = TrimmedThreads::default();
        for row in &rows {
            match self.column::<bool>(row, "waited")? {
                true => gone.waiting += 1,
                false => gone.idle += 1,
            }
        }
        self.commit(writing).await?;
        Ok(gone)
    }

    pub(super) async fn hold_longer(&self, session: &str, holder: &str, until: Micros) -> Result<bool, StoreError> {
        let mut writing = self.begin(Survives::Crash).await?;
        let query = sqlx::query("UPDATE sessions SET until_us = ? WHERE name = ? AND holder = ?");
        let query = query.bind(until.get()).bind(session.to_owned()).bind(holder.to_owned());
        let done = query.execute(&mut *writing).await.map_err(|error| self.error(&error))?.rows_affected() > 0;
        self.commit(writing).await?;
        Ok(done)
    }

    pub(super) async fn give_session_back(
        &self,
        session: &str,
        holder: &str,
        items: &[String],
        waits: Option<&str>,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql = "UPDATE sessions SET holder = NULL, since_us = NULL, until_us = NULL, waits = ?, changed_us = ? \
                   WHERE name = ? AND holder = ?";
        let query = sqlx::query(sql).bind(waits.map(str::to_owned)).bind(at.get());
        let query = query.bind(session.to_owned()).bind(holder.to_owned());
        let done = query.execute(&mut *writing).await.map_err(|error| self.error(&error))?.rows_affected() > 0;
        if done {
            self.append_items(&mut writing, session, None, items).await?;
            self.commit(writing).await?;
        }
        Ok(done)
    }
}
