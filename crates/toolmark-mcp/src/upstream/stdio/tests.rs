use tokio::io::AsyncReadExt;

#[cfg(target_os = "linux")]
use super::super::proc;
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

/// Who began the session of a program.
fn session(program: Pid) -> Option<Pid> {
    #[cfg(target_os = "linux")]
    if proc::is_readable() {
        return proc::look(program)?.session;
    }
    rustix::process::getsid(Some(program)).ok()
}

#[tokio::test]
async fn a_program_leads_a_session_and_a_group_of_its_own() {
    let (mut child, grandchild) = family("sh", "sleep 60 & echo $!; read line").await;
    for pid in [id(&child), grandchild] {
        assert_eq!(session(pid), Some(id(&child)));
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

/// Waits until a program has ended.
async fn is_gone(program: Pid) {
    // Another user's would be there, too; these are ours.
    let gone = async {
        while std::fs::read_to_string(format!("/proc/{program}/stat")).is_ok_and(|line| !line.contains(") Z "))
            || (cfg!(not(target_os = "linux")) && rustix::process::test_kill_process(program).is_ok())
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("it ends");
}

/// Whoever is left is given so long; far more than they take.
#[cfg(target_os = "linux")]
const GRACE: Duration = Duration::from_secs(60);

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_started_in_a_group_of_its_own_ends_with_its_session() {
    // Other shells have no job control where there is no terminal.
    if !std::process::Command::new("bash").args(["-c", "true"]).status().is_ok_and(|status| status.success()) {
        return eprintln!("left out: there is no `bash` here");
    }
    if !proc::is_readable() {
        return;
    }
    let (mut child, grandchild) = family("bash", "set -m; sleep 60 & echo $!; read line").await;
    assert_eq!(session(grandchild), Some(id(&child)));
    assert_ne!(rustix::process::getpgid(Some(grandchild)).expect("a group"), id(&child));
    let mut group = Group::new(Some(id(&child)));
    drop(child.stdin.take());
    child.wait().await.expect("ended");
    group.end_rest(GRACE).await;
    is_gone(grandchild).await;
}

/// Waits until a program leads a session; it is there a moment before it does.
#[cfg(target_os = "linux")]
async fn leads(program: Pid) {
    while session(program) != Some(program) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(target_os = "linux")]
fn has_setsid() -> bool {
    let found = std::process::Command::new("setsid").arg("true").status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("left out: there is no `setsid` here");
    }
    found
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_started_in_a_session_of_its_own_is_asked_to_end_once_the_program_has() {
    if !has_setsid() || !proc::is_readable() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let words = folder.path().join("words");
    // It says so when it is asked, which it is not if it is simply ended.
    let script = format!(
        "setsid sh -c 'trap \"echo asked > {}; exit\" TERM; while :; do sleep 0.01; done' & echo $!; read line",
        words.display()
    );
    let (mut child, grandchild) = family("sh", &script).await;
    leads(grandchild).await;
    // The trap is set a moment later.
    while std::fs::read_to_string(format!("/proc/{grandchild}/status")).is_ok_and(|status| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("its signals");
        u64::from_str_radix(caught.trim(), 16).expect("a mask") & (1 << 14) == 0
    }) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut group = Group::new(Some(id(&child)));
    group.note_relatives();
    drop(child.stdin.take());
    child.wait().await.expect("ended");
    group.end_rest(GRACE).await;
    is_gone(grandchild).await;
    assert_eq!(std::fs::read_to_string(words).expect("its words").trim(), "asked");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_does_not_end_when_asked_is_made_to() {
    if !has_setsid() || !proc::is_readable() {
        return;
    }
    let (mut child, grandchild) =
        family("sh", "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' & echo $!; read line").await;
    leads(grandchild).await;
    let mut group = Group::new(Some(id(&child)));
    group.note_relatives();
    drop(child.stdin.take());
    child.wait().await.expect("ended");
    group.end_rest(Duration::from_millis(50)).await;
    is_gone(grandchild).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nobody_is_left_when_there_is_no_time_to_ask() {
    if !has_setsid() || !proc::is_readable() {
        return;
    }
    let (mut child, grandchild) = family("sh", "setsid sleep 60 & echo $!; read line").await;
    leads(grandchild).await;
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
    is_gone(grandchild).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn somebody_who_got_the_id_of_one_that_has_ended_is_left_alone() {
    if !proc::is_readable() {
        return;
    }
    let (mut child, grandchild) = family("sh", "sleep 60 & echo $!; read line").await;
    let mut found = Relatives::of(id(&child));
    assert_eq!(found.0.len(), 1);
    found.0[0].began += 1;
    found.signal(Signal::KILL);
    assert!(found.still_there().is_empty());
    assert!(rustix::process::test_kill_process(grandchild).is_ok(), "it is somebody else");
    // And whoever is in the session of somebody who is there is not left by one who has gone.
    assert!(Relatives::left_by(id(&child)).expect("the system says so").is_empty());
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let nowhere = Path::new("/no/such/directory");
    let error = start("sh", &[], &BTreeMap::new(), &[], Some(nowhere), None).expect_err("nowhere to start");
    assert_eq!(error.to_string(), "its `cwd` `/no/such/directory` is no directory");
}
