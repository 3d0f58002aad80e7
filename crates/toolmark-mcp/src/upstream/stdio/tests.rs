use tokio::io::AsyncReadExt;

use super::*;

/// A shell with a program of its own, which says that it is there.
async fn family(shell: &str, script: &str) -> (Child, Pid) {
    let path = std::env::var_os("PATH").map(|path| (OsString::from("PATH"), path));
    let inherited: Vec<_> = path.into_iter().collect();
    let args = ["-c".to_owned(), script.to_owned()];
    let mut child = start(shell, &args, &BTreeMap::new(), &inherited, None, None).expect("a shell");
    let mut line = Vec::new();
    let output = child.stdout.as_mut().expect("its output");
    while !line.ends_with(b"\n") {
        line.push(output.read_u8().await.expect("a line"));
    }
    let grandchild = String::from_utf8(line).expect("text").trim().parse().ok().and_then(Pid::from_raw);
    (child, grandchild.expect("its id"))
}

fn id(child: &Child) -> Pid {
    child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).expect("its id")
}

#[tokio::test]
async fn a_program_leads_a_session_and_a_group_of_its_own() {
    let (mut child, grandchild) = family("sh", "sleep 60 & echo $!; read line").await;
    for pid in [id(&child), grandchild] {
        assert_eq!(rustix::process::getsid(Some(pid)).expect("a session"), id(&child));
        assert_eq!(rustix::process::getpgid(Some(pid)).expect("a group"), id(&child));
    }
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
}

#[tokio::test]
async fn what_a_program_started_ends_with_its_group() {
    let (mut child, grandchild) = family("sh", "sleep 60 & echo $!; read line").await;
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
    is_gone(grandchild).await;
}

/// Waits until a program has ended. Whoever adopts it may take a moment to note that.
async fn is_gone(program: Pid) {
    let is_there = || {
        let status = std::fs::read_to_string(format!("/proc/{program}/stat")).ok();
        status.is_some_and(|line| line.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z')))
    };
    while is_there() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_started_in_a_group_of_its_own_ends_with_its_session() {
    // Other shells have no job control where there is no terminal.
    if !std::process::Command::new("bash").args(["-c", "true"]).status().is_ok_and(|status| status.success()) {
        return eprintln!("left out: there is no `bash` here");
    }
    let (mut child, grandchild) = family("bash", "set -m; sleep 60 & echo $!; read line").await;
    assert_eq!(rustix::process::getsid(Some(grandchild)).expect("a session"), id(&child));
    assert_ne!(rustix::process::getpgid(Some(grandchild)).expect("a group"), id(&child));
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
    is_gone(grandchild).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_started_in_a_session_of_its_own_ends_with_it_when_we_end_it() {
    let Ok(found) = std::process::Command::new("setsid").arg("true").status() else {
        return eprintln!("left out: there is no `setsid` here");
    };
    assert!(found.success());
    let (mut child, grandchild) = family("sh", "setsid sleep 60 & echo $!; read line").await;
    // It is there a moment before it has its session.
    while rustix::process::getsid(Some(grandchild)).expect("a session") == id(&child) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut group = Group::new(Some(id(&child)));
    group.note_relatives();
    drop(group);
    child.wait().await.expect("ended");
    is_gone(grandchild).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn somebody_who_got_the_id_of_one_that_has_ended_is_left_alone() {
    let (mut child, grandchild) = family("sh", "sleep 60 & echo $!; read line").await;
    let Relatives(mut found) = Relatives::of(id(&child));
    assert_eq!(found.len(), 1);
    found[0].began += 1;
    Relatives(found).end();
    assert!(rustix::process::test_kill_process(grandchild).is_ok(), "it is somebody else");
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let nowhere = Path::new("/no/such/directory");
    let error = start("sh", &[], &BTreeMap::new(), &[], Some(nowhere), None).expect_err("nowhere to start");
    assert_eq!(error.to_string(), "its `cwd` `/no/such/directory` is no directory");
}
