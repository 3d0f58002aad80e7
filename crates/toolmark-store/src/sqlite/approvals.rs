//! Questions, runs and grants in SQLite. Every change holds the file's lock, so reading and writing is one step.

use sqlx::sqlite::SqliteRow;
use sqlx::{Executor as _, Row as _};
use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, AskState, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId,
    RunState,
};

use super::{Sqlite, Survives, Writing};
use crate::approvals::AskFilter;
use crate::error::StoreError;
use crate::time::Micros;

impl Sqlite {
    pub(super) async fn take_part(&self, new: &Ask, run: RunId, node: &str) -> Result<Joined, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Answers before questions: a clock that jumped may have left both.
        let standing = sqlx::query(
            "SELECT body FROM asks WHERE key = ? AND state <> 'expired' AND expires_us > ? \
             ORDER BY state = 'pending', id DESC LIMIT 20",
        );
        let standing = standing.bind(new.key.as_str()).bind(new.created.get());
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
        self.note_change(&mut transaction, "asks").await?;
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
            "SELECT body FROM asks WHERE key = ? AND (state = 'approved' OR state = 'rejected') AND expires_us > ? \
             ORDER BY id DESC LIMIT 20",
        );
        let decided = decided.bind(key.as_str().to_owned()).bind(at.get());
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

    /// A parked run of a question, for this node.
    async fn take_up(
        &self,
        transaction: &mut Writing,
        ask: AskId,
        node: &str,
        at: Micros,
    ) -> Result<Option<Run>, StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET state = 'waiting', node = ?, changed_us = ? WHERE id = \
             (SELECT id FROM runs WHERE ask = ? AND state = 'parked' ORDER BY id LIMIT 1) \
             RETURNING id, ask, node, state, round, created_us, changed_us",
        );
        let query = query.bind(node.to_owned()).bind(at.get()).bind(ask.to_string());
        let row = query.fetch_optional(&mut **transaction).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| self.run_of(row)).transpose()
    }

    async fn insert_run(
        &self,
        transaction: &mut Writing,
        id: RunId,
        ask: AskId,
        node: &str,
        at: Micros,
    ) -> Result<Run, StoreError> {
        let query = sqlx::query(
            "INSERT INTO runs (id, ask, node, state, round, created_us, changed_us) VALUES (?, ?, ?, 'waiting', 0, ?, ?)",
        );
        let query =
            query.bind(id.to_string()).bind(ask.to_string()).bind(node.to_owned()).bind(at.get()).bind(at.get());
        query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        Ok(Run { id, ask, node: node.into(), state: RunState::Waiting, round: 0, created: at, changed: at })
    }

    async fn insert_ask(&self, transaction: &mut Writing, ask: &Ask) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO asks (id, key, state, principal, canonical, mark, created_us, expires_us, body) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        );
        let query = query.bind(ask.id.to_string()).bind(ask.key.as_str()).bind(ask.state.as_str());
        let query = query.bind(ask.principal.clone()).bind(ask.canonical.clone()).bind(ask.mark.to_string());
        let query = query.bind(ask.created.get()).bind(ask.expires.get()).bind(written(ask));
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    async fn note_change(&self, transaction: &mut Writing, what: &str) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE counters SET value = value + 1 WHERE name = ?").bind(what.to_owned());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn load_ask(&self, id: AskId) -> Result<Option<Ask>, StoreError> {
        let query = sqlx::query("SELECT body FROM asks WHERE id = ?").bind(id.to_string());
        let row = query.fetch_optional(&self.readers).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| self.ask_of(row)).transpose()
    }

    pub(super) async fn load_asks(
        &self,
        filter: &AskFilter,
        before: Option<AskId>,
        limit: u32,
    ) -> Result<Vec<Ask>, StoreError> {
        let query = sqlx::query(
            "SELECT body FROM asks WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR mark = ?2) \
             AND (?3 IS NULL OR principal = ?3) AND (?4 IS NULL OR id < ?4) ORDER BY id DESC LIMIT ?5",
        );
        let query = query.bind(filter.state.clone()).bind(filter.mark.map(|mark| mark.to_string()));
        let query = query.bind(filter.principal.clone()).bind(before.map(|id| id.to_string())).bind(i64::from(limit));
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.ask_of(row)).collect()
    }

    pub(super) async fn count_pending(&self, now: Micros) -> Result<u64, StoreError> {
        let query = sqlx::query("SELECT count(*) AS number FROM asks WHERE state = 'pending' AND expires_us > ?");
        let row = query.bind(now.get()).fetch_one(&self.readers).await.map_err(|error| self.error(&error))?;
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
        let query = sqlx::query("SELECT body FROM asks WHERE id = ?").bind(id.to_string());
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
            let query = sqlx::query(
                "UPDATE runs SET state = 'withdrawn', changed_us = ? WHERE ask = ? AND state IN ('parked', 'held')",
            );
            let query = query.bind(decided.given.at.get()).bind(id.to_string());
            query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        }
        if let Some(grant) = grant {
            self.insert_grant(&mut transaction, grant).await?;
            self.note_change(&mut transaction, "grants").await?;
        }
        self.note_change(&mut transaction, "asks").await?;
        self.commit(transaction).await?;
        Ok(Outcome::Made(Box::new(ask)))
    }

    async fn save_ask(&self, transaction: &mut Writing, ask: &Ask) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE asks SET state = ?, expires_us = ?, body = ? WHERE id = ?");
        let query = query.bind(ask.state.as_str()).bind(ask.expires.get()).bind(written(ask)).bind(ask.id.to_string());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn load_answered(&self, now: Micros) -> Result<Vec<(AskKey, Micros)>, StoreError> {
        let query = sqlx::query(
            "SELECT key, expires_us FROM asks WHERE (state = 'approved' OR state = 'rejected') AND expires_us > ? \
             AND (state = 'rejected' OR EXISTS \
             (SELECT 1 FROM runs WHERE runs.ask = asks.id AND runs.state IN ('waiting', 'parked', 'held'))) LIMIT 10000",
        );
        let rows = query.bind(now.get()).fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((AskKey::read(self.column(row, "key")?), self.time(row, "expires_us")?))).collect()
    }

    pub(super) async fn end_asks(&self, now: Micros) -> Result<u64, StoreError> {
        let late =
            sqlx::query("SELECT 1 FROM asks WHERE state = 'pending' AND expires_us <= ? LIMIT 1").bind(now.get());
        if late.fetch_optional(&self.readers).await.map_err(|error| self.error(&error))?.is_none() {
            return Ok(0);
        }
        let mut transaction = self.begin(Survives::Crash).await?;
        let query = sqlx::query("SELECT body FROM asks WHERE state = 'pending' AND expires_us <= ? LIMIT 500");
        let rows = query.bind(now.get()).fetch_all(&mut *transaction).await.map_err(|error| self.error(&error))?;
        for row in &rows {
            let ask = Ask { state: AskState::Expired, ..self.ask_of(row)? };
            self.save_ask(&mut transaction, &ask).await?;
            let query = sqlx::query(
                "UPDATE runs SET state = 'withdrawn', changed_us = ? WHERE ask = ? AND state IN ('parked', 'held')",
            );
            let query = query.bind(now.get()).bind(ask.id.to_string());
            query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        }
        self.note_change(&mut transaction, "asks").await?;
        self.commit(transaction).await?;
        Ok(rows.len() as u64)
    }

    pub(super) async fn remove_asks(&self, before: Micros, limit: u32) -> Result<u64, StoreError> {
        let mut transaction = self.begin(Survives::Crash).await?;
        // A run that is lost or under way keeps its question: it is what says that it was approved.
        let query = sqlx::query(
            "DELETE FROM asks WHERE id IN (SELECT id FROM asks WHERE state <> 'pending' AND expires_us < ? \
             AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.ask = asks.id AND runs.state IN ('waiting', 'running')) LIMIT ?)",
        );
        let query = query.bind(before.get()).bind(i64::from(limit));
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected())
    }

    pub(super) async fn load_run(&self, id: RunId) -> Result<Option<(Run, Ask)>, StoreError> {
        let query = sqlx::query(
            "SELECT runs.id, runs.ask, runs.node, runs.state, runs.round, runs.created_us, runs.changed_us, asks.body \
             FROM runs JOIN asks ON asks.id = runs.ask WHERE runs.id = ?",
        );
        let row = query.bind(id.to_string()).fetch_optional(&self.readers).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| Ok((self.run_of(row)?, self.ask_of(row)?))).transpose()
    }

    pub(super) async fn load_runs_of(&self, ask: AskId) -> Result<Vec<Run>, StoreError> {
        let query = sqlx::query(
            "SELECT id, ask, node, state, round, created_us, changed_us FROM runs WHERE ask = ? ORDER BY id LIMIT 1000",
        );
        let rows = query.bind(ask.to_string()).fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.run_of(row)).collect()
    }

    pub(super) async fn begin_run(&self, id: RunId, node: &str, at: Micros) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET state = 'running', node = ?, changed_us = ? WHERE id = ? \
             AND state IN ('waiting', 'parked', 'held') \
             AND EXISTS (SELECT 1 FROM asks WHERE asks.id = runs.ask AND asks.state = 'approved' AND asks.expires_us > ?)",
        );
        let query = query.bind(node.to_owned()).bind(at.get()).bind(id.to_string()).bind(at.get());
        self.changed(query).await
    }

    pub(super) async fn next_round(&self, id: RunId, round: u32, node: &str, at: Micros) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET round = round + 1, node = ?, changed_us = ? WHERE id = ? AND state = 'running' AND round = ?",
        );
        let query = query.bind(node.to_owned()).bind(at.get()).bind(id.to_string()).bind(i64::from(round));
        self.changed(query).await
    }

    pub(super) async fn change_run(
        &self,
        id: RunId,
        from: &[RunState],
        to: RunState,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let from: Vec<&str> = from.iter().map(|state| state.as_str()).collect();
        let query = sqlx::query(
            "UPDATE runs SET state = ?, changed_us = ? WHERE id = ? AND state IN (SELECT value FROM json_each(?))",
        );
        let query = query.bind(to.as_str()).bind(at.get()).bind(id.to_string());
        let query = query.bind(serde_json::Value::from(from).to_string());
        self.changed(query).await
    }

    /// One statement in a transaction of its own; says whether it changed a row.
    async fn changed(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn end_node(&self, node: &str, at: Micros) -> Result<(u64, u64), StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let mut numbers = [0, 0];
        for ((from, to), number) in [("waiting", "parked"), ("running", "lost")].into_iter().zip(&mut numbers) {
            let query = sqlx::query("UPDATE runs SET state = ?, changed_us = ? WHERE node = ? AND state = ?");
            let query = query.bind(to).bind(at.get()).bind(node.to_owned()).bind(from);
            let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
            *number = done.rows_affected();
        }
        self.commit(transaction).await?;
        let [parked, lost] = numbers;
        Ok((parked, lost))
    }

    pub(super) async fn load_busy_nodes(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT node FROM runs WHERE state = 'waiting' OR state = 'running'";
        let rows = self.readers.fetch_all(sql).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.column(row, "node")).collect()
    }

    async fn insert_grant(&self, transaction: &mut Writing, grant: &Grant) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO grants (id, mark, principal, used, uses, expires_us, revoked_us, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        );
        let query = query.bind(grant.id.to_string()).bind(grant.mark.to_string()).bind(grant.principal.clone());
        let query = query.bind(i64::from(grant.used)).bind(grant.uses.map(i64::from));
        let query = query.bind(grant.expires.map(Micros::get));
        let query = query.bind(grant.revoked.as_ref().map(|revoked| revoked.at.get())).bind(written(grant));
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn save_grant(&self, grant: &Grant) -> Result<(), StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        self.insert_grant(&mut transaction, grant).await?;
        self.note_change(&mut transaction, "grants").await?;
        self.commit(transaction).await
    }

    pub(super) async fn load_grants(&self, revoked: bool) -> Result<Vec<Grant>, StoreError> {
        let query =
            sqlx::query("SELECT used, body FROM grants WHERE revoked_us IS NULL OR ? ORDER BY id").bind(revoked);
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.grant_of(row)).collect()
    }

    pub(super) async fn count_use(&self, id: GrantId) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query(
            "UPDATE grants SET used = used + 1 WHERE id = ? AND revoked_us IS NULL AND (uses IS NULL OR used < uses)",
        );
        let done = query.bind(id.to_string()).execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        if done.rows_affected() > 0 {
            self.note_change(&mut transaction, "grants").await?;
        }
        self.commit(transaction).await?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn end_grant(&self, id: GrantId, by: &Given) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query =
            sqlx::query("SELECT used, body FROM grants WHERE id = ? AND revoked_us IS NULL").bind(id.to_string());
        let row = query.fetch_optional(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let Some(mut grant) = row.as_ref().map(|row| self.grant_of(row)).transpose()? else { return Ok(false) };
        grant.revoked = Some(by.clone());
        let query = sqlx::query("UPDATE grants SET revoked_us = ?, body = ? WHERE id = ?");
        let query = query.bind(by.at.get()).bind(written(&grant)).bind(id.to_string());
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let query = sqlx::query(
            "UPDATE runs SET state = 'withdrawn', changed_us = ? WHERE state IN ('waiting', 'parked', 'held') AND ask IN \
             (SELECT id FROM asks WHERE state = 'approved' AND json_extract(body, '$.state.decided.grant') = ?)",
        );
        let query = query.bind(by.at.get()).bind(id.to_string());
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.note_change(&mut transaction, "grants").await?;
        self.note_change(&mut transaction, "asks").await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    pub(super) async fn load_approvals_version(&self) -> Result<ApprovalsVersion, StoreError> {
        let sql = "SELECT (SELECT value FROM counters WHERE name = 'asks') AS asks, \
                   (SELECT value FROM counters WHERE name = 'grants') AS grants";
        let row = self.readers.fetch_one(sql).await.map_err(|error| self.error(&error))?;
        Ok(ApprovalsVersion { asks: self.count(&row, "asks")?, grants: self.count(&row, "grants")? })
    }

    pub(super) async fn load_key(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING");
        let query = query.bind(name.to_owned()).bind(fresh.to_vec());
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let query = sqlx::query("SELECT value FROM secrets WHERE name = ?").bind(name.to_owned());
        let row = query.fetch_one(&mut *transaction).await.map_err(|error| self.error(&error))?;
        let key = self.digest(&row, "value")?;
        self.commit(transaction).await?;
        Ok(key)
    }

    fn ask_of(&self, row: &SqliteRow) -> Result<Ask, StoreError> {
        let text: &str = self.column(row, "body")?;
        serde_json::from_str(text).map_err(|error| self.unreadable(&format!("a question: {error}")))
    }

    fn grant_of(&self, row: &SqliteRow) -> Result<Grant, StoreError> {
        let text: &str = self.column(row, "body")?;
        let mut grant: Grant =
            serde_json::from_str(text).map_err(|error| self.unreadable(&format!("a grant: {error}")))?;
        grant.used = u32::try_from(self.count(row, "used")?).unwrap_or(u32::MAX);
        Ok(grant)
    }

    fn run_of(&self, row: &SqliteRow) -> Result<Run, StoreError> {
        let text = |column: &str| row.try_get::<&str, _>(column).map_err(|error| self.unreadable(&error.to_string()));
        Ok(Run {
            id: text("id")?.parse().map_err(|error| self.unreadable(&format!("{error}")))?,
            ask: text("ask")?.parse().map_err(|error| self.unreadable(&format!("{error}")))?,
            node: text("node")?.to_owned(),
            state: text("state")?.parse().map_err(|error: String| self.unreadable(&error))?,
            round: u32::try_from(self.count(row, "round")?).unwrap_or(u32::MAX),
            created: self.time(row, "created_us")?,
            changed: self.time(row, "changed_us")?,
        })
    }
}

/// As text; these types have no part that has none.
fn written(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
