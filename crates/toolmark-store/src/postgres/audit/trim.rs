//! Removing the oldest rows of a chain, with the checkpoint moved in the same transaction.

use super::append::signed;
use crate::error::StoreError;
use crate::postgres::text::kept;
use crate::postgres::{Postgres, Survives};
use crate::time::Micros;

impl Postgres {
    pub(in crate::postgres) async fn trim_chain(
        &self,
        node: &str,
        before: Micros,
        limit: u32,
        at: Micros,
    ) -> Result<u64, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query =
            sqlx::query("SELECT id, checkpoint_seq FROM audit_nodes WHERE node = $1 FOR UPDATE").bind(kept(node));
        let Some(row) = query.fetch_optional(&mut *transaction).await.map_err(error)? else { return Ok(0) };
        let (id, from): (i64, u64) = (self.column(&row, "id")?, self.count(&row, "checkpoint_seq")?);
        // The beginning of the chain, up to the first row that is young enough to stay.
        let query =
            sqlx::query("SELECT seq, hash, time_us FROM audit WHERE node = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let query = query.bind(id).bind(signed(from)).bind(i64::from(limit));
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
        for sql in [
            "DELETE FROM audit_bodies WHERE node = $1 AND seq > $2 AND seq <= $3",
            "DELETE FROM audit_open WHERE node = $1 AND seq > $2 AND seq <= $3",
            "DELETE FROM audit WHERE node = $1 AND seq > $2 AND seq <= $3",
        ] {
            let query = sqlx::query(sql).bind(id).bind(signed(from)).bind(signed(seq));
            query.execute(&mut *transaction).await.map_err(error)?;
        }
        let query = sqlx::query(
            "UPDATE audit_nodes SET checkpoint_seq = $1, checkpoint_hash = $2, checkpoint_us = $3 WHERE id = $4",
        );
        let query = query.bind(signed(seq)).bind(hash.as_slice()).bind(at.get()).bind(id);
        query.execute(&mut *transaction).await.map_err(error)?;
        self.commit(transaction).await?;
        Ok(count)
    }

    pub(in crate::postgres) async fn remove_bodies(&self, before: Micros, limit: u32) -> Result<u64, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query(
            "DELETE FROM audit_bodies WHERE (node, seq) IN (SELECT b.node, b.seq FROM audit_bodies b \
             JOIN audit a ON a.node = b.node AND a.seq = b.seq WHERE a.time_us < $1 LIMIT $2)",
        );
        let query = query.bind(before.get()).bind(i64::from(limit));
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected())
    }
}
