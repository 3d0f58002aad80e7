//! The catalog that the tests of this crate call into.

use serde_json::json;
use toolmark_core::catalog::Catalog;
use toolmark_core::document::Document;
use toolmark_core::snapshot::SnapshotReader;
use toolmark_policy::{PolicyConfig, Rule};

use crate::workspace::{Workspace, WorkspaceBuilder};

/// A database server that declares nothing, as the real one does, and a small tracker.
pub(crate) fn catalog() -> Catalog {
    let query = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let db = json!([
        {"name": "read_query", "description": "Execute a SELECT query on the SQLite database", "inputSchema": query},
        {"name": "write_query", "description": "Execute an INSERT, UPDATE, or DELETE query on the SQLite database", "inputSchema": query},
    ]);
    let tracker = json!([
        {"name": "list_issues", "description": "List issues", "inputSchema": {"type": "object", "properties": {"state": {"type": "string"}}}},
        {"name": "delete_issue", "description": "Delete an issue", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    ]);
    let mut reader = SnapshotReader::default();
    reader.read(&Document::new("db.json", db.to_string()), "db");
    reader.read(&Document::new("tracker.json", tracker.to_string()), "tracker");
    reader.finish().into_builder().build().unwrap()
}

pub(crate) fn workspace(rules: Vec<Rule>) -> Workspace {
    let policy = rules.into_iter().fold(PolicyConfig::new(), PolicyConfig::rule);
    WorkspaceBuilder::new().policy(policy).build(catalog()).unwrap()
}
