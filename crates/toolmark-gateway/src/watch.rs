//! Did somebody change the files that a gateway was started from?

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use toolmark_policy::pattern::Glob;

/// How long nothing more must happen until a change counts as whole: editors write, rename and write again.
const QUIET: Duration = Duration::from_millis(150);

/// Hears of changes to files, also of files that do not exist yet.
pub struct Watch {
    // Ends with this.
    _watcher: notify::RecommendedWatcher,
    bell: Arc<Notify>,
}

impl Watch {
    /// Watches files; `*` in a name stands for any run of characters. The folders that they and what they link to
    /// are in are what is really watched, because editors and mounts replace files. Of a folder that is not there, it is heard when it comes:
    /// then the files in it are to be watched anew.
    ///
    /// # Errors
    /// What the system says, when it cannot watch one of the folders.
    pub fn on(files: &[PathBuf]) -> Result<Self, String> {
        // What a link leads to changes where it is, not where the link is.
        let targets = files.iter().filter_map(|file| file.canonicalize().ok());
        let files: HashSet<PathBuf> = files.iter().cloned().chain(targets).collect();
        let bell = Arc::new(Notify::new());
        let places: Vec<(&Path, Option<&OsStr>)> = files.iter().map(|file| place(file)).collect();
        let names = places.iter().filter_map(|(_, name)| Some(Glob::new((*name)?.to_str()?))).collect::<Vec<_>>();
        let rung = Arc::clone(&bell);
        let heard = move |event: notify::Result<notify::Event>| match event {
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) if event.paths.iter().any(|path| concerns(path, &names)) => rung.notify_one(),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "changes of the configuration may go unnoticed");
                rung.notify_one();
            }
        };
        let mut watcher = notify::recommended_watcher(heard).map_err(|error| error.to_string())?;
        let folders: HashSet<&Path> = places.iter().map(|(folder, _)| *folder).collect();
        for folder in folders {
            watcher
                .watch(folder, RecursiveMode::NonRecursive)
                .map_err(|error| format!("`{}` cannot be watched: {error}", folder.display()))?;
        }
        Ok(Self { _watcher: watcher, bell })
    }

    /// Waits until something changed and it is quiet again.
    pub async fn changed(&self) {
        self.bell.notified().await;
        while tokio::time::timeout(QUIET, self.bell.notified()).await.is_ok() {}
    }
}

/// The folder that is there on the way to a file, and what comes next in it.
fn place(file: &Path) -> (&Path, Option<&OsStr>) {
    let mut at = file;
    loop {
        match at.parent() {
            Some(folder) if folder.is_dir() => return (folder, at.file_name()),
            Some(folder) if !folder.as_os_str().is_empty() => at = folder,
            _ => return (Path::new("."), at.file_name()),
        }
    }
}

/// True for one of the files, and for the links by which mounted folders are replaced as a whole.
fn concerns(path: &Path, names: &[Glob]) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("..") || names.iter().any(|glob| glob.matches(name)))
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
