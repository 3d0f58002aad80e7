use super::*;
use crate::render::{Secrets, render};
use crate::{Config, Connection};

fn surroundings() -> Surroundings {
    Surroundings { home: Some("/home/a".into()), project: Some("/srv/shop".into()), windows: false }
}

fn read(client: Client, text: &str) -> Imported {
    import(client, text, "file", &surroundings()).unwrap_or_else(|error| panic!("{error}"))
}

/// Each pack as it would be written.
fn shown(imported: &Imported) -> String {
    let mut all = String::new();
    for pack in &imported.packs {
        all.push_str(&render(&pack.name, &pack.pack, Secrets::Written));
    }
    all
}

#[test]
fn a_file_of_claude_desktop_is_taken_over() {
    let text = r#"{
        "globalShortcut": "",
        "mcpServers": {
            "File System": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]},
            "remote": {
                "command": "npx",
                "args": ["mcp-remote", "https://x.example/sse", "--header", "Authorization:${AUTH}"],
                "env": {"AUTH": "Bearer abc", "PORT": 8080, "ON": true}
            }
        }
    }"#;
    assert_eq!(
        shown(&read(Client::ClaudeDesktop, text)),
        "[packs.file-system]\ncommand = \"npx\"\nargs = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \"/srv\"]\n\
         [packs.remote]\ncommand = \"npx\"\n\
         args = [\"mcp-remote\", \"https://x.example/sse\", \"--header\", \"Authorization:$${AUTH}\"]\n\
         env = { AUTH = \"Bearer abc\", PORT = \"8080\", ON = \"true\" }\n"
    );
}

#[test]
fn names_that_a_file_gives_servers_and_tools_are_taken_over() {
    let text = r#"{"mcpServers": {"glt": {
        "command": "glt-mcp",
        "displayName": "Freight Tools",
        "signalText": {"en": "Checking freight", "pt_BR": "Consultando frete", "klingonese": "x", "nl": "a\u202eb"},
        "tools": {"glt_get_rates": {"displayName": {"en": "Get rates"}, "signalText": "Checking rates"}, "other": {"enabled": true}}
    }}}"#;
    let imported = read(Client::ClaudeDesktop, text);
    let written = shown(&imported);
    assert_eq!(
        written,
        "[packs.glt]\ncommand = \"glt-mcp\"\ndisplay_name = \"Freight Tools\"\n\
         spoken = { en = \"Checking freight\", pt-BR = \"Consultando frete\" }\n\n\
         [packs.glt.tools.glt_get_rates]\ndisplay_name = { en = \"Get rates\" }\nspoken = \"Checking rates\"\n"
    );
    let config = Config::read(&written, "written").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config.packs.iter().next().unwrap().1, imported.packs[0].pack);
}

#[test]
fn files_of_claude_code_hold_for_the_user_and_for_one_project() {
    let text = r#"{
        "numStartups": 3,
        "mcpServers": {"api": {"type": "http", "url": "${BASE:-https://api.example}/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}},
        "projects": {
            "/srv/shop": {"mcpServers": {"db": {"type": "stdio", "command": "db", "args": [], "env": {}}}},
            "/srv/other": {"mcpServers": {"x": {"command": "x"}}, "history": []}
        }
    }"#;
    let imported = read(Client::ClaudeCode, text);
    assert_eq!(
        shown(&imported),
        "[packs.api]\nurl = \"${BASE:-https://api.example}/mcp\"\nheaders = { Authorization = \"Bearer ${KEY}\" }\n\
         [packs.db]\ncommand = \"db\"\n"
    );
    assert_eq!(imported.notes.len(), 1);
    assert_eq!(imported.notes[0].text, "1 servers hold only in the project `/srv/other` and were left out");
}

#[test]
fn a_server_of_the_project_stands_for_one_of_the_user_with_the_same_name() {
    let text = r#"{"mcpServers": {"a": {"command": "user"}, "b": {"command": "b"}},
        "projects": {"/srv/shop/": {"mcpServers": {"a": {"command": "project"}, "b": {"command": "b"}}}}}"#;
    let imported = read(Client::ClaudeCode, text);
    assert_eq!(shown(&imported), "[packs.a]\ncommand = \"project\"\n[packs.b]\ncommand = \"b\"\n");
    assert_eq!(imported.notes.len(), 1);
    assert_eq!(imported.notes[0].text, "`a` stands here twice; the one of the project is used");
}

#[test]
fn a_file_of_vs_code_with_comments_and_inputs_is_taken_over() {
    let text = r#"{
        // what the user is asked
        "inputs": [
            {"type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true},
            {"type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu"},
        ],
        "servers": {
            "perplexity": {
                "type": "stdio", "command": "${workspaceFolder}/bin/${workspaceFolderBasename}", /* why not */
                "args": ["${userHome}${/}x", "${input:region}", "${config:editor.tabSize}"],
                "env": {"KEY": "${input:perplexity-key}", "P": "${env:PATH}"},
                "envFile": "${workspaceFolder}/.env",
                "dev": {"watch": "*"},
            },
            "old": {"type": "sse", "url": "https://old.example/sse", "sandboxEnabled": true},
        },
    }"#;
    let imported = read(Client::Vscode, text);
    assert_eq!(
        shown(&imported),
        "[packs.perplexity]\ncommand = \"/srv/shop/bin/shop\"\n\
         args = [\"/home/a/x\", \"${REGION:-eu}\", \"${CONFIG_EDITOR_TABSIZE}\"]\n\
         env = { KEY = \"${PERPLEXITY_KEY}\", P = \"${PATH}\" }\nenv_file = \"/srv/shop/.env\"\n\
         [packs.old]\nurl = \"https://old.example/sse\"\ntransport = \"sse\"\n"
    );
    let required: Vec<&str> = imported.required.iter().map(|required| required.variable.as_str()).collect();
    assert_eq!(required, ["CONFIG_EDITOR_TABSIZE", "PERPLEXITY_KEY"]);
    assert_eq!(imported.required[1].description.as_deref(), Some("Perplexity API Key"));
    assert_eq!(imported.notes[1].text, "`sandboxEnabled` of `old` has no counterpart and was left out");
    assert_eq!((imported.notes[1].place.line, imported.notes[1].place.column), (15, 70));
}

#[test]
fn the_settings_of_vs_code_hold_servers_too() {
    let text = r#"{"editor.tabSize": 4, "mcp": {"inputs": [], "servers": {"a": {"command": "a"}}}}"#;
    assert_eq!(shown(&read(Client::Vscode, text)), "[packs.a]\ncommand = \"a\"\n");
}

#[test]
fn a_file_of_cursor_is_taken_over() {
    let text = r#"{"mcpServers": {
        "a": {"url": "https://a.example/mcp", "auth": {"CLIENT_ID": "${env:ID}", "CLIENT_SECRET": "s", "scopes": ["read"]}},
        "b": {"command": "b", "disabled": true, "autoApprove": ["x"]}
    }}"#;
    let imported = read(Client::Cursor, text);
    assert_eq!(
        shown(&imported),
        "[packs.a]\nurl = \"https://a.example/mcp\"\n\
         auth = { oauth = { grant = \"authorization_code\", client_id = \"${ID}\", client_secret = \"s\", scopes = [\"read\"] } }\n\
         [packs.b]\ncommand = \"b\"\nenabled = false\n"
    );
    assert_eq!(imported.notes[0].text, "`autoApprove` of `b` has no counterpart and was left out");
}

#[test]
fn a_file_of_codex_is_taken_over() {
    let text = r#"
model = "gpt-5"

[mcp_servers.docs]
command = "docs"
args = ["--root", "~"]
env_vars = ["TOKEN", { name = "OTHER", source = "local" }]
startup_timeout_sec = 20
tool_timeout_sec = 1.5
enabled_tools = ["read", "a*b"]
disabled_tools = ["write"]

[mcp_servers.docs.env]
MODE = "x"

[mcp_servers."Figma Desktop"]
url = "https://figma.example/mcp"
bearer_token_env_var = "FIGMA"
http_headers = { X-Region = "us" }
env_http_headers = { X-Key = "KEY" }
enabled = false
"#;
    assert_eq!(
        shown(&read(Client::Codex, text)),
        "[packs.docs]\ncommand = \"docs\"\nargs = [\"--root\", \"~\"]\nenv = { MODE = \"x\" }\n\
         inherit_env = [\"TOKEN\", \"OTHER\"]\nallow = [\"read\", \"a\\\\*b\"]\ndeny = [\"write\"]\n\
         limits = { timeout = \"1500ms\", start = \"20s\" }\n\
         [packs.figma-desktop]\nurl = \"https://figma.example/mcp\"\nheaders = { X-Region = \"us\", X-Key = \"${KEY}\" }\n\
         enabled = false\nauth = { bearer = \"${FIGMA}\" }\n"
    );
}

#[test]
fn a_file_of_gemini_cli_is_taken_over() {
    let text = r#"{"mcpServers": {
        "a": {"httpUrl": "https://a.example", "headers": {"K": "$KEY-x ${OTHER}"}, "timeout": 5000, "trust": true},
        "b": {"url": "https://b.example/sse", "includeTools": ["one(x)"], "excludeTools": ["two"]},
        "c": {"url": "https://c.example/mcp", "type": "http"}
    }, "mcp": {"excluded": ["c"]}}"#;
    let imported = read(Client::GeminiCli, text);
    assert_eq!(
        shown(&imported),
        "[packs.a]\nurl = \"https://a.example\"\nheaders = { K = \"${KEY}-x ${OTHER}\" }\nlimits = { timeout = \"5s\" }\n\
         [packs.b]\nurl = \"https://b.example/sse\"\ntransport = \"sse\"\nallow = [\"one\"]\ndeny = [\"two\"]\n\
         [packs.c]\nurl = \"https://c.example/mcp\"\nenabled = false\n"
    );
    assert_eq!(imported.notes[0].text, "`trust` of `a` has no counterpart and was left out");
}

#[test]
fn a_file_of_windsurf_is_taken_over() {
    let text = r#"{"mcpServers": {"a": {"serverUrl": "https://a.example/mcp", "headers": {"A": "${env:T}"}, "disabledTools": ["x"]}}}"#;
    let expected = "[packs.a]\nurl = \"https://a.example/mcp\"\nheaders = { A = \"${T}\" }\ndeny = [\"x\"]\n";
    assert_eq!(shown(&read(Client::Windsurf, text)), expected);
}

#[test]
fn a_dollar_that_means_nothing_is_kept() {
    let text =
        r#"{"mcpServers": {"a": {"command": "a", "args": ["$HOME", "100$", "$${X}", "${", "${A:-${B}}", "${}"]}}}"#;
    let imported = read(Client::Cursor, text);
    let config = Config::read(&shown(&imported), "t").unwrap();
    let expanded = config.expand(&|name| Some(format!("<{name}>"))).unwrap();
    let Connection::Stdio(stdio) = &expanded.connections[0].1 else { panic!() };
    let args: Vec<&str> = stdio.args.iter().map(crate::values::Secret::expose).collect();
    assert_eq!(args, ["$HOME", "100$", "$<X>", "${", "<A>", "${}"]);
}

#[test]
fn servers_that_cannot_be_used_are_named_and_the_others_stay() {
    let text = r#"{"mcpServers": {"a": {"args": []}, "b": {"url": "unix:///x"}, "c": 1, "": {"command": "x"}, "d": {"command": "d"}}}"#;
    let imported = read(Client::Cursor, text);
    assert_eq!(shown(&imported), "[packs.d]\ncommand = \"d\"\n");
    let codes: Vec<&str> = imported.problems.iter().map(|problem| problem.code().as_str()).collect();
    assert_eq!(
        codes,
        ["client-server-unusable", "client-server-unusable", "client-server-unusable", "pack-name-syntax"]
    );
}

#[test]
fn two_keys_with_one_slug_are_an_error_that_names_both() {
    let text =
        r#"{"mcpServers": {"My Server": {"command": "a"}, "my-server": {"command": "b"}, "c": {"command": "c"}}}"#;
    let error = import(Client::Cursor, text, "mcp.json", &surroundings()).unwrap_err();
    assert_eq!(error.to_string(), "`mcp.json` cannot be taken over: 2 servers would be the pack `my-server`");
    assert!(error.why().contains("`My Server` and `my-server`"));
    // The same key twice is no better.
    let text = r#"{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}"#;
    assert_eq!(
        import(Client::Cursor, text, "m", &surroundings()).unwrap_err().code().as_str(),
        "client-server-collision"
    );
}

#[test]
fn of_two_tables_of_servers_the_client_and_toolmark_see_the_later() {
    let text = r#"{"mcpServers": {"a": {"command": "a"}}, "mcpServers": {"b": {"command": "b"}}}"#;
    assert_eq!(shown(&read(Client::Cursor, text)), "[packs.b]\ncommand = \"b\"\n");
}

#[test]
fn more_servers_than_anybody_has_are_refused_quickly() {
    let servers: Vec<String> = (0..50_000).map(|number| format!("\"s{number}\": {{\"command\": \"x\"}}")).collect();
    let text = format!("{{\"mcpServers\": {{{}}}}}", servers.join(","));
    assert_eq!(import(Client::Cursor, &text, "f", &surroundings()).unwrap_err().code().as_str(), "client-file-shape");
}

#[test]
fn a_text_that_is_broken_is_refused_with_its_place_and_without_its_content() {
    for (client, text) in
        [(Client::Cursor, "{\n  \"mcpServers\": {\"k\": \"s3cret\n"), (Client::Codex, "[a]\nk = s3cret")]
    {
        let error = import(client, text, "file", &surroundings()).unwrap_err();
        assert_eq!(error.code().as_str(), "client-file-syntax");
        assert_eq!(error.problems()[0].place().unwrap().line, 2);
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    }
    assert_eq!(import(Client::Cursor, "[1]", "f", &surroundings()).unwrap_err().code().as_str(), "client-file-shape");
    for empty in ["", "\u{feff}", "// nothing\n", "{}", "{\"mcpServers\": {}}", "{\"mcpServers\": null}"] {
        assert!(read(Client::Cursor, empty).packs.is_empty(), "{empty}");
    }
    let deep = "[".repeat(100_000);
    assert!(import(Client::Cursor, &deep, "f", &surroundings()).is_err());
}

#[test]
fn a_preview_shows_variables_and_no_secrets() {
    let text = r#"{"mcpServers": {
        "a": {"command": "a", "args": ["--api-key", "k3y", "--token=t0k", "postgres://u:pw@h/d", "sk-abc", "plain"], "env": {"X": "s3cret", "NODE_ENV": "test", "Y": "${Y}"}},
        "b": {"url": "https://u:pw@h.example/mcp/0123456789abcdef0123456789abcdef?key=k3y", "headers": {"Authorization": "Bearer s3cret"}}
    }}"#;
    let imported = read(Client::Cursor, text);
    let preview: String = imported.packs.iter().map(|pack| render(&pack.name, &pack.pack, Secrets::Masked)).collect();
    for secret in ["k3y", "t0k", "pw", "sk-abc", "s3cret", "0123456789abcdef"] {
        assert!(!preview.contains(secret), "{secret} in {preview}");
    }
    for kept in ["plain", "NODE_ENV = \"test\"", "Y = \"${Y}\"", "Bearer ••••", "h.example/mcp"] {
        assert!(preview.contains(kept), "{kept} not in {preview}");
    }
    assert!(!format!("{imported:?}").contains("s3cret"));
}

#[test]
fn whatever_is_imported_reads_back_as_the_same_pack() {
    let text = r#"{"mcpServers": {"a b": {"command": "a\"\\\t\n\u0001é${X}$", "args": ["$${", "'"], "env": {"K": "v"}, "cwd": "C:\\x"}}}"#;
    let imported = read(Client::Cursor, text);
    let config = Config::read(&shown(&imported), "t").unwrap();
    let environment = |name: &str| Some(name.to_lowercase());
    let name = &imported.packs[0].name;
    let pack = config.packs.get(name).unwrap();
    assert_eq!(pack.expand(name, &environment).unwrap(), imported.packs[0].pack.expand(name, &environment).unwrap());
}

#[test]
fn who_replaces_a_name_in_arguments_depends_on_the_client() {
    let json = |env: &str| {
        format!(
            r#"{{"mcpServers": {{"a": {{"command": "a", "args": ["--key", "${{API_KEY}}", "${{env:API_KEY}}"], "env": {{"API_KEY": "{env}"}}}}}}}}"#
        )
    };
    let args = |client: Client, text: &str| -> Vec<String> {
        let imported = read(client, text);
        imported.packs[0].pack.args.iter().map(|arg| arg.written().expose().to_owned()).collect()
    };
    // They replace it themselves, so it is never the program's.
    for client in [Client::ClaudeCode, Client::GeminiCli] {
        for env in ["${API_KEY}", "k3y"] {
            assert_eq!(args(client, &json(env)), ["--key", "${API_KEY}", "${API_KEY}"], "{client} {env}");
        }
    }
    // They hand it on, and the program finds it in what it is given; `${env:NAME}` is replaced by those that know it.
    for client in [Client::ClaudeDesktop, Client::Cursor, Client::Vscode, Client::Windsurf] {
        assert_eq!(args(client, &json("${env:API_KEY}")), ["--key", "$${API_KEY}", "${API_KEY}"], "{client}");
    }
    let codex = "[mcp_servers.a]\ncommand = \"a\"\nargs = [\"${API_KEY}\"]\nenv = { API_KEY = \"k3y\" }\n";
    assert_eq!(args(Client::Codex, codex), ["$${API_KEY}"]);
}

#[test]
fn what_mcp_remote_is_given_as_a_text_is_left_to_it_by_every_client() {
    let text = |program: &str, env: &str| {
        format!(
            r#"{{"mcpServers": {{"a": {{"command": "npx", "args": ["-y", "{program}", "https://x.example", "--header", "Authorization:${{AUTH}}"], "env": {{"AUTH": "{env}"}}}}}}}}"#
        )
    };
    for client in [Client::ClaudeDesktop, Client::ClaudeCode, Client::Cursor, Client::GeminiCli] {
        for program in ["mcp-remote", "mcp-remote@latest"] {
            let imported = read(client, &text(program, "Bearer abc"));
            let last = imported.packs[0].pack.args.last().unwrap().written();
            assert_eq!(last.expose(), "Authorization:$${AUTH}", "{client} {program}");
        }
    }
    let imported = read(Client::ClaudeCode, &text("mcp-remote", "Bearer ${TOKEN}"));
    assert_eq!(imported.packs[0].pack.args.last().unwrap().written().expose(), "Authorization:${AUTH}");
}

#[test]
fn an_empty_list_of_tools_allows_none_and_never_all() {
    let codex = read(Client::Codex, "[mcp_servers.a]\ncommand = \"a\"\nenabled_tools = []\n");
    let gemini = r#"{"mcpServers": {"a": {"command": "a", "includeTools": []}}}"#;
    for (imported, key) in [(codex, "enabled_tools"), (read(Client::GeminiCli, gemini), "includeTools")] {
        let written = shown(&imported);
        assert_eq!(written, "[packs.a]\ncommand = \"a\"\nenabled = false\n");
        assert_eq!(imported.notes[0].text, format!("`{key}` of `a` allows no tool, so the pack is switched off"));
        assert!(Config::read(&written, "t").is_ok());
    }
    let nothing = r#"{"mcpServers": {"a": {"command": "a", "includeTools": null}}}"#;
    assert_eq!(shown(&read(Client::GeminiCli, nothing)), "[packs.a]\ncommand = \"a\"\n");
}

#[test]
fn a_header_that_stands_there_twice_is_the_one_of_the_variable_and_harms_no_other_server() {
    for order in [["http_headers", "env_http_headers"], ["env_http_headers", "http_headers"]] {
        let value =
            |key: &str| if key == "http_headers" { "{ x-key = \"text\", A = \"b\" }" } else { "{ X-Key = \"KEY\" }" };
        let [one, two] = order.map(|key| format!("{key} = {}", value(key)));
        let text =
            format!("[mcp_servers.a]\nurl = \"https://a.example\"\n{one}\n{two}\n\n[mcp_servers.b]\ncommand = \"b\"\n");
        let imported = read(Client::Codex, &text);
        let written = shown(&imported);
        assert_eq!(
            written,
            "[packs.a]\nurl = \"https://a.example\"\nheaders = { A = \"b\", X-Key = \"${KEY}\" }\n[packs.b]\ncommand = \"b\"\n"
        );
        assert_eq!(
            imported.notes[0].text,
            "the header `X-Key` of `a` stands there twice; the one of a variable is used"
        );
        assert!(Config::read(&written, "t").is_ok());
    }
}

#[test]
fn a_preview_masks_what_is_secret_in_arguments_and_the_file_keeps_it() {
    let text = r#"{"mcpServers": {"a": {"command": "docker",
        "args": ["run", "-e", "DB_PASSWORD=hunter2", "image", "-p", "s3cr3t", "Server=db;Password=hunter3;", "redis://u:hunter4@h"]}}}"#;
    let imported = read(Client::Cursor, text);
    let pack = &imported.packs[0];
    let preview = render(&pack.name, &pack.pack, Secrets::Masked);
    let written = render(&pack.name, &pack.pack, Secrets::Written);
    for secret in ["hunter2", "s3cr3t", "hunter3", "hunter4"] {
        assert!(!preview.contains(secret), "{secret} in {preview}");
        assert!(written.contains(secret), "{secret} not in {written}");
    }
    assert!(preview.contains("DB_PASSWORD=••••") && preview.contains("Server=db;Password=••••"), "{preview}");
    assert!(crate::render::holds_secrets(&pack.name, &pack.pack));
}
