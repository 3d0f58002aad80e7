//! What did the files say that a configuration names, when it was taken over? Each is read once for it: what somebody writes into one of them
//! holds when it is taken over with the rest, and not before, whatever servers list meanwhile.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::assemble::{self, FileMissing};
use crate::opinions::Opinions;

/// The files of one configuration. What could not be read is tried again.
#[derive(Default)]
pub(crate) struct Files {
    found: Mutex<HashMap<String, Vec<PathBuf>>>,
    texts: Mutex<HashMap<String, String>>,
    opinions: Mutex<HashMap<PathBuf, Arc<Opinions>>>,
}

impl Files {
    /// The files that a pattern means.
    pub(crate) fn matching(&self, directory: &Path, pattern: &str) -> Vec<PathBuf> {
        let mut found = held(&self.found);
        if let Some(known) = found.get(pattern) {
            return known.clone();
        }
        let new = assemble::matching(directory, pattern);
        if !new.is_empty() {
            found.insert(pattern.to_owned(), new.clone());
        }
        new
    }

    /// What stands in a file.
    pub(crate) fn text(&self, directory: &Path, owner: &str, path: &str) -> Result<String, FileMissing> {
        let mut texts = held(&self.texts);
        if let Some(known) = texts.get(path) {
            return Ok(known.clone());
        }
        let text = assemble::read_file(directory, owner, path)?;
        texts.insert(path.to_owned(), text.clone());
        Ok(text)
    }

    /// What models said, as a folder has it.
    pub(crate) fn opinions(&self, folder: &Path) -> io::Result<Arc<Opinions>> {
        let mut opinions = held(&self.opinions);
        if let Some(known) = opinions.get(folder) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(Opinions::read(folder)?);
        opinions.insert(folder.to_owned(), Arc::clone(&read));
        Ok(read)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
