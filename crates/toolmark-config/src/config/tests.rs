use std::time::Duration;

use proptest::prelude::*;
use toolmark_core::behavior::Behavior;
use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::Mode;
use toolmark_core::gate::OnMismatch;
use toolmark_core::names::RawName;
use toolmark_core::problem::Problem;

use super::*;
use crate::expand::{Connection, UpstreamAuth};
use crate::values::{Effort, Era, Grant, Tasks, Transport, Trust};

fn wanting(text: &str) -> toolmark_core::display::Languages {
    toolmark_core::display::Languages::accept(text).unwrap()
}

/// The example of the design, with everything else that a file can say.
const WHOLE: &str = r##"
version = 1

[packs.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
env = { TOKEN = "${GITHUB_TOKEN}", HOME = "${env:HOME}" }
inherit_env = ["PATH"]
env_file = ".env"
cwd = "${HOME}/work"
prefix = "gh"
exposure = "prefixed"
trust = "trusted"
allow = ["*_issue", "merge_*"]
deny = ["delete_*"]
task = "read-only"
roots = ["${HOME}/work"]
era = "2025-11-25"
limits = { timeout = "2min", start = "500ms", calls = 4, queue = 0, result_bytes = "64KiB" }

[packs.github.tools.merge_pull_request]
behavior = "MUTATES|MERGE|PR"
display_name = { en = "Merge pull request", nl = "Pull request samenvoegen" }
spoken = "merge"
languages = { query = "sql:postgres", "/a/b" = "shell", note = "none" }
timeout = "5s"

[packs.github.tools."odd.name"]
enabled = false

[packs.docs]
url = "https://docs.example.com/mcp"
transport = "sse"
headers = { X-Team = "${TEAM:-core}" }
[packs.docs.auth.oauth]
grant = "client_credentials"
client_id = "${ID}"
client_secret = "${ID}-$${not}"
scopes = ["read"]

[packs.away]
url = "https://away.example.com/mcp"
headers = { Authorization = "Bearer ${NOBODY_HAS_IT}" }
enabled = false

[tasks.read-only]
expect = ["PURE|*|*", "a9f1c2d3e4b5a697"]
on_mismatch = "ask"
profile = "desk"

[[rules]]
verdict = "ask"
tools = ["github.merge_pull_request"]
arguments = { base = ["main", "release/*"], "/n" = ">1", deep = { not = 1.5 } }

[policy]
preset = "careful"
cedar = ["policies/*.cedar"]
default = "permit"

[gateway]
listen = "0.0.0.0:7319"
store = "${HOME}/toolmark.db"
public_url = "https://tools.example.com"
allowed_hosts = ["tools.example.com"]
allowed_origins = ["https://app.example.com"]
durability = "strict"
list_meta = "none"
limits = { body_bytes = 1000, depth = 8, concurrency = 2, rate = "10/min", sessions = 5, session_idle = "1h" }
[gateway.auth]
tokens = true
[gateway.auth.jwt]
issuer = "https://id.example.com"
audience = "toolmark"
jwks_url = "https://id.example.com/jwks"
scopes = { "tools:read" = ["read-only"] }

[audit]
durability = "strict"
bodies = "arguments"
body_bytes = "4KiB"
redact = ["iban", "/user/email", "regex:[0-9]{16}"]
retention = "90d"

[telemetry]
otlp = { endpoint = "http://127.0.0.1:4318", headers = { key = "${TEAM:-x}" } }
log = { format = "json", filter = "warn" }
metrics = false

[names]
default_locale = "en"
exposure = "auto"

[profiles.desk]
client = "claude-code"
server = "tm"
exposure = "bare"
task = "read-only"
packs = ["github"]
list_meta = "mark"

[models.local]
model = "openai-chat:qwen3"
base_url = "http://${MODEL_HOST:-127.0.0.1:8080}/v1"
key_variable = "LOCAL_KEY"
headers = { X-Team = "${TEAM:-tools}" }
timeout = "2min"
attempts = 1
allow_plain_http = true
price = { input = 0, output = 0.5 }

[agents.assistant]
model = "openai:gpt-5"
instructions = "Be brief."
display_name = "Assistant"
description = "Knows the repository."
tools = ["github.*"]
handoffs = ["second"]
task = "read-only"
max_turns = 5
parallel_tool_calls = false
settings = { temperature = 0.5, top_p = 1, max_output_tokens = 500, effort = "low", timeout = "1min", extra = { store = false } }

[agents.second]
model = "local"
handoffs = ["assistant"]
agents = ["assistant"]

[agui]
enabled = true
frontend_tools = false
names = false
custom_events = true
tool_display_name = true
timeout = "2min"
runs = 8
keep = "2w"
threads = 20

[console]
enabled = false
"##;

fn read(text: &str) -> Config {
    Config::read(text, "toolmark.toml").unwrap_or_else(|error| panic!("{:#?}", error.problems()))
}

fn problems(text: &str) -> Vec<String> {
    let error = Config::read(text, "toolmark.toml").unwrap_err();
    let shown = |problem: &Problem| {
        let place = problem.place().unwrap();
        format!("{}:{} {}: {}", place.line, place.column, problem.code(), problem.report().what())
    };
    error.problems().iter().map(shown).collect()
}

#[test]
fn everything_that_a_file_can_say_is_read_into_its_type() {
    let config = read(WHOLE);
    let names: Vec<&str> = config.packs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["github", "docs", "away"], "packs keep the order of the file");
    let github = config.packs.get(&"github".parse().unwrap()).unwrap();
    assert_eq!((github.exposure, github.trust, github.era), (Some(Mode::Prefixed), Trust::Trusted, Era::Sessions));
    assert_eq!(github.limits.timeout, Duration::from_secs(120));
    assert_eq!((github.limits.queue, github.limits.result_bytes.bytes()), (0, 65536));
    let merge: RawName = "merge_pull_request".parse().unwrap();
    let tool = github.tools.get(&merge).unwrap();
    assert_eq!(tool.behavior, Some("MUTATES|MERGE|PR".parse::<Behavior>().unwrap()));
    assert_eq!(tool.display_name.as_ref().unwrap().get(&wanting("nl-BE")), Some("Pull request samenvoegen"));
    assert_eq!(tool.spoken.as_ref().unwrap().get(&wanting("de")), Some("merge"));
    let settings = tool.settings(vec!["/srv".into()]);
    assert_eq!(settings.languages.keys().collect::<Vec<_>>(), ["/a/b", "/note", "/query"]);
    assert_eq!(settings.languages.get("/note"), Some(&None));
    assert_eq!(github.timeout(&merge), Duration::from_secs(5));
    let (task, on_mismatch) = (&config.tasks.iter().next().unwrap().1, OnMismatch::Ask);
    assert_eq!((task.expect.len(), task.on_mismatch), (2, on_mismatch));
    assert_eq!(config.rules[0].arguments.as_ref().unwrap()["deep"], serde_json::json!({"not": 1.5}));
    let agent = config.agents.get(&"assistant".parse().unwrap()).unwrap();
    assert_eq!(agent.model.as_ref().unwrap().provider(), Some(("openai", "gpt-5")));
    assert_eq!((agent.settings.effort, agent.settings.top_p), (Some(Effort::Low), Some(1.0)));
    assert_eq!(agent.settings.extra["store"], false);
    let local = config.models.get(&"local".parse().unwrap()).unwrap();
    assert_eq!(local.price.as_ref().unwrap().of(1_000_000, 2_000_000), 1.0);
    assert_eq!(config.gateway.limits.rate.unwrap().count(), 10);
}

#[test]
fn allow_deny_and_switches_decide_which_tools_are_listed() {
    let config = read(WHOLE);
    let github = config.packs.get(&"github".parse().unwrap()).unwrap();
    for (tool, listed) in
        [("create_issue", true), ("merge_x", true), ("delete_issue", false), ("odd.name", false), ("read", false)]
    {
        assert_eq!(github.admits(&tool.parse().unwrap()), listed, "{tool}");
    }
}

#[test]
fn an_empty_file_has_every_default() {
    let config = read("");
    assert_eq!(config, Config::default());
    assert_eq!(config.gateway.listen.to_string(), "127.0.0.1:7319");
    assert!(!config.gateway.auth.is_required());
}

#[test]
fn variables_are_replaced_by_the_environment_and_defaults() {
    let environment = |name: &str| match name {
        "HOME" => Some("/home/a".to_owned()),
        "GITHUB_TOKEN" => Some("t0p".to_owned()),
        "ID" => Some("id".to_owned()),
        "TEAM" => Some(String::new()),
        _ => None,
    };
    let expanded = read(WHOLE).expand(&environment).unwrap();
    let [(_, Connection::Stdio(github)), (_, Connection::Http(docs))] = expanded.connections.as_slice() else {
        panic!("{:?}", expanded.connections)
    };
    assert_eq!(github.env[0].1.expose(), "t0p");
    assert_eq!(github.cwd.as_ref().unwrap().expose(), "/home/a/work");
    assert_eq!(github.roots, ["/home/a/work"]);
    assert_eq!((docs.transport, docs.headers[0].1.expose()), (Transport::Sse, "core"));
    let Some(UpstreamAuth::OAuth { grant, client_secret, .. }) = &docs.auth else { panic!() };
    assert_eq!((*grant, client_secret.as_ref().unwrap().expose()), (Grant::ClientCredentials, "id-${not}"));
    assert_eq!(expanded.store.unwrap().expose(), "/home/a/toolmark.db");
}

#[test]
fn every_missing_variable_is_named_with_its_pack_and_a_disabled_pack_misses_nothing() {
    let error = read(WHOLE).expand(&|name| (name == "HOME").then(|| "/h".to_owned())).unwrap_err();
    let missing: Vec<String> = error.missing().iter().map(ToString::to_string).collect();
    assert_eq!(
        missing,
        [
            "`GITHUB_TOKEN` of the pack `github` is not set (`env.TOKEN`)",
            "`ID` of the pack `docs` is not set (`auth.oauth.client_id`)",
            "`ID` of the pack `docs` is not set (`auth.oauth.client_secret`)",
        ]
    );
}

#[test]
fn a_variable_that_is_set_to_nothing_is_missing() {
    let config = read("[packs.a]\nurl = \"https://a.example\"\nheaders = { K = \"${EMPTY}\" }");
    assert_eq!(config.expand(&|_| Some(String::new())).unwrap_err().missing().len(), 1);
}

#[test]
fn all_problems_are_reported_at_once_each_with_its_place() {
    let text = "\
[packs.GitHub]
comand = \"npx\"

[packs.a]
url = \"ftp://x\"
limits = { timeout = \"5 parsecs\", cals = 3, calls = \"many\" }
tools.x.behavior = \"PURE|DELETE|REPO\"

[tasks.t]
expect = [\"PURE|*\", \"NOPE|*|*\"]

[[rules]]
verdict = \"maybe\"
tools = []
";
    assert_eq!(
        problems(text),
        [
            "1:1 config-missing-key: `[packs.GitHub]` has neither `command` nor `url`",
            "1:8 pack-name-syntax: `packs.GitHub`: `GitHub` is not a pack name",
            "2:1 config-unknown-key: `comand` is no key of `[packs.GitHub]`",
            "5:1 config-value: `packs.a.url`: this is no address",
            "6:22 config-value: `packs.a.limits.timeout`: `5 parsecs` is no time",
            "6:35 config-unknown-key: `cals` is no key of `[packs.a.limits]`",
            "6:53 config-value: `packs.a.limits.calls` is a text, not a whole number from 0 to 4294967295",
            "7:20 behavior-contradiction: `packs.a.tools.x.behavior`: a PURE tool cannot DELETE",
            "10:11 behavior-syntax: `tasks.t.expect[0]`: `PURE|*` has 2 fields, not three, four or seven",
            "10:21 behavior-value: `tasks.t.expect[1]`: `NOPE` is not a value of `mutability`",
            "13:1 rule-syntax: `rules[0]`: `maybe` is not a verdict",
            "13:1 rule-syntax: `rules[0]`: the list `tools` is empty",
        ]
    );
}

#[test]
fn a_misspelled_key_is_answered_with_the_right_one() {
    let error = Config::read("[packs.a]\ncommnd = \"x\"\ncommand = \"x\"", "t").unwrap_err();
    assert_eq!(error.problems()[0].report().fix(), "did you mean `command`?");
    let error = Config::read("servers = 1", "t").unwrap_err();
    assert!(error.problems()[0].report().fix().starts_with("use one of version, packs, tasks"));
}

#[test]
fn syntax_errors_are_all_reported_with_their_lines() {
    let all = problems("[packs.a]\ncommand = \n[packs.b\nurl = \"x\"\n");
    assert!(all.len() >= 2 && all.iter().all(|problem| problem.contains("config-syntax")), "{all:#?}");
    assert!(all[0].starts_with("2:"), "{all:#?}");
    assert!(problems("a = 1\na = 2\n")[0].starts_with("2:1 config-syntax"));
}

#[test]
fn a_server_is_a_program_or_an_address_and_has_only_the_keys_of_its_kind() {
    assert_eq!(
        problems("[packs.a]\ncommand = \"x\"\nurl = \"https://x\""),
        ["3:1 config-conflict: `[packs.a]` has both `command` and `url`"]
    );
    assert_eq!(
        problems("[packs.a]\nurl = \"https://x\"\nargs = []\ncwd = \"/\""),
        [
            "3:1 config-conflict: `[packs.a]` is an address that is called, which has no `args`",
            "4:1 config-conflict: `[packs.a]` is an address that is called, which has no `cwd`",
        ]
    );
}

#[test]
fn a_reference_to_nothing_is_refused_where_it_stands() {
    let text = "[packs.a]\ncommand = \"x\"\ntask = \"gone\"\n[profiles.p]\nclient = \"cursor\"\npacks = [\"a\", \"b\"]\n\
                [tasks.cursor]\nexpect = [\"PURE|*|*\"]\nprofile = \"nobody\"";
    assert_eq!(
        problems(text),
        [
            "3:1 config-no-such-name: `packs.a.task` names the task `gone`, which is not there",
            "6:1 config-no-such-name: `profiles.p.packs` names the pack `b`, which is not there",
            "7:8 config-conflict: `[tasks.cursor]` cannot have the address `/mcp/cursor`: a client has the same name",
            "9:1 config-no-such-name: `tasks.cursor.profile` names the profile `nobody`, which is not there",
        ]
    );
}

#[test]
fn an_address_that_others_can_reach_needs_authentication() {
    assert_eq!(problems("[gateway]\nlisten = \"0.0.0.0:1\"").len(), 1);
    assert!(problems("[gateway]\nlisten = \"[::]:1\"")[0].contains("config-listen-without-auth"));
    read("[gateway]\nlisten = \"0.0.0.0:1\"\nauth = { tokens = true }");
    read("[gateway]\nlisten = \"[::1]:1\"");
    read("[gateway]\nlisten = \"localhost:80\"");
}

#[test]
fn what_may_be_secret_is_never_shown() {
    let text = "[packs.a]\nurl = \"https://x\"\nheaders = { Authorization = \"Bearer s3cret ${oops\", B = [\"s3cret\"] }\n\
                auth = { bearer = \"s3cret\" }\n";
    let error = Config::read(text, "t").unwrap_err();
    assert_eq!(error.problems().len(), 2);
    let shown = format!("{error:?} {error} {:?} {:?}", error.report().to_json(), error.problems());
    assert!(!shown.contains("s3cret"), "{shown}");
    let config = read("[packs.a]\ncommand = \"x\"\nargs = [\"--key=s3cret\"]\nenv = { K = \"s3cret${V}\" }");
    let expanded = config.expand(&|_| Some("s3cret".into())).unwrap();
    let shown = format!("{config:?} {expanded:?}");
    assert!(!shown.contains("s3cret") && shown.contains("${V}"), "{shown}");
}

#[test]
fn problems_without_end_are_counted_and_not_all_told() {
    let text: String = (0..100_000).map(|number| format!("k{number} = 1\n")).collect();
    let error = Config::read(&text, "t").unwrap_err();
    assert_eq!((error.problems().len(), error.more()), (200, 99_800));
    assert_eq!(error.to_string(), "`t` has 100000 problems");
}

#[test]
fn a_log_filter_that_is_none_is_refused_where_it_stands() {
    let error = Config::read("[telemetry.log]\nformat = \"json\"\nfilter = \"loud\"\n", "t").unwrap_err();
    let problem = &error.problems()[0];
    assert_eq!(problem.code().as_str(), "log-filter");
    assert!(problem.to_string().contains("3:1"), "{problem}");
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "[packs.a]\n", "[[rules]]\n", "[tasks.t]\n", "[gateway]\n", "url = ", "command = ", "expect = ", "limits = ", "verdict = ",
                "\"x\"\n", "[1, {a = 2}]\n", "{ timeout = \"1s\" }\n", "tools.b.languages = ", "{ q = 'sql' }\n", "'${A'\n", "é", "\n", "listen = ",
                "'0.0.0.0:1'\n", "\"\"\"", "1979-05-27\n", "-9e99\n", "0xffffffffffffffff\n",
            ]),
            0..12,
        )
    ) {
        if let Ok(config) = Config::read(&parts.concat(), "t") {
            let _ = config.expand(&|_| None);
        }
    }
}

#[test]
fn hostile_texts_are_refused_and_never_panic() {
    let deep = format!("a = {}1{}", "[".repeat(5000), "]".repeat(5000));
    let texts =
        ["\u{0}", "[", "=", "[[packs]]", "packs = 1", "[packs]\na = 1", "rules = {}", "[packs.a.tools]\nb = 1", &deep];
    for text in texts {
        assert!(Config::read(text, "t").is_err(), "{text:.20}");
    }
    assert!(Config::read(&" ".repeat(5 << 20), "t").unwrap_err().problems()[0].code().as_str() == "config-too-large");
    read("\u{feff}[packs.a]\r\ncommand = \"x\"\r\n");
}

#[test]
fn an_address_is_asked_again_every_minute_at_other_times_or_never() {
    let every = |text: &str| {
        let config = read(&format!("[packs.a]\nurl = \"https://a.example\"\n{text}\n"));
        config.packs.iter().next().unwrap().1.refresh.every()
    };
    assert_eq!(every(""), Some(Duration::from_secs(60)));
    assert_eq!(every("refresh = \"5min\""), Some(Duration::from_secs(300)));
    assert_eq!((every("refresh = \"0s\""), every("refresh = \"0 min\"")), (None, None));
    for (pack, message) in [
        ("url = \"https://a.example\"\nrefresh = \"0\"", "`0` is no time"),
        ("url = \"https://a.example\"\nrefresh = \"0x\"", "`0x` is no time"),
        ("url = \"https://a.example\"\nrefresh = 60", "a time such as"),
        ("command = \"a\"\nrefresh = \"60s\"", "is a program that is started, which has no `refresh`"),
    ] {
        let found = problems(&format!("[packs.a]\n{pack}\n"));
        assert!(found.len() == 1 && found[0].contains(message), "{pack}: {found:?}");
    }
}

#[test]
fn what_is_missing_for_packs_does_not_matter_to_everything_else() {
    let config = read(WHOLE);
    let expanded = config.expand_itself(&|name| (name == "HOME").then(|| "/h".to_owned()));
    let own = expanded.unwrap();
    assert_eq!((own.connections.len(), own.store.unwrap().expose()), (0, "/h/toolmark.db"));
    assert!(config.expand_itself(&|_| None).unwrap_err().missing().iter().all(|missing| missing.pack.is_none()));
}

#[test]
fn threads_are_kept_for_a_while_and_so_many() {
    let agui = read("").agui;
    assert_eq!((agui.keep.duration(), agui.threads), (Duration::from_secs(30 * 86_400), 1000));
    let agui = read("[agui]\nkeep = \"12h\"\nthreads = 5\n").agui;
    assert_eq!((agui.keep.duration(), agui.threads), (Duration::from_secs(12 * 3600), 5));
    for (text, message) in [
        ("keep = \"0d\"", "no time at all would keep nothing"),
        ("keep = 30", "a time such as"),
        ("threads = 0", "no thread could ever begin"),
        ("threads = -1", "threads"),
    ] {
        let found = problems(&format!("[agui]\n{text}\n"));
        assert!(found.len() == 1 && found[0].contains(message), "{text}: {found:?}");
    }
}

#[test]
fn the_audit_is_read_and_what_it_cannot_mean_is_refused() {
    let audit = read(WHOLE).audit;
    assert_eq!(audit.retention.map(crate::values::Span::duration), Some(Duration::from_secs(90 * 86_400)));
    assert_eq!(audit.body_bytes.bytes(), 4096);
    let shown: Vec<String> = audit.redact.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["iban", "/user/email", "regex:[0-9]{16}"]);
    assert_eq!(read("[audit]\ndurability = \"strict\"").durability(), crate::values::Durability::Strict);
    assert_eq!(read("[gateway]\ndurability = \"strict\"").durability(), crate::values::Durability::Strict);
    for (text, message) in [
        ("retention = \"0d\"", "no time at all would keep nothing"),
        ("retention = \"soon\"", "`soon` is no time"),
        ("retention = \"9999w\"", "more than ten years is for ever"),
        ("body_bytes = 0", "nothing would be kept"),
        ("body_bytes = \"2MiB\"", "more than 1 MiB"),
        ("redact = [\"regex:(\"]", "`(` is no pattern"),
        ("redact = [\"regex:a*\"]", "matches everywhere"),
        ("redact = [\"**\"]", "everything would be blacked out"),
        ("redact = [\"\"]", "the text is empty"),
        ("bodies = \"some\"", "`some` is not one of its words"),
    ] {
        let found = problems(&format!("[audit]\n{text}\n"));
        assert!(found.len() == 1 && found[0].contains(message), "{text}: {found:?}");
    }
    let found = problems("[gateway]\ndurability = \"strict\"\n[audit]\ndurability = \"batched\"\n");
    assert!(found[0].contains("config-conflict"), "{found:?}");
}

#[test]
fn agents_and_models_that_refer_to_nothing_are_refused_with_what_there_is() {
    let text = r#"
[models.fast]
model = "openai:gpt-5-mini"

[models.loop]
model = "fast"

[models.broken]
base_url = "example.com"
key_variable = "A=B"
attempts = 0
price = { input = -1 }

[agents.one]
model = "quick"
tools = ["a", "", "a"]
handoffs = ["two", "one"]
agents = ["five", "one"]
task = "triage"
max_turns = 0
settings = { temperature = 3, top_p = -0.5, max_output_tokens = 0, effort = "huge", seed = 1 }

[agents.three]
model = "gemini:pro"

[agents.four]
model = "openai:"
"#;
    let found = problems(text).join("\n");
    for expected in [
        "6:1 config-value: `models.loop.model`: `fast` is no model of a provider",
        "8:1 config-missing-key: `[models.broken]` has no `model`",
        "`models.broken.base_url`: this is no address",
        "`models.broken.key_variable`: this is no name of a variable",
        "`models.broken.attempts`: it would never be asked",
        "`models.broken.price.input`: a price is not below nothing",
        "`[models.broken.price]` has no `output`",
        "15:1 config-no-such-name: `agents.one.model` names the model `quick`, which is not there",
        "`agents.one.tools[1]`: the text is empty",
        "`agents.one.tools[2]`: `a` stands there twice",
        "config-no-such-name: `agents.one.handoffs` names the agent `two`, which is not there",
        "`agents.one.handoffs`: `one` would hand over to itself",
        "config-no-such-name: `agents.one.agents` names the agent `five`, which is not there",
        "`agents.one.agents`: `one` would ask itself",
        "config-no-such-name: `agents.one.task` names the task `triage`, which is not there",
        "`agents.one.max_turns`: its model would never be asked",
        "`agents.one.settings.temperature`: it is not between 0 and 2",
        "`agents.one.settings.top_p`: it is not between 0 and 1",
        "`agents.one.settings.max_output_tokens`: nothing could be said",
        "`agents.one.settings.effort`: `huge` is not one of its words",
        "config-unknown-key: `seed` is no key of `[agents.one.settings]`",
        "`agents.three.model`: the provider `gemini` is not known",
        "`agents.four.model`: `openai:` names no model of its provider",
    ] {
        assert!(found.contains(expected), "{expected}\nis not in\n{found}");
    }
}

#[test]
fn tokens_may_be_made_for_several_and_a_scope_may_be_for_everything() {
    let jwt = |more: &str| format!("[gateway.auth.jwt]\nissuer = \"https://id.example.com\"\n{more}");
    let several = "audience = [\"a\", \"https://b.example\"]\nscopes = { \"all\" = \"*\", \"one\" = \"read-only\" }\n";
    let config = read(&jwt(several));
    let read = config.gateway.auth.jwt.unwrap();
    assert_eq!(read.audience.0, ["a", "https://b.example"]);
    assert_eq!(read.scopes.get(&"all".to_owned()), Some(&Tasks::All));
    assert_eq!(read.scopes.get(&"one".to_owned()), Some(&Tasks::Only(vec!["read-only".parse().unwrap()])));
    for nobody in ["", "audience = \"\"\n", "audience = []\n", "audience = [\"a\", \"\"]\n"] {
        let told = problems(&jwt(nobody));
        assert!(told.iter().any(|problem| problem.contains("audience")), "{nobody}: {told:?}");
    }
    for wrong in ["[\"*\"]", "\"nowhere\"", "[\"nowhere\"]", "\"**\""] {
        let told = problems(&jwt(&format!("audience = \"a\"\nscopes = {{ \"x\" = {wrong} }}\n")));
        assert_eq!(told.len(), 1, "{wrong}: {told:?}");
    }
}

#[test]
fn an_authorization_server_or_a_receiver_that_cannot_be_used_is_refused_where_it_stands() {
    let jwt = |keys: &str| problems(&format!("[gateway.auth.jwt]\naudience = \"a\"\n{keys}"));
    let unsafe_keys = "keys are fetched over `https://` only, or from this machine";
    assert_eq!(
        jwt("issuer = \"http://evil.example\"\n"),
        [format!("3:1 config-value: `gateway.auth.jwt.issuer`: {unsafe_keys}")]
    );
    assert_eq!(
        jwt("issuer = \"me\"\njwks_url = \"http://evil.example/keys\"\n"),
        [format!("4:1 config-value: `gateway.auth.jwt.jwks_url`: {unsafe_keys}")]
    );
    // Where the keys are said to be elsewhere, its name is only a name.
    read("[gateway.auth.jwt]\naudience = \"a\"\nissuer = \"me\"\njwks_url = \"http://localhost:8080/keys\"\n");
    let otlp = |endpoint: &str| problems(&format!("[telemetry.otlp]\nendpoint = \"{endpoint}\"\n"));
    assert_eq!(
        otlp("127.0.0.1:4318"),
        ["2:1 config-value: `telemetry.otlp.endpoint`: this is no `http://` or `https://` address"]
    );
    let told = otlp("https://key:s3cret@x.example");
    assert!(told[0].ends_with("this has a query or a password; put what is secret into `headers`"), "{told:?}");
    assert!(!told[0].contains("s3cret"));
    read("[telemetry.otlp]\nendpoint = \"${RECEIVER}\"\n");
}

#[test]
fn headers_of_the_transport_are_refused_and_so_is_one_that_stands_twice() {
    let pack = |headers: &str| format!("[packs.a]\nurl = \"https://x\"\n[packs.a.headers]\n{headers}");
    for name in [
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Host",
        "ACCEPT",
        "content-type",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "Last-Event-ID",
        "TE",
        "Upgrade",
    ] {
        assert_eq!(
            problems(&pack(&format!("X-A = \"1\"\n{name} = \"1\"\n"))),
            [format!(
                "5:1 config-value: `packs.a.headers`: `{name}` says how a message is carried, which Toolmark says itself"
            )]
        );
    }
    assert_eq!(
        problems(&pack("X-A = \"1\"\nx-a = \"2\"\n")),
        ["5:1 config-value: `packs.a.headers`: `x-a` stands there already, as `X-A`"]
    );
    read(&pack("Authorization = \"Bearer ${T}\"\nX-A = \"tab\\tis fine\"\nAccept-Language = \"nl\"\n"));
}

#[test]
fn a_text_that_reaches_no_server_is_refused_without_being_shown() {
    let told = problems(
        "[packs.a]\nurl = \"https://x\"\nheaders = { X-A = \"s3cret\\r\\nX-B: 1\", X-B = \"${B:-s3cret\\u0000}\" }\n\
         [packs.b]\ncommand = \"x\\u0000\"\nargs = [\"a\\nb\", \"s3cret\\u0000\"]\nenv = { A = \"s3cret\\u0000\", B = \"a\\nb\" }\n\
         [packs.c]\nurl = \"https://x\"\nauth = { bearer = \"s3cret\\n\" }\n",
    );
    let header = "a header holds no line break and no other control character";
    let program = "a program is given no zero character";
    assert_eq!(
        told,
        [
            format!("3:1 config-value: `packs.a.headers.X-A`: {header}"),
            format!("3:1 config-value: `packs.a.headers.X-B`: {header}"),
            format!("5:1 config-value: `packs.b.command`: {program}"),
            format!("6:1 config-value: `packs.b.args[1]`: {program}"),
            format!("7:1 config-value: `packs.b.env.A`: {program}"),
            format!("10:1 config-value: `packs.c.auth.bearer`: {header}"),
        ]
    );
}
