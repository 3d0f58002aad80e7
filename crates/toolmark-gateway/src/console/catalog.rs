//! `GET /api/catalog`: all tools in rows, small enough that thousands of them are there at once. Written once for each snapshot and
//! language, and sent again only to whoever does not have it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolmark_core::digest::SchemaDigest;
use toolmark_core::pins::Standing;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::Body;

use super::error::{problem, written};
use super::look::Look;
use super::{Asked, Console};
use crate::snapshot::Snapshot;

/// How much of a description is shown in a row.
const ABOUT: usize = 120;
/// How many problems are listed.
const PROBLEMS: usize = 100;
/// In how many languages the catalog is kept.
const KEPT: usize = 4;

const COLUMNS: [&str; 11] =
    ["canonical", "name", "lang", "behavior", "agreement", "standing", "siblings", "kind", "category", "icon", "about"];

/// What was written last.
#[derive(Default)]
pub(super) struct Written(Mutex<Vec<Entry>>);

struct Entry {
    snapshot: Weak<Snapshot>,
    lang: String,
    version: Arc<str>,
    rows: Arc<str>,
}

impl Console {
    pub(super) fn catalog(&self, asked: &Asked, headers: &HeaderMap) -> Response<Body> {
        let look = &asked.look;
        let (version, rows) = self.written_catalog.rows(look);
        let packs: Vec<Value> = self.gateway.packs().iter().map(|pack| look.standing(pack)).collect();
        let packs = Value::from(packs).to_string();
        // How packs stand is part of the answer, so it is part of what tells it from another.
        let tag = format!("\"{version}-{}\"", digest([packs.as_str()]));
        let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|tags| tags.as_bytes() == tag.as_bytes());
        let mut response = match known {
            true => written(StatusCode::NOT_MODIFIED, String::new()),
            false => written(StatusCode::OK, format!("{{\"version\":\"{version}\",\"packs\":{packs},{rows}}}")),
        };
        if let Ok(tag) = HeaderValue::try_from(tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        // Who asks is checked each time; the browser may keep the answer for whoever asks next in the same page.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        response
    }
}

impl Written {
    /// The version of a catalog and its rows, as members of an object.
    fn rows(&self, look: &Look) -> (Arc<str>, Arc<str>) {
        let lang = look.reader();
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let same = |entry: &&Entry| {
                entry.lang == lang && std::ptr::eq(entry.snapshot.as_ptr(), Arc::as_ptr(&look.snapshot))
            };
            if let Some(entry) = kept.iter().find(same) {
                return (Arc::clone(&entry.version), Arc::clone(&entry.rows));
            }
        }
        let (version, rows): (Arc<str>, Arc<str>) = (version(look).into(), rows(look).into());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| entry.lang != lang && entry.snapshot.strong_count() > 0);
        kept.truncate(KEPT - 1);
        let snapshot = Arc::downgrade(&look.snapshot);
        kept.push(Entry { snapshot, lang, version: Arc::clone(&version), rows: Arc::clone(&rows) });
        (version, rows)
    }
}

/// Tells a catalog in a language from another.
pub(super) fn version(look: &Look) -> String {
    let workspace = look.snapshot.workspace();
    let mut hasher = Sha256::new();
    hasher.update(look.reader());
    for tool in workspace.catalog().tools() {
        hasher.update(tool.canonical().as_str());
        hasher.update([0, standing(workspace.standing(tool)).len() as u8]);
        if let Some(prepared) = workspace.prepared(tool) {
            hasher.update(&*prepared.identity(tool).mark_text);
        }
    }
    short(hasher)
}

fn rows(look: &Look) -> String {
    let workspace = look.snapshot.workspace();
    let catalog = workspace.catalog();
    let shapes: Vec<(&Tool, SchemaDigest)> = catalog.tools().map(|tool| (tool, tool.schema_digest())).collect();
    let mut same: HashMap<(Option<&str>, SchemaDigest), usize> = HashMap::new();
    for (tool, shape) in &shapes {
        *same.entry((tool.pack(), *shape)).or_default() += 1;
    }
    let mut behaviors: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<Value> = Vec::with_capacity(shapes.len());
    for (tool, shape) in &shapes {
        let known = workspace.known(tool);
        let behavior = known.behavior().map(|behavior| behavior.to_string()).map(|text| {
            *places.entry(text.clone()).or_insert_with(|| {
                behaviors.push(text);
                behaviors.len() - 1
            })
        });
        let shown = look.tool(tool);
        let of = |key: &str| shown.get(key).cloned().unwrap_or_default();
        let siblings = same.get(&(tool.pack(), *shape)).copied().unwrap_or(1) - 1;
        let reading = tool.definition().reading();
        let about = reading.description().lines().find(|line| !line.trim().is_empty());
        all.push(json!([
            tool.canonical(),
            of("name"),
            of("lang"),
            behavior,
            known.agreement().as_str(),
            standing(workspace.standing(tool)),
            siblings,
            tool.kind(),
            of("category"),
            of("icon"),
            about.map(|line| visible(line.trim(), ABOUT)),
        ]));
    }
    let problems: Vec<Value> = catalog.problems().iter().take(PROBLEMS).map(problem).collect();
    format!(
        "\"columns\":{},\"behaviors\":{},\"rows\":{},\"problems\":{}",
        json!(COLUMNS),
        json!(behaviors),
        Value::from(all),
        Value::from(problems)
    )
}

/// How a tool stands to what was pinned, in one word.
pub(super) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Pinned => "pinned",
        Standing::Changed => "changed",
        Standing::New => "new",
        Standing::FirstUse => "first-use",
        Standing::NotInLock => "not-in-lock",
    }
}

fn digest<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text);
    }
    short(hasher)
}

fn short(hasher: Sha256) -> String {
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
