//! Pins in PostgreSQL. Two nodes that see a tool at once wait for each other by its row, and the first one pins it.

use sqlx::postgres::PgRow;
use toolmark_core::text::visible;

use super::text::kept;
use super::{Postgres, Survives, Writing};
use crate::error::StoreError;
use crate::pins::Pin;
use crate::watch::Change;

impl Postgres {
    pub(super) async fn load_pins(&self) -> Result<Vec<Pin>, StoreError> {
        let sql = "SELECT tool, body, how, accepted_by, accepted_us FROM pins ORDER BY tool";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.pin(row)).collect()
    }

    fn pin(&self, row: &PgRow) -> Result<Pin, StoreError> {
        let by = self.text(row, "accepted_by")?.into_owned();
        let (tool, body, how) = (self.text(row, "tool")?, self.text(row, "body")?, self.text(row, "how")?);
        Pin::read(&tool, &body, &how, by, self.time(row, "accepted_us")?)
            .map_err(|why| self.unreadable(&visible(&why, 300)))
    }

    pub(super) async fn insert_pins(&self, pins: &[Pin]) -> Result<Vec<Pin>, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Always in the same order, so that two nodes never wait for each other in a circle.
        let mut pins: Vec<&Pin> = pins.iter().collect();
        pins.sort_by(|one, other| one.tool.cmp(&other.tool));
        let mut standing = Vec::new();
        let mut added = false;
        for pin in pins {
            if self.write_pin(&mut transaction, pin, "ON CONFLICT (tool) DO NOTHING").await? {
                added = true;
                continue;
            }
            let query = sqlx::query("SELECT tool, body, how, accepted_by, accepted_us FROM pins WHERE tool = $1");
            let found = query.bind(kept(&pin.tool)).fetch_optional(&mut *transaction).await;
            if let Some(row) = found.map_err(|error| self.error(&error))? {
                standing.push(self.pin(&row)?);
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
        let mut pins: Vec<&Pin> = pins.iter().collect();
        pins.sort_by(|one, other| one.tool.cmp(&other.tool));
        let replacing = "ON CONFLICT (tool) DO UPDATE SET mark = excluded.mark, body = excluded.body, how = excluded.how, \
                         accepted_by = excluded.accepted_by, accepted_us = excluded.accepted_us";
        for pin in pins {
            self.write_pin(&mut transaction, pin, replacing).await?;
        }
        self.count_pins(&mut transaction).await?;
        self.commit(transaction).await
    }

    pub(super) async fn remove_pin(&self, tool: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("DELETE FROM pins WHERE tool = $1").bind(kept(tool));
        let gone = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?.rows_affected() > 0;
        if gone {
            self.count_pins(&mut transaction).await?;
        }
        self.commit(transaction).await?;
        Ok(gone)
    }

    /// Writes a pin; says whether it did.
    async fn write_pin(
        &self,
        transaction: &mut Writing,
        pin: &Pin,
        on_conflict: &'static str,
    ) -> Result<bool, StoreError> {
        let mut query =
            sqlx::QueryBuilder::new("INSERT INTO pins (tool, mark, body, how, accepted_by, accepted_us) VALUES (");
        let body = pin.body();
        let mut values = query.separated(", ");
        values.push_bind(kept(&pin.tool).into_owned()).push_bind(pin.pinned.mark().to_string());
        values.push_bind(kept(&body).into_owned()).push_bind(pin.how.as_str());
        values.push_bind(kept(&pin.by).into_owned()).push_bind(pin.at.get());
        query.push(") ").push(on_conflict);
        let done = query.build().execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        Ok(done.rows_affected() > 0)
    }

    async fn count_pins(&self, transaction: &mut Writing) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE counters SET value = value + 1 WHERE name = 'pins'");
        query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        self.announce(transaction, Change::Pins).await
    }
}
