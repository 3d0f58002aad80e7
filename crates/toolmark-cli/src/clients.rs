//! The files of other clients on this machine: where they are looked for, and how they are written without losing anything.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use toolmark_config::clients::{Client, Location, Os, Scope, locations};
use toolmark_config::import::Surroundings;

use crate::exit::Exit;
use crate::failure::{Failure, FileError};

/// Where clients' files are looked for.
#[derive(Debug, Args)]
pub(crate) struct Places {
    /// The home directory [default: that of the user]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// The directory of the project
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

impl Places {
    fn home(&self) -> Option<PathBuf> {
        self.home.clone().or_else(std::env::home_dir)
    }

    /// Everything that may hold servers, of the user and of the project; the directory of the project is the current one where none
    /// was named.
    pub(crate) fn all(&self, client: Client) -> Vec<Location> {
        let project = self.project.clone().unwrap_or_default();
        locations(client, self.home().as_deref(), Some(&project), Os::here())
    }

    /// What a command that changes a file is about: the files of the project where one was named, else those of the user.
    pub(crate) fn chosen(&self, client: Client) -> Vec<Location> {
        let scope = if self.project.is_some() { Scope::Project } else { Scope::User };
        self.all(client).into_iter().filter(|location| location.scope == scope).collect()
    }

    /// What texts such as `${workspaceFolder}` stand for. Files of the user know no project.
    pub(crate) fn surroundings(&self, scope: Scope) -> Surroundings {
        let project = (scope == Scope::Project || self.project.is_some())
            .then(|| absolute(&self.project.clone().unwrap_or_else(|| PathBuf::from("."))));
        Surroundings { home: self.home().map(|home| absolute(&home)), project, windows: Os::here() == Os::Windows }
    }
}

/// A path that means the same from everywhere.
pub(crate) fn absolute(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // Without the dots that a relative path leaves behind.
    whole.components().collect::<PathBuf>().display().to_string()
}

/// Writes a new file that only its owner may read. One that is there already is an error.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| Failure::refused(Exit::Failed, &FileError::writing(path, &error)))
}

/// Replaces a file that is there, whole or not at all, with the permissions that it has. A link stays a link.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::refused(Exit::Failed, &FileError::writing(path, &error));
    let target = fs::canonicalize(path).map_err(fail)?;
    let permissions = fs::metadata(&target).map_err(fail)?.permissions();
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let draft = target.with_file_name(name);
    write_private(&draft, text)?;
    let replaced = fs::set_permissions(&draft, permissions).and_then(|()| fs::rename(&draft, &target));
    replaced.map_err(|error| {
        // The draft is of no use to anybody; what matters is the first error.
        let _ = fs::remove_file(&draft);
        fail(error)
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_may_hold_secrets_is_for_its_owner_only_and_what_is_replaced_keeps_its_permissions_and_links() {
        let folder = std::env::temp_dir().join(format!("toolmark-clients-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (file, link) = (folder.join("real.json"), folder.join("link.json"));
        write_private(&file, "one").unwrap();
        assert_eq!(mode(&file), 0o600);
        assert!(write_private(&file, "two").is_err(), "nothing is written over");
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, "three").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("three", 0o644));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no draft is left");
        fs::remove_dir_all(&folder).unwrap();
    }
}
