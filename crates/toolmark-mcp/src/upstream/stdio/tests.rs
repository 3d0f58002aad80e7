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
    let (mut child, grandchild) = family("sh", "sleep 600 & echo $!; read line").await;
    for pid in [id(&child), grandchild] {
        until("it is in the session", || session(pid) == Some(id(&child))).await;
        assert_eq!(rustix::process::getpgid(Some(pid)).expect("a group"), id(&child));
    }
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
}

#[tokio::test]
async fn what_a_program_started_ends_with_its_group() {
    let (mut child, grandchild) = family("sh", "sleep 600 & echo $!; read line").await;
    drop(Group::new(Some(id(&child))));
    child.wait().await.expect("ended");
    is_gone(grandchild).await;
}

/// Whether a program runs.
fn is_there(program: Pid) -> bool {
    #[cfg(target_os = "linux")]
    if proc::is_readable() {
        return proc::look(program).is_some();
    }
    // Another user's would be there, too; these are ours.
    rustix::process::test_kill_process(program).is_ok()
}

/// Waits until this holds.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect(what);
}

/// Waits until a program has ended.
async fn is_gone(program: Pid) {
    until("it ends", || !is_there(program)).await;
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
    let (mut child, grandchild) = family("bash", "set -m; sleep 600 & echo $!; read line").await;
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
    until("it leads a session", || session(program) == Some(program)).await;
}

/// Waits until a program has started another one, and says which.
#[cfg(target_os = "linux")]
async fn child_of(program: Pid) -> Pid {
    until("it starts another", || !proc::children(program).is_empty()).await;
    proc::children(program)[0]
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
    until("it would say so", || {
        let status = std::fs::read_to_string(format!("/proc/{grandchild}/status")).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("its signals");
        u64::from_str_radix(caught.trim(), 16).expect("a mask") & (1 << 14) != 0
    })
    .await;
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
        family("sh", "setsid sh -c 'trap \"\" TERM; sleep 600; sleep 600' & echo $!; read line").await;
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
async fn what_one_of_them_starts_after_it_was_noted_ends_too() {
    if !has_setsid() || !proc::is_readable() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (go, theirs) = (folder.path().join("go"), folder.path().join("theirs"));
    // It ends when it is asked, and leaves one behind that does not.
    let script = format!(
        "setsid sh -c 'trap exit TERM; while [ ! -e {} ]; do sleep 0.01; done; (trap \"\" TERM; exec sleep 600) & echo $! > {}; wait' & \
         echo $!; read line",
        go.display(),
        theirs.display()
    );
    let (mut child, grandchild) = family("sh", &script).await;
    leads(grandchild).await;
    let mut group = Group::new(Some(id(&child)));
    group.note_relatives();
    std::fs::write(go, "").expect("written");
    let last = || Pid::from_raw(std::fs::read_to_string(&theirs).ok()?.trim().parse().ok()?);
    until("it starts another", || last().is_some()).await;
    drop(child.stdin.take());
    child.wait().await.expect("ended");
    group.end_rest(Duration::from_millis(50)).await;
    is_gone(grandchild).await;
    is_gone(last().expect("its id")).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_was_let_go_for_good_stays() {
    if !has_setsid() || !proc::is_readable() {
        return;
    }
    // As the page is shown at which a person logs in: whatever shows it was there for longer than who asked for it.
    let (mut child, grandchild) =
        family("sh", "setsid sh -c 'sleep 600 & wait' </dev/null >/dev/null 2>&1 & echo $!; read line").await;
    leads(grandchild).await;
    let theirs = child_of(grandchild).await;
    let mut group = Group::new(Some(id(&child)));
    group.note_relatives();
    drop(child.stdin.take());
    child.wait().await.expect("ended");
    group.end_rest(GRACE).await;
    drop(group);
    assert!(is_there(grandchild) && is_there(theirs));
    for left in [grandchild, theirs] {
        rustix::process::kill_process(left, Signal::KILL).expect("ended");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nobody_is_left_when_there_is_no_time_to_ask() {
    if !has_setsid() || !proc::is_readable() {
        return;
    }
    let (mut child, grandchild) = family("sh", "setsid sleep 600 & echo $!; read line").await;
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
    let (mut child, grandchild) = family("sh", "sleep 600 & echo $!; read line").await;
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
