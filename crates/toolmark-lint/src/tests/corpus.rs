//! What lint finds in 3,354 tools of 131 real servers. The figures are written down so that a change of a rule shows here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toolmark_core::catalog::Catalog;
use toolmark_core::definition::{Definition, Form};
use toolmark_core::document::{Document, Slice};
use toolmark_core::json;
use toolmark_core::names::PackName;
use toolmark_core::pack::{Pack, PackBuilder};
use toolmark_core::severity::Severity;
use toolmark_core::tool::{Source, ToolKind};

use super::of;
use crate::{Options, RuleId, lint};

static CATALOG: LazyLock<Catalog> = LazyLock::new(catalog);

fn catalog() -> Catalog {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/tools.jsonl");
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("the corpus is missing: {path}: {error}; it belongs to the repository"));
    let document = Document::new("corpus/tools.jsonl", text);
    let mut packs: BTreeMap<String, PackBuilder> = BTreeMap::new();
    let mut start = 0;
    for line in document.text().split_inclusive('\n') {
        let row = start..start + line.trim_end().len();
        start += line.len();
        let server = json::read(line.trim_end()).unwrap().get("server").unwrap().as_str().unwrap().to_owned();
        let builder = packs.entry(server.clone());
        let builder = builder.or_insert_with(|| Pack::builder(PackName::slug(&server).unwrap(), Source::new(&server)));
        builder.push(ToolKind::Mcp, Definition::read(&Slice::new(&document, row), Form::Row).unwrap());
    }
    Catalog::builder().packs(packs.into_values().map(PackBuilder::build)).build_partly()
}

#[test]
fn the_corpus_is_linted_whole_and_the_figures_hold() {
    let lint = lint(&CATALOG, &Options::default());
    assert_eq!((lint.tools(), lint.packs()), (3354, 131));
    assert_eq!(of(&lint, RuleId::CatalogProblem).len(), 0);

    let shared = of(&lint, RuleId::SharedName);
    let owners: usize = shared.iter().map(|finding| finding.tools().len()).sum();
    assert_eq!((shared.len(), owners), (104, 236), "names on several servers, and their tools");

    let groups = of(&lint, RuleId::SameSchema);
    let tools: usize = groups.iter().map(|finding| finding.tools().len()).sum();
    assert_eq!((groups.len(), tools), (330, 1114), "groups that share a schema, and their tools");
    let hinted = |finding: &crate::Finding, reads: bool| {
        finding.data()["group"].as_array().unwrap().iter().any(|one| one["read_only_hint"] == reads)
    };
    let declared = groups.iter().filter(|finding| hinted(finding, true) && hinted(finding, false));
    assert_eq!(declared.count(), 60, "groups in which one tool hints that it reads and another that it writes");
}

/// Bounds, not figures: they move whenever the classifier learns a word.
#[test]
fn what_lint_says_about_behavior_can_be_read_by_a_person() {
    let lint = lint(&CATALOG, &Options::default());
    let disputed = of(&lint, RuleId::BehaviorDisputed);
    assert!((20..=80).contains(&disputed.len()), "{} of 3,354 tools are disputed", disputed.len());
    assert!(disputed.iter().filter(|finding| finding.severity() >= Severity::High).count() <= 10);
    let undeclared = of(&lint, RuleId::BehaviorUndeclared);
    let silent: usize = undeclared.iter().map(|finding| finding.tools().len()).sum();
    assert!(undeclared.len() <= lint.packs() && silent > 500, "{silent} tools in {} findings", undeclared.len());
    assert!((5..=30).contains(&of(&lint, RuleId::BehaviorByArgument).len()));
    let sets = |by: &str| {
        let found = of(&lint, RuleId::BehaviorNotSeparated).into_iter().filter(|one| one.data()["separated"] == by);
        found.map(|one| one.data()["groups"].as_array().unwrap().len()).sum::<usize>()
    };
    let nothing = sets("nothing");
    assert!((50..=150).contains(&nothing), "{nothing} sets of siblings that nothing but the name tells apart");
    assert!(sets("v3") > 50, "{} that only the third identity does", sets("v3"));
}

/// A reviewer reads every serious finding; there must be few, and none that is wrong.
#[test]
fn real_servers_are_not_accused_of_attacks() {
    let lint = lint(&CATALOG, &Options::default().at_least(Severity::High));
    for rule in [
        RuleId::InstructsModel,
        RuleId::HiddenCharacters,
        RuleId::BidirectionalCharacters,
        RuleId::LookAlikeName,
        RuleId::RemoteRef,
        RuleId::SchemaInvalid,
    ] {
        let found = of(&lint, rule);
        assert!(found.is_empty(), "{found:#?}");
    }
    assert!(of(&lint, RuleId::AnnotationsContradict).len() <= 3);
}

/// Pairs that careful readers found confusable, with what they said about each; all have one schema inside one server.
#[test]
fn pairs_that_people_call_critical_are_graded_critical() {
    let lint = lint(&CATALOG, &Options::default().only(RuleId::SameSchema));
    let grade = |one: &str, other: &str| {
        let both = |finding: &&crate::Finding| {
            [one, other].iter().all(|name| finding.tools().iter().any(|tool| tool.as_str() == *name))
        };
        lint.findings().iter().find(both).map(crate::Finding::severity)
    };
    for (one, other) in [
        ("sqlite.read_query", "sqlite.write_query"),
        ("git.git_status", "git.git_reset"),
        ("github-official.get_latest_release", "github-official.delete_repository"),
        ("mongodb-mcp-server.db-stats", "mongodb-mcp-server.drop-database"),
        ("redis-mcp-server.hget", "redis-mcp-server.hdel"),
        ("mcp-atlassian.jira_get_worklog", "mcp-atlassian.jira_delete_issue"),
        ("notionhq-notion-mcp-server.API-retrieve-a-block", "notionhq-notion-mcp-server.API-delete-a-block"),
        ("kubernetes-mcp-server.pods_get", "kubernetes-mcp-server.pods_delete"),
        ("mcp-neo4j-cypher.read_neo4j_cypher", "mcp-neo4j-cypher.write_neo4j_cypher"),
        ("bitwarden-mcp-server.get_org_member_groups", "bitwarden-mcp-server.revoke_org_member"),
        ("trello-mcp.get_card", "trello-mcp.archive_card"),
    ] {
        assert_eq!(grade(one, other), Some(Severity::Critical), "{one} {other}");
    }
    assert_eq!(grade("filesystem.list_directory", "filesystem.create_directory"), Some(Severity::High));
    assert_eq!(grade("awslabs-memcached.cache_incr", "awslabs-memcached.cache_decr"), Some(Severity::Medium));
    assert_eq!(grade("github-official.list_branches", "github-official.list_tags"), Some(Severity::Low));
}
