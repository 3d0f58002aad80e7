mod annotations;
mod behavior;
mod characters;
mod corpus;
mod hostile;
mod instructs;
mod names;
mod output;
mod same_schema;
mod schema;
mod suggestions;

use serde_json::{Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::pack::Pack;
use toolmark_core::severity::Severity;
use toolmark_core::tool::{Source, ToolKind};

use crate::{Finding, Lint, Options, RuleId, lint, rules};

/// A pack of tools; each gets what it does not say.
fn pack(name: &str, tools: impl IntoIterator<Item = Value>) -> Pack {
    let mut builder = Pack::builder(name.parse().unwrap(), Source::new(&format!("test:{name}")));
    for mut tool in tools {
        let fields = tool.as_object_mut().unwrap();
        fields.entry("description").or_insert_with(|| json!("Does something that is described well enough."));
        fields.entry("inputSchema").or_insert_with(|| json!({"type": "object"}));
        fields.entry("annotations").or_insert_with(|| json!({"readOnlyHint": true}));
        builder.push(ToolKind::Mcp, Definition::of_value("test.json", &tool).unwrap());
    }
    builder.build()
}

fn check(packs: impl IntoIterator<Item = Pack>) -> Lint {
    lint(&Catalog::builder().packs(packs).build_partly(), &Options::default())
}

/// What one rule found.
fn of(lint: &Lint, rule: RuleId) -> Vec<&Finding> {
    lint.findings().iter().filter(|finding| finding.rule() == rule).collect()
}

/// What one rule found in one tool, as severity and message.
fn one(rule: RuleId, tool: Value) -> Option<(Severity, String)> {
    let lint = check([pack("p", [tool])]);
    let found = of(&lint, rule);
    assert!(found.len() < 2, "{found:#?}");
    found.first().map(|finding| (finding.severity(), finding.message().to_owned()))
}

fn severity(rule: RuleId, tool: Value) -> Option<Severity> {
    one(rule, tool).map(|(severity, _)| severity)
}

#[test]
fn a_well_made_pack_has_no_findings() {
    let tools = json!([
        {
            "name": "get_weather",
            "title": "Weather",
            "description": "Returns the weather of a city for the next days.",
            "inputSchema": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "The city", "maxLength": 80}},
                "required": ["city"],
                "additionalProperties": false,
            },
            "annotations": {"readOnlyHint": true},
        },
        {
            "name": "report_error",
            "description": "Stores a report about a wrong forecast, for the people who run the service.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "What was wrong", "maxLength": 500}},
                "required": ["text"],
            },
            "annotations": {"readOnlyHint": false, "destructiveHint": false},
        },
    ]);
    let lint = check([pack("weather", tools.as_array().unwrap().clone())]);
    assert_eq!(lint.findings(), [], "{:#?}", lint.findings());
    assert_eq!(lint.worst(), None);
}

#[test]
fn every_rule_has_a_kebab_case_id_and_a_section_in_the_documentation() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lint.md")).unwrap();
    for rule in rules() {
        assert!(rule.id().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id());
        assert!(page.contains(&format!("\n## {}\n", rule.id())), "docs/lint.md has no section `## {}`", rule.id());
        for text in [rule.summary(), rule.why(), rule.fix()] {
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{}: {text}", rule.id());
        }
    }
    let sections = page.lines().filter(|line| line.starts_with("## ")).count();
    assert_eq!(sections, rules().len(), "a section that no rule has");
}

#[test]
fn every_id_survives_printing_and_parsing() {
    for &id in RuleId::ALL {
        assert_eq!(id.as_str().parse(), Ok(id));
        assert_eq!(RuleId::ALL[id.index()], id);
    }
    assert!("no-such-rule".parse::<RuleId>().is_err());
}

#[test]
fn what_the_catalog_refused_is_a_finding_that_names_all_owners() {
    let lint = check([pack("a", [json!({"name": "x"}), json!({"name": "x"}), json!({"name": "y"})])]);
    let found = of(&lint, RuleId::CatalogProblem);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity(), Severity::High);
    assert_eq!(found[0].data()["code"], "duplicate-tool");
    let tools: Vec<_> = found[0].tools().iter().map(ToString::to_string).collect();
    assert_eq!(tools, ["a.x", "a.x"]);
    assert!(found[0].help().contains("deny = [\"x\"]"), "{}", found[0].help());
}

#[test]
fn options_leave_out_what_is_not_wanted() {
    let tools = || [json!({"name": "x", "description": ""}), json!({"name": "y", "inputSchema": {"type": "str"}})];
    let catalog = Catalog::builder().pack(pack("a", tools())).build_partly();
    let rules = |options: &Options| {
        let lint = lint(&catalog, options);
        lint.findings().iter().map(|finding| finding.rule().as_str()).collect::<Vec<_>>()
    };
    assert!(rules(&Options::default()).contains(&"empty-description"));
    assert_eq!(rules(&Options::default().only(RuleId::EmptyDescription)), ["empty-description"]);
    assert!(!rules(&Options::default().without(RuleId::EmptyDescription)).contains(&"empty-description"));
    assert_eq!(rules(&Options::default().at_least(Severity::Medium)), ["empty-description", "schema-invalid"]);
    assert!(rules(&Options::default().at_least(Severity::High)).is_empty());
}

#[test]
fn findings_come_worst_first_and_in_the_same_order_every_time() {
    let packs = || {
        let names = ["get_a", "delete_a", "get_b", "delete_b", "get-a"];
        let tools = names.map(|name| json!({"name": name, "description": "", "annotations": {}}));
        [pack("b", tools.clone()), pack("a", tools)]
    };
    let lint = check(packs());
    assert!(lint.findings().is_sorted_by(|one, other| one.severity() >= other.severity()));
    for _ in 0..5 {
        assert_eq!(check(packs()), lint);
    }
}

#[test]
fn an_empty_or_repeating_description_is_found() {
    let rule = RuleId::EmptyDescription;
    assert_eq!(severity(rule, json!({"name": "get_issue", "description": " \n"})), Some(Severity::Medium));
    assert_eq!(severity(rule, json!({"name": "get_issue", "description": "Get an issue"})), Some(Severity::Low));
    assert_eq!(severity(rule, json!({"name": "get_issue", "description": "Get an issue by number"})), None);
    assert_eq!(severity(rule, json!({"name": "get_issue", "description": null})), Some(Severity::Medium));
}

#[test]
fn parameters_without_a_description_are_listed_once_a_tool() {
    let tool = json!({"name": "x", "inputSchema": {"type": "object", "properties": {
        "a": {"type": "string"},
        "b": {"type": "string", "description": "B"},
        "c": {"$ref": "#/$defs/c"},
        "d": {"anyOf": [{"type": "string", "description": "D"}, {"type": "null"}]},
        "e": {"type": "string", "description": ""},
    }, "$defs": {"c": {"type": "string", "description": "C"}}}});
    let (severity, message) = one(RuleId::ParametersUndescribed, tool).unwrap();
    assert_eq!(severity, Severity::Info);
    assert_eq!(message, "2 of 5 parameters of `p.x` have no description: `a`, `e`");
}
