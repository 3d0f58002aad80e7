use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn create(path: &str, diff: &str) -> FileOperation {
    FileOperation::CreateFile { path: path.into(), diff: diff.into() }
}

fn update(path: &str, diff: &str) -> FileOperation {
    FileOperation::UpdateFile { path: path.into(), diff: diff.into(), move_to: None }
}

fn delete(path: &str) -> FileOperation {
    FileOperation::DeleteFile { path: path.into() }
}

/// Everything below a folder, with what is in it.
fn everything(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).expect("a folder").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
            let name = path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
            if kind.is_dir() {
                waiting.push(path);
                found.push((name, "/".into()));
            } else {
                found.push((name, std::fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

fn code(folder: &PatchFolder, operation: &FileOperation) -> &'static str {
    folder.apply(operation).expect_err("it is refused").code().as_str()
}

#[test]
fn files_are_created_changed_and_deleted() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = PatchFolder::at(place.path()).expect("a folder");
    assert_eq!(folder.apply(&create("src/deep/a.txt", "+one\n+two\n")).expect("created"), "Created src/deep/a.txt");
    let file = place.path().join("src/deep/a.txt");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "one\ntwo");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o750)).expect("a mode");
    folder.apply(&update("./src/deep/a.txt", " one\n-two\n+2\n")).expect("updated");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "one\n2");
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o750, "a program stays one");
    // A path from the top counts if it begins with the folder.
    let whole = place.path().canonicalize().expect("a path").join("src/deep/a.txt");
    folder.apply(&delete(&whole.to_string_lossy())).expect("deleted");
    assert!(!file.exists());
    assert_eq!(everything(place.path()), [("src".into(), "/".into()), ("src/deep".into(), "/".into())]);
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let (inside, outside) = (place.path().join("in"), place.path().join("out"));
    std::fs::create_dir(&inside).expect("a folder");
    std::fs::create_dir(&outside).expect("a folder");
    std::fs::write(outside.join("secret"), "s3cret").expect("a file");
    symlink(&outside, inside.join("away")).expect("a link");
    symlink(outside.join("secret"), inside.join("file")).expect("a link");
    symlink(outside.join("nothing"), inside.join("dangling")).expect("a link");
    let folder = PatchFolder::at(&inside).expect("a folder");
    let before = everything(place.path());
    let outside = outside.to_string_lossy();
    for path in [
        "../out/x",
        "a/../../out/x",
        "away/x",
        "/etc/x",
        "..",
        "",
        "/",
        "away/../x",
        "a\0b",
        "dir/",
        &format!("{outside}/x"),
    ] {
        assert_eq!(code(&folder, &create(path, "+x\n")), "patch-path", "create {path:?}");
        assert_eq!(code(&folder, &delete(path)), "patch-path", "delete {path:?}");
    }
    for path in ["away/secret", "file", "dangling"] {
        assert_eq!(code(&folder, &update(path, "+x\n")), "patch-path", "update {path:?}");
        assert_eq!(code(&folder, &delete(path)), "patch-path", "delete {path:?}");
    }
    // A link that leads nowhere is not filled in either.
    assert_eq!(code(&folder, &create("dangling", "+x\n")), "patch-file");
    assert_eq!(everything(place.path()), before);
}

#[test]
fn what_cannot_be_done_whole_is_not_begun() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = PatchFolder::at(place.path()).expect("a folder").largest(64);
    std::fs::write(place.path().join("text"), "a\nb\n").expect("a file");
    std::fs::write(place.path().join("bytes"), [0xff, 0xfe, 0x00]).expect("a file");
    std::fs::write(place.path().join("large"), "x".repeat(65)).expect("a file");
    std::fs::create_dir(place.path().join("folder")).expect("a folder");
    let before = everything(place.path());
    assert_eq!(code(&folder, &update("text", "-c\n+d\n")), "patch-diff");
    assert_eq!(code(&folder, &update("absent", "+d\n")), "patch-file");
    assert_eq!(code(&folder, &update("bytes", "+d\n")), "patch-file");
    assert_eq!(code(&folder, &update("large", "+d\n")), "patch-file");
    assert_eq!(code(&folder, &update("text", &format!("+{}\n", "y".repeat(80)))), "patch-file");
    assert_eq!(code(&folder, &update("folder", "+d\n")), "patch-file");
    assert_eq!(code(&folder, &delete("folder")), "patch-file");
    assert_eq!(code(&folder, &create("text", "+d\n")), "patch-file");
    assert_eq!(code(&folder, &create("text/below", "+d\n")), "patch-path");
    assert_eq!(code(&folder, &create("new/folders/x", "no\n")), "patch-diff");
    assert_eq!(code(&folder, &create("new/folders/x", &format!("+{}\n", "y".repeat(80)))), "patch-file");
    assert_eq!(everything(place.path()), before, "no file, no folder and no draft is left behind");
}

#[test]
fn folders_that_were_made_for_a_file_go_with_it() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = PatchFolder::at(place.path()).expect("a folder");
    let name = "n".repeat(300);
    assert_eq!(code(&folder, &create(&format!("a/b/{name}"), "+x\n")), "patch-file");
    assert!(everything(place.path()).is_empty());
}

#[test]
fn a_folder_must_be_there() {
    let place = tempfile::tempdir().expect("a folder");
    assert!(PatchFolder::at(place.path().join("absent")).is_err());
    std::fs::write(place.path().join("file"), "").expect("a file");
    assert_eq!(PatchFolder::at(place.path().join("file")).expect_err("no folder").code().as_str(), "host-folder");
}

fn moving(path: &str, diff: &str, to: &str) -> FileOperation {
    FileOperation::UpdateFile { path: path.into(), diff: diff.into(), move_to: Some(to.into()) }
}

#[test]
fn a_file_is_changed_and_moved_at_once_and_keeps_its_rights() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = PatchFolder::at(place.path()).expect("a folder");
    folder.apply(&create("a.sh", "+one\n+two\n")).expect("created");
    let (old, new) = (place.path().join("a.sh"), place.path().join("bin/deep/b.sh"));
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o750)).expect("a mode");
    let said = folder.apply(&update("a.sh", "*** Move to: bin/deep/b.sh\n@@\n one\n-two\n+2\n")).expect("moved");
    assert_eq!(said, "Updated a.sh and moved it to bin/deep/b.sh");
    assert!(!old.exists());
    assert_eq!(std::fs::read_to_string(&new).expect("a file"), "one\n2");
    assert_eq!(std::fs::metadata(&new).expect("a file").permissions().mode() & 0o777, 0o750);
    // Nothing but the place changes.
    folder.apply(&moving("bin/deep/b.sh", "", "c.sh")).expect("moved");
    assert_eq!(std::fs::read_to_string(place.path().join("c.sh")).expect("a file"), "one\n2");
    // To where it is already: it stays there.
    folder.apply(&moving("c.sh", "*** Move to: ./c.sh\n", "./c.sh")).expect("nothing to move");
    assert_eq!(std::fs::read_to_string(place.path().join("c.sh")).expect("a file"), "one\n2");
    let names: Vec<String> = everything(place.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["bin", "bin/deep", "c.sh"], "and nothing is left over");
}

#[test]
fn a_move_that_cannot_be_done_whole_changes_nothing() {
    let outside = tempfile::tempdir().expect("a folder");
    let place = tempfile::tempdir().expect("a folder");
    let folder = PatchFolder::at(place.path()).expect("a folder");
    std::fs::write(place.path().join("a"), "one\n").expect("a file");
    std::fs::write(place.path().join("taken"), "mine\n").expect("a file");
    symlink(outside.path(), place.path().join("link")).expect("a link");
    symlink(place.path().join("nowhere"), place.path().join("dangling")).expect("a link");
    let before = everything(place.path());
    for (operation, wanted) in [
        (moving("a", "", "../b"), "patch-path"),
        (moving("a", "", "/etc/b"), "patch-path"),
        (moving("a", "", "link/b"), "patch-path"),
        (moving("a", "", "new/"), "patch-path"),
        (moving("a", "", "taken"), "patch-file"),
        (moving("a", "", "dangling"), "patch-file"),
        (moving("a", "", "taken/b"), "patch-path"),
        (moving("absent", "", "new/b"), "patch-file"),
        (moving("a", "-other\n+line\n", "new/b"), "patch-diff"),
        (moving("a", "*** Move to: one\n", "another"), "patch-diff"),
        (update("a", "*** Move to: ../out\n"), "patch-path"),
        (update("a", "*** Move to:\n-one\n+1\n"), "patch-path"),
    ] {
        assert_eq!(code(&folder, &operation), wanted, "{operation:?}");
        assert_eq!(everything(place.path()), before, "{operation:?}");
    }
    assert_eq!(everything(outside.path()), []);
}
