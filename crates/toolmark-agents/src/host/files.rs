//! Which file is meant, and is it ours to change? Everything happens below one folder, from which nothing leads out: no `..`, no link. A
//! file is written beside its place and put there whole, or not at all.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{ToolContext, ToolError};
use uuid::Uuid;

use super::diff::{DiffError, apply_diff, create_from_diff, moved};
use super::shell::HostFolderError;
use super::{EditFiles, FileOperation};

/// A folder in which files may be created, changed and deleted. Cheap to clone.
#[derive(Clone)]
pub struct PatchFolder(Arc<Root>);

struct Root {
    path: PathBuf,
    folder: OwnedFd,
    largest: u64,
}

/// A file operation that was not done. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The path leads out of the folder, or nowhere.
    #[error("`{path}` is no path inside of the folder: {reason}")]
    Path {
        /// The path.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// A file that is to be created is there.
    #[error("`{path}` is there already")]
    Exists {
        /// The path.
        path: String,
    },
    /// A file that is to be changed or deleted is not there.
    #[error("`{path}` is not there")]
    Absent {
        /// The path.
        path: String,
    },
    /// What is there is no plain file, no text or too large.
    #[error("`{path}` cannot be changed: {reason}")]
    Unfit {
        /// The path.
        path: String,
        /// Why.
        reason: String,
    },
    /// Somebody else changed it at the same time.
    #[error("`{path}` was changed by somebody else in the meantime")]
    Raced {
        /// The path.
        path: String,
    },
    /// The diff does not fit.
    #[error("`{path}` was not changed: {error}")]
    Diff {
        /// The path.
        path: String,
        /// Why.
        error: DiffError,
    },
    /// The system says no.
    #[error("`{path}` cannot be written: {reason}")]
    System {
        /// The path.
        path: String,
        /// Why.
        reason: String,
    },
}

impl PatchFolder {
    /// A folder that is there.
    ///
    /// # Errors
    /// [`HostFolderError`] when it is none.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, HostFolderError> {
        let path = HostFolderError::real(path.as_ref())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&path, flags, Mode::empty());
        let folder = folder.map_err(|error| HostFolderError::new(&path, error))?;
        Ok(Self(Arc::new(Root { path, folder, largest: 16 << 20 })))
    }

    /// The largest file that is read or written, in bytes: 16 MiB, unless this says otherwise.
    #[must_use]
    pub fn largest(self, bytes: u64) -> Self {
        let Root { path, folder, .. } = match Arc::try_unwrap(self.0) {
            Ok(root) => root,
            // A folder that is shared is opened again; where that fails, it stays as small as it was.
            Err(shared) => match shared.folder.try_clone() {
                Ok(folder) => Root { path: shared.path.clone(), folder, largest: shared.largest },
                Err(_) => return Self(shared),
            },
        };
        Self(Arc::new(Root { path, folder, largest: bytes }))
    }

    /// Does what an operation says, whole or not at all, and says what was done. It waits for the disk.
    ///
    /// # Errors
    /// [`PatchError`]; nothing has changed then.
    pub fn apply(&self, operation: &FileOperation) -> Result<String, PatchError> {
        let root = &*self.0;
        match operation {
            FileOperation::CreateFile { path, diff } => {
                let text = create_from_diff(diff).map_err(|error| PatchError::diff(path, error))?;
                root.create(path, &text)?;
                Ok(format!("Created {}", visible(path, 500)))
            }
            FileOperation::UpdateFile { path, diff, move_to } => {
                let (said, diff) = moved(diff);
                let to = match (said, move_to.as_deref()) {
                    (Some(one), Some(other)) if one != other => {
                        let (one, other) = (visible(one, 500), visible(other, 500));
                        return Err(PatchError::diff(path, DiffError::TwoPlaces { one, other }));
                    }
                    (said, given) => said.or(given),
                };
                match to {
                    Some(to) if root.names(to)? != root.names(path)? => {
                        root.relocate(path, to, diff)?;
                        Ok(format!("Updated {} and moved it to {}", visible(path, 500), visible(to, 500)))
                    }
                    _ => {
                        root.update(path, diff)?;
                        Ok(format!("Updated {}", visible(path, 500)))
                    }
                }
            }
            FileOperation::DeleteFile { path } => {
                root.delete(path)?;
                Ok(format!("Deleted {}", visible(path, 500)))
            }
        }
    }
}

impl EditFiles for PatchFolder {
    fn edit(&self, _: ToolContext, operation: FileOperation) -> Later<'_, Result<String, ToolError>> {
        let own = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || own.apply(&operation)).await;
            match done {
                Ok(Ok(said)) => Ok(said),
                Ok(Err(error)) => Err(ToolError::told(error.for_model()).caused_by(error)),
                Err(error) => Err(error.into()),
            }
        })
    }
}

/// The folder of a file, and the name of the file in it.
struct Place<'p> {
    folder: OwnedFd,
    name: &'p OsStr,
    /// Folders that were made for it: where each is, and its name.
    made: Vec<(OwnedFd, &'p OsStr)>,
}

impl Place<'_> {
    /// What was made for a file that did not come about goes again.
    fn clear(&self) {
        for (folder, name) in self.made.iter().rev() {
            let _ = rustix::fs::unlinkat(folder, *name, AtFlags::REMOVEDIR);
        }
    }
}

impl Root {
    fn create(&self, path: &str, text: &str) -> Result<(), PatchError> {
        self.fits(path, text.len() as u64)?;
        let place = self.place(path, true)?;
        let done = self.is_free(&place, path).and_then(|()| self.put_new(&place, path, text, None));
        if done.is_err() {
            place.clear();
        }
        done
    }

    fn is_free(&self, place: &Place<'_>, path: &str) -> Result<(), PatchError> {
        match rustix::fs::statat(&place.folder, place.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(PatchError::Exists { path: visible(path, 500) }),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(PatchError::system(path, error)),
        }
    }

    fn put_new(&self, place: &Place<'_>, path: &str, text: &str, mode: Option<Mode>) -> Result<(), PatchError> {
        let draft = Draft::write(&place.folder, text, mode).map_err(|error| PatchError::system(path, error))?;
        // Unlike renaming, this never takes the place of a file that came about in the meantime.
        match rustix::fs::linkat(&place.folder, &draft.name, &place.folder, place.name, AtFlags::empty()) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(PatchError::Exists { path: visible(path, 500) }),
            Err(error) => Err(PatchError::system(path, error)),
        }
    }

    /// What a file is, and what a diff makes of it. A diff of nothing changes nothing.
    fn changed(&self, place: &Place<'_>, path: &str, diff: &str) -> Result<(Stat, String), PatchError> {
        let before = self.plain(place, path)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&place.folder, place.name, flags, Mode::empty());
        let file = file.map_err(|error| PatchError::system(path, error))?;
        let unfit = |reason: &str| PatchError::Unfit { path: visible(path, 500), reason: reason.to_owned() };
        let mut bytes = Vec::new();
        let read = File::from(file).take(self.largest.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| PatchError::system(path, error))?;
        self.fits(path, bytes.len() as u64)?;
        let text = String::from_utf8(bytes).map_err(|_| unfit("it is no text"))?;
        let text = apply_diff(&text, diff).map_err(|error| PatchError::diff(path, error))?;
        self.fits(path, text.len() as u64)?;
        Ok((before, text))
    }

    /// Nothing where the file is still the one that was read.
    fn is_still(&self, place: &Place<'_>, path: &str, before: &Stat) -> Result<(), PatchError> {
        let now = self.plain(place, path)?;
        let same = |one: &Stat, two: &Stat| {
            (one.st_ino, one.st_dev, one.st_size, one.st_mtime, one.st_mtime_nsec)
                == (two.st_ino, two.st_dev, two.st_size, two.st_mtime, two.st_mtime_nsec)
        };
        if same(before, &now) { Ok(()) } else { Err(PatchError::Raced { path: visible(path, 500) }) }
    }

    fn update(&self, path: &str, diff: &str) -> Result<(), PatchError> {
        let place = self.place(path, false)?;
        let (before, text) = self.changed(&place, path, diff)?;
        let mode = Mode::from_raw_mode(before.st_mode);
        let draft = Draft::write(&place.folder, &text, Some(mode)).map_err(|error| PatchError::system(path, error))?;
        self.is_still(&place, path, &before)?;
        rustix::fs::renameat(&place.folder, &draft.name, &place.folder, place.name)
            .map_err(|error| PatchError::system(path, error))?;
        draft.is_in_place();
        Ok(())
    }

    /// Puts what a diff makes of a file where nothing is, and takes the file away. What was put there goes again if the other does not
    /// come off; a process that ends in between leaves both, and loses neither.
    fn relocate(&self, path: &str, to: &str, diff: &str) -> Result<(), PatchError> {
        let from = self.place(path, false)?;
        let (before, text) = self.changed(&from, path, diff)?;
        let place = self.place(to, true)?;
        let mode = Mode::from_raw_mode(before.st_mode);
        let put = self.is_free(&place, to).and_then(|()| self.put_new(&place, to, &text, Some(mode)));
        if let Err(error) = put {
            place.clear();
            return Err(error);
        }
        let gone = self.is_still(&from, path, &before).and_then(|()| {
            rustix::fs::unlinkat(&from.folder, from.name, AtFlags::empty())
                .map_err(|error| PatchError::system(path, error))
        });
        if gone.is_err() {
            let _ = rustix::fs::unlinkat(&place.folder, place.name, AtFlags::empty());
            place.clear();
        }
        gone
    }

    fn delete(&self, path: &str) -> Result<(), PatchError> {
        let place = self.place(path, false)?;
        self.plain(&place, path)?;
        rustix::fs::unlinkat(&place.folder, place.name, AtFlags::empty())
            .map_err(|error| PatchError::system(path, error))
    }

    fn fits(&self, path: &str, bytes: u64) -> Result<(), PatchError> {
        if bytes <= self.largest {
            return Ok(());
        }
        let reason = format!("it has more than {} bytes", self.largest);
        Err(PatchError::Unfit { path: visible(path, 500), reason })
    }

    /// A plain file that is there. A link is none, wherever it leads.
    fn plain(&self, place: &Place<'_>, path: &str) -> Result<Stat, PatchError> {
        let found = match rustix::fs::statat(&place.folder, place.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Err(PatchError::Absent { path: visible(path, 500) }),
            Err(error) => return Err(PatchError::system(path, error)),
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Ok(found),
            FileType::Symlink => Err(PatchError::link(path)),
            _ => Err(PatchError::Unfit { path: visible(path, 500), reason: "it is no plain file".into() }),
        }
    }

    /// Goes down folder by folder, each opened inside the one before and none of them a link: what somebody else changes on the way
    /// cannot lead us out.
    fn place<'p>(&self, path: &'p str, make: bool) -> Result<Place<'p>, PatchError> {
        let names = self.names(path)?;
        let Some((name, folders)) = names.split_last() else { return Err(PatchError::path(path, "it names no file")) };
        let mut folder = self.folder.as_fd().try_clone_to_owned().map_err(|error| PatchError::system(path, error))?;
        let mut made = Vec::new();
        for own in folders {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = || rustix::fs::openat(&folder, *own, flags, Mode::empty());
            let next = match open() {
                Err(Errno::NOENT) if make => {
                    match rustix::fs::mkdirat(&folder, *own, Mode::from_raw_mode(0o777)) {
                        Ok(()) => {
                            let above = folder.try_clone().map_err(|error| PatchError::system(path, error))?;
                            made.push((above, *own));
                        }
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(PatchError::system(path, error)),
                    }
                    open()
                }
                other => other,
            };
            folder = match next {
                Ok(next) => next,
                Err(Errno::NOENT) => return Err(PatchError::Absent { path: visible(path, 500) }),
                // Which of the two a link is depends on the system.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                    let found = rustix::fs::statat(&folder, *own, AtFlags::SYMLINK_NOFOLLOW);
                    let is_link = found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink);
                    return Err(match is_link {
                        true => PatchError::link(path),
                        false => PatchError::path(path, "a part of it is no folder"),
                    });
                }
                Err(error) => return Err(PatchError::system(path, error)),
            };
        }
        Ok(Place { folder, name, made })
    }

    /// The parts of a path. One that begins at the top counts if it begins with the folder.
    fn names<'p>(&self, path: &'p str) -> Result<Vec<&'p OsStr>, PatchError> {
        if path.contains('\0') {
            return Err(PatchError::path(path, "it holds a character that no path has"));
        }
        let given = Path::new(path);
        let inside = match given.is_absolute() {
            false => given,
            true => given.strip_prefix(&self.path).map_err(|_| PatchError::path(path, "it begins elsewhere"))?,
        };
        let mut names = Vec::new();
        for component in inside.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                _ => return Err(PatchError::path(path, "it leads out of the folder")),
            }
        }
        if path.ends_with('/') {
            return Err(PatchError::path(path, "it names a folder"));
        }
        Ok(names)
    }
}

/// A file beside its place; gone again unless it was put there.
struct Draft<'f> {
    folder: &'f OwnedFd,
    name: String,
    in_place: std::cell::Cell<bool>,
}

impl<'f> Draft<'f> {
    fn write(folder: &'f OwnedFd, text: &str, mode: Option<Mode>) -> std::io::Result<Self> {
        let name = format!(".toolmark-{}", Uuid::now_v7().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666))?;
        let draft = Self { folder, name, in_place: std::cell::Cell::new(false) };
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        let mut file = File::from(file);
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(draft)
    }

    /// It was renamed, so that there is nothing to clear away.
    fn is_in_place(&self) {
        self.in_place.set(true);
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.in_place.get() {
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

impl PatchError {
    fn path(path: &str, reason: &'static str) -> Self {
        Self::Path { path: visible(path, 500), reason }
    }

    fn link(path: &str) -> Self {
        Self::path(path, "a part of it is a link")
    }

    fn diff(path: &str, error: DiffError) -> Self {
        Self::Diff { path: visible(path, 500), error }
    }

    fn system(path: &str, error: impl fmt::Display) -> Self {
        Self::System { path: visible(path, 500), reason: error.to_string() }
    }

    /// What the model reads: all of it is about what the model itself said.
    fn for_model(&self) -> String {
        format!("Nothing was changed: {self}. {}.", self.fix())
    }
}

impl Explain for PatchError {
    fn code(&self) -> Code {
        match self {
            Self::Path { .. } => Code::new("patch-path"),
            Self::Diff { error, .. } => error.code(),
            _ => Code::new("patch-file"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Path { .. } => "files are changed below one folder only, and a link may lead anywhere".into(),
            Self::Diff { error, .. } => error.why(),
            _ => "a file that is not what the model thinks would be lost or spoiled".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Path { .. } => "Use a path below the folder, without `..` and without links".into(),
            Self::Exists { .. } => "Update the file, or choose another name".into(),
            Self::Absent { .. } => "Create the file, or correct the path".into(),
            Self::Unfit { .. } => "Choose another file".into(),
            Self::Raced { .. } => "Read the file again and write the diff anew".into(),
            Self::Diff { .. } => {
                "Read the file again and write the diff anew, with a few lines around each change".into()
            }
            Self::System { .. } => "Go another way".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let (Self::Path { path, .. }
        | Self::Exists { path }
        | Self::Absent { path }
        | Self::Unfit { path, .. }
        | Self::Raced { path }
        | Self::Diff { path, .. }
        | Self::System { path, .. }) = self;
        facts([("path", path.as_str().into())])
    }
}

impl fmt::Debug for PatchFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PatchFolder").field(&self.0.path).finish()
    }
}

#[cfg(test)]
mod tests;
