//! Baselines in PostgreSQL: one text for each task.

use super::text::kept;
use super::{Postgres, Survives};
use crate::error::StoreError;
use crate::time::Micros;

impl Postgres {
    pub(super) async fn load_baseline(&self, task: &str) -> Result<Option<String>, StoreError> {
        let query = sqlx::query("SELECT text FROM baselines WHERE task = $1").bind(kept(task));
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.error(&error))?;
        row.map(|row| Ok(self.text(&row, "text")?.into_owned())).transpose()
    }

    pub(super) async fn load_baselines(&self) -> Result<Vec<(String, Micros)>, StoreError> {
        let query = sqlx::query("SELECT task, changed_us FROM baselines ORDER BY task");
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((self.text(row, "task")?.into_owned(), self.time(row, "changed_us")?))).collect()
    }

    /// One statement each way, so that of two nodes that learn at once one is told to look again.
    pub(super) async fn save_baseline(
        &self,
        task: &str,
        before: Option<&str>,
        text: &str,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = match before {
            Some(before) => {
                let query = "UPDATE baselines SET text = $2, changed_us = $3 WHERE task = $1 AND text = $4";
                sqlx::query(query).bind(kept(task)).bind(kept(text)).bind(at.get()).bind(kept(before))
            }
            None => {
                let query = "INSERT INTO baselines (task, text, changed_us) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
                sqlx::query(query).bind(kept(task)).bind(kept(text)).bind(at.get())
            }
        };
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected() > 0)
    }
}
