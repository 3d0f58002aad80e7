//! Baselines in SQLite: one text for each task.

use sqlx::Executor as _;

use super::{Sqlite, Survives};
use crate::error::StoreError;
use crate::time::Micros;

impl Sqlite {
    pub(super) async fn load_baseline(&self, task: &str) -> Result<Option<String>, StoreError> {
        let query = sqlx::query("SELECT text FROM baselines WHERE task = ?").bind(task.to_owned());
        let row = query.fetch_optional(&self.readers).await.map_err(|error| self.error(&error))?;
        row.map(|row| self.column(&row, "text")).transpose()
    }

    pub(super) async fn load_baselines(&self) -> Result<Vec<(String, Micros)>, StoreError> {
        let sql = "SELECT task, changed_us FROM baselines ORDER BY task";
        let rows = self.readers.fetch_all(sql).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((self.column(row, "task")?, self.time(row, "changed_us")?))).collect()
    }

    pub(super) async fn save_baseline(
        &self,
        task: &str,
        before: Option<&str>,
        text: &str,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("SELECT text FROM baselines WHERE task = ?").bind(task.to_owned());
        let row = query.fetch_optional(&mut *transaction).await.map_err(error)?;
        let found: Option<String> = row.map(|row| self.column(&row, "text")).transpose()?;
        if found.as_deref() != before {
            return Ok(false);
        }
        let query = sqlx::query("INSERT OR REPLACE INTO baselines (task, text, changed_us) VALUES (?, ?, ?)");
        let query = query.bind(task.to_owned()).bind(text.to_owned()).bind(at.get());
        query.execute(&mut *transaction).await.map_err(error)?;
        self.commit(transaction).await?;
        Ok(true)
    }
}
