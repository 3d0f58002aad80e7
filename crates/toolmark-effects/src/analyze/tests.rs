use proptest::prelude::*;
use serde_json::json;
use toolmark_core::behavior::Mutability;
use toolmark_core::catalog::Catalog;
use toolmark_core::facts::Danger;
use toolmark_testkit::{catalog, corpus_catalog};

use super::*;

fn facts(catalog: &Catalog, name: &str, arguments: &Value, settings: &Settings) -> Facts {
    analyze(catalog.find(name, |_| true).unwrap(), arguments, settings)
}

#[test]
fn a_tool_that_carries_nothing_has_no_facts() {
    let catalog = corpus_catalog();
    let facts = facts(&catalog, "ref-memory.read_graph", &json!({"command": "rm -rf /"}), &Settings::default());
    assert!(facts.is_empty());
}

#[test]
fn what_was_understood_does_not_hide_behind_what_was_not() {
    let catalog = corpus_catalog();
    let arguments = json!({"command": "rm -rf / ; ./unknown"});
    let facts = facts(&catalog, "mcp-server-commands.run_command", &arguments, &Settings::default());
    assert!(facts.effects().any(|effect| effect.mutability == Mutability::Mutates && !effect.bounded));
    assert_eq!(facts.unclear().count(), 1);
}

#[test]
fn arguments_beside_a_command_belong_to_it() {
    let tool = r#"[{"name":"execute","description":"Run a shell command","inputSchema":{"type":"object","properties":{
        "command":{"type":"string"},"args":{"type":"array","items":{"type":"string"}}}}}]"#;
    let catalog = catalog(&[("x", tool)]);
    let mutates = |arguments: Value| {
        facts(&catalog, "x.execute", &arguments, &Settings::default())
            .effects()
            .any(|effect| effect.mutability == Mutability::Mutates)
    };
    assert!(mutates(json!({"command": "rm", "args": ["-rf", "x"]})));
    assert!(mutates(json!({"command": "ls; rm", "args": ["x"]})));
    assert!(!mutates(json!({"command": "echo", "args": ["; rm x"]})));
    assert!(!mutates(json!({"command": "ls -la"})));
    assert!(
        facts(&catalog, "x.execute", &json!({"command": "ls", "args": [1]}), &Settings::default()).unclear().count()
            == 1
    );
}

#[test]
fn a_generic_kubectl_tool_is_put_together() {
    let tool = r#"[{"name":"kubectl_generic","description":"Execute any kubectl command","inputSchema":{"type":"object","properties":{
        "command":{"type":"string"},"subCommand":{"type":"string"},"resourceType":{"type":"string"},"name":{"type":"string"},
        "flags":{"type":"object"},"args":{"type":"array","items":{"type":"string"}}}}}]"#;
    let catalog = catalog(&[("kubernetes", tool)]);
    let facts = |arguments: Value| facts(&catalog, "kubernetes.kubectl_generic", &arguments, &Settings::default());
    assert!(
        facts(json!({"command": "get", "resourceType": "pods"}))
            .effects()
            .all(toolmark_core::facts::Effect::is_harmless)
    );
    assert!(
        facts(json!({"command": "get", "resourceType": "secrets"}))
            .effects()
            .any(|effect| effect.dangers == [Danger::Secret])
    );
    assert!(
        facts(json!({"command": "delete", "resourceType": "pods", "flags": {"all": true}}))
            .effects()
            .any(|effect| !effect.bounded)
    );
    assert!(
        facts(json!({"command": "delete", "resourceType": "pod", "name": "x"})).effects().any(|effect| effect.bounded)
    );
}

#[test]
fn an_operator_can_say_what_an_argument_is() {
    let catalog = corpus_catalog();
    let name = "mcp-server-commands.run_command";
    let mut settings = Settings::default();
    settings.languages.insert("/command".into(), None);
    assert!(facts(&catalog, name, &json!({"command": "rm x"}), &settings).is_empty());
    settings.languages.insert("/command".into(), Some(Language::Code));
    assert_eq!(facts(&catalog, name, &json!({"command": "rm x"}), &settings).unclear().count(), 1);
}

#[test]
fn declared_roots_are_the_only_places() {
    let catalog = corpus_catalog();
    let settings = Settings { roots: vec!["/srv/project".into()], ..Settings::default() };
    let escapes = |path: &str| {
        facts(&catalog, "filesystem.read_text_file", &json!({"path": path}), &settings)
            .effects()
            .any(|effect| effect.dangers == [Danger::Escape])
    };
    assert!(!escapes("/srv/project/a"));
    assert!(escapes("/srv/other/a"));
}

#[test]
fn items_of_lists_are_read_one_by_one_and_the_rest_is_not_forgotten() {
    let catalog = corpus_catalog();
    let read = |arguments: Value| facts(&catalog, "filesystem.read_multiple_files", &arguments, &Settings::default());
    assert_eq!(
        read(json!({"paths": ["a", "b"]})).parts().iter().map(|part| part.pointer.as_str()).collect::<Vec<_>>(),
        ["/paths/0", "/paths/1"]
    );
    let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    assert_eq!(read(json!({"paths": many})).unclear().count(), 1);
    assert_eq!(read(json!({"paths": "a"})).parts().len(), 1);
}

/// Hostile texts of a size, each for a different part of a reader.
fn hostile(size: usize) -> Vec<String> {
    let repeat = |text: &str| text.repeat(size / text.len());
    let nested = |open: &str, close: &str| format!("echo {}x{}", open.repeat(size / 2), close.repeat(size / 2));
    vec![
        repeat("a"),
        repeat("a "),
        repeat("ls;"),
        repeat("("),
        repeat(")"),
        repeat("$("),
        repeat("\"$("),
        repeat("`"),
        repeat("${x:-"),
        repeat("$(("),
        repeat("(("),
        repeat("{ "),
        repeat("if "),
        repeat("case a in a) "),
        repeat("\\"),
        repeat("'"),
        repeat("\""),
        repeat("<<E\n"),
        repeat("{a,b}"),
        repeat("x=$x$x;"),
        repeat("f(){ "),
        repeat("[[ "),
        repeat("a|"),
        repeat("a&&"),
        repeat("$'\\x41'"),
        repeat("%2e%2e/"),
        repeat("../"),
        repeat("@"),
        repeat("http://"),
        repeat("sh -c '"),
        repeat("eval "),
        repeat("sudo "),
        repeat("xargs "),
        repeat("find . -exec "),
        repeat("env a=b "),
        repeat("\u{202e}"),
        repeat("é"),
        nested("(", ")"),
        nested("$(", ")"),
        nested("{ ", ";}"),
        nested("\"$(", ")\""),
        nested("`", "`"),
        nested("((", "))"),
        nested("<(", ")"),
    ]
}

#[test]
fn no_text_is_too_deep_and_one_that_is_too_long_cannot_be_told() {
    let run = || {
        let catalog = corpus_catalog();
        let tools: Vec<(Carriers, &str)> = [
            ("mcp-server-commands.run_command", "command"),
            ("filesystem.read_text_file", "path"),
            ("ref-fetch.fetch", "url"),
            ("mcp-grafana.grafana_api_request", "endpoint"),
            ("playwright-mcp.browser_evaluate", "function"),
            ("kubernetes-mcp-server.resources_create_or_update", "resource"),
        ]
        .into_iter()
        .map(|(name, argument)| (Carriers::of(catalog.find(name, |_| true).unwrap()), argument))
        .collect();
        for size in [9_999, 10_000, 200_000, 5_000_000] {
            for text in hostile(size) {
                for (carriers, argument) in &tools {
                    let arguments = json!({ *argument: text });
                    let facts = analyze_with(carriers, &arguments, &Settings::default());
                    let read = size <= Settings::default().limits.bytes;
                    assert!(
                        read || facts.unclear().next().is_some(),
                        "{argument} {size} {:?}: {facts:?}",
                        text.get(..20)
                    );
                }
            }
        }
    };
    // Invariant: half a megabyte of stack is enough, even without optimization.
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}

/// Any JSON.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
        "[a-z $(){}|;&<>'\"`\\\\\n]{0,60}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

thread_local! {
    static TOOLS: (Catalog, Vec<(Carriers, Vec<String>)>) = {
        let catalog = corpus_catalog();
        let tools = catalog.tools().map(Carriers::of).filter(|carriers| !carriers.is_empty()).map(|carriers| {
            let names = carriers.list().iter().filter_map(|carrier| carrier.pointer.split('/').nth(1)).map(str::to_owned).collect();
            (carriers, names)
        });
        let tools = tools.collect();
        (catalog, tools)
    };
}

proptest! {
    #[test]
    fn no_arguments_are_too_strange_to_be_analyzed(value in any_json(), other in any_json(), at in any::<prop::sample::Index>()) {
        TOOLS.with(|(_, tools)| {
            let (carriers, names) = at.get(tools);
            let mut arguments = serde_json::Map::new();
            for name in names {
                arguments.insert(name.clone(), value.clone());
            }
            for name in ["method", "headers", "body", "args", "operation", "kind", "name", "scale", "flags"] {
                arguments.insert(name.into(), other.clone());
            }
            let _ = analyze_with(carriers, &Value::Object(arguments), &Settings::default());
            let _ = analyze_with(carriers, &value, &Settings::default());
        });
    }
}
