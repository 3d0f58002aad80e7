//! Grants in PostgreSQL.

use sqlx::postgres::PgRow;
use toolmark_core::approval::{AskState, Given, Grant, GrantId};

use crate::error::StoreError;
use crate::postgres::text::kept;
use crate::postgres::{Postgres, Survives, Writing};
use crate::time::Micros;
use crate::watch::Change;

impl Postgres {
    pub(super) async fn insert_grant(&self, transaction: &mut Writing, grant: &Grant) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO grants (id, mark, principal, used, uses, expires_us, revoked_us, body) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        );
        let query = query.bind(grant.id.to_string()).bind(grant.mark.to_string()).bind(kept(&grant.principal));
        let query = query.bind(i64::from(grant.used)).bind(grant.uses.map(i64::from));
        let query = query.bind(grant.expires.map(Micros::get));
        let query = query.bind(grant.revoked.as_ref().map(|revoked| revoked.at.get())).bind(self.written(grant)?);
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(in crate::postgres) async fn save_grant(&self, grant: &Grant) -> Result<(), StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        self.insert_grant(&mut transaction, grant).await?;
        self.note_change(&mut transaction, "grants", Change::Grants).await?;
        self.commit(transaction).await
    }

    pub(in crate::postgres) async fn load_grants(&self, revoked: bool) -> Result<Vec<Grant>, StoreError> {
        let query = sqlx::query("SELECT used, body FROM grants WHERE revoked_us IS NULL OR $1 ORDER BY id");
        let rows = query.bind(revoked).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.grant_of(row)).collect()
    }

    pub(in crate::postgres) async fn count_use(&self, id: GrantId) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query(
            "UPDATE grants SET used = used + 1 WHERE id = $1 AND revoked_us IS NULL AND (uses IS NULL OR used < uses)",
        );
        let done = query.bind(id.to_string()).execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        self.note_change(&mut transaction, "grants", Change::Grants).await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    pub(in crate::postgres) async fn end_grant(&self, id: GrantId, by: &Given) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("SELECT used, body FROM grants WHERE id = $1 AND revoked_us IS NULL FOR UPDATE");
        let row = query.bind(id.to_string()).fetch_optional(&mut *transaction).await;
        let row = row.map_err(|error| self.error(&error))?;
        let Some(mut grant) = row.as_ref().map(|row| self.grant_of(row)).transpose()? else { return Ok(false) };
        grant.revoked = Some(by.clone());
        let query = sqlx::query("UPDATE grants SET revoked_us = $1, body = $2 WHERE id = $3");
        let query = query.bind(by.at.get()).bind(self.written(&grant)?).bind(id.to_string());
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.withdraw_all(&mut transaction, id, by.at).await?;
        self.note_change(&mut transaction, "grants", Change::Grants).await?;
        self.note_change(&mut transaction, "asks", Change::Unknown).await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    /// Withdraws the runs that were approved with a grant and have not begun.
    ///
    /// Questions are read here and not by the server: it refuses JSON in which somebody spelled NUL, even where it looks at another part.
    async fn withdraw_all(&self, transaction: &mut Writing, id: GrantId, at: Micros) -> Result<(), StoreError> {
        let query = sqlx::query("SELECT body FROM asks WHERE state = 'approved' AND strpos(body, $1) > 0 FOR UPDATE");
        let rows =
            query.bind(id.to_string()).fetch_all(&mut **transaction).await.map_err(|error| self.error(&error))?;
        let mut asks = Vec::new();
        for row in &rows {
            let ask = self.ask_of(row)?;
            if matches!(&ask.state, AskState::Decided(decided) if decided.grant == Some(id)) {
                asks.push(ask.id.to_string());
            }
        }
        let query = sqlx::query(
            "UPDATE runs SET state = 'withdrawn', changed_us = $1 \
             WHERE ask = ANY($2) AND state IN ('waiting', 'parked', 'held')",
        );
        query
            .bind(at.get())
            .bind(asks)
            .execute(&mut **transaction)
            .await
            .map(|_| ())
            .map_err(|error| self.error(&error))
    }

    fn grant_of(&self, row: &PgRow) -> Result<Grant, StoreError> {
        let text = self.text(row, "body")?;
        let mut grant: Grant =
            serde_json::from_str(&text).map_err(|error| self.unreadable(&format!("a grant: {error}")))?;
        grant.used = u32::try_from(self.count(row, "used")?).unwrap_or(u32::MAX);
        Ok(grant)
    }
}
