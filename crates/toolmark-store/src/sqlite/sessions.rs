//! Conversations in SQLite: one row for each session, and what was said in it in order.

use super::{Sqlite, Survives, Writing};
use crate::error::StoreError;
use crate::sessions::{Holder, KeptSession};
use crate::time::Micros;

impl Sqlite {
    pub(super) async fn load_sessions(
        &self,
        named: Option<&str>,
        most: Option<u64>,
    ) -> Result<Vec<KeptSession>, StoreError> {
        let most = most.map_or(-1, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let sql = "SELECT name, changed_us, holder, since_us, until_us, waits IS NOT NULL AS waits, \
                   (SELECT count(*) FROM session_items WHERE session = name) AS items \
                   FROM sessions WHERE ?1 IS NULL OR name = ?1 ORDER BY changed_us DESC, name LIMIT ?2";
        let query = sqlx::query(sql).bind(named.map(str::to_owned)).bind(most);
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        let one = |row| {
            let (since, until) = (self.maybe_time(row, "since_us")?, self.maybe_time(row, "until_us")?);
            let run: Option<String> = self.column(row, "holder")?;
            Ok(KeptSession {
                name: self.column(row, "name")?,
                items: self.column::<i64>(row, "items")?.unsigned_abs(),
                changed: self.time(row, "changed_us")?,
                held: run.map(|run| Holder { run, since, until }),
                waits: self.column(row, "waits")?,
            })
        };
        rows.iter().map(one).collect()
    }

    pub(super) async fn load_session(&self, session: &str, most: Option<u64>) -> Result<Vec<String>, StoreError> {
        let most = most.map_or(-1, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let sql = "SELECT text FROM session_items WHERE session = ? ORDER BY position DESC LIMIT ?";
        let query = sqlx::query(sql).bind(session.to_owned()).bind(most);
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().rev().map(|row| self.column(row, "text")).collect()
    }

    /// The run that has a session; the session is made where there is none.
    async fn holder(&self, writing: &mut Writing, session: &str, at: Micros) -> Result<Option<String>, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("INSERT INTO sessions (name, changed_us) VALUES (?, ?) ON CONFLICT DO NOTHING");
        query.bind(session.to_owned()).bind(at.get()).execute(&mut **writing).await.map_err(error)?;
        let query = sqlx::query("SELECT holder FROM sessions WHERE name = ?").bind(session.to_owned());
        let row = query.fetch_one(&mut **writing).await.map_err(error)?;
        self.column(&row, "holder")
    }

    pub(super) async fn append_items(
        &self,
        writing: &mut Writing,
        session: &str,
        run: Option<&str>,
        items: &[String],
    ) -> Result<(), StoreError> {
        for item in items {
            let sql = "INSERT INTO session_items (session, position, run, text) VALUES (?1, \
                       (SELECT coalesce(max(position), 0) + 1 FROM session_items WHERE session = ?1), ?2, ?3)";
            let query = sqlx::query(sql).bind(session.to_owned()).bind(run.map(str::to_owned)).bind(item.clone());
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
        let query = sqlx::query("UPDATE sessions SET changed_us = ? WHERE name = ?").bind(at.get());
        let done = query.bind(session.to_owned()).execute(&mut **writing).await;
        done.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn pop_from_session(&self, session: &str, at: Micros) -> Result<Option<String>, StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql = "DELETE FROM session_items WHERE session = ?1 AND position = \
                   (SELECT max(position) FROM session_items WHERE session = ?1) RETURNING text";
        let query = sqlx::query(sql).bind(session.to_owned());
        let row = query.fetch_optional(&mut *writing).await.map_err(|error| self.error(&error))?;
        let text: Option<String> = row.map(|row| self.column(&row, "text")).transpose()?;
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await?;
        Ok(text)
    }

    pub(super) async fn empty_session(&self, session: &str, at: Micros) -> Result<(), StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("DELETE FROM session_items WHERE session = ?").bind(session.to_owned());
        query.execute(&mut *writing).await.map_err(|error| self.error(&error))?;
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await
    }

    pub(super) async fn remove_session(&self, session: &str) -> Result<bool, StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("DELETE FROM session_items WHERE session = ?").bind(session.to_owned());
        query.execute(&mut *writing).await.map_err(error)?;
        let query = sqlx::query("DELETE FROM sessions WHERE name = ?").bind(session.to_owned());
        let gone = query.execute(&mut *writing).await.map_err(error)?.rows_affected() > 0;
        self.commit(writing).await?;
        Ok(gone)
    }

    pub(super) async fn remove_idle_session(&self, session: &str, at: Micros) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql =
            "SELECT 1 AS one FROM sessions WHERE name = ? AND waits IS NULL AND (holder IS NULL OR until_us <= ?)";
        let query = sqlx::query(sql).bind(session.to_owned()).bind(at.get());
        if query.fetch_optional(&mut *writing).await.map_err(error)?.is_none() {
            return Ok(false);
        }
        let query = sqlx::query("DELETE FROM session_items WHERE session = ?").bind(session.to_owned());
        query.execute(&mut *writing).await.map_err(error)?;
        let query = sqlx::query("DELETE FROM sessions WHERE name = ?").bind(session.to_owned());
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
        let query = sqlx::query("UPDATE sessions SET holder = ?, since_us = ? WHERE name = ?");
        let query = query.bind(run.to_owned()).bind(at.get()).bind(session.to_owned());
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
        let query = sqlx::query("SELECT 1 AS one FROM session_items WHERE session = ? AND run = ? LIMIT 1");
        let query = query.bind(session.to_owned()).bind(run.to_owned());
        let said = query.fetch_optional(&mut *writing).await.map_err(error)?.is_some();
        let ours = self.holder(&mut writing, session, at).await?.as_deref() == Some(run);
        if !said && !ours {
            return Ok(false);
        }
        if !said {
            self.append_items(&mut writing, session, Some(run), items).await?;
            self.touch_session(&mut writing, session, at).await?;
        }
        let sql = "UPDATE sessions SET holder = NULL, since_us = NULL WHERE name = ? AND holder = ?";
        let query = sqlx::query(sql).bind(session.to_owned()).bind(run.to_owned());
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
        let sql = "SELECT position FROM session_items WHERE session = ? ORDER BY position LIMIT 1 OFFSET ?";
        let query = sqlx::query_scalar::<_, i64>(sql).bind(session.to_owned()).bind(count - 1);
        let Some(last) = query.fetch_optional(&mut *writing).await.map_err(error)? else { return Ok(false) };
        let sql = "DELETE FROM session_items WHERE session = ? AND position <= ?";
        let query = sqlx::query(sql).bind(session.to_owned()).bind(last);
        query.execute(&mut *writing).await.map_err(error)?;
        // There were at least as many places as there are items now.
        for (item, position) in items.iter().zip(last - new + 1..) {
            let sql = "INSERT INTO session_items (session, position, run, text) VALUES (?, ?, NULL, ?)";
            let query = sqlx::query(sql).bind(session.to_owned()).bind(position).bind(item.clone());
            query.execute(&mut *writing).await.map_err(error)?;
        }
        self.touch_session(&mut writing, session, at).await?;
        self.commit(writing).await?;
        Ok(true)
    }

    pub(super) async fn leave_session(&self, session: &str, run: &str) -> Result<(), StoreError> {
        let mut writing = self.begin(Survives::PowerLoss).await?;
        let sql = "UPDATE sessions SET holder = NULL, since_us = NULL WHERE name = ? AND holder = ?";
        let query = sqlx::query(sql).bind(session.to_owned()).bind(run.to_owned());
        query.execute(&mut *writing).await.map_err(|error| self.error(&error))?;
        self.commit(writing).await
    }
}
