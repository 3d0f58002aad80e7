use toolmark_config::Config;

use super::*;

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
