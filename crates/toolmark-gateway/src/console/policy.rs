//! `GET /api/policy`: the rules, and how often each had a say, counted from what was recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolmark_core::time::Micros;
use toolmark_core::verdict::Decision;
use toolmark_policy::Author;
use toolmark_store::Store;
use toolmark_store::audit::{AuditCall, AuditFilter};

use super::error::{ConsoleError, problem};
use super::{Asked, Console};

/// How many calls are counted at most.
const MOST: u64 = 100_000;
/// How far back is counted where nobody says so.
const DAY: Duration = Duration::from_secs(86_400);
/// Into how many parts that time is cut, so that the newest calls are counted first.
const PARTS: i64 = 24;

/// How often a rule had a say.
#[derive(Default)]
struct Hits {
    allowed: u64,
    asked: u64,
    denied: u64,
    last: Option<Micros>,
}

/// What was counted.
#[derive(Default)]
struct Counted {
    rules: BTreeMap<String, Hits>,
    codes: BTreeMap<Arc<str>, Hits>,
    verdicts: [u64; 3],
    calls: u64,
    /// From when on all calls are counted.
    since: Option<Micros>,
    whole: bool,
}

impl Console {
    pub(super) async fn policy(&self, asked: &Asked) -> Result<Value, ConsoleError> {
        let workspace = asked.look.snapshot.workspace();
        let until = Micros::from(SystemTime::now());
        let since = asked.query.time("since")?.unwrap_or(until.before(DAY)).min(until);
        let counted = match self.audit() {
            Ok((store, _)) => count(store, since, until).await?,
            Err(_) => Counted { since: Some(since), whole: true, ..Counted::default() },
        };
        let policy = workspace.policy();
        let mut tools: BTreeMap<Author, u64> = BTreeMap::new();
        for tool in workspace.catalog().tools() {
            for author in policy.applying_to(tool) {
                *tools.entry(author).or_default() += 1;
            }
        }
        let nothing = Hits::default();
        let hits = |id: &str| counted.rules.get(id).unwrap_or(&nothing);
        let mut rules: Vec<Value> = policy
            .rules()
            .map(|(id, rule)| {
                let applies = tools.get(&Author::Rule(id.into())).copied().unwrap_or(0);
                let mut written = hits(id).to_json();
                put(&mut written, "id", id.into());
                put(&mut written, "kind", "rule".into());
                put(&mut written, "verdict", rule.verdict().as_str().into());
                put(&mut written, "reason", rule.reason().into());
                put(&mut written, "written", rule.to_json());
                put(&mut written, "tools", applies.into());
                written
            })
            .collect();
        for (author, applies) in &tools {
            if let Author::Cedar(id) = author {
                let mut written = hits(id).to_json();
                put(&mut written, "id", (**id).into());
                put(&mut written, "kind", "cedar".into());
                put(&mut written, "verdict", Value::Null);
                put(&mut written, "tools", (*applies).into());
                rules.push(written);
            }
        }
        let defaults = counted.codes.iter().map(|(code, hits)| {
            let mut written = hits.to_json();
            put(&mut written, "code", (**code).into());
            written
        });
        let tasks = workspace.tasks().iter().map(|task| {
            let patterns: Vec<String> = task.expectation().patterns().iter().map(ToString::to_string).collect();
            json!({"name": task.name().as_str(), "expect": patterns, "baseline": task.expectation().baseline().is_some()})
        });
        let [allow, ask, deny] = counted.verdicts;
        Ok(json!({
            "version": &**workspace.policy_version(),
            "preset": workspace.preset().as_str(),
            "observes": workspace.preset().only_observes(),
            "window": {
                "since": counted.since.map(|since| since.to_string()),
                "until": until.to_string(),
                "calls": counted.calls,
                "whole": counted.whole,
            },
            "rules": rules,
            "defaults": defaults.collect::<Vec<_>>(),
            "verdicts": {"allow": allow, "ask": ask, "deny": deny},
            "notes": policy.notes().iter().map(problem).collect::<Vec<_>>(),
            "tasks": tasks.collect::<Vec<_>>(),
        }))
    }
}

/// Counts calls, the newest part of the time first, until there were enough.
async fn count(store: &Store, since: Micros, until: Micros) -> Result<Counted, ConsoleError> {
    let mut counted = Counted { whole: true, since: Some(since), ..Counted::default() };
    let width = (until.get().saturating_sub(since.get()) / PARTS).max(1);
    let mut end = until.get().saturating_add(1);
    while end > since.get() {
        let start = end.saturating_sub(width).max(since.get());
        let filter =
            AuditFilter { since: Some(Micros::new(start)), until: Some(Micros::new(end)), ..AuditFilter::default() };
        let mut calls = store.calls(filter);
        loop {
            let page = calls.page().await?;
            if page.is_empty() {
                break;
            }
            for call in &page {
                counted.add(call);
            }
            if counted.calls >= MOST {
                break;
            }
        }
        if counted.calls >= MOST && start > since.get() {
            counted.whole = false;
            counted.since = Some(Micros::new(start));
            return Ok(counted);
        }
        end = start;
    }
    Ok(counted)
}

impl Counted {
    fn add(&mut self, call: &AuditCall) {
        self.calls += 1;
        let Some(verdict) = call.verdict else { return };
        let at = match verdict {
            Decision::Allow => 0,
            Decision::Ask => 1,
            Decision::Deny => 2,
        };
        if let Some(count) = self.verdicts.get_mut(at) {
            *count += 1;
        }
        let rules: Vec<String> =
            call.rules.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        // A rule that answered for a person let the call run.
        let answered = call.judged.as_deref().is_some_and(|judged| judged.contains("\"o\":\"answered\""));
        for rule in rules {
            let said = if answered { Decision::Allow } else { verdict };
            self.rules.entry(rule).or_default().add(said, call.time);
        }
        if let Some(code) = call.code.as_ref().filter(|code| !code.starts_with("rule-") && !code.starts_with("cedar-"))
        {
            self.codes.entry(Arc::clone(code)).or_default().add(verdict, call.time);
        }
    }
}

impl Hits {
    fn add(&mut self, said: Decision, time: Micros) {
        match said {
            Decision::Allow => self.allowed += 1,
            Decision::Ask => self.asked += 1,
            Decision::Deny => self.denied += 1,
        }
        self.last = self.last.max(Some(time));
    }

    fn to_json(&self) -> Value {
        json!({
            "hits": self.allowed + self.asked + self.denied,
            "allowed": self.allowed,
            "asked": self.asked,
            "denied": self.denied,
            "last": self.last.map(|last| last.to_string()),
        })
    }
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}
