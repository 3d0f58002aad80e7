use super::*;

#[tokio::test]
async fn a_change_behind_a_link_is_heard_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let (real, shown) = (folder.path().join("real"), folder.path().join("shown"));
    for folder in [&real, &shown] {
        std::fs::create_dir(folder).expect("a folder");
    }
    std::fs::write(real.join("own.toml"), "one").expect("written");
    let link = shown.join("toolmark.toml");
    std::os::unix::fs::symlink(real.join("own.toml"), &link).expect("a link");
    let watch = Watch::on(&[link]).expect("watched");
    std::fs::write(real.join("own.toml"), "two").expect("written");
    tokio::time::timeout(Duration::from_secs(60), watch.changed()).await.expect("it is heard of");
}

#[tokio::test]
async fn a_folder_that_comes_later_is_heard_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let later = folder.path().join("opinions");
    let files = [later.join("*.jsonl"), folder.path().join("toolmark.toml")];
    let watch = Watch::on(&files).expect("watched");
    std::fs::create_dir(&later).expect("a folder");
    tokio::time::timeout(Duration::from_secs(60), watch.changed()).await.expect("it is heard of");
    let watch = Watch::on(&files).expect("watched");
    std::fs::write(later.join("one.jsonl"), "{}").expect("written");
    tokio::time::timeout(Duration::from_secs(60), watch.changed()).await.expect("what comes into it is heard of");
}
