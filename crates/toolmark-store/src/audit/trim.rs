//! How records end: the oldest of each chain are removed in small steps, and a checkpoint keeps the hash that the rest goes on
//! from.

use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// How many rows go in one transaction: few enough that nobody waits long for the writer.
const STEP: u32 = 2_000;
/// The same beside a gateway at work: a writer that is held longer shows in the calls that wait for it.
const SMALL_STEP: u32 = 500;

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

    /// Removes a few records from before a time, for those who let others have the store between two steps. Returns how many went; none
    /// are left when none did.
    ///
    /// # Errors
    /// [`StoreError`]; what went before stays gone, and the chain is whole.
    pub async fn trim_audit_step(&self, before: Micros) -> Result<u64, StoreError> {
        for chain in self.backend().chains().await? {
            let step = self.backend().trim(&chain.node, before, SMALL_STEP, self.now()).await?;
            if step > 0 {
                return Ok(step);
            }
        }
        Ok(0)
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
