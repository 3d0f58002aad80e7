//! Commands in a folder with a `toolmark.toml`: they are about its packs, as the gateway last saw them, and never about anything else.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use toolmark_store::{DefinitionKind, KnownDefinition, Listing, Location, Micros, Settings, Store};

/// A pack, a store beside it, and a rule for one of its tools.
const CONFIG: &str = r#"
[gateway]
store = "store.db"

[packs.shop]
command = "shop-server"
env = { TOKEN = "${SHOP_TOKEN_THAT_NOBODY_SET}" }

[[rules]]
id = "careful"
verdict = "ask"
tools = ["shop.buy"]
"#;

/// What a command prints to both, and how it ends.
fn toolmark(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).args(arguments).env("XDG_DATA_HOME", folder.join("data")).env("NO_COLOR", "1");
    let done = command.stdin(Stdio::null()).output().expect("toolmark runs");
    let text = [done.stdout, done.stderr].map(|text| String::from_utf8(text).expect("text")).concat();
    (text, done.status.code())
}

/// A folder with a configuration whose gateway never ran.
fn fresh(config: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    fs::write(folder.path().join("call.json"), json!({"name": "buy", "arguments": {"item": 1}}).to_string())
        .expect("a call");
    folder
}

/// Does what a gateway does whose pack `shop` lists `buy` with this description.
#[tokio::main(flavor = "current_thread")]
async fn list(folder: &Path, description: &str) {
    let settings = Settings::new(|| Micros::from(SystemTime::now()));
    let store = Store::open(&Location::File(folder.join("store.db")), &settings).await.expect("a store");
    let schema = json!({"type": "object", "properties": {"item": {"type": "integer"}}});
    let text = json!({"name": "buy", "description": description, "inputSchema": schema}).to_string();
    let digest = Sha256::digest(&text).into();
    let definitions = [KnownDefinition { kind: DefinitionKind::Tool, name: "buy".into(), text, digest }];
    // The source of a program without arguments.
    let source = "stdio:shop-server#e3b0c44298fc";
    let listing = Listing { pack: "shop", source, about: None, definitions: &definitions };
    store.replace_definitions(listing).await.expect("listed");
    store.close().await.expect("closed");
}

#[test]
fn commands_are_about_the_packs_of_the_configuration_as_they_were_last_seen() {
    let folder = fresh(CONFIG);
    let folder = folder.path();
    list(folder, "Buys a thing.");
    for (arguments, expected) in [
        (&["inspect"][..], "1 tool in 1 pack"),
        (&["inspect", "buy"], "shop.buy"),
        (&["resolve", "buy"], "shop.buy"),
        (&["lint"], "1 tool in 1 pack"),
        (&["explain", "call.json"], "rule `careful` asks before `shop.buy`"),
        (&["policy", "check"], "rule `careful`: 1 tool: shop.buy"),
        (&["config", "check"], "toolmark.toml is all right"),
    ] {
        let (said, code) = toolmark(folder, arguments);
        assert!(said.contains(expected) && !said.contains("demo"), "{arguments:?}: {said}");
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
    }
    assert_eq!(toolmark(folder, &["pin"]).1, Some(0));
    let (said, code) = toolmark(folder, &["diff"]);
    assert!(said.starts_with("no drift") && code == Some(0), "{said}");
    list(folder, "Buys two things.");
    let (said, code) = toolmark(folder, &["diff"]);
    assert!(said.contains("changed  shop.buy"), "{said}");
    assert_eq!(code, Some(1));
}

#[test]
fn what_nobody_has_seen_is_never_taken_for_the_demo() {
    let folder = fresh(CONFIG);
    for arguments in [
        &["inspect"][..],
        &["resolve", "read_query"],
        &["lint"],
        &["explain", "call.json"],
        &["policy", "check"],
        &["classify", "--model", "scripted:none.json"],
    ] {
        let (said, code) = toolmark(folder.path(), arguments);
        assert_ne!(code, Some(0), "{arguments:?}: {said}");
        assert!(!said.contains("demo workspace\n"), "{arguments:?}: {said}");
    }
    let (said, code) = toolmark(folder.path(), &["policy", "check"]);
    assert!(
        said.contains("error[no-tools]: nobody has seen the tools of the packs that are configured: `shop`"),
        "{said}"
    );
    assert_eq!(code, Some(3));
    assert!(!folder.path().join("store.db").exists(), "who only looks makes no store");
}

#[test]
fn a_configuration_without_packs_is_tried_on_the_demo() {
    let folder = fresh("[[rules]]\nverdict = \"deny\"\ntools = [\"shop.write_query\"]\n");
    let (said, code) = toolmark(folder.path(), &["policy", "check"]);
    assert!(
        said.contains("this is the built-in demo workspace") && said.contains("1 tool: shop.write_query"),
        "{said}"
    );
    assert_eq!(code, Some(0));
}

#[test]
fn checking_finds_whatever_a_gateway_would_not_start_with() {
    let folder = fresh(
        r#"
[packs.shop]
command = "shop-server"
cwd = "nowhere"
env_file = "none.env"

[policy]
cedar = ["policies/*.cedar"]

[tasks.report]
expect = ["PURE|*|*"]
baseline = "none.json"

[names]
locales = ["none/*.ftl"]

[[rules]]
id = "typo"
verdict = "deny"
tools = ["shopp.*"]
"#,
    );
    for arguments in [&["config", "check"][..], &["config", "check", "--config", "toolmark.toml"]] {
        let (said, code) = toolmark(folder.path(), arguments);
        for part in [
            "`packs.shop.cwd` names `nowhere`, which is no directory",
            "`packs.shop.env_file` names `none.env`, which cannot be read",
            "`[policy]` names `policies/*.cedar`, and there is no such file",
            "the task `report` names `none.json`, which cannot be read",
            "`names.locales` names `none/*.ftl`, and there is no such file",
            "rule `typo` names `shopp.*`, which matches no tool",
            "toolmark.toml has 6 problems",
        ] {
            assert!(said.contains(part), "{part} is missing in\n{said}");
        }
        assert_eq!(code, Some(3));
    }
    let (said, _) = toolmark(folder.path(), &["config", "check", "--json"]);
    let read: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(read["problems"].as_array().map(Vec::len), Some(6));
}

#[cfg(unix)]
#[test]
fn a_policy_that_a_link_leads_nowhere_to_is_not_passed_over() {
    let folder = fresh("[policy]\ncedar = [\"policies/*.cedar\"]\n");
    let policies = folder.path().join("policies");
    fs::create_dir(&policies).expect("a folder");
    fs::write(policies.join("one.cedar"), "forbid(principal, action == Action::\"DELETE\", resource);")
        .expect("a policy");
    assert_eq!(toolmark(folder.path(), &["config", "check"]).1, Some(0));
    std::os::unix::fs::symlink("gone.cedar", policies.join("two.cedar")).expect("a link");
    let (said, code) = toolmark(folder.path(), &["config", "check"]);
    assert!(said.contains("two.cedar`, which cannot be read"), "{said}");
    assert_eq!(code, Some(3));
}

#[test]
fn a_command_that_looks_into_a_store_makes_none() {
    let folder = TempDir::new().expect("a folder");
    for arguments in [
        &["approvals", "list"][..],
        &["approvals", "grants"],
        &["approvals", "approve", "01a1e5fa"],
        &["approvals", "revoke", "01a1e5fa"],
        &["pins", "list"],
        &["token", "list"],
        &["token", "revoke", "laptop"],
        &["store", "export"],
    ] {
        let arguments = [arguments, &["--store", "typo.db"]].concat();
        let (said, code) = toolmark(folder.path(), &arguments);
        assert!(said.contains("error[store-missing]: there is no store `typo.db`"), "{arguments:?}: {said}");
        assert_eq!(code, Some(4), "{arguments:?}");
        assert!(!folder.path().join("typo.db").exists(), "{arguments:?}");
    }
}

#[test]
fn a_token_for_deciding_is_told_from_one_for_calling() {
    let folder = TempDir::new().expect("a folder");
    let token = |arguments: &[&str]| toolmark(folder.path(), &[&["token"], arguments, &["--store", "s.db"]].concat()).0;
    let made = token(&["create", "ann", "--approver"]);
    assert!(
        made.contains("`ann` is good for deciding about calls, and for making none, until it is revoked"),
        "{made}"
    );
    assert!(!made.contains("no token is asked for"), "it is asked for whatever callers need: {made}");
    assert!(token(&["create", "bob"]).contains("no token is asked for"));
    let listed = token(&["list"]);
    let row = |name: &str| listed.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned();
    assert!(row("ann").contains("decides only") && row("bob").contains("all"), "{listed}");
    let read: Value = serde_json::from_str(&token(&["list", "--json"])).expect("JSON");
    assert_eq!((&read["tokens"][0]["approver"], &read["tokens"][1]["approver"]), (&json!(true), &json!(false)));
}

#[test]
fn a_client_is_not_left_with_a_toolmark_that_cannot_start() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("mcp.json");
    fs::write(&file, "{}").expect("a file");
    let (said, code) = toolmark(folder.path(), &["wrap", "cursor", "--file", "mcp.json"]);
    assert!(said.contains("error[wrap-not-configured]: there is no `toolmark.toml`"), "{said}");
    assert_eq!(code, Some(3));
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}");
    let (said, code) = toolmark(folder.path(), &["unwrap", "cursor", "--file", "mcp.json"]);
    assert!(said.contains("there is no `mcp.json.toolmark-backup`: nothing of Cursor was wrapped there"), "{said}");
    assert_eq!(code, Some(3));
    let with_url =
        toolmark(folder.path(), &["wrap", "cursor", "--file", "mcp.json", "--url", "http://127.0.0.1:7319/mcp"]);
    assert_eq!(with_url.1, Some(0), "{}", with_url.0);
}
