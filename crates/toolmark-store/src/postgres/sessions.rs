//! Conversations in PostgreSQL: one row for each session, which is locked while it changes, and what was said in it in order.

use super::text::kept;
use super::{Postgres, Survives, Writing};
use crate::error::StoreError;
use crate::sessions::{Holder, KeptSession};
use crate::time::Micros;

impl Postgres {
    pub(super) async fn load_sessions(
        &self,
        named: Option<&str>,
        most: Option<u64>,
    ) -> Result<Vec<KeptSession>, StoreError> {
        let most = most.map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let sql = "SELECT name, changed_us, holder, since_us, until_us, waits IS NOT NULL AS waits, \
                   (SELECT count(*) FROM session_items WHERE session = name) AS items \
                   FROM sessions WHERE $1::text IS NULL OR name = $1 ORDER BY changed_us DESC, name LIMIT $2";
        let query = sqlx::query(sql).bind(named.map(kept)).bind(most);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        let one = |row| {
            let (since, until) = (self.maybe_time(row, "since_us")?, self.maybe_time(row, "until_us")?);
            let run = self.maybe_text(row, "holder")?.map(std::borrow::Cow::into_owned);
            Ok(KeptSession {
                name: self.text(row, "name")?.into_owned(),
                items: self.column::<i64>(row, "items")?.unsigned_abs(),
                changed: self.time(row, "changed_us")?,
                held: run.map(|run| Holder { run, since, until }),
                waits: self.column(row, "waits")?,
            })
        };
        rows.iter().map(one).collect()
    }

    pub(super) async fn load_session(&self, session: &str, most: Option<u64>) -> Result<Vec<String>, StoreError> {
        let most = most.map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let sql = "SELECT text FROM session_items WHERE session = $1 ORDER BY position DESC LIMIT $2";
        let query = sqlx::query(sql).bind(kept(session)).bind(most);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().rev().map(|row| Ok(self.text(row, "text")?.into_owned())).collect()
    }

    /// The run that has a session; the session is made where there is none. Nobody else changes it until the transaction ends.
    async fn holder(&self, writing: &mut Writing, session: &str, at: Micros) -> Result<Option<String>, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("INSERT INTO sessions (name, changed_us) VALUES ($1, $2) ON CONFLICT DO NOTHING");
        query.bind(kept(session)).bind(at.get()).execute(&mut **writing).await.map_err(error)?;
        let query = sqlx::query("SELECT holder FROM sessions WHERE name = $1 FOR UPDATE").bind(kept(session));
        let row = query.fetch_one(&mut **writing).await.map_err(error)?;
        Ok(self.maybe_text(&row, "holder")?.map(std::borrow::Cow::into_owned))
    }

    pub(super) async fn append_items(
        &self,
        writing: &mut Writing,
        session: &str,
        run: Option<&str>,
        items: &[String],
    ) -> Result<(), StoreError> {
        for item in items {
            let sql = "INSERT INTO session_items (session, position, run, text) VALUES ($1, \
                       (SELECT coalesce(max(position), 0) + 1 FROM session_items WHERE session = $1), $2, $3)";
            let query = sqlx::query(sql).bind(kept(session)).bind(run.map(kept)).bind(kept(item));
            query.execute(&mut **writing).await.map_err(|error| self.error(&error))?;
        }
        Ok(())
    }

    pub(super) async fn add_to_session(&self, session: &str, items: &[String], at: Micros) -> Result<(), StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        self.holder(&mut writing, session, at).await?;
        self.append_items(&mut writing, session, None, items).await?;
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await
    }

    async fn touch_session(&self, writing: &mut Writing, session: &str, at: Micros) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE sessions SET changed_us = $1 WHERE name = $2").bind(at.get());
        let done = query.bind(kept(session)).execute(&mut **writing).await;
        done.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn pop_from_session(&self, session: &str, at: Micros) -> Result<Option<String>, StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        self.holder(&mut writing, session, at).await?;
        let sql = "DELETE FROM session_items WHERE session = $1 AND position = \
                   (SELECT max(position) FROM session_items WHERE session = $1) RETURNING text";
        let query = sqlx::query(sql).bind(kept(session));
        let row = query.fetch_optional(&mut *writing).await.map_err(|error| self.error(&error))?;
        let text: Option<String> =
            row.map(|row| self.text(&row, "text").map(std::borrow::Cow::into_owned)).transpose()?;
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await?;
        Ok(text)
    }

    pub(super) async fn empty_session(&self, session: &str, at: Micros) -> Result<(), StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("DELETE FROM session_items WHERE session = $1").bind(kept(session));
        query.execute(&mut *writing).await.map_err(|error| self.error(&error))?;
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await
    }

    pub(super) async fn remove_session(&self, session: &str) -> Result<bool, StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("DELETE FROM session_items WHERE session = $1").bind(kept(session));
        query.execute(&mut *writing).await.map_err(error)?;
        let query = sqlx::query("DELETE FROM sessions WHERE name = $1").bind(kept(session));
        let gone = query.execute(&mut *writing).await.map_err(error)?.rows_affected() > 0;
        self.commit(writing).await?;
        Ok(gone)
    }

    pub(super) async fn remove_idle_session(&self, session: &str, at: Micros) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql = "SELECT 1 AS one FROM sessions WHERE name = $1 AND waits IS NULL \
                   AND (holder IS NULL OR until_us <= $2) FOR UPDATE";
        let query = sqlx::query(sql).bind(kept(session)).bind(at.get());
        if query.fetch_optional(&mut *writing).await.map_err(error)?.is_none() {
            return Ok(false);
        }
        let query = sqlx::query("DELETE FROM session_items WHERE session = $1").bind(kept(session));
        query.execute(&mut *writing).await.map_err(error)?;
        let query = sqlx::query("DELETE FROM sessions WHERE name = $1").bind(kept(session));
        query.execute(&mut *writing).await.map_err(error)?;
        self.commit(writing).await?;
        Ok(true)
    }

    pub(super) async fn take_session(
        &self,
        session: &str,
        run: &str,
        take_over: bool,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let holder = self.holder(&mut writing, session, at).await?;
        if holder.is_some_and(|holder| holder != run) && !take_over {
            return Ok(false);
        }
        let query = sqlx::query("UPDATE sessions SET holder = $1, since_us = $2 WHERE name = $3");
        let query = query.bind(kept(run)).bind(at.get()).bind(kept(session));
        query.execute(&mut *writing).await.map_err(|error| self.error(&error))?;
        self.commit(writing).await?;
        Ok(true)
    }

    pub(super) async fn end_session(
        &self,
        session: &str,
        run: &str,
        items: &[String],
        at: Micros,
    ) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let ours = self.holder(&mut writing, session, at).await?.as_deref() == Some(run);
        let query = sqlx::query("SELECT 1 AS one FROM session_items WHERE session = $1 AND run = $2 LIMIT 1");
        let query = query.bind(kept(session)).bind(kept(run));
        let said = query.fetch_optional(&mut *writing).await.map_err(error)?.is_some();
        if !said && !ours {
            return Ok(false);
        }
        if !said {
            self.append_items(&mut writing, session, Some(run), items).await?;
            self.touch_session(&mut writing, session, at).await?;
        }
        let sql = "UPDATE sessions SET holder = NULL, since_us = NULL WHERE name = $1 AND holder = $2";
        let query = sqlx::query(sql).bind(kept(session)).bind(kept(run));
        query.execute(&mut *writing).await.map_err(error)?;
        self.commit(writing).await?;
        Ok(true)
    }

    pub(super) async fn shorten_session(
        &self,
        session: &str,
        run: &str,
        oldest: u64,
        items: &[String],
        at: Micros,
    ) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let (Ok(count), Ok(new)) = (i64::try_from(oldest), i64::try_from(items.len())) else { return Ok(false) };
        let mut writing = self.begin(Survives::PowerLoss).await?;
        if count < 1 || new > count || self.holder(&mut writing, session, at).await?.as_deref() != Some(run) {
            return Ok(false);
        }
        let sql = "SELECT position FROM session_items WHERE session = $1 ORDER BY position LIMIT 1 OFFSET $2";
        let query = sqlx::query_scalar::<_, i64>(sql).bind(kept(session)).bind(count - 1);
        let Some(last) = query.fetch_optional(&mut *writing).await.map_err(error)? else { return Ok(false) };
        let sql = "DELETE FROM session_items WHERE session = $1 AND position <= $2";
        let query = sqlx::query(sql).bind(kept(session)).bind(last);
        query.execute(&mut *writing).await.map_err(error)?;
        // There were at least as many places as there are items now.
        for (item, position) in items.iter().zip(last - new + 1..) {
            let sql = "INSERT INTO session_items (session, position, run, text) VALUES ($1, $2, NULL, $3)";
            let query = sqlx::query(sql).bind(kept(session)).bind(position).bind(kept(item));
            query.execute(&mut *writing).await.map_err(error)?;
        }
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await?;
        Ok(true)
    }

    pub(super) async fn leave_session(&self, session: &str, run: &str) -> Result<(), StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql = "UPDATE sessions SET holder = NULL, since_us = NULL WHERE name = $1 AND holder = $2";
        let query = sqlx::query(sql).bind(kept(session)).bind(kept(run));
        query.execute(&mut *writing).await.map_err(|error| self.error(&error))?;
        self.commit(writing).await
    }
}
