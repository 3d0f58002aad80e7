use toolmark_config::Config;

use super::*;

/// What the tools of a program come from, started with these arguments while these variables are set.
fn source(args: &str, variables: &[(&str, &str)]) -> String {
    let config = format!("[packs.github]\ncommand = \"/usr/bin/github-mcp\"\nargs = {args}\n");
    let config = Config::read(&config, "toolmark.toml").expect("a configuration");
    let set = |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
    let expanded = config.expand(&set).expect("every variable is set");
    let (name, connection) = expanded.connections.first().expect("a pack");
    let pack = config.packs.get(name).expect("a section");
    let pack = PackHandle::configured(name.clone(), pack, connection, Path::new("."), None).expect("a pack");
    pack.source().as_str().to_owned()
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
