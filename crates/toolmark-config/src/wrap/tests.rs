use proptest::prelude::*;
use toolmark_core::explain::Explain as _;

use super::*;
use crate::import::import;

fn stdio() -> Reach {
    let args = ["stdio", "--config", "/home/a/toolmark.toml", "--profile", "cursor"].map(ToOwned::to_owned).to_vec();
    Reach::Command { command: "toolmark".into(), args }
}

fn wrapped(client: Client, text: &str) -> Wrapped {
    wrap(client, text, "file", &stdio(), &Surroundings::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const CURSOR: &str = r#"{
  // mine
  "other": [1, 2,],
  "mcpServers": {
    "github": {"command": "npx", "env": {"TOKEN": "s3cret"}}, // do not share
    "files": {"command": "files"},
  },
  "last": true
}
"#;

#[test]
fn all_servers_become_one_and_everything_else_stays() {
    let wrapped = wrapped(Client::Cursor, CURSOR);
    assert_eq!(wrapped.servers, ["github", "files"]);
    assert_eq!(
        wrapped.text,
        r#"{
  // mine
  "other": [1, 2,],
  "mcpServers": {
    "toolmark": {
      "command": "toolmark",
      "args": [
        "stdio",
        "--config",
        "/home/a/toolmark.toml",
        "--profile",
        "cursor"
      ]
    }
  },
  "last": true
}
"#
    );
    assert!(!format!("{:?}", wrapped.record).contains("s3cret"));
}

#[test]
fn each_client_gets_the_entry_that_it_reads() {
    let url = Reach::Url("http://127.0.0.1:7319/mcp/x".into());
    let entry = |client: Client, reach: &Reach| {
        let text = wrap(client, "", "file", reach, &Surroundings::default()).unwrap().text;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        entry(Client::Windsurf, &url),
        r#"{ "mcpServers": { "toolmark": { "serverUrl": "http://127.0.0.1:7319/mcp/x" } } }"#
    );
    assert_eq!(
        entry(Client::GeminiCli, &url),
        r#"{ "mcpServers": { "toolmark": { "httpUrl": "http://127.0.0.1:7319/mcp/x" } } }"#
    );
    assert_eq!(
        entry(Client::Vscode, &url),
        r#"{ "servers": { "toolmark": { "type": "http", "url": "http://127.0.0.1:7319/mcp/x" } } }"#
    );
    assert_eq!(entry(Client::Codex, &url), r#"[mcp_servers.toolmark] url = "http://127.0.0.1:7319/mcp/x""#);
    assert!(entry(Client::ClaudeCode, &stdio()).contains(r#""type": "stdio", "command": "toolmark""#));
    let error = wrap(Client::ClaudeDesktop, "", "f", &url, &Surroundings::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "wrap-no-addresses");
}

const CODEX: &str = r#"# my settings
model = "gpt-5"

[mcp_servers.a] # first
command = "a"
args = [
  "[mcp_servers.no]",
]

# between
[mcp_servers.a.env]
K = """
[mcp_servers.neither]
"""

# about tools
[tools]
mcp_servers.x = 1

["mcp_servers".b]
url = "https://b.example"
# the end"#;

#[test]
fn every_table_of_servers_goes_from_a_toml_file_and_nothing_else() {
    let wrapped = wrapped(Client::Codex, CODEX);
    assert_eq!(
        wrapped.text,
        "# my settings\nmodel = \"gpt-5\"\n\n[mcp_servers.toolmark]\ncommand = \"toolmark\"\n\
         args = [\"stdio\", \"--config\", \"/home/a/toolmark.toml\", \"--profile\", \"cursor\"]\n\n\
         # between\n\n# about tools\n[tools]\nmcp_servers.x = 1\n\n# the end"
    );
    assert_eq!(unwrap(&wrapped.text, &wrapped.record), Ok(Unwrapped { text: CODEX.into(), exact: true }));
}

#[test]
fn servers_in_dotted_and_inline_tables_go_too() {
    for text in [
        "mcp_servers = { a = { command = \"a\" } }\nmodel = \"x\"\n[t]\nk = 1\n",
        "mcp_servers.a.command = \"a\"\nmodel = \"x\"\nmcp_servers.a.args = []\n",
        "[mcp_servers]\na = { command = \"a\" }\nb.command = \"b\"\n[t]\n",
        "[mcp_servers]\r\n\r\n[mcp_servers.a]\r\ncommand = \"a\"\r\n",
        "",
        "\u{feff}model = \"x\"",
        "\u{feff}[mcp_servers.a]\ncommand = \"a\"",
    ] {
        let wrapped = wrapped(Client::Codex, text);
        assert_eq!(unwrap(&wrapped.text, &wrapped.record).unwrap().text, text);
        assert_eq!(wrapped.text.matches('\r').count() > 0, text.contains('\r'), "{text:?}");
        assert!(!wrapped.text.replace("\r\n", "").contains('\r'));
    }
}

#[test]
fn a_project_of_claude_code_is_wrapped_only_when_it_is_meant() {
    let text = r#"{"mcpServers": {"a": {"command": "a"}}, "projects": {"/p": {"mcpServers": {"b": {"command": "b"}}, "x": 1}}}"#;
    assert_eq!(wrapped(Client::ClaudeCode, text).servers, ["a"]);
    let here = Surroundings { project: Some("/p/".into()), ..Surroundings::default() };
    let both = wrap(Client::ClaudeCode, text, "f", &stdio(), &here).unwrap();
    assert_eq!(both.servers, ["a", "b"]);
    assert_eq!(unwrap(&both.text, &both.record).unwrap().text, text);
}

#[test]
fn a_file_that_is_wrapped_is_not_wrapped_again() {
    let once = wrapped(Client::Cursor, CURSOR);
    let error = wrap(Client::Cursor, &once.text, "f", &stdio(), &Surroundings::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "wrap-already");
}

#[test]
fn a_change_elsewhere_survives_and_the_servers_come_back() {
    for (client, text, from, to) in [
        (Client::Cursor, CURSOR, "\"last\": true", "\"last\": false, \"new\": 1"),
        (Client::Codex, CODEX, "gpt-5", "gpt-6"),
        (Client::ClaudeCode, "{\n  \"a\": 1\n}\n", "\"a\": 1", "\"a\": 2"),
    ] {
        let wrapped = wrapped(client, text);
        let unwrapped = unwrap(&wrapped.text.replace(from, to), &wrapped.record).unwrap();
        assert!(!unwrapped.exact);
        let document = Document::new("", unwrapped.text.clone());
        let tree = read(client, &document).unwrap().to_json();
        let before = read(client, &Document::new("", text.replace(from, to))).unwrap().to_json();
        assert_eq!(tree, before, "{}", unwrapped.text);
    }
    // In JSON, it comes back byte for byte around the change.
    let wrapped = wrapped(Client::Cursor, CURSOR);
    let changed = wrapped.text.replace("// mine", "// yours");
    assert_eq!(unwrap(&changed, &wrapped.record).unwrap().text, CURSOR.replace("// mine", "// yours"));
}

#[test]
fn a_file_that_its_client_wrote_anew_gets_its_servers_back() {
    let text = r#"{"mcpServers":{"a":{"command":"a"}},"n":1}"#;
    let wrapped = wrapped(Client::ClaudeCode, text);
    let mut rewritten = Tree::json(&Document::new("", wrapped.text.clone())).unwrap().to_json();
    rewritten["n"] = 2.into();
    let current = serde_json::to_string_pretty(&rewritten).unwrap();
    let unwrapped = unwrap(&current, &wrapped.record).unwrap().text;
    let now: serde_json::Value = serde_json::from_str(&unwrapped).unwrap();
    assert_eq!(now, serde_json::json!({"mcpServers": {"a": {"command": "a"}}, "n": 2}));
}

#[test]
fn a_change_that_would_be_lost_is_refused() {
    let wrapped = wrapped(Client::Cursor, CURSOR);
    let added = wrapped.text.replace("\"mcpServers\": {", "\"mcpServers\": {\n    \"new\": {\"command\": \"n\"},");
    let removed = CURSOR.replace("\"github\"", "\"gitlab\"");
    let edited = wrapped.text.replace("\"--profile\"", "\"--task\"");
    for current in [added, removed, edited, String::new(), "{".into(), wrapped.text.repeat(2)] {
        assert_eq!(unwrap(&current, &wrapped.record), Err(UnwrapError::Changed), "{current}");
    }
    assert_eq!(wrapped.record.original(), CURSOR);
}

#[test]
fn gemini_cli_may_use_toolmark_where_it_names_the_only_servers_that_it_uses() {
    for (before, after) in [
        (r#"{"mcpServers": {"g1": {"command": "a"}}, "mcp": {"allowed": ["g1"]}}"#, r#""allowed": ["toolmark", "g1"]"#),
        (r#"{"mcp": {"allowed": []}, "mcpServers": {}}"#, r#""allowed": ["toolmark"]"#),
        (r#"{"mcp": {"allowed": [ /* none */ ]}}"#, r#""allowed": ["toolmark" /* none */ ]"#),
        (
            "{\n  \"mcp\": {\n    \"allowed\": [ // mine\n      \"g1\",\n    ]\n  }\n}\n",
            "\"allowed\": [ // mine\n      \"toolmark\",\n      \"g1\",\n    ]",
        ),
        ("{\r\n\t\"mcp\": {\"allowed\":\r\n\t\t[\r\n\t\t\"g1\"]}}", "[\r\n\t\t\"toolmark\",\r\n\t\t\"g1\"]"),
    ] {
        let new = wrapped(Client::GeminiCli, before);
        assert!(new.text.contains(after), "{}", new.text);
        let record = Record::from_text(&new.record.to_text()).unwrap();
        assert_eq!(unwrap(&new.text, &record), Ok(Unwrapped { text: before.into(), exact: true }));
        let changed = format!("// new\n{}", new.text);
        assert_eq!(unwrap(&changed, &record), Ok(Unwrapped { text: format!("// new\n{before}"), exact: false }));
    }
}

#[test]
fn a_list_that_has_toolmark_or_is_of_another_client_or_is_none_stays() {
    for (client, list) in [
        (Client::GeminiCli, r#"["a", "toolmark"]"#),
        (Client::GeminiCli, "null"),
        (Client::GeminiCli, r#"{"a": 1}"#),
        (Client::Cursor, r#"["a"]"#),
    ] {
        let text = format!(r#"{{"mcp": {{"allowed": {list}}}, "mcpServers": {{"a": {{"command": "a"}}}}}}"#);
        assert!(wrapped(client, &text).text.contains(&format!(r#""allowed": {list}}}"#)), "{list}");
    }
}

#[test]
fn the_list_of_gemini_cli_comes_back_when_the_client_wrote_the_file_anew() {
    let before = r#"{"mcpServers": {"g1": {"command": "a"}}, "mcp": {"allowed": ["g1"]}}"#;
    let new = wrapped(Client::GeminiCli, before);
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let mut anew = value(&new.text);
    anew["theme"] = "dark".into();
    let unwrapped = unwrap(&serde_json::to_string_pretty(&anew).unwrap(), &new.record).unwrap();
    let mut expected = value(before);
    expected["theme"] = "dark".into();
    assert_eq!((value(&unwrapped.text), unwrapped.exact), (expected, false));
    // Another server that was allowed since would be lost.
    anew["mcp"]["allowed"] = serde_json::json!(["toolmark", "g1", "g2"]);
    assert_eq!(unwrap(&serde_json::to_string_pretty(&anew).unwrap(), &new.record), Err(UnwrapError::Changed));
}

#[test]
fn a_record_survives_writing_and_reading_and_a_foreign_one_is_refused() {
    let record = wrapped(Client::Cursor, CURSOR).record;
    assert!(Record::from_text(&record.to_text()).unwrap() == record);
    for wrong in ["", "{}", &record.to_text().replace("\"version\": 1", "\"version\": 2")] {
        assert_eq!(Record::from_text(wrong).unwrap_err(), UnwrapError::Record);
    }
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    for (client, text, code) in [
        (Client::Cursor, "{", "client-file-syntax"),
        (Client::Cursor, "[]", "client-file-shape"),
        (Client::Cursor, "{\"mcpServers\": []}", "client-file-shape"),
        (Client::Codex, "[", "client-file-syntax"),
        (Client::Codex, "mcp_servers = 1", "client-file-shape"),
    ] {
        let error = wrap(client, text, "f", &stdio(), &Surroundings::default()).unwrap_err();
        assert_eq!(error.code().as_str(), code, "{text}");
    }
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n", "\t", "\n  ", " // c\n", "/* { */", "\n\n\t"])
}

fn json_file() -> impl Strategy<Value = String> {
    let server =
        (blank(), "[a-z]{1,6}", blank()).prop_map(|(a, name, b)| format!("{a}\"{name}\"{b}: {{\"command\":{b}\"x\"}}"));
    let servers =
        (proptest::collection::vec(server, 0..4), any::<bool>(), blank()).prop_map(|(servers, comma, end)| {
            let comma = if comma && !servers.is_empty() { "," } else { "" };
            format!("{{{}{comma}{end}}}", servers.join(","))
        });
    let root = prop::sample::select(vec!["mcpServers", "servers", "unrelated"]);
    (blank(), root, servers, any::<bool>(), any::<bool>(), any::<bool>(), blank(), any::<bool>()).prop_map(
        |(space, root, servers, before, after, comma, end, brackets)| {
            if !brackets {
                return space.to_owned();
            }
            let before = if before { format!("{space}\"before\": [1, \"}}\"],") } else { String::new() };
            let after = if after { format!(",{space}\"after\": null") } else { String::new() };
            let comma = if comma { "," } else { "" };
            format!("{space}{{{before}{space}\"{root}\":{space}{servers}{after}{comma}{end}}}{end}")
        },
    )
}

fn toml_file() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "# a comment",
        "",
        "[mcp_servers.a]",
        "[mcp_servers.b.env]",
        "[other]",
        "[other.mcp_servers]",
        "  [mcp_servers.c]  # why",
        "[[list]]",
    ]);
    let lines = proptest::collection::vec((line, 0_usize..3), 0..8);
    (lines, any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = String::new();
        let mut key = 0;
        for (line, keys) in lines {
            text.push_str(line);
            text.push('\n');
            for _ in 0..keys {
                key += 1;
                text.push_str(&format!(
                    "k{key} = {}\n",
                    ["1", "'''\n[mcp_servers.x]\n'''", "{ a = [1,\n2] }", "\"x\" # y"][key % 4]
                ));
            }
        }
        if newline { text } else { text.trim_end_matches('\n').to_owned() }
    })
}

fn variants(text: String, bom: bool, crlf: bool) -> String {
    let text = if crlf { text.replace('\n', "\r\n") } else { text };
    if bom { format!("\u{feff}{text}") } else { text }
}

proptest! {
    #[test]
    fn unwrapping_what_was_wrapped_gives_every_byte_back(
        text in json_file(), bom: bool, crlf: bool, client in prop::sample::select(Client::ALL.to_vec())
    ) {
        let client = if client.writes_toml() { Client::Cursor } else { client };
        let text = variants(text, bom, crlf);
        match wrap(client, &text, "f", &stdio(), &Surroundings::default()) {
            Ok(wrapped) => {
                let record = Record::from_text(&wrapped.record.to_text()).map_err(|_| TestCaseError::fail("record"))?;
                prop_assert_eq!(unwrap(&wrapped.text, &record), Ok(Unwrapped { text, exact: true }));
            }
            // Only a text that is no JSON may be refused.
            Err(error) => prop_assert_eq!(error.code().as_str(), "client-file-syntax", "{:?} {}", text, error),
        }
    }

    #[test]
    fn unwrapping_a_toml_file_gives_every_byte_back(text in toml_file(), bom: bool, crlf: bool) {
        let text = variants(text, bom, crlf);
        match wrap(Client::Codex, &text, "f", &stdio(), &Surroundings::default()) {
            Ok(wrapped) => prop_assert_eq!(unwrap(&wrapped.text, &wrapped.record), Ok(Unwrapped { text, exact: true })),
            Err(error) => prop_assert_eq!(error.code().as_str(), "client-file-syntax", "{:?} {}", text, error),
        }
    }

    #[test]
    fn no_text_makes_reading_or_wrapping_panic(text in "[\\[\\]{}\"',:=.a-c#/*\\n\\r mcp_servers]{0,60}") {
        for client in [Client::Cursor, Client::Codex] {
            let _ = crate::import::import(client, &text, "f", &Surroundings::default());
            if let Ok(wrapped) = wrap(client, &text, "f", &stdio(), &Surroundings::default()) {
                prop_assert_eq!(unwrap(&wrapped.text, &wrapped.record).map(|unwrapped| unwrapped.text), Ok(text.clone()));
            }
        }
    }
}

#[test]
fn a_server_is_toolmark_by_what_it_starts_and_not_by_its_name() {
    let file = |key: &str, server: &str| format!(r#"{{"mcpServers": {{"{key}": {server}}}}}"#);
    let is_ours = |text: &str| {
        let here = Surroundings::default();
        let imported = import(Client::Cursor, text, "f", &here).unwrap();
        let found = &imported.packs[0];
        let of_import = is_toolmark(&found.key, &found.pack);
        let of_wrap = wrap(Client::Cursor, text, "f", &stdio(), &here);
        let of_wrap = of_wrap.is_err_and(|error| error.code().as_str() == "wrap-already");
        assert_eq!(of_import, of_wrap, "{text}");
        of_import
    };
    for (key, server) in [
        ("toolmark", r#"{"command": "toolmark", "args": ["stdio", "--config", "x"]}"#),
        ("toolmark", r#"{"command": "toolmark"}"#),
        ("toolmark", r#"{"command": "/opt/tm", "args": ["stdio", "--config", "x"]}"#),
        ("toolmark", r#"{"url": "http://127.0.0.1:7319/mcp"}"#),
        ("gateway", r#"{"command": "C:\\bin\\toolmark.exe", "args": ["--color", "never", "stdio"]}"#),
        ("toolmark", r#"{"command": "docker", "args": ["run", "-i", "example/toolmark:1", "--config", "x"]}"#),
        ("gateway", r#"{"command": "docker", "args": ["run", "-i", "example/toolmark:1", "stdio"]}"#),
    ] {
        assert!(is_ours(&file(key, server)), "{server}");
    }
    for (key, server) in [
        ("toolmark", r#"{"command": "real-other"}"#),
        ("toolmark", r#"{"command": "npx", "args": ["-y", "other", "stdio"]}"#),
        ("files", r#"{"command": "files", "args": ["--transport", "stdio", "--root", "/home/a/toolmark"]}"#),
        (
            "toolmark",
            r#"{"command": "npx", "args": ["-y", "files", "/home/a/toolmark", "./toolmark", "C:\\src\\toolmark"]}"#,
        ),
        ("gateway", r#"{"url": "http://127.0.0.1:7319/mcp"}"#),
    ] {
        assert!(!is_ours(&file(key, server)), "{server}");
    }
}

#[test]
fn another_server_that_is_called_toolmark_is_wrapped_and_restored() {
    let text = r#"{"mcpServers": {"toolmark": {"command": "real-other"}, "b": {"command": "b"}}}"#;
    let wrapped = wrapped(Client::Cursor, text);
    assert_eq!(wrapped.servers, ["toolmark", "b"]);
    assert!(!wrapped.text.contains("real-other"));
    assert_eq!(unwrap(&wrapped.text, &wrapped.record).unwrap().text, text);
}
