use toolmark_core::tool::Tool;
use toolmark_testkit::{catalog, corpus_catalog};

use super::*;
use crate::language::Dialect;
use crate::paths::Scope;

fn found(tool: &Tool) -> Vec<(String, Language)> {
    Carriers::of(tool).list().iter().map(|carrier| (carrier.pointer.clone(), carrier.language)).collect()
}

#[test]
fn real_tools_carry_what_they_say() {
    let catalog = corpus_catalog();
    let expected: &[(&str, &[(&str, Language)])] = &[
        ("sqlite.read_query", &[("/query", Language::Sql(Dialect::Sqlite))]),
        ("awslabs-postgres.run_query", &[("/sql", Language::Sql(Dialect::Postgres))]),
        ("mysql-mcp-server.execute_sql", &[("/query", Language::Sql(Dialect::Mysql))]),
        ("mcp-server-motherduck.execute_query", &[("/sql", Language::Sql(Dialect::Duckdb))]),
        ("mcp-clickhouse.run_query", &[("/query", Language::Sql(Dialect::Clickhouse))]),
        (
            "neondatabase-mcp-server-neon.run_sql_transaction",
            &[("/params/sqlStatements/*", Language::Sql(Dialect::Postgres))],
        ),
        (
            "mcp-server-commands.run_command",
            &[("/command", Language::Shell), ("/workdir", Language::Path(Scope::Local))],
        ),
        ("mcp-ssh.execute_command", &[("/command", Language::Shell), ("/key_filename", Language::Path(Scope::Local))]),
        ("kubernetes-mcp-server.pods_exec", &[("/command", Language::Argv)]),
        ("kubernetes-mcp-server.resources_scale", &[("", Language::Kubernetes)]),
        ("mongodb-mcp-server.aggregate", &[("", Language::MongoOperation)]),
        ("mongodb-mcp-server.rename-collection", &[("", Language::MongoOperation)]),
        ("mcp-neo4j-cypher.read_neo4j_cypher", &[("/query", Language::Cypher)]),
        ("mcp-graphql.query-graphql", &[("/query", Language::GraphQl)]),
        ("redis-mcp-server.expire", &[("", Language::Redis)]),
        ("awslabs-valkey.valkey_read", &[("/command", Language::Redis)]),
        (
            "playwright-mcp.browser_evaluate",
            &[("/function", Language::Code), ("/filename", Language::Path(Scope::Local))],
        ),
        ("supabase-mcp-server-postgrest.postgrestRequest", &[("/path", Language::Http)]),
        ("mcp-grafana.grafana_api_request", &[("/endpoint", Language::Http)]),
        ("filesystem.read_text_file", &[("/path", Language::Path(Scope::Local))]),
        (
            "filesystem.move_file",
            &[("/source", Language::Path(Scope::Local)), ("/destination", Language::Path(Scope::Local))],
        ),
        ("filesystem.read_multiple_files", &[("/paths/*", Language::Path(Scope::Local))]),
        ("github.get_file_contents", &[("/path", Language::Path(Scope::Remote))]),
        ("ref-fetch.fetch", &[("/url", Language::Url)]),
    ];
    for (name, carriers) in expected {
        let tool = catalog.find(name, |_| true).unwrap();
        let mut found = found(tool);
        let mut carriers: Vec<(String, Language)> =
            carriers.iter().map(|(pointer, language)| ((*pointer).to_owned(), *language)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        carriers.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, carriers, "{name}");
    }
}

#[test]
fn a_query_is_not_sql_because_it_is_called_query() {
    let catalog = corpus_catalog();
    for name in [
        "brave-brave-search-mcp-server.brave_web_search",
        "github-official.search_code",
        "sentry-mcp-server.search_issues",
        "mcp-atlassian.confluence_search",
        "awslabs-cloudwatch.execute_promql_query",
        "sanity-mcp-server.query_documents",
        "mcp-server-tree-sitter.run_query",
        "workspace-mcp.search_gmail_messages",
        "mongodb-mcp-server.search-knowledge",
        "upstash-context7-mcp.query-docs",
        "supabase-mcp-server-postgrest.sqlToRest",
        "azure-mcp.sql",
    ] {
        let tool = catalog.find(name, |_| true).unwrap();
        let programs =
            found(tool).into_iter().filter(|(_, language)| !matches!(language, Language::Path(_) | Language::Url));
        assert_eq!(programs.collect::<Vec<_>>(), [], "{name}");
    }
}

#[test]
fn few_tools_of_the_corpus_take_a_program_and_every_finding_says_why() {
    let catalog = corpus_catalog();
    let mut programs = 0;
    for tool in catalog.tools() {
        let carriers = Carriers::of(tool);
        assert!(carriers.list().iter().all(|carrier| !carrier.evidence.is_empty()), "{}", tool.canonical());
        programs += usize::from(
            carriers.list().iter().any(|carrier| !matches!(carrier.language, Language::Path(_) | Language::Url)),
        );
    }
    assert!((60..=110).contains(&programs), "{programs} of {} tools take a program", catalog.len());
}

fn single(pack: &str, tool: &str) -> Vec<(String, Language)> {
    let catalog = catalog(&[(pack, tool)]);
    let tool = catalog.tools().next().unwrap();
    found(tool)
}

#[test]
fn the_same_argument_means_what_its_tool_says() {
    let tool = |name: &str, description: &str, parameter: &str| {
        format!(
            r#"[{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object","properties":{{"{parameter}":{{"type":"string"}}}}}}}}]"#
        )
    };
    let query = |language| vec![("/query".to_owned(), language)];
    assert_eq!(
        single("bigquery", &tool("execute_query", "Run a query", "query")),
        query(Language::Sql(Dialect::Generic))
    );
    assert_eq!(single("news", &tool("execute_query", "Search the news", "query")), []);
    assert_eq!(single("news", &tool("update_search_index", "Index a query", "query")), []);
    for (name, description) in [
        ("read_query", ""),
        ("write_query", "Change data"),
        ("run", "Execute a SELECT query"),
        ("exec", "INSERT, UPDATE"),
    ] {
        let found = single("x", &tool(name, description, "query"));
        assert_eq!(found, query(Language::Sql(Dialect::Generic)), "{name}");
    }
    assert_eq!(single("neo4j", &tool("run", "Run a statement", "query")), query(Language::Cypher));
    assert_eq!(single("x", &tool("query", "Run a GraphQL query", "query")), query(Language::GraphQl));
    assert_eq!(
        single("x", &tool("bash", "Run a shell command", "command")),
        [("/command".to_owned(), Language::Shell)]
    );
    assert_eq!(single("storage", &tool("blob", "Commands for blobs", "command")), []);
    assert_eq!(single("x", &tool("run_python", "Run Python code", "code")), [("/code".to_owned(), Language::Code)]);
    assert_eq!(single("x", &tool("get_country", "Look up a country", "code")), []);
    assert_eq!(
        single("k8s", &tool("kubectl", "Run a kubectl command", "command")),
        [("/command".to_owned(), Language::Kubernetes)]
    );
    assert_eq!(
        single("gitlab", &tool("get_file", "Get a file", "file_path")),
        [("/file_path".to_owned(), Language::Path(Scope::Remote))]
    );
}

#[test]
fn a_schema_that_refers_to_itself_is_looked_through_once() {
    let tool = r##"[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"file_path":{"type":"string"},"a":{"$ref":"#/$defs/A"}}}}}}]"##;
    assert_eq!(single("x", tool).len(), 2);
}
