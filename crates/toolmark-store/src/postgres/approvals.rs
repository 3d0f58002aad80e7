//! Questions, runs and grants in PostgreSQL.
//!
//! Nodes do not know of each other, so whatever must happen once happens behind a lock: those who ask the same wait for each other
//! by the key of the question, those who decide by its row, and a run begins with the change of one row.

mod grants;
mod runs;

use sqlx::QueryBuilder;
use sqlx::postgres::PgRow;
use toolmark_core::approval::{ApprovalsVersion, Ask, AskId, AskKey, AskState, Decided, Grant, Joined, Outcome, RunId};

use super::text::kept;
use super::{Postgres, Survives, Writing};
use crate::approvals::AskFilter;
use crate::error::StoreError;
use crate::time::Micros;
use crate::watch::Change;

impl Postgres {
    pub(super) async fn take_part(&self, new: &Ask, run: RunId, node: &str) -> Result<Joined, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Two who ask the same at once, on whatever nodes, become one question.
        let query =
            sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('toolmark/ask/' || current_schema() || $1, 0))");
        let query = query.bind(kept(new.key.as_str()));
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        // Held, so that nobody decides between reading the question and taking part in it. Answers before questions: a clock that
        // jumped may have left both.
        let standing = sqlx::query(
            "SELECT body FROM asks WHERE key = $1 AND state <> 'expired' AND expires_us > $2 \
             ORDER BY state = 'pending', id DESC LIMIT 20 FOR UPDATE",
        );
        let standing = standing.bind(kept(new.key.as_str())).bind(new.created.get());
        let rows = standing.fetch_all(&mut *transaction).await.map_err(|error| self.error(&error))?;
        for row in &rows {
            let ask = self.ask_of(row)?;
            let (decided, allows) = match &ask.state {
                AskState::Decided(decided) => (true, decided.allows),
                AskState::Pending | AskState::Expired => (false, false),
            };
            if decided && !allows {
                return Ok(Joined { ask, run: None, fresh: false });
            }
            if let Some(found) = self.take_up(&mut transaction, ask.id, node, new.created).await? {
                self.commit(transaction).await?;
                return Ok(Joined { ask, run: Some(found), fresh: false });
            }
            if !decided {
                let run = self.insert_run(&mut transaction, run, ask.id, node, new.created).await?;
                self.commit(transaction).await?;
                return Ok(Joined { ask, run: Some(run), fresh: false });
            }
        }
        self.insert_ask(&mut transaction, new).await?;
        let run = self.insert_run(&mut transaction, run, new.id, node, new.created).await?;
        self.note_change(&mut transaction, "asks", Change::Ask(new.id)).await?;
        self.commit(transaction).await?;
        Ok(Joined { ask: new.clone(), run: Some(run), fresh: true })
    }

    pub(super) async fn take_decided(
        &self,
        key: &AskKey,
        node: &str,
        at: Micros,
    ) -> Result<Option<Joined>, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let decided = sqlx::query(
            "SELECT body FROM asks WHERE key = $1 AND (state = 'approved' OR state = 'rejected') AND expires_us > $2 \
             ORDER BY id DESC LIMIT 20",
        );
        let decided = decided.bind(kept(key.as_str())).bind(at.get());
        let rows = decided.fetch_all(&mut *transaction).await.map_err(|error| self.error(&error))?;
        for row in &rows {
            let ask = self.ask_of(row)?;
            if matches!(&ask.state, AskState::Decided(decided) if !decided.allows) {
                return Ok(Some(Joined { ask, run: None, fresh: false }));
            }
            if let Some(found) = self.take_up(&mut transaction, ask.id, node, at).await? {
                self.commit(transaction).await?;
                return Ok(Some(Joined { ask, run: Some(found), fresh: false }));
            }
        }
        Ok(None)
    }

    async fn insert_ask(&self, transaction: &mut Writing, ask: &Ask) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO asks (id, key, state, principal, canonical, mark, created_us, expires_us, body) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        );
        let query = query.bind(ask.id.to_string()).bind(kept(ask.key.as_str())).bind(ask.state.as_str());
        let query = query.bind(kept(&ask.principal)).bind(kept(&ask.canonical)).bind(ask.mark.to_string());
        let query = query.bind(ask.created.get()).bind(ask.expires.get()).bind(self.written(ask)?);
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    /// Counts a change, as late as possible: everybody who changes the same waits for this row.
    async fn note_change(&self, transaction: &mut Writing, what: &str, change: Change) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE counters SET value = value + 1 WHERE name = $1").bind(what);
        query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        self.announce(transaction, change).await
    }

    pub(super) async fn load_ask(&self, id: AskId) -> Result<Option<Ask>, StoreError> {
        let query = sqlx::query("SELECT body FROM asks WHERE id = $1").bind(id.to_string());
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| self.ask_of(row)).transpose()
    }

    pub(super) async fn load_asks(
        &self,
        filter: &AskFilter,
        before: Option<AskId>,
        limit: u32,
    ) -> Result<Vec<Ask>, StoreError> {
        let mut query = QueryBuilder::new("SELECT body FROM asks WHERE TRUE");
        let texts = [
            (" AND state = ", filter.state.clone()),
            (" AND mark = ", filter.mark.map(|mark| mark.to_string())),
            (" AND principal = ", filter.principal.clone()),
            (" AND id < ", before.map(|id| id.to_string())),
        ];
        for (condition, text) in texts {
            if let Some(text) = text {
                query.push(condition).push_bind(kept(&text).into_owned());
            }
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(i64::from(limit));
        let rows = query.build().fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.ask_of(row)).collect()
    }

    pub(super) async fn count_pending(&self, now: Micros) -> Result<u64, StoreError> {
        let query = sqlx::query("SELECT count(*) AS number FROM asks WHERE state = 'pending' AND expires_us > $1");
        let row = query.bind(now.get()).fetch_one(&self.pool).await.map_err(|error| self.error(&error))?;
        self.count(&row, "number")
    }

    pub(super) async fn save_decision(
        &self,
        id: AskId,
        decided: &Decided,
        grant: Option<&Grant>,
        until: Micros,
    ) -> Result<Outcome, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("SELECT body FROM asks WHERE id = $1 FOR UPDATE").bind(id.to_string());
        let row = query.fetch_optional(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let Some(mut ask) = row.as_ref().map(|row| self.ask_of(row)).transpose()? else { return Ok(Outcome::Unknown) };
        if !ask.is_open(decided.given.at) {
            return Ok(Outcome::TooLate(Box::new(ask)));
        }
        ask.state = AskState::Decided(decided.clone());
        // A yes given in the last minute must still be of use; a no stands as long as the question would have.
        if decided.allows {
            ask.expires = ask.expires.max(until);
        }
        self.save_ask(&mut transaction, &ask).await?;
        if !decided.allows {
            self.withdraw(&mut transaction, id, decided.given.at).await?;
        }
        if let Some(grant) = grant {
            self.insert_grant(&mut transaction, grant).await?;
            self.note_change(&mut transaction, "grants", Change::Grants).await?;
        }
        self.note_change(&mut transaction, "asks", Change::Ask(id)).await?;
        self.commit(transaction).await?;
        Ok(Outcome::Made(Box::new(ask)))
    }

    async fn save_ask(&self, transaction: &mut Writing, ask: &Ask) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE asks SET state = $1, expires_us = $2, body = $3 WHERE id = $4");
        let query = query.bind(ask.state.as_str()).bind(ask.expires.get());
        let query = query.bind(self.written(ask)?).bind(ask.id.to_string());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn load_answered(&self, now: Micros) -> Result<Vec<(AskKey, Micros)>, StoreError> {
        let query = sqlx::query(
            "SELECT key, expires_us FROM asks WHERE (state = 'approved' OR state = 'rejected') AND expires_us > $1 \
             AND (state = 'rejected' OR EXISTS \
             (SELECT 1 FROM runs WHERE runs.ask = asks.id AND runs.state IN ('waiting', 'parked', 'held'))) LIMIT 10000",
        );
        let rows = query.bind(now.get()).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((AskKey::read(&self.text(row, "key")?), self.time(row, "expires_us")?))).collect()
    }

    pub(super) async fn end_asks(&self, now: Micros) -> Result<u64, StoreError> {
        let late = sqlx::query("SELECT 1 FROM asks WHERE state = 'pending' AND expires_us <= $1 LIMIT 1");
        let late = late.bind(now.get()).fetch_optional(&self.pool).await.map_err(|error| self.error(&error))?;
        if late.is_none() {
            return Ok(0);
        }
        let mut transaction = self.begin(Survives::Crash).await?;
        // What somebody holds is being decided, or ended by another node.
        let query = sqlx::query(
            "SELECT body FROM asks WHERE state = 'pending' AND expires_us <= $1 ORDER BY expires_us LIMIT 500 \
             FOR UPDATE SKIP LOCKED",
        );
        let rows = query.bind(now.get()).fetch_all(&mut *transaction).await.map_err(|error| self.error(&error))?;
        for row in &rows {
            let ask = Ask { state: AskState::Expired, ..self.ask_of(row)? };
            self.save_ask(&mut transaction, &ask).await?;
            self.withdraw(&mut transaction, ask.id, now).await?;
            self.announce(&mut transaction, Change::Ask(ask.id)).await?;
        }
        if !rows.is_empty() {
            self.note_change(&mut transaction, "asks", Change::Unknown).await?;
        }
        self.commit(transaction).await?;
        Ok(rows.len() as u64)
    }

    pub(super) async fn remove_asks(&self, before: Micros, limit: u32) -> Result<u64, StoreError> {
        let mut transaction = self.begin(Survives::Crash).await?;
        // A run that is lost or under way keeps its question: it is what says that it was approved.
        let query = sqlx::query(
            "DELETE FROM asks WHERE id IN (SELECT id FROM asks WHERE state <> 'pending' AND expires_us < $1 \
             AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.ask = asks.id AND runs.state IN ('waiting', 'running')) \
             LIMIT $2 FOR UPDATE SKIP LOCKED)",
        );
        let query = query.bind(before.get()).bind(i64::from(limit));
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected())
    }

    pub(super) async fn load_approvals_version(&self) -> Result<ApprovalsVersion, StoreError> {
        let sql = "SELECT (SELECT value FROM counters WHERE name = 'asks') AS asks, \
                   (SELECT value FROM counters WHERE name = 'grants') AS grants";
        let row = sqlx::query(sql).fetch_one(&self.pool).await.map_err(|error| self.error(&error))?;
        Ok(ApprovalsVersion { asks: self.count(&row, "asks")?, grants: self.count(&row, "grants")? })
    }

    pub(super) async fn load_key(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING");
        let query = query.bind(kept(name)).bind(fresh.as_slice());
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let query = sqlx::query("SELECT value FROM secrets WHERE name = $1").bind(kept(name));
        let row = query.fetch_one(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let key = self.digest(&row, "value")?;
        self.commit(transaction).await?;
        Ok(key)
    }

    fn ask_of(&self, row: &PgRow) -> Result<Ask, StoreError> {
        let text = self.text(row, "body")?;
        serde_json::from_str(&text).map_err(|error| self.unreadable(&format!("a question: {error}")))
    }

    /// As text, ready to be kept.
    fn written(&self, value: &impl serde::Serialize) -> Result<String, StoreError> {
        let text = serde_json::to_string(value).map_err(|error| self.unreadable(&error.to_string()))?;
        Ok(kept(&text).into_owned())
    }
}
