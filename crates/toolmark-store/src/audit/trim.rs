//! How records end: the oldest of each chain are removed in small steps, and a checkpoint keeps the hash that the rest goes on
//! from.

use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// How many rows go in one transaction: few enough that nobody waits long for the writer.
const STEP: u32 = 2_000;

impl Store {
    /// Removes records from before a time, and returns how many went.
    ///
    /// Only the beginning of a chain can go: an old record that stands behind a younger one, as after a clock was set
    /// back, stays until the younger one goes too.
    ///
    /// # Errors
    /// [`StoreError`]; what went before stays gone, and the chain is whole.
    pub async fn trim_audit(&self, before: Micros) -> Result<u64, StoreError> {
        let mut removed = 0;
        for chain in self.backend().chains().await? {
            loop {
                let step = self.backend().trim(&chain.node, before, STEP, self.now()).await?;
                removed += step;
                if step < u64::from(STEP) {
                    break;
                }
            }
        }
        Ok(removed)
    }

    /// Removes arguments and results from before a time and keeps the records, and returns how many went.
    ///
    /// # Errors
    /// [`StoreError`]; what went before stays gone.
    pub async fn trim_bodies(&self, before: Micros) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let step = self.backend().trim_bodies(before, STEP).await?;
            removed += step;
            if step < u64::from(STEP) {
                return Ok(removed);
            }
        }
    }
}
