//! Inspections of food businesses: history, regulations and reports, named in Dutch and English for the inspectors who use them.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolmark_core::text::visible;

use super::database::Database;
use super::outcome::{Outcome, only, read};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Company {
    kvk_number: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    kvk_number: String,
    limit: Option<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Violations {
    kvk_number: String,
    severity: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    kvk_number: String,
    regulation_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inspection {
    inspection_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inspector {
    inspector: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Regulation {
    regulation_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Articles {
    regulation_id: String,
    articles: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notes {
    kvk_number: String,
    notes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    report_id: i64,
    answers: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    report_id: i64,
    signed_by: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    report_id: i64,
}

pub(super) async fn run(database: &Database, tool: &str, arguments: &[u8]) -> Option<Outcome> {
    Some(match tool {
        "check_company_exists" => company(database, arguments).await,
        "get_inspection_history" => history(database, arguments).await,
        "get_company_violations" => violations(database, arguments).await,
        "check_repeat_violation" => repeat(database, arguments).await,
        "get_follow_up_status" => follow_up(database, arguments).await,
        "search_inspections_by_inspector" => by_inspector(database, arguments).await,
        "search_regulations" => search(database, arguments).await,
        "get_regulation_context" => context(database, arguments).await,
        "lookup_regulation_articles" => articles(database, arguments).await,
        "analyze_document" => analyze(database, arguments).await,
        "get_database_stats" => stats(database, arguments).await,
        "extract_inspection_data" => extract(database, arguments).await,
        "submit_verification_answers" => answer(database, arguments).await,
        "generate_final_report" => close(database, arguments).await,
        "get_report_status" => status(database, arguments).await,
        _ => return None,
    })
}

async fn company(database: &Database, arguments: &[u8]) -> Outcome {
    let Company { kvk_number } = read(arguments)?;
    let sql = "SELECT kvk_number, name, city FROM companies WHERE kvk_number = ?";
    let found = database.ask(sql, vec![kvk_number.into()]).await?;
    Ok(json!({"exists": !found.is_empty(), "company": found.first()}))
}

async fn history(database: &Database, arguments: &[u8]) -> Outcome {
    let History { kvk_number, limit } = read(arguments)?;
    let sql = "SELECT inspection_id, held, inspector, result FROM inspections WHERE kvk_number = ? ORDER BY held DESC LIMIT ?";
    Ok(json!({"inspections": database.ask(sql, vec![kvk_number.into(), limit.unwrap_or(10).into()]).await?}))
}

async fn violations(database: &Database, arguments: &[u8]) -> Outcome {
    let Violations { kvk_number, severity } = read(arguments)?;
    let sql = "SELECT inspection_id, held, regulation_id, severity, what FROM violations JOIN inspections USING (inspection_id) \
               WHERE kvk_number = ? AND (?2 = '' OR severity = ?2) ORDER BY held DESC, id";
    let severity = severity.unwrap_or_default();
    Ok(json!({"violations": database.ask(sql, vec![kvk_number.into(), severity.into()]).await?}))
}

async fn repeat(database: &Database, arguments: &[u8]) -> Outcome {
    let Repeat { kvk_number, regulation_id } = read(arguments)?;
    let sql = "SELECT held, severity, what FROM violations JOIN inspections USING (inspection_id) \
               WHERE kvk_number = ? AND regulation_id = ? ORDER BY held";
    let found = database.ask(sql, vec![kvk_number.into(), regulation_id.into()]).await?;
    Ok(json!({"repeated": found.len() > 1, "times": found}))
}

async fn follow_up(database: &Database, arguments: &[u8]) -> Outcome {
    let Inspection { inspection_id } = read(arguments)?;
    let sql = "SELECT inspection_id, result, follow_up FROM inspections WHERE inspection_id = ?";
    let found = database.ask(sql, vec![inspection_id.as_str().into()]).await?;
    only(found, || format!("there is no inspection `{}`", visible(&inspection_id, 100)))
}

async fn by_inspector(database: &Database, arguments: &[u8]) -> Outcome {
    let Inspector { inspector } = read(arguments)?;
    let sql = "SELECT inspection_id, held, inspector, name AS company, result FROM inspections JOIN companies USING (kvk_number) \
               WHERE instr(lower(inspector), lower(?)) > 0 ORDER BY held DESC";
    Ok(json!({"inspections": database.ask(sql, vec![inspector.into()]).await?}))
}

/// Articles that have every word of the query, or belong to a regulation that has it.
async fn search(database: &Database, arguments: &[u8]) -> Outcome {
    let Search { query } = read(arguments)?;
    let words: Value = query.split_whitespace().collect();
    let sql = "SELECT regulation_id, title, article, text FROM articles JOIN regulations USING (regulation_id) WHERE NOT EXISTS \
               (SELECT 1 FROM json_each(?) AS word WHERE instr(lower(title || ' ' || about || ' ' || text), lower(word.value)) = 0) \
               ORDER BY regulation_id, article";
    Ok(json!({"articles": database.ask(sql, vec![words]).await?}))
}

async fn context(database: &Database, arguments: &[u8]) -> Outcome {
    let Regulation { regulation_id } = read(arguments)?;
    let sql = "SELECT regulation_id, title, about, (SELECT group_concat(article, ', ') FROM articles AS own \
               WHERE own.regulation_id = regulations.regulation_id) AS articles FROM regulations WHERE regulation_id = ?";
    let found = database.ask(sql, vec![regulation_id.as_str().into()]).await?;
    only(found, || format!("there is no regulation `{}`", visible(&regulation_id, 100)))
}

async fn articles(database: &Database, arguments: &[u8]) -> Outcome {
    let Articles { regulation_id, articles } = read(arguments)?;
    let sql = "SELECT article, text FROM articles WHERE regulation_id = ? AND article IN (SELECT value FROM json_each(?)) ORDER BY article";
    Ok(json!({"articles": database.ask(sql, vec![regulation_id.into(), json!(articles)]).await?}))
}

async fn analyze(database: &Database, arguments: &[u8]) -> Outcome {
    let Document { text } = read(arguments)?;
    let words = text.split_whitespace().count();
    let sql = "SELECT regulation_id, title FROM regulations WHERE instr(lower(?1), lower(regulation_id)) > 0 \
               OR instr(lower(?1), lower(title)) > 0 ORDER BY regulation_id";
    Ok(json!({"words": words, "mentions": database.ask(sql, vec![text.into()]).await?}))
}

async fn stats(database: &Database, arguments: &[u8]) -> Outcome {
    let Nothing {} = read(arguments)?;
    let sql = "SELECT (SELECT count(*) FROM regulations) AS regulations, (SELECT count(*) FROM articles) AS articles, \
               (SELECT count(*) FROM companies) AS companies, (SELECT count(*) FROM inspections) AS inspections";
    only(database.ask(sql, Vec::new()).await?, || "nothing can be counted".to_owned())
}

async fn extract(database: &Database, arguments: &[u8]) -> Outcome {
    let Notes { kvk_number, notes } = read(arguments)?;
    let sql = "INSERT INTO reports (kvk_number, notes) SELECT kvk_number, ? FROM companies WHERE kvk_number = ? RETURNING report_id, state";
    let made = database.ask(sql, vec![notes.into(), kvk_number.as_str().into()]).await?;
    only(made, || format!("there is no company `{}`", visible(&kvk_number, 100)))
}

async fn answer(database: &Database, arguments: &[u8]) -> Outcome {
    let Answers { report_id, answers } = read(arguments)?;
    let sql = "UPDATE reports SET answers = json_patch(answers, ?) WHERE report_id = ? AND state = 'draft' \
               RETURNING report_id, answers, state";
    let changed = database.ask(sql, vec![json!(answers), report_id.into()]).await?;
    only(changed, || no_draft(report_id))
}

async fn close(database: &Database, arguments: &[u8]) -> Outcome {
    let Signed { report_id, signed_by } = read(arguments)?;
    let sql = "UPDATE reports SET state = 'final', signed_by = ? WHERE report_id = ? AND state = 'draft' \
               RETURNING report_id, kvk_number, notes, answers, state, signed_by";
    let closed = database.ask(sql, vec![signed_by.into(), report_id.into()]).await?;
    only(closed, || no_draft(report_id))
}

async fn status(database: &Database, arguments: &[u8]) -> Outcome {
    let Report { report_id } = read(arguments)?;
    let sql = "SELECT report_id, kvk_number, state, signed_by FROM reports WHERE report_id = ?";
    only(database.ask(sql, vec![report_id.into()]).await?, || format!("there is no report {report_id}"))
}

fn no_draft(report_id: i64) -> String {
    format!("there is no draft {report_id}")
}
