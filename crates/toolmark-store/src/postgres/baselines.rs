//! Baselines in PostgreSQL: one text for each task.

use sqlx::postgres::PgRow;

use super::text::{given, kept};
use super::{Postgres, Survives};
use crate::error::StoreError;
use crate::time::Micros;

impl Postgres {
    pub(super) async fn load_baseline(&self, task: &str) -> Result<Option<String>, StoreError> {
        let query = sqlx::query("SELECT text FROM baselines WHERE task = $1").bind(kept(task));
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.error(&error))?;
        row.map(|row| self.baseline_text(&row, "text")).transpose()
    }

    pub(super) async fn load_baselines(&self) -> Result<Vec<(String, Micros)>, StoreError> {
        let query = sqlx::query("SELECT task, changed_us FROM baselines ORDER BY task");
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((self.baseline_text(row, "task")?, self.time(row, "changed_us")?))).collect()
    }

    pub(super) async fn save_baseline(
        &self,
        task: &str,
        before: Option<&str>,
        text: &str,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // One statement each, so that of two who found the same only one changes it.
        let query = match before {
            None => sqlx::query(
                "INSERT INTO baselines (task, text, changed_us) VALUES ($1, $2, $3) ON CONFLICT (task) DO NOTHING",
            ),
            Some(_) => sqlx::query("UPDATE baselines SET text = $2, changed_us = $3 WHERE task = $1 AND text = $4"),
        };
        let query = query.bind(kept(task)).bind(kept(text)).bind(at.get());
        let query = match before {
            None => query,
            Some(before) => query.bind(kept(before)),
        };
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected() == 1)
    }

    fn baseline_text(&self, row: &PgRow, column: &str) -> Result<String, StoreError> {
        let text: &str = self.column(row, column)?;
        given(text)
            .map(Into::into)
            .ok_or_else(|| self.unreadable(&format!("`{column}` holds a text of another program")))
    }
}
