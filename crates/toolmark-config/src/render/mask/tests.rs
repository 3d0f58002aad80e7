use super::*;

fn template(text: &str) -> Template {
    Template::parse(text).expect("a template")
}

/// The arguments of a program as they are shown.
fn shown(program: &str, args: &[&str]) -> Vec<String> {
    let program = template(program);
    let args: Vec<Template> = args.iter().map(|arg| template(arg)).collect();
    let one = |at: usize| argument(Some(&program), &args, at).unwrap_or_else(|| args[at].written().expose().to_owned());
    (0..args.len()).map(one).collect()
}

#[test]
fn a_value_after_a_name_that_says_that_it_is_secret_is_masked_and_the_name_stays() {
    for (given, expected) in [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=••••"),
        ("--api-key=k3y", "--api-key=••••"),
        ("--token=${TOKEN}", "--token=${TOKEN}"),
        ("--token=${TOKEN:-s3cret}", "--token=${TOKEN:-••••}"),
        ("--token=${X:-s3cret}", "--token=••••"),
        ("Server=db;User Id=sa;Password=hunter3;Encrypt=true", "Server=db;User Id=sa;Password=••••;Encrypt=true"),
        ("Server=db;Pwd=hunt er3;", "Server=db;Pwd=••••"),
        ("host=h password=hunter4 user=u", "host=h password=•••• user=u"),
        ("host=h password='hun ter4' user=u", "host=h password=•••• user=u"),
        ("AccountName=a;AccountKey=b3==;EndpointSuffix=x", "AccountName=a;AccountKey=••••;EndpointSuffix=x"),
        ("https://h.example/x?access_token=k3y&page=2", "https://h.example/x?access_token=••••&page=2"),
        (r#"{"user": "u", "password": "hunter5", "port": 1}"#, r#"{"user": "u", "password": ••••, "port": 1}"#),
        ("X-Api-Key: k3y", "X-Api-Key: ••••"),
        ("Authorization: Bearer k3y", "Authorization: Bearer ••••"),
    ] {
        assert_eq!(shown("server", &[given]), [expected]);
    }
}

#[test]
fn users_of_addresses_are_masked_and_hosts_stay() {
    for (given, expected) in [
        ("postgres://u:pw@h:5432/d", "postgres://••••@h:5432/d"),
        ("mongodb+srv://u:p/w@h/d", "mongodb+srv://••••@h/d"),
        ("dsn=mysql://u:p@w@h/d", "dsn=mysql://••••@h/d"),
        ("https://ghp_abcdef@github.com/x", "https://••••@github.com/x"),
        ("postgres://u:${PW}@h/d", "postgres://u:${PW}@h/d"),
        ("ssh://git@h/x", "ssh://git@h/x"),
        ("https://h.example:8080/a@b", "https://h.example:8080/a@b"),
    ] {
        assert_eq!(shown("server", &[given]), [expected]);
    }
}

#[test]
fn what_a_container_is_given_is_masked_as_in_a_table_of_variables() {
    assert_eq!(
        shown("docker", &["run", "-e", "DB_PASSWORD=hunter2", "-e", "REGION=eu", "--env=X=y", "-e", "NODE_ENV=test"]),
        ["run", "-e", "DB_PASSWORD=••••", "-e", "REGION=••••", "--env=X=••••", "-e", "NODE_ENV=test"]
    );
    assert_eq!(
        shown("docker", &["-e", "TOKEN", "-e", "KEY=${KEY}", "-p", "8080:80"]),
        ["-e", "TOKEN", "-e", "KEY=${KEY}", "-p", "8080:80"]
    );
}

#[test]
fn short_options_are_read_as_their_programs_read_them() {
    assert_eq!(shown("server", &["-u", "sa", "-p", "s3cr3t"]), ["-u", "sa", "-p", "••••"]);
    assert_eq!(shown("npx", &["-y", "server", "-p", "s3cr3t"]), ["-y", "server", "-p", "••••"]);
    assert_eq!(shown("npx", &["-y", "-p", "package", "server"]), ["-y", "-p", "package", "server"]);
    assert_eq!(shown("server", &["-p", "8080"]), ["-p", "8080"]);
    assert_eq!(shown("server", &["-p", "./project"]), ["-p", "./project"]);
    assert_eq!(shown("mysql", &["-ps3cr3t"]), ["-p••••"]);
    assert_eq!(shown("server", &["-prod"]), ["-prod"]);
    assert_eq!(shown("redis-cli", &["-a", "s3cr3t"]), ["-a", "••••"]);
    assert_eq!(shown("ls", &["-a", "folder"]), ["-a", "folder"]);
    assert_eq!(shown("curl", &["-u", "me:s3cr3t"]), ["-u", "me:••••"]);
}

#[test]
fn what_holds_no_secret_is_shown_as_it_is() {
    let plain =
        ["-y", "@scope/server@1.2.3", "--root=/srv", "--author=me", "a=b", "12:30", "--port", "8080", "C:\\x", "x: y"];
    assert_eq!(shown("npx", &plain), plain);
}

#[test]
fn options_that_name_a_credential_hide_what_follows_them() {
    for flag in [
        "--otp",
        "--pin",
        "--mfa-code",
        "--session-id",
        "--sessionId",
        "--accessKeyId",
        "--api-keys",
        "--auth",
        "-token",
        "--private-key",
        "--cookie",
        "--request-signature",
        "--client-creds",
    ] {
        assert_eq!(shown("server", &[flag, "hunter2", "rest"]), [flag, "••••", "rest"], "{flag}");
        let both = format!("{flag}=hunter2");
        assert_eq!(shown("server", &[&both, "rest"]), [format!("{flag}=••••"), "rest".into()], "{flag}");
    }
}

#[test]
fn headers_are_shown_by_name() {
    for (given, expected) in [
        (["-H", "x-api-key:hunter2"], ["-H", "x-api-key:••••"]),
        (["-H", "X-Custom: hunter2"], ["-H", "X-Custom: ••••"]),
        (["--header", "X-Api-Key: hunter2"], ["--header", "X-Api-Key: ••••"]),
        (["--header", "Authorization:Bearer hunter2"], ["--header", "Authorization:Bearer ••••"]),
        (["--header", "Authorization:$${AUTH}"], ["--header", "Authorization:$${AUTH}"]),
        (["--header", "Authorization: Bearer ${AUTH:-hunter2}"], ["--header", "Authorization: Bearer ${AUTH:-••••}"]),
        (["--header", "Accept: text/plain"], ["--header", "Accept: text/plain"]),
        (["--headers", "{\"x\":\"hunter2\"}"], ["--headers", "••••"]),
        (["server", "-Hx-thing:hunter2"], ["server", "-Hx-thing:••••"]),
        (["server", "x-api-key:hunter2"], ["server", "x-api-key:••••"]),
        (["server", "/password:hunter2"], ["server", "/password:••••"]),
        (["-H", "localhost:8080"], ["-H", "localhost:8080"]),
        (["-H", "tcp://h:2375"], ["-H", "tcp://h:2375"]),
    ] {
        assert_eq!(shown("server", &given), expected);
    }
}

#[test]
fn the_default_of_a_variable_is_masked_where_it_may_be_secret() {
    for (given, expected) in [
        ("${TOKEN:-hunter2}", "${TOKEN:-••••}"),
        ("${DB_PASS:-hunter2}", "${DB_PASS:-••••}"),
        ("${X:-ghp_0123456789abcdef}", "${X:-••••}"),
        ("${URL:-https://u:pw@h/x}", "${URL:-https://••••@h/x}"),
        ("${REGION:-eu}", "${REGION:-eu}"),
        ("${TOKEN:-}", "${TOKEN:-}"),
        ("${TOKEN}", "${TOKEN}"),
    ] {
        assert_eq!(shown("server", &[given]), [expected]);
    }
    assert_eq!(shown("server", &["--token", "${X:-hunter2}"]), ["--token", "${X:-••••}"]);
}

#[test]
fn what_is_secret_in_an_address_is_masked_wherever_it_stands() {
    for (given, expected) in [
        ("https://h.example/mcp#access_token=hunter2", "https://h.example/mcp#access_token=••••"),
        ("https://h.example/mcp?key=hunter2&page=#x", "https://h.example/mcp?key=••••&page=#••••"),
        ("https://h.example/mcp?hunter2", "https://h.example/mcp?••••"),
        ("https://h.example/mcp?key=${KEY}", "https://h.example/mcp?key=${KEY}"),
        ("https://u:p/w@h.example/mcp", "https://••••@h.example/mcp"),
        ("${BASE_TOKEN:-hunter2}/mcp", "${BASE_TOKEN:-••••}/mcp"),
        ("${BASE:-https://h.example}/mcp", "${BASE:-https://h.example}/mcp"),
    ] {
        assert_eq!(address(&template(given)), expected);
    }
    assert_eq!(
        shown("server", &["https://h.example/#id_token=hunter2", "https://h.example/a/ghp_0123456789abcdef"]),
        ["https://h.example/#id_token=••••", "https://h.example/a/••••"]
    );
}

#[test]
fn tokens_are_known_by_how_they_begin_and_how_they_look() {
    for secret in [
        "ghp_abc",
        "github_pat_abc",
        "sk-abc",
        "xoxb-1-2",
        "glpat-abc",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA",
        "eyJhbGciOi",
        "Basic dTpw",
        "dGhpc2lzMWEyc2VjcmV0dG9rZW4=",
        "0b5c4a1e-7f1d-4c0a-9d0e-3f6f1f0a2b1c",
        "123456789:AAE0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p",
    ] {
        assert!(!shown("server", &[secret]).concat().contains(&secret[secret.len() - 3..]), "{secret}");
    }
}

#[test]
fn a_program_that_is_written_with_its_arguments_is_read_like_them() {
    for (given, expected) in [
        ("server --token hunter2 --port 80", "server --token •••• --port 80"),
        ("server --otp hunter2 https://u:pw@h/x", "server --otp •••• https://••••@h/x"),
        ("curl -H 'X-Thing: hunter2' https://h", "curl -H 'X-Thing: •••• https://h"),
    ] {
        assert_eq!(text(&template(given)).as_deref(), Some(expected));
        assert_eq!(shown("sh", &["-c", given]), ["-c", expected]);
    }
    assert_eq!(text(&template("C:\\Program Files\\node.exe")), None);
}

#[test]
fn what_people_need_to_see_is_not_masked() {
    for plain in [
        vec!["-y", "mcp-server-elasticsearch-8-with-tools", "stdio"],
        vec!["--key-file", "/etc/x/server.key", "--token-url", "https://h.example/token", "--auth-type", "basic"],
        vec!["--key", "./certs/server.pem", "--max-tokens", "4096", "--no-auth", "server", "--auth", "--port", "80"],
        vec!["run", "auth:dev"],
        vec!["run", "--user", "1000:1000", "ghcr.io/org/token-tool:1.2", "mcp/auth:latest", "auth-server:1.25.3"],
        vec!["image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
        vec!["--session-dir=/var/x", "--password-file=/run/secrets/db", "--limit-tokens=100", "--token=${T}", "next"],
        vec!["--host", "db-prod01.internal.example.com"],
    ] {
        assert_eq!(shown("npm", &plain), plain);
    }
}
