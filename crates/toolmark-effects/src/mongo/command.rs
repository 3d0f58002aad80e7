//! Database commands: the first key is the name of the command.

use serde_json::{Map, Value};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::filter::{covers_everything, examine, projects_secrets};
use super::pipeline;
use crate::sql::effect::join;
use crate::sql::secrets;

/// Commands that only read. Sorted.
pub(super) const READS: &[&str] = &[
    "availableQueryOptions",
    "buildInfo",
    "buildinfo",
    "checkShardingIndex",
    "collStats",
    "collstats",
    "connPoolStats",
    "connectionStatus",
    "currentOp",
    "dataSize",
    "dbHash",
    "dbStats",
    "dbhash",
    "dbstats",
    "endSessions",
    "features",
    "filemd5",
    "getClusterParameter",
    "getCmdLineOpts",
    "getDefaultRWConcern",
    "getLog",
    "getMore",
    "getParameter",
    "getShardMap",
    "getShardVersion",
    "hello",
    "hostInfo",
    "isMaster",
    "isdbgrid",
    "ismaster",
    "killCursors",
    "listCollections",
    "listCommands",
    "listDatabases",
    "listIndexes",
    "listSearchIndexes",
    "listShards",
    "lockInfo",
    "netstat",
    "ping",
    "planCacheListFilters",
    "refreshSessions",
    "replSetGetConfig",
    "replSetGetStatus",
    "rolesInfo",
    "serverStatus",
    "shardConnPoolStats",
    "startSession",
    "top",
    "validate",
    "whatsmyuri",
];

/// Commands that change something known, and what. Sorted.
#[rustfmt::skip]
pub(super) const CHANGES: &[(&str, Action, bool, Option<Danger>)] = &[
    ("addShard", Action::Create, false, Some(Danger::Privilege)),
    ("cloneCollectionAsCapped", Action::Create, true, None),
    ("collMod", Action::Update, true, None),
    ("compact", Action::Update, true, None),
    ("convertToCapped", Action::Update, false, None),
    ("copydb", Action::Create, false, Some(Danger::Outward)),
    ("create", Action::Create, true, None),
    ("createIndexes", Action::Create, true, None),
    ("createRole", Action::Create, true, Some(Danger::Privilege)),
    ("createSearchIndexes", Action::Create, true, None),
    ("createUser", Action::Create, true, Some(Danger::Privilege)),
    ("drop", Action::Delete, false, None),
    ("dropAllRolesFromDatabase", Action::Delete, false, Some(Danger::Privilege)),
    ("dropAllUsersFromDatabase", Action::Delete, false, Some(Danger::Privilege)),
    ("dropConnections", Action::Delete, false, None),
    ("dropDatabase", Action::Delete, false, None),
    ("dropIndexes", Action::Delete, false, None),
    ("dropRole", Action::Delete, true, Some(Danger::Privilege)),
    ("dropSearchIndex", Action::Delete, false, None),
    ("dropUser", Action::Delete, true, Some(Danger::Privilege)),
    ("enableSharding", Action::Update, true, None),
    ("eval", Action::Execute, false, Some(Danger::Code)),
    ("flushRouterConfig", Action::Update, true, None),
    ("fsync", Action::Update, false, None),
    ("fsyncUnlock", Action::Update, true, None),
    ("grantPrivilegesToRole", Action::Update, true, Some(Danger::Privilege)),
    ("grantRolesToRole", Action::Update, true, Some(Danger::Privilege)),
    ("grantRolesToUser", Action::Update, true, Some(Danger::Privilege)),
    ("killAllSessions", Action::Delete, false, None),
    ("killOp", Action::Delete, true, None),
    ("killSessions", Action::Delete, false, None),
    ("logRotate", Action::Update, true, None),
    ("logout", Action::Update, true, None),
    ("moveChunk", Action::Update, true, None),
    ("movePrimary", Action::Update, false, None),
    ("planCacheClear", Action::Delete, true, None),
    ("profile", Action::Update, true, Some(Danger::Privilege)),
    ("reIndex", Action::Update, true, None),
    ("removeShard", Action::Delete, false, Some(Danger::Privilege)),
    ("replSetInitiate", Action::Update, false, Some(Danger::Privilege)),
    ("replSetReconfig", Action::Update, false, Some(Danger::Privilege)),
    ("replSetStepDown", Action::Update, false, Some(Danger::Privilege)),
    ("revokePrivilegesFromRole", Action::Update, true, Some(Danger::Privilege)),
    ("revokeRolesFromRole", Action::Update, true, Some(Danger::Privilege)),
    ("revokeRolesFromUser", Action::Update, true, Some(Danger::Privilege)),
    ("setClusterParameter", Action::Update, true, Some(Danger::Privilege)),
    ("setDefaultRWConcern", Action::Update, true, Some(Danger::Privilege)),
    ("setFeatureCompatibilityVersion", Action::Update, false, Some(Danger::Privilege)),
    ("setParameter", Action::Update, true, Some(Danger::Privilege)),
    ("shardCollection", Action::Update, true, None),
    ("shutdown", Action::Delete, false, Some(Danger::Privilege)),
    ("updateRole", Action::Update, true, Some(Danger::Privilege)),
    ("updateSearchIndex", Action::Update, true, None),
    ("updateUser", Action::Update, true, Some(Danger::Privilege)),
];

/// Reads a command.
pub(super) fn read(command: &Value) -> Result<Vec<Effect>, String> {
    let fields = command.as_object().ok_or("a command is an object")?;
    let (name, subject) = fields.iter().next().ok_or("a command has a name")?;
    let target = subject.as_str().map(|name| visible(name, 120));
    let effect = match name.as_str() {
        "find" => found(fields, Action::Search),
        "count" | "distinct" => examine(Effect::pure(Action::Read, name.as_str()), command),
        "aggregate" => pipeline::read(fields.get("pipeline").ok_or("an aggregate has a pipeline")?)?,
        // What is explained is planned, perhaps run, but its writes are not kept.
        "explain" => examine(Effect::pure(Action::Read, "explains a command"), subject),
        "insert" => Effect::mutating(Action::Create, "inserts documents"),
        "update" => return each(fields, "updates", |one| update(one).on(target.clone())),
        "delete" => return each(fields, "deletes", |one| delete(one).on(target.clone())),
        "findAndModify" | "findandmodify" => modify(fields),
        "bulkWrite" => return each(fields, "ops", bulk),
        "renameCollection" => rename(fields.get("dropTarget")),
        "mapReduce" | "mapreduce" => map_reduce(fields),
        "usersInfo" if subject_shows_credentials(fields) => {
            Effect::pure(Action::Read, "reads credentials").with(Danger::Secret)
        }
        "usersInfo" => Effect::pure(Action::Read, "lists users"),
        "$eval" => Effect::mutating(Action::Execute, "runs code").unbounded().with(Danger::Code),
        _ if READS.binary_search(&name.as_str()).is_ok() => Effect::pure(Action::Read, name.as_str()),
        _ => change(name)?,
    };
    Ok(vec![effect.on(target)])
}

fn change(name: &str) -> Result<Effect, String> {
    let found = CHANGES.binary_search_by(|(known, ..)| (*known).cmp(name)).ok().and_then(|at| CHANGES.get(at));
    let (name, action, bounded, danger) =
        found.ok_or_else(|| format!("`{}` is no command that is known here", visible(name, 40)))?;
    let effect = danger.iter().fold(Effect::mutating(*action, *name), |effect, danger| effect.with(*danger));
    Ok(if *bounded { effect } else { effect.unbounded() })
}

/// A query with its filter and projection.
pub(super) fn found(fields: &Map<String, Value>, action: Action) -> Effect {
    let mut effect = Effect::pure(action, "finds documents");
    for part in ["filter", "query", "sort", "projection"].iter().filter_map(|name| fields.get(*name)) {
        effect = examine(effect, part);
    }
    let secret = fields.get("projection").is_some_and(projects_secrets)
        || fields
            .get("find")
            .or_else(|| fields.get("collection"))
            .and_then(Value::as_str)
            .is_some_and(|name| secrets::is_secret_table(name) || name == "system.users");
    if secret { effect.with(Danger::Secret) } else { effect }
}

fn each(
    fields: &Map<String, Value>,
    list: &str,
    read: impl Fn(&Map<String, Value>) -> Effect,
) -> Result<Vec<Effect>, String> {
    let items = fields.get(list).and_then(Value::as_array).ok_or_else(|| format!("`{list}` is not a list"))?;
    let mut whole: Option<Effect> = None;
    for item in items {
        let one = read(item.as_object().ok_or_else(|| format!("`{list}` is not a list of objects"))?);
        match &mut whole {
            Some(whole) => join(whole, one),
            None => whole = Some(one),
        }
    }
    Ok(vec![whole.ok_or_else(|| format!("`{list}` is empty"))?])
}

/// One entry of `updates`.
fn update(one: &Map<String, Value>) -> Effect {
    let many = one.get("multi").and_then(Value::as_bool) == Some(true);
    limited(Effect::mutating(Action::Update, "updates documents"), one.get("q"), many)
}

/// One entry of `deletes`.
fn delete(one: &Map<String, Value>) -> Effect {
    let many = one.get("limit").and_then(Value::as_f64) != Some(1.0);
    limited(Effect::mutating(Action::Delete, "deletes documents"), one.get("q"), many)
}

/// One entry of `ops`.
fn bulk(one: &Map<String, Value>) -> Effect {
    let many = one.get("multi").and_then(Value::as_bool) == Some(true);
    if one.contains_key("insert") {
        Effect::mutating(Action::Create, "inserts documents")
    } else if one.contains_key("delete") {
        limited(Effect::mutating(Action::Delete, "deletes documents"), one.get("filter"), many)
    } else {
        limited(Effect::mutating(Action::Update, "updates documents"), one.get("filter"), many)
    }
}

/// The same, without a limit when many are meant and the filter lets all of them through.
pub(super) fn limited(effect: Effect, filter: Option<&Value>, many: bool) -> Effect {
    let effect = filter.into_iter().fold(effect, examine);
    if many && filter.is_none_or(covers_everything) { effect.unbounded() } else { effect }
}

fn modify(fields: &Map<String, Value>) -> Effect {
    let removes = fields.get("remove").and_then(Value::as_bool) == Some(true);
    let action = if removes { Action::Delete } else { Action::Update };
    limited(Effect::mutating(action, "finds and changes one document"), fields.get("query"), false)
}

/// Renaming may drop what has the new name.
pub(super) fn rename(drop: Option<&Value>) -> Effect {
    match drop {
        None | Some(Value::Bool(false) | Value::Null) => Effect::mutating(Action::Update, "renames a collection"),
        Some(_) => {
            Effect::mutating(Action::Delete, "renames a collection over another one, which is dropped").unbounded()
        }
    }
}

fn map_reduce(fields: &Map<String, Value>) -> Effect {
    let inline = fields.get("out").and_then(|out| out.get("inline")).is_some();
    let effect = if inline {
        Effect::pure(Action::Read, "maps and reduces with JavaScript")
    } else {
        Effect::mutating(Action::Overwrite, "maps and reduces into a collection").unbounded()
    };
    effect.with(Danger::Code)
}

fn subject_shows_credentials(fields: &Map<String, Value>) -> bool {
    fields.get("showCredentials").and_then(Value::as_bool) == Some(true)
}
