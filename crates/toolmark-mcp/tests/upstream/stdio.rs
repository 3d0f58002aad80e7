//! Programs: what they are given, what they leave behind, and what is left of them.

use std::collections::BTreeMap;
use std::time::Duration;

use toolmark_mcp::upstream::{
    ConnectError, Delivery, EventSender, ListKind, Target, Upstream, UpstreamErrorKind, UpstreamEvent, UpstreamLimits,
    minimal_environment,
};
use toolmark_mcp::wire::version::{Era, ProtocolVersion};

use super::{call, connect, options, parsed};

/// A server of 2025-06-18 in a few lines of shell. It reads the id of each request with the shell's own string cutting.
const SERVER: &str = r#"
echo "starting" >&2
sleep 1000 &
child=$!
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *server/discover*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
    *\"initialize\"*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"shell\"},\"instructions\":\"be kind\"}}" ;;
    *notifications/*) : ;;
    *tools/list*cursor*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"b\",\"x\":1.50}]}}" ;;
    *tools/list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}}" ;;
    *'"env"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"env\":\"$(env | cut -d= -f1 | sort | tr '\n' ' ')\",\"secret\":\"$SECRET\"}}" ;;
    *'"pid"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"pid\":$child}}" ;;
    *'"die"'*) echo "last words" >&2; exit 3 ;;
  esac
done
"#;

fn shell(script: &str) -> Target {
    Target::Stdio {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: BTreeMap::from([("SECRET".to_owned(), "s3".to_owned())]),
        cwd: None,
    }
}

/// Whether a process runs; one that has ended but was not collected does not, where the system says that.
fn runs(pid: u64) -> bool {
    if !are_told() {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("an id");
        return rustix::process::test_kill_process(pid).is_ok();
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

async fn gone(pid: u64) {
    let gone = async {
        while runs(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("it ends");
}

#[tokio::test]
async fn an_old_program_is_recognised_listed_and_called() {
    let (upstream, _events) = connect(shell(SERVER)).await;
    assert_eq!((upstream.era(), upstream.version()), (Era::Session, ProtocolVersion::V2025_06_18));
    assert_eq!(upstream.server_info().as_deref(), Some(&br#"{"name":"shell"}"#[..]));
    assert_eq!(upstream.instructions().as_deref(), Some(&br#""be kind""#[..]));
    let listing = upstream.list(ListKind::Tools).await.expect("a list");
    assert_eq!(listing.items, [&br#"{"name":"a"}"#[..], br#"{"name":"b","x":1.50}"#], "an empty cursor is not the end");
    assert!(upstream.list(ListKind::Prompts).await.expect("a list").items.is_empty());
    assert_eq!(upstream.stderr_tail(), ["starting"]);
}

#[tokio::test]
async fn a_program_that_answers_the_first_question_with_nothing_of_the_new_era_is_an_old_one() {
    let refusal = r#"\"error\":{\"code\":-32601,\"message\":\"no\"}"#;
    for said in [
        r#"\"result\":{}"#,
        r#"\"result\":null"#,
        r#"\"result\":[]"#,
        r#"\"result\":{\"supportedVersions\":\"2025-11-25\"}"#,
        r#"\"error\":\"text\""#,
        r#"\"error\":null"#,
    ] {
        let server = SERVER.replacen(refusal, said, 1);
        assert_ne!(server, SERVER);
        let (upstream, _events) = connect(shell(&server)).await;
        assert_eq!(upstream.version(), ProtocolVersion::V2025_06_18, "{said}");
    }
}

#[tokio::test]
async fn a_program_that_names_only_revisions_which_we_do_not_speak_is_refused() {
    let refusal = r#"\"error\":{\"code\":-32601,\"message\":\"no\"}"#;
    for (list, told) in [(r#"[\"2031-01-01\"]"#, "2031-01-01"), ("[]", "revisions that it does not name")] {
        let said = format!(r#"\"result\":{{\"supportedVersions\":{list}}}"#);
        let (sender, _events) = EventSender::channel(8);
        let refused = Upstream::connect(shell(&SERVER.replacen(refusal, &said, 1)), options(), sender).await;
        let Err(ConnectError::Version { supported }) = refused else { panic!("{refused:?}") };
        assert_eq!(supported, told);
    }
}

#[tokio::test]
async fn a_program_sees_nothing_of_our_environment_but_what_it_is_given() {
    let all = std::env::vars_os().chain([("AWS_SECRET_ACCESS_KEY".into(), "leak".into())]);
    let (sender, _events) = EventSender::channel(8);
    let mut options = options();
    options.inherited = minimal_environment(all);
    let upstream = Upstream::connect(shell(SERVER), options, sender).await.expect("connected");
    let result = parsed(upstream.request(call(r#"{"name":"env"}"#)).await);
    assert_eq!(result["secret"], "s3");
    let names: Vec<&str> = result["env"].as_str().expect("text").split_whitespace().collect();
    assert!(names.contains(&"PATH") && names.contains(&"SECRET"), "{names:?}");
    // `PWD`, `OLDPWD`, `SHLVL` and `_` are the shell's own.
    let allowed = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "TZ", "SECRET", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(names.iter().all(|name| allowed.contains(name)), "{names:?}");
}

#[tokio::test]
async fn whatever_a_program_started_ends_with_the_connection() {
    let (upstream, mut events) = connect(shell(SERVER)).await;
    let pid = parsed(upstream.request(call(r#"{"name":"pid"}"#)).await)["pid"].as_u64().expect("a number");
    assert!(runs(pid));
    upstream.close().await;
    gone(pid).await;
    assert!(upstream.is_closed());
    assert!(matches!(events.recv().await, Some(UpstreamEvent::Closed(_))));

    let (upstream, _events) = connect(shell(SERVER)).await;
    let pid = parsed(upstream.request(call(r#"{"name":"pid"}"#)).await)["pid"].as_u64().expect("a number");
    drop(upstream);
    gone(pid).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_sent_away_ends_with_the_connection_however_fast_the_program_does() {
    if !std::process::Command::new("setsid").arg("true").status().is_ok_and(|status| status.success()) {
        return eprintln!("left out: there is no `setsid` here");
    }
    if !are_told() {
        return eprintln!("left out: `/proc` is that of other programs here, or does not say what they have started");
    }
    // Ends as soon as its input does, and leaves nobody behind who could say what it has started.
    let sending = SERVER.replacen("sleep", "setsid sleep", 1);
    assert_ne!(sending, SERVER);
    for round in 0..20 {
        let (upstream, _events) = connect(shell(&sending)).await;
        let pid = parsed(upstream.request(call(r#"{"name":"pid"}"#)).await)["pid"].as_u64().expect("a number");
        let leads = async {
            while !is_leader(pid) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), leads).await.expect("it leads a session");
        if round % 2 == 0 {
            upstream.close().await;
        } else {
            drop(upstream);
        }
        gone(pid).await;
    }
}

/// Whether the system says what our programs have started.
fn are_told() -> bool {
    let us = std::process::id().to_string();
    std::fs::read_link("/proc/self").is_ok_and(|target| target == std::path::Path::new(&us))
        && std::path::Path::new(&format!("/proc/{us}/task/{us}/children")).exists()
}

/// Whether a program leads a session: the 6th field of its line is its own id.
#[cfg(target_os = "linux")]
fn is_leader(pid: u64) -> bool {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    line.rsplit_once(')').expect("a name").1.split_whitespace().nth(3) == Some(&pid.to_string())
}

#[tokio::test]
async fn a_program_that_dies_says_how_and_what_was_sent_may_have_had_an_effect() {
    let (upstream, mut events) = connect(shell(SERVER)).await;
    let error = upstream.request(call(r#"{"name":"die"}"#)).await.expect_err("dead");
    assert_eq!(error.delivery(), Delivery::Perhaps);
    let UpstreamErrorKind::Closed { reason } = error.kind() else { panic!("{error:?}") };
    assert!(reason.contains('3'), "{reason}");
    assert!(matches!(events.recv().await, Some(UpstreamEvent::Closed(_))));
    let later = upstream.request(call(r#"{"name":"pid"}"#)).await.expect_err("dead");
    assert_eq!(later.delivery(), Delivery::Never);
    assert_eq!(upstream.stderr_tail().last().map(String::as_str), Some("last words"));
}

#[tokio::test]
async fn a_program_that_stumbles_over_the_first_question_is_started_again() {
    let stumbling = format!(
        "read -r first; case $first in *server/discover*) exit 1;; esac\n{}",
        SERVER.replacen(
            "while read -r line; do",
            "line=$first; again=1; while [ \"$again\" ] || read -r line; do again=",
            1,
        )
    );
    let (upstream, mut events) = connect(shell(&stumbling)).await;
    assert_eq!(upstream.era(), Era::Session);
    parsed(upstream.request(call(r#"{"name":"pid"}"#)).await);
    // The first thing that is heard of its end is about the one that was connected to.
    upstream.close().await;
    assert!(
        matches!(events.recv().await, Some(UpstreamEvent::Closed(reason)) if reason == "it was closed by us"),
        "the one that stumbled was heard of"
    );
}

#[tokio::test]
async fn a_program_that_ignores_what_it_does_not_know_is_asked_the_old_way() {
    let (sender, _events) = EventSender::channel(8);
    let mut options = options();
    options.limits = UpstreamLimits { probe: Duration::from_millis(50), ..options.limits };
    let silent = SERVER.replacen("*server/discover*) echo", "*server/discover*) : echo", 1);
    let upstream = Upstream::connect(shell(&silent), options, sender).await.expect("connected");
    assert_eq!(upstream.era(), Era::Session);
}

#[tokio::test]
async fn a_program_that_is_not_there_cannot_be_started() {
    let target = Target::Stdio {
        command: "no-such-program-anywhere".to_owned(),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
    };
    let (sender, _events) = EventSender::channel(8);
    let error = Upstream::connect(target, options(), sender).await.expect_err("not there");
    assert!(matches!(error, ConnectError::Start { .. }), "{error:?}");
}

#[tokio::test]
async fn a_list_whose_cursors_go_round_is_given_up() {
    let kept = SERVER.lines().filter(|line| !line.contains("tools/list*cursor*"));
    let endless: String = kept.map(|line| format!("{line}\n")).collect();
    let (upstream, _events) = connect(shell(&endless)).await;
    let error = upstream.list(ListKind::Tools).await.expect_err("endless");
    assert!(error.to_string().contains("never end"), "{error}");
}
