//! Removing the oldest rows of a chain, with the checkpoint moved in the same transaction.

use sqlx::Executor as _;

use super::append::{position, signed};
use crate::error::StoreError;
use crate::sqlite::{Sqlite, Survives};
use crate::time::Micros;

impl Sqlite {
    pub(in crate::sqlite) async fn trim_chain(
        &self,
        node: &str,
        before: Micros,
        limit: u32,
        at: Micros,
    ) -> Result<u64, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("SELECT id, checkpoint_seq FROM audit_nodes WHERE node = ?").bind(node.to_owned());
        let Some(row) = query.fetch_optional(&mut *transaction).await.map_err(error)? else { return Ok(0) };
        let (id, from): (i64, u64) = (self.column(&row, "id")?, self.count(&row, "checkpoint_seq")?);
        // The beginning of the chain, up to the first row that is young enough to stay.
        let query = sqlx::query(
            "SELECT seq, hash, time_us FROM audit WHERE position > ? AND position < ? ORDER BY position LIMIT ?",
        );
        let query = query.bind(position(id, from)).bind(position(id + 1, 0)).bind(limit);
        let rows = query.fetch_all(&mut *transaction).await.map_err(error)?;
        let mut last = None;
        let mut count = 0;
        for row in &rows {
            // A gap is somebody's doing and must stay visible: nothing behind it is removed.
            let seq = self.count(row, "seq")?;
            if self.time(row, "time_us")? >= before || seq != from + count + 1 {
                break;
            }
            count += 1;
            last = Some((seq, self.digest(row, "hash")?));
        }
        let Some((seq, hash)) = last else { return Ok(0) };
        let query = sqlx::query("DELETE FROM audit_rows WHERE position > ? AND position <= ?");
        let query = query.bind(position(id, from)).bind(position(id, seq));
        query.execute(&mut *transaction).await.map_err(error)?;
        let query = sqlx::query(
            "DELETE FROM audit_seen WHERE stretch < (SELECT coalesce(min(time_us), ?) >> 26 FROM audit_rows)",
        );
        query.bind(at.get()).execute(&mut *transaction).await.map_err(error)?;
        let query = sqlx::query("DELETE FROM audit_open WHERE node = ? AND seq <= ?").bind(id).bind(signed(seq));
        query.execute(&mut *transaction).await.map_err(error)?;
        let query = sqlx::query(
            "UPDATE audit_nodes SET checkpoint_seq = ?, checkpoint_hash = ?, checkpoint_us = ? WHERE id = ?",
        );
        let query = query.bind(signed(seq)).bind(hash.to_vec()).bind(at.get()).bind(id);
        query.execute(&mut *transaction).await.map_err(error)?;
        self.commit(transaction).await?;
        self.kinds.look_again();
        self.give_back().await?;
        Ok(count)
    }

    pub(in crate::sqlite) async fn remove_bodies(&self, before: Micros, limit: u32) -> Result<u64, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query(
            "DELETE FROM audit_bodies WHERE position IN (SELECT b.position FROM audit_bodies b \
             JOIN audit_rows a ON a.position = b.position WHERE a.time_us < ? LIMIT ?)",
        );
        let query = query.bind(before.get()).bind(limit);
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        self.give_back().await?;
        Ok(done.rows_affected())
    }

    /// Pages that became free go back to the disk, some at a time.
    async fn give_back(&self) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await.map_err(|error| self.error(&error))?;
        connection
            .execute(sqlx::raw_sql("PRAGMA incremental_vacuum(2000)"))
            .await
            .map_err(|error| self.error(&error))?;
        Ok(())
    }
}
