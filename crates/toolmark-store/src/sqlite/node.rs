//! A node's name beside a SQLite file: a lock on a file of its own, which the operating system lets go of when the process ends.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::Sqlite;
use super::open::private_file;
use crate::error::{Fault, StoreError};
use crate::location::Location;
use crate::node::NodeClaim;

/// Names that are taken in this process.
pub(super) type Taken = Arc<Mutex<BTreeSet<String>>>;

/// Gives a name back when it is dropped.
struct Given {
    taken: Taken,
    node: String,
}

impl Sqlite {
    pub(super) fn take_node(&self, node: &str) -> Result<Option<NodeClaim>, StoreError> {
        let hold: Option<Box<dyn std::any::Any + Send + Sync>> = match &self.place {
            Location::File(path) => {
                let failed = |error: io::Error| StoreError::new(&self.place, Fault::Unreachable, &error.to_string());
                lock(path, node).map_err(failed)?.map(|file| Box::new(file) as _)
            }
            _ => {
                let fresh = self.nodes.lock().unwrap_or_else(PoisonError::into_inner).insert(node.to_owned());
                fresh.then(|| Box::new(Given { taken: Arc::clone(&self.nodes), node: node.to_owned() }) as _)
            }
        };
        // As long as the process lives, nobody takes it away.
        Ok(hold.map(|hold| NodeClaim::new(node.into(), watch::channel(true).1, hold)))
    }
}

fn lock(store: &Path, node: &str) -> io::Result<Option<File>> {
    let path = beside(store, node);
    match private_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let file = File::options().write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// `store.db-node-1a2b3c4d5e6f`: a name may hold what no file name can.
fn beside(store: &Path, node: &str) -> PathBuf {
    let digest = Sha256::digest(node.as_bytes());
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let mut path = store.as_os_str().to_owned();
    path.push("-node-");
    path.push(short);
    path.into()
}

impl Drop for Given {
    fn drop(&mut self) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.node);
    }
}
