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

fn variables(imported: &Imported) -> Vec<(&str, Option<&str>)> {
    imported.required.iter().map(|one| (one.variable.as_str(), one.description.as_deref())).collect()
}

#[test]
fn each_input_has_a_variable_of_its_own() {
    let text = r#"{
        "inputs": [{"id": "api-key", "description": "Of a"}, {"id": "api_key", "description": "Of b"}],
        "servers": {
            "a": {"command": "a", "env": {"K": "${input:api-key}"}},
            "b": {"command": "b", "env": {"K": "${input:api_key}", "L": "${input:api-key}"}},
            "c": {"command": "c", "args": ["${input:日}", "${input:本}", "${env:TOKEN}", "${input:token}", "${config:a.b}", "${config:a-b}"]}
        }
    }"#;
    let imported = read(Client::Vscode, text);
    assert_eq!(
        shown(&imported),
        "[packs.a]\ncommand = \"a\"\nenv = { K = \"${API_KEY}\" }\n\
         [packs.b]\ncommand = \"b\"\nenv = { K = \"${API_KEY_2}\", L = \"${API_KEY}\" }\n\
         [packs.c]\ncommand = \"c\"\nargs = [\"${INPUT}\", \"${INPUT_2}\", \"${TOKEN}\", \"${TOKEN_2}\", \"${CONFIG_A_B}\", \
         \"${CONFIG_A_B_2}\"]\n"
    );
    let expected = [("API_KEY", Some("Of a")), ("API_KEY_2", Some("Of b")), ("INPUT", None), ("INPUT_2", None)];
    assert_eq!(variables(&imported)[..4], expected);
    assert_eq!(
        imported.notes[0].text,
        "`API_KEY` is something else than the input `api_key`; set the variable `API_KEY_2` for it"
    );
}

#[test]
fn an_input_is_never_a_variable_that_is_always_set() {
    for id in
        ["path", "home", "user", "Shell", "lang", "pwd", "tmpdir", "term", "logname", "hostname", "lc-all", "temp"]
    {
        let text = format!(
            r#"{{"inputs": [{{"id": "{id}", "description": "x"}}], "servers": {{"a": {{"command": "a", "args": ["${{input:{id}}}"]}}}}}}"#
        );
        let imported = read(Client::Vscode, &text);
        let name = format!("INPUT_{}", id.to_uppercase().replace('-', "_"));
        assert_eq!(variables(&imported), [(name.as_str(), Some("x"))]);
        assert!(shown(&imported).contains(&format!("args = [\"${{{name}}}\"]")), "{}", shown(&imported));
        assert!(imported.notes[0].text.contains(&format!("set the variable `{name}`")), "{}", imported.notes[0].text);
    }
    // With a default too, and beside one that is called so already.
    let text = r#"{"inputs": [{"id": "path", "default": "/x"}], "servers": {"a": {"command": "a", "args": ["${input:input-path}", "${input:path}"]}}}"#;
    let expected = "[packs.a]\ncommand = \"a\"\nargs = [\"${INPUT_PATH}\", \"${INPUT_PATH_2:-/x}\"]\n";
    assert_eq!(shown(&read(Client::Vscode, text)), expected);
}

#[test]
fn a_default_of_an_input_that_cannot_be_written_is_asked_for() {
    for default in ["${HOME}/x", "a}b", "${"] {
        let text = format!(
            r#"{{"inputs": [{{"id": "key", "default": "{default}"}}], "servers": {{"a": {{"command": "a", "args": ["${{input:key}}"]}}}}}}"#
        );
        let imported = read(Client::Vscode, &text);
        assert_eq!(shown(&imported), "[packs.a]\ncommand = \"a\"\nargs = [\"${KEY}\"]\n");
        assert_eq!(variables(&imported), [("KEY", None)]);
    }
}

#[test]
fn inputs_of_two_files_share_a_variable_only_when_they_ask_the_same() {
    let text = |description: &str| {
        format!(
            r#"{{"inputs": [{{"id": "key", "description": "{description}"}}], "servers": {{"a": {{"command": "a", "args": ["${{input:key}}"]}}}}}}"#
        )
    };
    let mut names = Names::default();
    let mut variable = |description: &str| {
        let imported = import_among(Client::Vscode, &text(description), "f", &surroundings(), &mut names).unwrap();
        imported.required[0].variable.clone()
    };
    assert_eq!([variable("one"), variable("other"), variable("one")], ["KEY", "KEY_2", "KEY"]);
}

/// What is said about the only server of a file, which cannot be used.
fn unusable(client: Client, text: &str) -> String {
    let imported = read(client, text);
    assert!(imported.packs.is_empty() && imported.required.is_empty(), "{text}");
    let codes: Vec<&str> = imported.problems.iter().map(|problem| problem.code().as_str()).collect();
    assert_eq!(codes, ["client-server-unusable"], "{text}");
    let report = imported.problems[0].report();
    assert_eq!(report.facts().get("server").unwrap(), "s", "{text}");
    assert!(!format!("{imported:?} {report}").contains("s3cret"), "{text}");
    report.what().to_owned()
}

#[test]
fn a_setting_that_cannot_be_read_makes_its_server_unusable_and_is_named_without_its_value() {
    for (settings, setting) in [
        (r#""command": "x", "excludeTools": "s3cret""#, "excludeTools"),
        (r#""command": "x", "disabledTools": {"a": true}"#, "disabledTools"),
        (r#""command": "x", "excludeTools": ["rm", 1]"#, "excludeTools"),
        (r#""command": "x", "includeTools": "a""#, "includeTools"),
        (r#""command": "x", "disabled": "true""#, "disabled"),
        (r#""command": "x", "disabled": 1"#, "disabled"),
        (r#""command": "x", "enabled": "false""#, "enabled"),
        (r#""command": "x", "args": "--token s3cret""#, "args"),
        (r#""command": "x", "args": ["${input:a}", null]"#, "args"),
        (r#""command": ["x", {}]"#, "command"),
        (r#""command": {"a": "s3cret"}"#, "command"),
        (r#""command": "x", "cwd": []"#, "cwd"),
        (r#""command": "x", "envFile": []"#, "envFile"),
        (r#""command": "x", "env": ["A=s3cret"]"#, "env"),
        (r#""command": "x", "env": {"A": null}"#, "env.A"),
        (r#""command": "x", "env": {"A": ["s3cret"]}"#, "env.A"),
        (r#""url": "https://x.example", "headers": "Authorization: s3cret""#, "headers"),
        (r#""url": "https://x.example", "headers": [1]"#, "headers"),
        (r#""url": "https://x.example", "headers": {"A": {"b": "s3cret"}}"#, "headers.A"),
        (r#""url": "https://x.example", "requestInit": "s3cret""#, "requestInit"),
        (r#""url": "https://x.example", "requestInit": {"headers": "s3cret"}"#, "requestInit"),
        (r#""url": "https://x.example", "oauth": {"clientId": ["s3cret"]}"#, "oauth.clientId"),
        (r#""url": "https://x.example", "oauth": {"clientId": "a", "scopes": "s3cret"}"#, "oauth.scopes"),
        (r#""url": "https://x.example", "type": "ws""#, "type"),
        (r#""url": "https://x.example", "type": 1"#, "type"),
        (r#""command": "x", "type": "bogus""#, "type"),
    ] {
        let what = unusable(Client::Cursor, &format!(r#"{{"mcpServers": {{"s": {{{settings}}}}}}}"#));
        assert!(what.contains(&format!(": `{setting}` is n")), "{what}");
    }
    for (settings, setting) in [
        ("command = \"x\"\ndisabled_tools = \"rm\"", "disabled_tools"),
        ("command = \"x\"\nenabled_tools = \"rm\"", "enabled_tools"),
        ("command = \"x\"\nenv_vars = \"A\"", "env_vars"),
        ("command = \"x\"\nenv_vars = [\"A=s3cret\"]", "env_vars"),
        ("url = \"https://x.example\"\nbearer_token_env_var = \"sk-s3cret\"", "bearer_token_env_var"),
        ("url = \"https://x.example\"\nenv_http_headers = { X-A = \"not s3cret\" }", "env_http_headers.X-A"),
        ("url = \"https://x.example\"\nenv_http_headers = \"s3cret\"", "env_http_headers"),
    ] {
        let what = unusable(Client::Codex, &format!("[mcp_servers.s]\n{settings}\n"));
        assert!(what.contains(&format!(": `{setting}` is no")), "{what}");
    }
}

#[test]
fn all_settings_of_a_server_that_cannot_be_read_are_named_at_once() {
    let text = r#"{"mcpServers": {"s": {"command": "x", "args": 1, "disabled": "true"}}}"#;
    assert_eq!(
        unusable(Client::Cursor, text),
        "the server `s` cannot be used: `args` is no list of texts; `disabled` is neither true nor false"
    );
}

#[test]
fn a_server_that_is_not_what_its_type_says_is_unusable() {
    let program = unusable(Client::Cursor, r#"{"mcpServers": {"s": {"type": "http", "command": "x"}}}"#);
    assert!(program.ends_with("it is said to be an address, and has only a program"), "{program}");
    let address = unusable(Client::Cursor, r#"{"mcpServers": {"s": {"type": "stdio", "url": "https://x.example"}}}"#);
    assert!(address.ends_with("it is said to be a program, and has only an address"), "{address}");
    for kind in ["http", "streamable-http", "streamableHttp", "streamable_http", "HTTP", "remote"] {
        let text = format!(r#"{{"mcpServers": {{"s": {{"type": "{kind}", "url": "https://x.example"}}}}}}"#);
        assert_eq!(shown(&read(Client::Cursor, &text)), "[packs.s]\nurl = \"https://x.example\"\n", "{kind}");
    }
}

#[test]
fn nothing_in_place_of_a_setting_is_no_setting() {
    let text = r#"{"mcpServers": {"a": {"command": "a", "args": null, "env": null, "url": null, "httpUrl": null, "headers": null,
        "type": null, "disabled": null, "enabled": null, "excludeTools": null, "timeout": null, "oauth": null, "cwd": null}}}"#;
    let imported = read(Client::GeminiCli, text);
    assert_eq!(shown(&imported), "[packs.a]\ncommand = \"a\"\n");
    assert!(imported.notes.is_empty() && imported.problems.is_empty());
}

#[test]
fn a_time_that_cannot_be_used_is_noted() {
    let text = r#"{"mcpServers": {"a": {"command": "a", "timeout": "30s"}}}"#;
    let imported = read(Client::GeminiCli, text);
    assert_eq!(shown(&imported), "[packs.a]\ncommand = \"a\"\n");
    assert_eq!(imported.notes[0].text, "`timeout` of `a` is no time of at most a day, and was left out");
    let text = "[mcp_servers.a]\ncommand = \"a\"\ntool_timeout_sec = 0\nstartup_timeout_sec = 100000\n";
    let imported = read(Client::Codex, text);
    assert_eq!((shown(&imported).as_str(), imported.notes.len()), ("[packs.a]\ncommand = \"a\"\n", 2));
}

#[test]
fn two_lists_of_tools_that_are_not_used_hold_both() {
    let text = r#"{"mcpServers": {"a": {"command": "a", "excludeTools": ["x"], "disabledTools": ["y"]}}}"#;
    assert_eq!(shown(&read(Client::Cursor, text)), "[packs.a]\ncommand = \"a\"\ndeny = [\"x\", \"y\"]\n");
}

#[test]
fn servers_that_claude_code_does_not_use_in_the_project_are_switched_off() {
    let text = r#"{
        "mcpServers": {"u1": {"command": "u1"}, "u2": {"command": "u2"}},
        "projects": {
            "/srv/shop": {"mcpServers": {"l1": {"command": "l1"}}, "disabledMcpServers": ["u1", "l1"], "disabledMcpjsonServers": ["p2"]},
            "/srv/other": {"disabledMcpServers": ["u2"], "disabledMcpjsonServers": ["p3"]}
        }
    }"#;
    let on = |imported: &Imported| -> Vec<String> {
        imported.packs.iter().filter(|pack| pack.pack.enabled).map(|pack| pack.key.clone()).collect()
    };
    assert_eq!(on(&read(Client::ClaudeCode, text)), ["u2"]);
    // Without a project, no project's list holds.
    let nowhere = import(Client::ClaudeCode, text, "f", &Surroundings::default()).unwrap();
    assert_eq!(on(&nowhere), ["u1", "u2"]);
    let off = switched_off(text, &surroundings());
    assert_eq!(["p1", "p2", "p3", "u1"].map(|key| off.holds(key)), [false, true, false, true]);
    assert_eq!(switched_off("{", &surroundings()), SwitchedOff::default());
}

#[test]
fn a_list_of_switched_off_servers_that_cannot_be_read_switches_all_off() {
    let claude = r#"{"mcpServers": {"a": {"command": "a"}}, "projects": {"/srv/shop": {"disabledMcpServers": "a"}}}"#;
    let excluded = r#"{"mcpServers": {"a": {"command": "a"}}, "mcp": {"excluded": "a"}}"#;
    let allowed = r#"{"mcpServers": {"a": {"command": "a"}}, "mcp": {"allowed": "b"}}"#;
    for (client, text) in [(Client::ClaudeCode, claude), (Client::GeminiCli, excluded), (Client::GeminiCli, allowed)] {
        let imported = read(client, text);
        assert!(!imported.packs[0].pack.enabled, "{text}");
        assert_eq!(imported.notes.len(), 1, "{text}");
    }
    assert!(switched_off(claude, &surroundings()).holds("anything"));
}

#[test]
fn a_server_whose_name_cannot_be_that_of_a_pack_is_named_in_the_facts() {
    let imported = read(Client::Cursor, r#"{"mcpServers": {"日本": {"command": "x"}}}"#);
    let report = imported.problems[0].report();
    assert_eq!((report.code().as_str(), report.what()), ("pack-name-syntax", "`日本` is not a pack name"));
    assert_eq!(
        (report.facts().get("server").unwrap(), report.facts().get("name").unwrap()),
        (&"日本".into(), &"日本".into())
    );
}

#[test]
fn headers_of_the_transport_are_left_out_and_named() {
    let text = r#"{"mcpServers": {"a": {"url": "https://x.example", "headers": {
        "Accept": "application/json", "X-A": "1", "content-TYPE": "application/json", "Host": "y.example"}}}}"#;
    let imported = read(Client::Cursor, text);
    assert_eq!(shown(&imported), "[packs.a]\nurl = \"https://x.example\"\nheaders = { X-A = \"1\" }\n");
    let notes: Vec<&str> = imported.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        notes,
        ["headers.Accept", "headers.content-TYPE", "headers.Host"]
            .map(|header| format!("`{header}` of `a` has no counterpart and was left out"))
    );
    let text = "[mcp_servers.a]\nurl = \"https://x.example\"\nenv_http_headers = { Host = \"H\", X-A = \"A\" }\n";
    let imported = read(Client::Codex, text);
    assert_eq!(shown(&imported), "[packs.a]\nurl = \"https://x.example\"\nheaders = { X-A = \"${A}\" }\n");
    assert_eq!(imported.notes[0].text, "`env_http_headers.Host` of `a` has no counterpart and was left out");
}

#[test]
fn a_server_with_a_text_that_reaches_no_server_is_unusable_and_the_text_is_not_shown() {
    for (settings, setting) in [
        (r#""url": "https://x.example", "headers": {"X-A": "s3cret\nX-B: 1"}"#, "headers.X-A"),
        (r#""command": "x", "args": ["a", "s3cret\u0000"]"#, "args[1]"),
        (r#""command": "x", "env": {"A": "s3cret\u0000"}"#, "env.A"),
        (r#""command": "x\u0000""#, "command"),
    ] {
        let what = unusable(Client::Cursor, &format!(r#"{{"mcpServers": {{"s": {{{settings}}}}}}}"#));
        assert!(what.contains(&format!("`{setting}`: a ")) && !what.contains("s3cret"), "{what}");
    }
    // What does not belong to its kind is not used, and does no harm.
    let text = r#"{"mcpServers": {"s": {"command": "x", "headers": {"A": "\n"}}}}"#;
    assert_eq!(shown(&read(Client::Cursor, text)), "[packs.s]\ncommand = \"x\"\n");
}

#[test]
fn the_folder_of_a_file_that_belongs_to_no_project_is_the_variable_that_the_documentation_names() {
    let text = r#"{"servers": {"a": {"command": "a", "args": ["${workspaceFolder}"]}}}"#;
    let imported = import(Client::Vscode, text, "f", &Surroundings::default()).unwrap();
    assert_eq!(variables(&imported), [("WORKSPACEFOLDER", None)]);
    let documented = include_str!("../../../../docs/configuration.md");
    assert!(documented.contains("`${WORKSPACEFOLDER}`"));
}
