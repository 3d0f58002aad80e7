//! The call ledger in PostgreSQL: a run moves on by the change of its row, which only one node makes.

use sqlx::postgres::{PgArguments, PgRow};
use toolmark_core::approval::{Ask, AskId, Run, RunId, RunState};

use crate::error::StoreError;
use crate::postgres::text::kept;
use crate::postgres::{Postgres, Survives, Writing};
use crate::time::Micros;

impl Postgres {
    /// A parked run of a question, for this node.
    pub(super) async fn take_up(
        &self,
        transaction: &mut Writing,
        ask: AskId,
        node: &str,
        at: Micros,
    ) -> Result<Option<Run>, StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET state = 'waiting', node = $1, changed_us = $2 WHERE state = 'parked' AND id = \
             (SELECT id FROM runs WHERE ask = $3 AND state = 'parked' ORDER BY id LIMIT 1 FOR UPDATE) \
             RETURNING id, ask, node, state, round, created_us, changed_us",
        );
        let query = query.bind(kept(node)).bind(at.get()).bind(ask.to_string());
        let row = query.fetch_optional(&mut **transaction).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| self.run_of(row)).transpose()
    }

    pub(super) async fn insert_run(
        &self,
        transaction: &mut Writing,
        id: RunId,
        ask: AskId,
        node: &str,
        at: Micros,
    ) -> Result<Run, StoreError> {
        let query = sqlx::query(
            "INSERT INTO runs (id, ask, node, state, round, created_us, changed_us) \
             VALUES ($1, $2, $3, 'waiting', 0, $4, $4)",
        );
        let query = query.bind(id.to_string()).bind(ask.to_string()).bind(kept(node)).bind(at.get());
        query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        Ok(Run { id, ask, node: node.into(), state: RunState::Waiting, round: 0, created: at, changed: at })
    }

    /// Withdraws the runs of a question that nobody waits for.
    pub(super) async fn withdraw(&self, transaction: &mut Writing, ask: AskId, at: Micros) -> Result<(), StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET state = 'withdrawn', changed_us = $1 WHERE ask = $2 AND state IN ('parked', 'held')",
        );
        let query = query.bind(at.get()).bind(ask.to_string());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(in crate::postgres) async fn load_run(&self, id: RunId) -> Result<Option<(Run, Ask)>, StoreError> {
        let query = sqlx::query(
            "SELECT runs.id, runs.ask, runs.node, runs.state, runs.round, runs.created_us, runs.changed_us, asks.body \
             FROM runs JOIN asks ON asks.id = runs.ask WHERE runs.id = $1",
        );
        let row = query.bind(id.to_string()).fetch_optional(&self.pool).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| Ok((self.run_of(row)?, self.ask_of(row)?))).transpose()
    }

    pub(in crate::postgres) async fn load_runs_of(&self, ask: AskId) -> Result<Vec<Run>, StoreError> {
        let query = sqlx::query(
            "SELECT id, ask, node, state, round, created_us, changed_us FROM runs WHERE ask = $1 ORDER BY id LIMIT 1000",
        );
        let rows = query.bind(ask.to_string()).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.run_of(row)).collect()
    }

    pub(in crate::postgres) async fn begin_run(&self, id: RunId, node: &str, at: Micros) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET state = 'running', node = $1, changed_us = $2 WHERE id = $3 \
             AND state IN ('waiting', 'parked', 'held') \
             AND EXISTS (SELECT 1 FROM asks WHERE asks.id = runs.ask AND asks.state = 'approved' AND asks.expires_us > $2)",
        );
        self.changed(query.bind(kept(node)).bind(at.get()).bind(id.to_string())).await
    }

    pub(in crate::postgres) async fn next_round(
        &self,
        id: RunId,
        round: u32,
        node: &str,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE runs SET round = round + 1, node = $1, changed_us = $2 \
             WHERE id = $3 AND state = 'running' AND round = $4",
        );
        let query = query.bind(kept(node)).bind(at.get()).bind(id.to_string()).bind(i64::from(round));
        self.changed(query).await
    }

    pub(in crate::postgres) async fn change_run(
        &self,
        id: RunId,
        from: &[RunState],
        to: RunState,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let from: Vec<&str> = from.iter().map(|state| state.as_str()).collect();
        let query = sqlx::query("UPDATE runs SET state = $1, changed_us = $2 WHERE id = $3 AND state = ANY($4)");
        self.changed(query.bind(to.as_str()).bind(at.get()).bind(id.to_string()).bind(from)).await
    }

    /// One statement that is a transaction of its own; says whether it changed a row.
    async fn changed(&self, query: sqlx::query::Query<'_, sqlx::Postgres, PgArguments>) -> Result<bool, StoreError> {
        let done = query.execute(&self.pool).await.map_err(|error| self.error(&error))?;
        Ok(done.rows_affected() > 0)
    }

    pub(in crate::postgres) async fn end_node(&self, node: &str, at: Micros) -> Result<(u64, u64), StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let mut numbers = [0, 0];
        for ((from, to), number) in [("waiting", "parked"), ("running", "lost")].into_iter().zip(&mut numbers) {
            let query = sqlx::query("UPDATE runs SET state = $1, changed_us = $2 WHERE node = $3 AND state = $4");
            let query = query.bind(to).bind(at.get()).bind(kept(node)).bind(from);
            let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
            *number = done.rows_affected();
        }
        self.commit(transaction).await?;
        let [parked, lost] = numbers;
        Ok((parked, lost))
    }

    pub(in crate::postgres) async fn load_busy_nodes(&self) -> Result<Vec<String>, StoreError> {
        let query = sqlx::query("SELECT DISTINCT node FROM runs WHERE state = 'waiting' OR state = 'running'");
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok(self.text(row, "node")?.into_owned())).collect()
    }

    fn run_of(&self, row: &PgRow) -> Result<Run, StoreError> {
        Ok(Run {
            id: self.text(row, "id")?.parse().map_err(|error| self.unreadable(&format!("{error}")))?,
            ask: self.text(row, "ask")?.parse().map_err(|error| self.unreadable(&format!("{error}")))?,
            node: self.text(row, "node")?.into_owned(),
            state: self.text(row, "state")?.parse().map_err(|error: String| self.unreadable(&error))?,
            round: u32::try_from(self.count(row, "round")?).unwrap_or(u32::MAX),
            created: self.time(row, "created_us")?,
            changed: self.time(row, "changed_us")?,
        })
    }
}
