use std::sync::LazyLock;

use serde_json::json;
use toolmark_core::catalog::Catalog;
use toolmark_core::facts::{Danger, Facts};
use toolmark_core::tool::Tool;
use toolmark_testkit::{catalog, corpus_catalog};

use super::*;
use crate::analyze;

fn facts(tool: &Tool, arguments: &Value) -> Facts {
    analyze(tool, arguments, &Settings::default())
}

/// The options that were found to matter, by their pointers.
fn grave(name: &str, arguments: &Value) -> Vec<String> {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(corpus_catalog);
    let catalog = &CATALOG;
    let facts = facts(catalog.find(name, |_| true).unwrap(), arguments);
    facts.parts().iter().filter(|part| part.language == LANGUAGE).map(|part| part.pointer.clone()).collect()
}

#[test]
fn an_option_that_goes_further_is_a_fact() {
    for (name, arguments, pointer) in [
        ("github-official.pull_request_review_write", json!({"method": "create", "event": "APPROVE"}), "/event"),
        ("bitwarden-mcp-server.delete", json!({"object": "item", "id": "i", "permanent": true}), "/permanent"),
        ("awslabs-iam.delete_user", json!({"user_name": "ann", "force": true}), "/force"),
        ("excel-mcp-server.create_workbook", json!({"path": "a.xlsx", "overwrite": true}), "/overwrite"),
        ("mcp-ssh.read_file", json!({"host": "h", "remote_path": "/srv/a", "use_sudo": true}), "/use_sudo"),
        ("elasticsearch-mcp-server.delete_index", json!({"index": "*"}), "/index"),
        (
            "elasticsearch-mcp-server.delete_by_query",
            json!({"index": "a", "body": {"query": {"match_all": {}}}}),
            "/body",
        ),
        (
            "mongodb-mcp-server.atlas-create-access-list",
            json!({"projectId": "p", "cidrBlocks": ["0.0.0.0/0"]}),
            "/cidrBlocks",
        ),
        ("firecrawl-mcp.firecrawl_crawl", json!({"url": "https://example.com", "limit": 100_000_000}), "/limit"),
        ("digitalocean-mcp.doks-delete-node", json!({"ClusterID": "c", "SkipDrain": true}), "/SkipDrain"),
        (
            "workspace-mcp.set_drive_file_permissions",
            json!({"file_id": "f", "link_sharing": "reader"}),
            "/link_sharing",
        ),
        ("azure-mcp.keyvault", json!({"command": "keyvault_secret_get"}), "/command"),
        ("ha-mcp.ha_backup_restore", json!({"backup_id": "b"}), ""),
        ("playwright-mcp.browser_wait_for", json!({"time": 1_000_000}), "/time"),
        ("mongodb-mcp-server.drop-database", json!({"connectionId": "p", "database": "shop"}), ""),
        (
            "awslabs-iam.put_user_policy",
            json!({"user_name": "a", "policy_name": "p", "policy_document": "{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"*\"}}"}),
            "/policy_document",
        ),
    ] {
        assert!(
            grave(name, &arguments).contains(&pointer.to_owned()),
            "{name} {arguments}: {:?}",
            grave(name, &arguments)
        );
    }
}

#[test]
fn an_ordinary_option_is_no_fact() {
    for (name, arguments) in [
        (
            "github-official.pull_request_review_write",
            json!({"method": "create", "event": "COMMENT", "body": "approve"}),
        ),
        ("github-official.get_repository_tree", json!({"owner": "o", "repo": "r", "recursive": true})),
        ("ha-mcp.ha_config_get_dashboard", json!({"url_path": "home", "force_reload": true})),
        ("obsidian-mcp.create-directory", json!({"vault": "v", "path": "a", "recursive": true})),
        ("obsidian-mcp.delete-note", json!({"vault": "v", "path": "a.md", "permanent": false})),
        ("mcp-obsidian.obsidian_delete_file", json!({"filepath": "a.md", "confirm": true})),
        ("workspace-mcp.list_tasks", json!({"task_list_id": "l", "show_deleted": true, "max_results": 1000})),
        ("elasticsearch-mcp-server.search_documents", json!({"index": "*", "body": {"query": {"match_all": {}}}})),
        (
            "airtable-mcp-server.create_record",
            json!({"baseId": "b", "tableId": "t", "fields": {"public": true, "role": "admin"}}),
        ),
        ("redis-mcp-server.expire", json!({"name": "a", "expire_seconds": 100_000_000})),
        ("github.create_issue", json!({"owner": "o", "repo": "r", "title": "approve", "labels": ["admin"]})),
    ] {
        assert_eq!(grave(name, &arguments), Vec::<String>::new(), "{name} {arguments}");
    }
}

#[test]
fn a_free_text_that_names_an_operation_is_read() {
    let tool = r#"[{"name":"storage","description":"Manage storage","inputSchema":{"type":"object","properties":{
        "command":{"type":"string"},"parameters":{"type":"object"}}}}]"#;
    let catalog = catalog(&[("azure", tool)]);
    let tool = catalog.tools().next().unwrap();
    let found = facts(tool, &json!({"command": "storage_blob_delete"}));
    assert!(found.effects().any(|effect| effect.action == toolmark_core::behavior::Action::Delete), "{found:?}");
    assert!(facts(tool, &json!({"command": "storage_blob_list"})).is_empty());
}

#[test]
fn what_an_operator_says_about_an_option_holds() {
    let catalog = corpus_catalog();
    let tool = catalog.find("bitwarden-mcp-server.delete", |_| true).unwrap();
    let settings = Settings { languages: [("/permanent".to_owned(), None)].into(), ..Settings::default() };
    assert!(analyze(tool, &json!({"object": "item", "id": "i", "permanent": true}), &settings).is_empty());
}

#[test]
fn approval_is_a_right_that_is_given() {
    let catalog = corpus_catalog();
    let tool = catalog.find("github-official.pull_request_review_write", |_| true).unwrap();
    let facts = facts(tool, &json!({"method": "create", "pullNumber": 1, "event": "APPROVE"}));
    assert!(facts.effects().any(|effect| effect.dangers == [Danger::Privilege]), "{facts:?}");
}

#[test]
fn a_word_in_a_name_is_not_an_operation() {
    for (name, arguments) in [
        ("digitalocean-mcp.droplet-delete", json!({"ID": 1})),
        ("playwright-mcp.browser_drop", json!({"element": "a", "target": "b"})),
        ("mcp-atlassian.confluence_check_content_permissions", json!({"operation": "update"})),
        ("postman-postman-mcp-server.getAuditLogs", json!({"action": "user.delete"})),
        ("chrome-devtools-mcp.performance_start_trace", json!({"ignoreCache": true})),
    ] {
        assert_eq!(grave(name, &arguments), Vec::<String>::new(), "{name} {arguments}");
    }
}
