//! Files that are written whole or not at all.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::exit::Exit;
use crate::failure::{Failure, FileError};

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
    let draft = draft(&target);
    write_private(&draft, text)?;
    let replaced = fs::set_permissions(&draft, permissions).and_then(|()| fs::rename(&draft, &target));
    replaced.map_err(|error| {
        // The draft is of no use to anybody; what matters is the first error.
        let _ = fs::remove_file(&draft);
        fail(error)
    })
}

/// Writes a file, whether it is there or not. A reader never sees half of it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path.exists() {
        return replace(path, text);
    }
    let draft = draft(path);
    let written = fs::File::create_new(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    written.map_err(|error| {
        // The draft may not exist; what matters is the first error.
        let _ = fs::remove_file(&draft);
        Failure::refused(Exit::Failed, &FileError::writing(path, &error))
    })
}

/// Where a file is written before it takes its place.
fn draft(path: &Path) -> std::path::PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
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
