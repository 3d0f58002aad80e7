//! Every example of `docs/policy.md` loads, and what the page says about them is so.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop")]

use serde_json::json;
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_policy::{CedarDefault, Policy, PolicyConfig, PolicySettings, Preset, RuleConfig, SCHEMA};

const PAGE: &str = include_str!("../../../docs/policy.md");

/// A tool and its arguments.
type Listed = (&'static str, &'static [&'static str]);

/// The tools that the examples are about, with their arguments.
const TOOLS: &[(&str, &[Listed])] = &[
    (
        "github",
        &[
            ("create_issue", &["title"]),
            ("list_issues", &["repo"]),
            ("merge_pull_request", &["base", "number"]),
            ("delete_repository", &["repo"]),
            ("push_files", &["branch", "force", "files"]),
        ],
    ),
    ("gitlab", &[("create_issue", &["title"])]),
    ("db", &[("query", &["sql", "limit"])]),
    ("mail", &[("send", &["to", "subject"])]),
    ("files", &[("write", &["path", "content"])]),
];

fn catalog() -> Catalog {
    let packs = TOOLS.iter().map(|(pack, tools)| {
        let builder = Pack::builder(pack.parse().unwrap(), Source::new(&format!("page:{pack}")));
        let tool = |name: &str, arguments: &[&str]| {
            let properties: serde_json::Map<_, _> = arguments.iter().map(|name| ((*name).into(), json!({}))).collect();
            let value = json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
            Definition::of_value("page", &value).unwrap()
        };
        tools
            .iter()
            .fold(builder, |builder, (name, arguments)| builder.tool(ToolKind::Mcp, tool(name, arguments)))
            .build()
    });
    Catalog::builder().packs(packs).build().unwrap()
}

fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    PAGE.split(begin.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn load(config: &PolicyConfig, example: &str) -> Policy {
    Policy::load(config, &catalog()).unwrap_or_else(|error| {
        let all: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
        panic!("{example}\n{}", all.join("\n"))
    })
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    #[serde(default)]
    rules: Vec<RuleConfig>,
    policy: Option<PolicySettings>,
}

#[test]
fn every_rule_on_the_page_loads() {
    let examples = blocks("toml");
    assert!(examples.len() >= 8, "{}", examples.len());
    for text in examples {
        let example: Example = toml::from_str(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let settings = example.policy.unwrap_or_default();
        let preset = settings.preset.map(|preset| preset.parse().unwrap()).unwrap_or(Preset::Balanced);
        let default = settings.default.map(|default| default.parse().unwrap()).unwrap_or(CedarDefault::Permit);
        let config = PolicyConfig::new().preset(preset).cedar("a.cedar", "permit(principal, action, resource);");
        let config = config.cedar_default(default);
        load(&example.rules.iter().fold(config, PolicyConfig::written_rule), text);
    }
}

#[test]
fn every_policy_on_the_page_loads() {
    let examples = blocks("cedar");
    assert!(examples.len() >= 3, "{}", examples.len());
    for text in examples {
        let config = PolicyConfig::new().cedar("docs/policy.md", text).cedar_default(CedarDefault::Deny);
        assert!(load(&config, text).notes().is_empty());
    }
}

#[test]
fn the_spellings_on_the_page_mean_one_tool() {
    let text = blocks("toml").into_iter().find(|text| text.contains("mcp__toolmark__")).unwrap();
    let example: Example = toml::from_str(text).unwrap();
    let catalog = catalog();
    for spelling in &example.rules[0].tools.as_ref().unwrap().0 {
        let rule =
            RuleConfig { tools: Some(toolmark_policy::OneOrMany(vec![spelling.clone()])), ..example.rules[0].clone() };
        let policy = load(&PolicyConfig::new().written_rule(&rule), spelling);
        let asked: Vec<String> = catalog
            .tools()
            .filter(|tool| {
                let answer = policy.judge(&toolmark_policy::Request {
                    tool,
                    behavior: &toolmark_core::behavior::KnownBehavior::of(tool.definition(), None),
                    facts: &toolmark_core::facts::Facts::default(),
                    arguments: &json!({}),
                    task: None,
                    caller: toolmark_policy::Caller::new("alice"),
                });
                !answer.is_silent()
            })
            .map(|tool| tool.canonical().to_string())
            .collect();
        assert_eq!(asked, ["github.create_issue"], "{spelling}");
    }
}

#[test]
fn the_schema_on_the_page_is_the_schema() {
    assert_eq!(blocks("cedarschema"), [SCHEMA]);
}
