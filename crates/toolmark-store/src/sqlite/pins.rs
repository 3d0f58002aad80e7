//! Pins in SQLite.

use futures_util::TryStreamExt as _;
use sqlx::Executor as _;
use sqlx::sqlite::SqliteRow;

use super::{Sqlite, Survives, Writing};
use crate::error::StoreError;
use crate::pins::Pin;

impl Sqlite {
    pub(super) async fn load_pins(&self) -> Result<Vec<Pin>, StoreError> {
        let sql = "SELECT tool, body, how, accepted_by, accepted_us FROM pins ORDER BY tool";
        // Row by row: there are as many as tools, and each is as large as a definition.
        let mut rows = self.readers.fetch(sql);
        let mut pins = Vec::new();
        while let Some(row) = rows.try_next().await.map_err(|error| self.error(&error))? {
            pins.push(self.pin(&row)?);
        }
        Ok(pins)
    }

    fn pin(&self, row: &SqliteRow) -> Result<Pin, StoreError> {
        let by: String = self.column(row, "accepted_by")?;
        let (tool, body, how) = (self.column(row, "tool")?, self.column(row, "body")?, self.column(row, "how")?);
        Pin::read(tool, body, how, by, self.time(row, "accepted_us")?).map_err(|why| self.unreadable(&why))
    }

    pub(super) async fn insert_pins(&self, pins: &[Pin]) -> Result<Vec<Pin>, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let (mut standing, mut added) = (Vec::new(), false);
        for pin in pins {
            let query = sqlx::query("SELECT tool, body, how, accepted_by, accepted_us FROM pins WHERE tool = ?");
            let found = query.bind(pin.tool.clone()).fetch_optional(&mut *transaction).await;
            match found.map_err(|error| self.error(&error))? {
                Some(row) => standing.push(self.pin(&row)?),
                None => {
                    self.write_pin(&mut transaction, pin).await?;
                    added = true;
                }
            }
        }
        if added {
            self.count_pins(&mut transaction).await?;
        }
        self.commit(transaction).await?;
        Ok(standing)
    }

    pub(super) async fn save_pins(&self, pins: &[Pin]) -> Result<(), StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        for pin in pins {
            self.write_pin(&mut transaction, pin).await?;
        }
        self.count_pins(&mut transaction).await?;
        self.commit(transaction).await
    }

    pub(super) async fn remove_pin(&self, tool: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("DELETE FROM pins WHERE tool = ?").bind(tool.to_owned());
        let gone = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?.rows_affected() > 0;
        if gone {
            self.count_pins(&mut transaction).await?;
        }
        self.commit(transaction).await?;
        Ok(gone)
    }

    async fn write_pin(&self, transaction: &mut Writing, pin: &Pin) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT OR REPLACE INTO pins (tool, mark, body, how, accepted_by, accepted_us) VALUES (?, ?, ?, ?, ?, ?)",
        );
        let query = query.bind(pin.tool.clone()).bind(pin.pinned.mark().to_string()).bind(pin.body());
        let query = query.bind(pin.how.as_str()).bind(pin.by.clone()).bind(pin.at.get());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    async fn count_pins(&self, transaction: &mut Writing) -> Result<(), StoreError> {
        let sql = "UPDATE counters SET value = value + 1 WHERE name = 'pins'";
        transaction.execute(sql).await.map(|_| ()).map_err(|error| self.error(&error))
    }
}
