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
        ("--token=${TOKEN:-s3cret}", "--token=••••"),
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
