use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::Instant;
use toolmark_config::Config;
use toolmark_mcp::upstream::UpstreamRequest;
use toolmark_mcp::wire::RawObject;

use super::life::last_words;
use super::*;
use crate::live::Hub;

/// What the tools of a program come from, started with these arguments while these variables are set.
fn source(args: &str, variables: &[(&str, &str)]) -> String {
    source_of(&format!("command = \"/usr/bin/github-mcp\"\nargs = {args}\n"), variables)
}

/// What the tools behind an address come from.
fn source_at(url: &str, variables: &[(&str, &str)]) -> String {
    source_of(&format!("url = \"{url}\"\n"), variables)
}

fn source_of(pack: &str, variables: &[(&str, &str)]) -> String {
    let config = Config::read(&format!("[packs.github]\n{pack}"), "toolmark.toml").expect("a configuration");
    let set = |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
    let expanded = config.expand(&set).expect("every variable is set");
    let (name, connection) = expanded.connections.first().expect("a pack");
    let pack = config.packs.get(name).expect("a section");
    let pack = PackHandle::configured(name.clone(), pack, connection, Path::new("."), None, Duration::from_secs(2))
        .expect("a pack");
    pack.source().as_str().to_owned()
}

#[test]
fn what_a_program_wrote_before_it_was_started_again_is_not_told_again() {
    let lines: Vec<String> = ["old", "old", "a", "b", "b"].map(String::from).to_vec();
    assert_eq!(last_words(&lines, 3), ["a", "b"]);
    assert!(last_words(&lines, 0).is_empty());
    let many: Vec<String> = (0..9).map(|number| number.to_string()).collect();
    assert_eq!(last_words(&many, 1_000), ["4", "5", "6", "7", "8"]);
}

#[test]
fn a_secret_that_is_rotated_makes_no_other_source() {
    let args = r#"["--token", "${TOKEN}", "--org=${ORG:-tulips}"]"#;
    let before = source(args, &[("TOKEN", "old-secret")]);
    assert_eq!(before, source(args, &[("TOKEN", "new-secret"), ("ORG", "roses")]));
    assert!(before.starts_with("stdio:github-mcp#") && !before.contains("secret"), "{before}");
}

#[test]
fn other_arguments_are_another_source() {
    let written = [
        r#"["--token", "${TOKEN}"]"#,
        r#"["--token", "${OTHER}"]"#,
        r#"["--token", "${TOKEN:-none}"]"#,
        r#"["--token=${TOKEN}"]"#,
        r#"["--token", "$${TOKEN}"]"#,
        r#"["--token", "secret"]"#,
        r#"["--token", "${TOKEN}", "--write"]"#,
        r#"["--token", "x${TOKEN}"]"#,
        r#"["--token"]"#,
        "[]",
    ];
    let variables = [("TOKEN", "secret"), ("OTHER", "secret")];
    let sources: std::collections::BTreeSet<_> = written.iter().map(|args| source(args, &variables)).collect();
    assert_eq!(sources.len(), written.len(), "{sources:?}");
}

#[test]
fn arguments_without_variables_have_the_source_that_they_always_had() {
    // Pins and grants of earlier versions are bound to it.
    assert_eq!(source(r#"["-y", "server"]"#, &[]), "stdio:github-mcp#b897e9639882");
}

#[test]
fn a_variable_in_the_path_of_an_address_counts_by_its_name() {
    for (url, value, named) in [
        ("https://mcp.example/${KEY}/mcp", "s3cret", "https://mcp.example/${KEY}/mcp"),
        ("https://mcp.example/s/${KEY}", "s3cret", "https://mcp.example/s/${KEY}"),
        ("https://mcp.example/a-${KEY}-${KEY}/b", "s3cret", "https://mcp.example/a-${KEY}-${KEY}/b"),
        ("https://mcp.example${KEY}", "/s3cret/mcp", "https://mcp.example/${KEY}"),
        ("https://mcp.example/mcp?key=${KEY}", "s3cret", "https://mcp.example/mcp"),
        ("https://mcp.example/${KEY}", "mcp?key=s3cret", "https://mcp.example/${KEY}"),
        ("https://mcp.example?key=${KEY}", "s3cret/x", "https://mcp.example/"),
        ("https://ann:${KEY}@mcp.example/mcp", "s3cret", "https://mcp.example/mcp"),
        ("${KEY}", "https://mcp.example/s3cret/mcp?s3cret", "https://mcp.example/${KEY}"),
        ("${KEY}/mcp", "https://ann:s3cret@mcp.example/s3cret", "https://mcp.example/${KEY}/mcp"),
        ("https://${KEY}/mcp", "mcp.example:8443", "https://mcp.example:8443/mcp"),
        ("https://mcp.example/${KEY:-s3cret}/mcp", "", "https://mcp.example/${KEY}/mcp"),
    ] {
        let source = source_at(url, &[("KEY", value)]);
        assert_eq!(source, named, "{url} with {value}");
    }
}

#[test]
fn an_address_without_variables_has_the_source_that_it_always_had() {
    // Pins and grants of earlier versions are bound to it.
    for (url, source) in [
        ("https://mcp.example", "https://mcp.example/"),
        ("https://mcp.example/a/b?c=d#e", "https://mcp.example/a/b"),
        ("http://ann:pw@localhost:7000/mcp/", "http://localhost:7000/mcp/"),
        ("https://mcp.example/$${KEY}", "https://mcp.example/${KEY}"),
    ] {
        assert_eq!(source_at(url, &[]), source);
    }
}

#[test]
fn another_host_is_another_source() {
    let at = |host: &str| source_at("https://${HOST}/${KEY}", &[("HOST", host), ("KEY", "s3cret")]);
    assert_ne!(at("one.example"), at("two.example"));
}

#[test]
fn what_a_program_was_given_is_not_told_when_it_writes_it() {
    let args = ["--token", "t0ken-x", "--api-key=k3y-x", "--root", "/srv/data"].map(str::to_owned).to_vec();
    let env = [("PW", "hunter2"), ("MODE", "debug"), ("N", "12"), ("PATH", "/usr/bin")];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let target = Target::Stdio { command: "it".into(), args, env, cwd: None };
    let way = Way::Configured(Box::new((target.clone(), ConnectOptions::default())));
    let source = Source::new("stdio:it");
    let pack = PackHandle::new("it".parse().expect("a name"), source, Duration::from_secs(1), way);
    let stderr = StderrTail::new(8);
    let pack = PackHandle { hidden: hidden(&target), stderr: stderr.clone(), ..pack };
    stderr.push(b"no login with hunter2, t0ken-x and k3y-x in debug mode at /srv/data of /usr/bin, 12 times");
    let told = "no login with ••••, •••• and •••• in debug mode at /srv/data of /usr/bin, 12 times";
    assert_eq!(pack.stderr_tail(), [told]);
}

#[test]
fn a_reason_names_variables_and_does_not_tell_what_they_hold() {
    let text = "[packs.x]\ncommand = \"${RUN:-sh}\"\ncwd = \"srv/d-${PW}\"\n";
    let config = Config::read(text, "toolmark.toml").expect("a configuration");
    let set = |name: &str| (name == "PW").then(|| "hunter\u{202e}2".to_owned());
    let expanded = config.expand(&set).expect("every variable is set");
    let (name, connection) = expanded.connections.first().expect("a pack");
    let named = target::named(connection, config.packs.get(name).expect("a section"));
    let shown = visible("/home/a/srv/d-hunter\u{202e}2", 300);
    for (why, told) in [
        (
            format!("`sh` cannot be started: its `cwd` `{shown}` is no directory"),
            "`${RUN}` cannot be started: its `cwd` `srv/d-${PW}` is no directory",
        ),
        ("`sh` ends its handshake: `other`".to_owned(), "`${RUN}` ends its handshake: `other`"),
    ] {
        assert_eq!(reworded(&why, &named), told);
    }
}

/// A server in this process that is reached each time somebody wants to, and ends so long after.
struct Short {
    pack: Arc<PackHandle>,
    /// When it was started.
    starts: mpsc::UnboundedReceiver<Instant>,
    /// How it stood, each time that changed.
    states: mpsc::UnboundedReceiver<PackState>,
}

impl Short {
    /// One that answers what it is asked with what `answer` says, if anything.
    fn run(lives: Duration, answer: fn(&str) -> Option<Value>) -> Self {
        let (started, starts) = mpsc::unbounded_channel();
        let build = move || {
            started.send(Instant::now()).expect("the test listens");
            let ((ours, out), (input, theirs)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
            tokio::spawn(async move { tokio::time::timeout(lives, serve(input, out, answer)).await });
            (ours, theirs)
        };
        let name: PackName = "short".parse().expect("a name");
        let source = Source::new("built-in:short");
        let pack = Arc::new(PackHandle::new(name, source, Duration::from_secs(30), Way::Built(Box::new(build))));
        let (news, mut heard) = mpsc::channel(64);
        let (changed, states) = mpsc::unbounded_channel();
        let watched = Arc::clone(&pack);
        tokio::spawn(async move {
            while let Some(news) = heard.recv().await {
                match news {
                    News::Listed(pack, _, upstream, taken) => {
                        pack.open(upstream);
                        let _ = taken.send(Ok(true));
                    }
                    News::State => changed.send(watched.state()).expect("the test listens"),
                    News::Resource(..) => {}
                }
            }
        });
        tokio::spawn(Arc::clone(&pack).supervise(news, Arc::new(Hub::new(&sections::Audit::default()))));
        Self { pack, starts, states }
    }

    /// The seconds between starts.
    async fn gaps(&mut self, count: usize) -> Vec<u64> {
        let mut before = self.starts.recv().await.expect("a start");
        let mut gaps = Vec::new();
        for _ in 0..count {
            let start = self.starts.recv().await.expect("a start");
            gaps.push((start - before).as_secs());
            before = start;
        }
        gaps
    }
}

async fn serve(input: tokio::io::DuplexStream, mut out: tokio::io::DuplexStream, answer: fn(&str) -> Option<Value>) {
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let asked: Value = serde_json::from_str(&line).expect("JSON");
        let method = asked["method"].as_str().unwrap_or_default();
        if let Some(result) = answer(method) {
            let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
            out.write_all(line.as_bytes()).await.expect("somebody reads");
        }
    }
}

fn known(method: &str) -> Option<Value> {
    match method {
        "server/discover" => {
            Some(json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": {}}))
        }
        "tools/list" => Some(json!({"tools": []})),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_and_dies_at_once_is_started_less_and_less_often() {
    let mut short = Short::run(Duration::from_secs(1), known);
    // It lives for a second, and its end is certain a fifth of one later.
    assert_eq!(short.gaps(8).await, [2, 3, 5, 9, 17, 33, 61, 61]);
    short.pack.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_there_for_a_while_is_started_again_soon() {
    let mut short = Short::run(Duration::from_secs(30), known);
    assert_eq!(short.gaps(5).await, [31; 5]);
    short.pack.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_and_lists_nothing_has_no_more_time_than_to_start() {
    let begun = Instant::now();
    let mut silent = Short::run(Duration::from_secs(3_600), |method| known(method).filter(|_| method != "tools/list"));
    let Some(PackState::Unavailable(why)) = silent.states.recv().await else { panic!("it is not there") };
    assert!(why.contains("did not list what it offers within 30000 ms"), "{why}");
    assert_eq!(begun.elapsed().as_secs(), 30);
    silent.pack.stop().await;
}

#[tokio::test]
async fn a_call_under_way_at_a_server_that_takes_no_new_ones_ends_when_it_is_stopped() {
    let mut short = Short::run(Duration::from_secs(3_600), known);
    let Some(PackState::Ready) = short.states.recv().await else { panic!("it is not there") };
    let upstream = short.pack.upstream().expect("calls may go to it");
    let call = async move { upstream.request(UpstreamRequest::new("tools/call", RawObject::empty())).await };
    let call = tokio::spawn(call);
    short.pack.shut();
    assert!(short.pack.upstream().is_none());
    // Far less than the call may take.
    let soon = Duration::from_secs(20);
    tokio::time::timeout(soon, short.pack.stop()).await.expect("it ends");
    let ended = tokio::time::timeout(soon, call).await.expect("it ends with its server").expect("no panic");
    assert!(ended.is_err());
}

#[test]
fn a_server_that_changes_all_the_time_is_asked_less_and_less_often() {
    let (mut unrest, start) = (life::Unrest::default(), Instant::now());
    let pauses = |unrest: &mut life::Unrest, from: Instant, changes: u32| -> Vec<u128> {
        let note = |at: u32| {
            let now = from + Duration::from_secs(at.into());
            unrest.note(true, now);
            unrest.note(false, now);
            unrest.pause(now).as_millis()
        };
        (0..changes).map(note).collect()
    };
    let all = pauses(&mut unrest, start, 40);
    assert!(
        all.iter().take(20).all(|pause| *pause == 250),
        "one that puts together what it offers is left to it: {all:?}"
    );
    assert_eq!(all.get(20..24), Some(&[500, 1_000, 2_000, 4_000][..]));
    assert_eq!(all.last(), Some(&60_000));
    let later = start + Duration::from_secs(600);
    assert_eq!(unrest.pause(later).as_millis(), 250, "it has been quiet");
    assert_eq!(pauses(&mut unrest, later, 1), [250], "it has come to rest");
}

#[test]
fn a_server_cannot_fill_the_log() {
    use life::{Heard, Noise};
    let (mut noise, start) = (Noise::default(), Instant::now());
    let heard: Vec<Heard> = (0..1_000).map(|_| noise.is_heard(start)).collect();
    assert_eq!(heard.iter().filter(|heard| **heard == Heard::Loud).count(), 20);
    assert_eq!(heard.iter().filter(|heard| **heard == Heard::Last).count(), 1);
    assert_eq!(noise.is_heard(start + Duration::from_secs(61)), Heard::Loud);
}
