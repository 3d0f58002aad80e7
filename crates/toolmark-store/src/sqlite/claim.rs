//! Which process has which chain: a locked file beside the store for each node. The system lets go of the lock when a process ends,
//! however it ends; the empty file stays.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

use super::Sqlite;
use crate::backend::Claim;
use crate::error::{Fault, StoreError};
use crate::location::Location;

impl Sqlite {
    /// Takes a chain for this process, unless another has it. A store in memory is this process's alone.
    pub(super) fn lock_node(&self, node: &str) -> Result<Claim, StoreError> {
        let Location::File(path) = &self.place else { return Ok(Claim::Ours(Box::new(()))) };
        let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        let safe: String = node.chars().map(|character| if legal(character) { character } else { '_' }).collect();
        let mut name = path.clone().into_os_string();
        name.push(format!("-{safe}.lock"));
        let failed = |error: std::io::Error| StoreError::new(&self.place, Fault::Unreachable, &error.to_string());
        let file = open(&PathBuf::from(name)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Claim::Ours(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(Claim::Others),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn open(path: &std::path::Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use crate::audit::{AuditRecord, Outcome, SinkSettings};
    use crate::{Location, Micros, Settings, Store};

    #[tokio::test]
    async fn a_chain_has_one_writer_at_a_time_and_what_another_has_under_way_is_left_alone() {
        let folder = tempfile::TempDir::new().unwrap();
        let location = Location::File(folder.path().join("store.db"));
        let settings = Settings::new(|| Micros::new(5));
        let (one, other) =
            (Store::open(&location, &settings).await.unwrap(), Store::open(&location, &settings).await.unwrap());
        let claim = one.claim_node("local").await.unwrap();
        let sink = one.audit_sink_of(claim, SinkSettings::new("anything"));
        let intent = AuditRecord::new(uuid::Uuid::max(), Micros::new(1), "tool".into(), Outcome::Intent);
        sink.record_strictly(intent).await.unwrap();
        let second = other.claim_node("local").await.unwrap();
        assert_eq!(&**second.node(), "local-2");
        assert_eq!(other.recover_audit(&second).await.unwrap(), 0, "its process is alive");
        sink.close().await.unwrap();
        drop(sink);
        // The task behind the sink lets go of it a moment after its last word.
        while other.recover_audit(&second).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
        drop(second);
        assert_eq!(&**other.claim_node("local").await.unwrap().node(), "local");
    }
}
