//! Aggregation pipelines: `$out` and `$merge` write, whatever stands before them only reads.

use serde_json::Value;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::filter::{covers_everything, examine, projects_secrets};
use crate::sql::effect::join;

/// How deep pipelines stand in pipelines.
const DEPTH: usize = 16;

/// Stages that read. Sorted.
pub(super) const READS: &[&str] = &[
    "$addFields",
    "$bucket",
    "$bucketAuto",
    "$changeStream",
    "$changeStreamSplitLargeEvent",
    "$collStats",
    "$count",
    "$currentOp",
    "$densify",
    "$documents",
    "$facet",
    "$fill",
    "$geoNear",
    "$graphLookup",
    "$group",
    "$indexStats",
    "$limit",
    "$listClusterCatalog",
    "$listLocalSessions",
    "$listSampledQueries",
    "$listSearchIndexes",
    "$listSessions",
    "$lookup",
    "$match",
    "$planCacheStats",
    "$project",
    "$querySettings",
    "$queryStats",
    "$rankFusion",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$sample",
    "$score",
    "$scoreFusion",
    "$search",
    "$searchMeta",
    "$set",
    "$setWindowFields",
    "$shardedDataDistribution",
    "$skip",
    "$sort",
    "$sortByCount",
    "$unionWith",
    "$unset",
    "$unwind",
    "$vectorSearch",
];

/// Reads a pipeline.
pub(super) fn read(pipeline: &Value) -> Result<Effect, String> {
    stages(pipeline, DEPTH)
}

fn stages(pipeline: &Value, depth: usize) -> Result<Effect, String> {
    let depth = depth.checked_sub(1).ok_or("pipelines stand too deep in each other")?;
    let all = pipeline.as_array().ok_or("a pipeline is a list of stages")?;
    let mut effect = Effect::pure(Action::Read, "aggregates");
    let mut limited = false;
    for stage in all {
        let mut fields = stage.as_object().ok_or("a stage is an object")?.iter();
        let (Some((name, value)), None) = (fields.next(), fields.next()) else {
            return Err("a stage has one name".into());
        };
        match name.as_str() {
            "$out" => join(&mut effect, out(value)),
            "$merge" => join(&mut effect, merge(value, limited)),
            "$match" => limited |= !covers_everything(value),
            "$limit" | "$search" | "$vectorSearch" => limited = true,
            _ if READS.binary_search(&name.as_str()).is_ok() => {}
            _ => return Err(format!("`{}` is no stage that is known here", visible(name, 40))),
        }
        if name == "$project" && projects_secrets(value) {
            effect = effect.with(Danger::Secret);
        }
        effect = examine(effect, value);
        for inner in nested(name, value) {
            join(&mut effect, stages(inner, depth)?);
        }
    }
    if matches!(
        all.first().and_then(Value::as_object).and_then(|first| first.keys().next()).map(String::as_str),
        Some("$search" | "$vectorSearch" | "$searchMeta")
    ) && effect.action == Action::Read
    {
        effect.action = Action::Search;
    }
    Ok(effect)
}

/// The pipelines inside a stage.
fn nested<'a>(stage: &str, value: &'a Value) -> Vec<&'a Value> {
    match stage {
        "$facet" => value.as_object().into_iter().flat_map(|facets| facets.values()).collect(),
        "$lookup" | "$unionWith" => value.get("pipeline").into_iter().collect(),
        "$rankFusion" | "$scoreFusion" => {
            let pipelines = value.get("input").and_then(|input| input.get("pipelines")).and_then(Value::as_object);
            pipelines.into_iter().flat_map(|all| all.values()).collect()
        }
        _ => Vec::new(),
    }
}

/// `$out` replaces a whole collection.
fn out(value: &Value) -> Effect {
    let target = value.as_str().or_else(|| value.get("coll").and_then(Value::as_str)).map(|name| visible(name, 120));
    if value.get("s3").is_some()
        || value.get("azure").is_some()
        || value.get("gcs").is_some()
        || value.get("atlas").is_some()
    {
        return Effect::mutating(Action::Send, "writes the result into a bucket").unbounded().with(Danger::Outward);
    }
    Effect::mutating(Action::Overwrite, "replaces a collection with the result").on(target).unbounded()
}

/// `$merge` writes the documents that come out into another collection.
fn merge(value: &Value, limited: bool) -> Effect {
    let into = value.get("into").unwrap_or(value);
    let target = into.as_str().or_else(|| into.get("coll").and_then(Value::as_str)).map(|name| visible(name, 120));
    let action = match value.get("whenMatched").and_then(Value::as_str) {
        Some("replace") => Action::Overwrite,
        Some("keepExisting" | "fail") => Action::Create,
        _ => Action::Update,
    };
    let effect = Effect::mutating(action, "merges the result into a collection").on(target);
    if limited || action == Action::Create { effect } else { effect.unbounded() }
}
