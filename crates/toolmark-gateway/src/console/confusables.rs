//! `GET /api/confusables`: which tools can be taken for each other, and what tells them apart. The groups are those of `toolmark lint`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::{Value, json};
use toolmark_core::behavior::{Action, KnownBehavior, Mutability};
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_lint::{Finding, Options, RuleId, Separation, lint};

use super::card::said;
use super::error::ConsoleError;
use super::look::Look;
use super::{Asked, Console};
use crate::snapshot::Snapshot;

/// How many groups are shown, and how many tools of each.
const GROUPS: usize = 300;
const TOOLS: usize = 60;

/// What was found last: looking at thousands of tools takes a moment.
#[derive(Default)]
pub(super) struct Found(Mutex<Option<Kept>>);

/// Of which snapshot, for which reader.
type Kept = (Weak<Snapshot>, String, Arc<Value>);

impl Console {
    pub(super) async fn confusables(&self, asked: &Asked) -> Result<Value, ConsoleError> {
        let look = asked.look.clone();
        if let Some(found) = self.found.get(&look) {
            return Ok(found);
        }
        let searched = look.clone();
        let found = tokio::task::spawn_blocking(move || search(&searched)).await;
        let found = found.map_err(|error| ConsoleError::Failed(error.to_string()))?;
        self.found.keep(&look, found.clone());
        Ok(found)
    }
}

impl Found {
    fn get(&self, look: &Look) -> Option<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (snapshot, lang, found) = kept.as_ref()?;
        let same = *lang == look.reader() && std::ptr::eq(snapshot.as_ptr(), Arc::as_ptr(&look.snapshot));
        same.then(|| Value::clone(found))
    }

    fn keep(&self, look: &Look, found: Value) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((Arc::downgrade(&look.snapshot), look.reader(), Arc::new(found)));
    }
}

fn search(look: &Look) -> Value {
    let catalog = look.snapshot.workspace().catalog();
    let wanted = [
        RuleId::SameSchema,
        RuleId::SharedName,
        RuleId::LookAlikeName,
        RuleId::NameAfterSanitizing,
        RuleId::NameAfterShortening,
    ];
    let options = wanted.into_iter().fold(Options::default().without(RuleId::CatalogProblem), Options::only);
    let options = catalog.tools().fold(options, |options, tool| match said(&look.snapshot, tool) {
        Some(behavior) => options.declared(tool.canonical().clone(), behavior),
        None => options,
    });
    let linted = lint(catalog, &options);
    let mut groups: Vec<Value> = linted
        .findings()
        .iter()
        .filter(|finding| finding.tools().len() > 1)
        .filter_map(|finding| of_finding(finding, look))
        .collect();
    groups.extend(same_display(look));
    let left_off = groups.len().saturating_sub(GROUPS);
    groups.truncate(GROUPS);
    json!({"tools": catalog.len(), "left_off": left_off, "groups": groups})
}

fn of_finding(finding: &Finding, look: &Look) -> Option<Value> {
    let tools: Vec<&Tool> = finding.tools().iter().filter_map(|name| look.find(name.as_str())).collect();
    if tools.len() < 2 {
        return None;
    }
    let kind = match finding.rule() {
        RuleId::SharedName => "same-name",
        rule => rule.as_str(),
    };
    let data = |key: &str| finding.data().get(key).cloned();
    let key = data("schema").or_else(|| data("name")).unwrap_or_else(|| finding.fingerprint().into());
    let mut group = group(kind, finding.severity().as_str(), &key, finding.message(), &tools, look);
    if let Some(members) = group.as_object_mut() {
        members.insert("help".into(), finding.help().into());
        members.insert("parameters".into(), data("parameters").into());
        members.insert("separated".into(), data("separated").into());
        members.insert("fingerprint".into(), finding.fingerprint().into());
    }
    Some(group)
}

/// Tools that people read the same name of.
fn same_display(look: &Look) -> Vec<Value> {
    let mut named: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    for tool in look.snapshot.workspace().catalog().tools() {
        let shown = look.tool(tool);
        let name = shown.get("name").and_then(Value::as_str).unwrap_or_default();
        named.entry(name.to_lowercase()).or_default().push(tool);
    }
    named.retain(|_, tools| tools.len() > 1);
    let group = |(name, tools): (&String, &Vec<&Tool>)| {
        let says = format!("{} tools are shown as `{}`", tools.len(), visible(name, 80));
        group("same-display-name", "low", &Value::from(name.as_str()), &says, tools, look)
    };
    named.iter().map(group).collect()
}

fn group(kind: &str, severity: &str, key: &Value, says: &str, tools: &[&Tool], look: &Look) -> Value {
    let workspace = look.snapshot.workspace();
    let one_pack = tools.windows(2).all(|pair| matches!(pair, [one, other] if one.pack() == other.pack()));
    let shown: Vec<(&Tool, KnownBehavior)> =
        tools.iter().take(TOOLS).map(|tool| (*tool, workspace.known(tool))).collect();
    let described = shown.iter().map(|(tool, known)| {
        let behavior = known.behavior();
        let action = behavior.map(|behavior| behavior.action());
        json!({
            "canonical": tool.canonical(),
            "shown": look.tool(tool),
            "pack": tool.pack(),
            "behavior": behavior.map(|behavior| behavior.to_string()),
            "mutability": known.mutability(),
            "action": action,
            "agreement": known.agreement().as_str(),
            "reads": known.mutability() == Some(Mutability::Pure),
            "destroys": action == Some(Action::Delete),
        })
    });
    let described: Vec<Value> = described.collect();
    let mut links = Vec::new();
    for (at, (_, one)) in shown.iter().enumerate() {
        for (other_at, (_, other)) in shown.iter().enumerate().skip(at + 1) {
            links.push(json!([at, other_at, Separation::between(one.behavior(), other.behavior())]));
        }
    }
    json!({
        "kind": kind,
        "severity": severity,
        "key": key,
        "pack": tools.first().filter(|_| one_pack).and_then(|tool| tool.pack()),
        "says": says,
        "tools": described,
        "more_tools": tools.len().saturating_sub(TOOLS),
        "links": links,
    })
}
