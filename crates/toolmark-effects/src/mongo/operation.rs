//! Operations as drivers and tools name them: `deleteMany`, `delete-many` and `delete_many` are one.

use serde_json::{Map, Value};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::command::{self, found, limited, rename};
use super::filter::examine;
use super::pipeline;

/// Reads an operation with its arguments.
pub(super) fn read(name: &str, arguments: &Value) -> Result<Vec<Effect>, String> {
    let plain = plain(name);
    let nothing = Map::new();
    let fields = arguments.as_object().unwrap_or(&nothing);
    let filter = fields.get("filter").or_else(|| fields.get("query"));
    let reads = |summary: &str| Effect::pure(Action::Read, summary);
    let writes = |action: Action, summary: &str| Effect::mutating(action, summary);
    let effect = match plain.as_str() {
        "find" | "findone" => found(fields, Action::Search),
        "aggregate" | "aggregatedb" => pipeline::read(fields.get("pipeline").ok_or("an aggregate has a pipeline")?)?,
        "count" | "countdocuments" | "distinct" | "explain" | "estimateddocumentcount" => {
            examine(reads("counts or explains"), arguments)
        }
        "runcommand" | "command" | "admincommand" => return command::read(fields.get("command").unwrap_or(arguments)),
        "listcollections"
        | "listdatabases"
        | "listindexes"
        | "collectionindexes"
        | "collectionschema"
        | "collectionstoragesize"
        | "dbstats"
        | "mongodblogs"
        | "getindexes"
        | "stats"
        | "indexes"
        | "watch" => reads("describes"),
        "insert" | "insertone" | "insertmany" => writes(Action::Create, "inserts documents"),
        "updateone" | "findoneandupdate" | "findandmodify" => {
            limited(writes(Action::Update, "updates one document"), filter, false)
        }
        "updatemany" | "update" => limited(writes(Action::Update, "updates documents"), filter, true),
        "replaceone" | "findoneandreplace" => {
            limited(writes(Action::Overwrite, "replaces one document"), filter, false)
        }
        "deleteone" | "findoneanddelete" => limited(writes(Action::Delete, "deletes one document"), filter, false),
        "deletemany" | "delete" | "remove" => limited(writes(Action::Delete, "deletes documents"), filter, true),
        "bulkwrite" => return bulk(fields),
        "createcollection" | "createindex" | "createindexes" | "createview" | "createsearchindex" => {
            writes(Action::Create, "creates")
        }
        "drop" | "dropcollection" | "dropdatabase" | "dropindex" | "dropindexes" | "dropsearchindex" => {
            writes(Action::Delete, "drops").unbounded()
        }
        "renamecollection" | "rename" => rename(fields.get("dropTarget").or_else(|| fields.get("drop_target"))),
        "mapreduce" | "eval" => writes(Action::Execute, "runs code").unbounded().with(Danger::Code),
        "export" => examine(writes(Action::Create, "writes documents into a file"), arguments),
        _ => return Err(format!("`{}` is no operation that is known here", visible(name, 40))),
    };
    let target = ["collection", "database"].iter().find_map(|name| fields.get(*name)).and_then(Value::as_str);
    Ok(vec![effect.on(target.map(|name| visible(name, 120)))])
}

/// `[{"deleteMany": {"filter": {}}}, …]`
fn bulk(fields: &Map<String, Value>) -> Result<Vec<Effect>, String> {
    let operations = fields.get("operations").or_else(|| fields.get("requests")).and_then(Value::as_array);
    let mut effects = Vec::new();
    for operation in operations.ok_or("a bulk write has operations")? {
        let (name, arguments) =
            operation.as_object().and_then(|one| one.iter().next()).ok_or("an operation has a name")?;
        if plain(name) == "bulkwrite" {
            return Err("a bulk write stands in a bulk write".into());
        }
        effects.extend(read(name, arguments)?);
    }
    if effects.is_empty() { Err("a bulk write has operations".into()) } else { Ok(effects) }
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|character| character.to_ascii_lowercase()).collect()
}
