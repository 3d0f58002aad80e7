//! What would become of recorded calls under another policy? Each is judged again by the functions that judge calls under way; what
//! cannot be known without arguments that were not kept is said, not guessed.

mod report;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::digest::{ArgumentDigest, DefinitionDigest};
use toolmark_core::json;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Reason};
use toolmark_policy::Caller;

pub use self::report::{Change, Report, Tally};
use crate::examine::{Examination, Outcome, Request};
use crate::judged::Judged;
use crate::workspace::Workspace;

/// How many judgements one worker keeps to find again.
const MOST_KEPT: usize = 32 * 1024;

/// A call as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its id.
    pub id: u128,
    /// The tool that was meant, and what its publisher said of it; absent when the call named none.
    pub tool: Option<(Arc<str>, DefinitionDigest)>,
    /// Who called.
    pub caller: Option<Arc<str>>,
    /// In which session.
    pub session: Option<Arc<str>>,
    /// What for.
    pub task: Option<Arc<str>>,
    /// What was decided.
    pub verdict: Option<Decision>,
    /// The code of what decided.
    pub code: Option<Arc<str>>,
    /// The rules that took part, as a JSON array.
    pub rules: Option<Arc<str>>,
    /// What it was judged by.
    pub judged: Option<Arc<str>>,
    /// The digest of its arguments.
    pub digest: Option<ArgumentDigest>,
    /// Its arguments, where they were kept; perhaps blacked out or cut off.
    pub arguments: Option<Arc<str>>,
}

/// What came of judging a call again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It was judged.
    Judged(Judgement),
    /// It could not be.
    NotJudged(NotJudged),
}

/// What was decided then and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Then, before anybody was asked.
    pub before: Decision,
    /// Now.
    pub after: Decision,
    /// What makes the difference, in words; empty where there is none.
    pub by: Vec<Arc<str>>,
    /// Whether its arguments were there, or only what they would do.
    pub from_arguments: bool,
    /// Whether its tool has another definition now.
    pub other_definition: bool,
}

/// Why a call could not be judged again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotJudged {
    /// It named no tool, or what it brought could not be read.
    NeverJudged,
    /// The store does not know the tool any more.
    NoTool,
    /// There is no such task in the new configuration.
    NoTask,
    /// Neither its arguments nor what they would do was kept.
    NothingKept,
    /// A newer program wrote what was kept.
    NotUnderstood,
    /// These rules look at arguments that were not kept.
    Arguments(Vec<Arc<str>>),
    /// What an argument selected was not kept.
    Selected,
}

/// Judges recorded calls by one workspace. One for each thread: it keeps what it found.
pub struct Replay<'w> {
    workspace: &'w Workspace,
    /// Tools that the new configuration does not offer.
    hidden: &'w (dyn Fn(&Tool) -> bool + Sync),
    tools: HashMap<Arc<str>, Option<&'w Tool>>,
    kept: HashMap<Key, Replayed>,
}

/// Everything that judging a call without its arguments depends on.
type Key = (Arc<str>, DefinitionDigest, [Option<Arc<str>>; 6], Option<Decision>);

impl<'w> Replay<'w> {
    /// Judges by this workspace. `hidden` says which tools are there and not offered.
    #[must_use]
    pub fn new(workspace: &'w Workspace, hidden: &'w (dyn Fn(&Tool) -> bool + Sync)) -> Self {
        Self { workspace, hidden, tools: HashMap::new(), kept: HashMap::new() }
    }

    /// Judges one call again.
    pub fn judge(&mut self, call: &Recorded) -> Replayed {
        let Some((canonical, definition)) = &call.tool else { return Replayed::NotJudged(NotJudged::NeverJudged) };
        if call.verdict.is_none() {
            return Replayed::NotJudged(NotJudged::NeverJudged);
        }
        // What is kept whole is judged whole. The digest tells: it is of the arguments as they came.
        let arguments = call.arguments.as_deref().and_then(|text| whole(text, call.digest));
        if let Some(arguments) = arguments {
            return self.judge_anew(call, canonical, *definition, Some(&arguments));
        }
        let texts = [&call.caller, &call.session, &call.task, &call.judged, &call.code, &call.rules];
        let key = (Arc::clone(canonical), *definition, texts.map(Clone::clone), call.verdict);
        if let Some(known) = self.kept.get(&key) {
            return known.clone();
        }
        let found = self.judge_anew(call, canonical, *definition, None);
        if self.kept.len() >= MOST_KEPT {
            self.kept.clear();
        }
        self.kept.insert(key, found.clone());
        found
    }

    fn judge_anew(
        &mut self,
        call: &Recorded,
        canonical: &Arc<str>,
        definition: DefinitionDigest,
        arguments: Option<&Value>,
    ) -> Replayed {
        let workspace = self.workspace;
        let tool = *self
            .tools
            .entry(Arc::clone(canonical))
            .or_insert_with(|| workspace.catalog().find(canonical, |_| true).ok());
        let Some(tool) = tool else { return Replayed::NotJudged(NotJudged::NoTool) };
        match self.judge_of(call, tool, definition, arguments) {
            Ok(judgement) => Replayed::Judged(judgement),
            Err(why) => Replayed::NotJudged(why),
        }
    }

    fn judge_of(
        &self,
        call: &Recorded,
        tool: &'w Tool,
        definition: DefinitionDigest,
        arguments: Option<&Value>,
    ) -> Result<Judgement, NotJudged> {
        let judged = match call.judged.as_deref() {
            None => None,
            Some(text) => Some(Judged::read(text).ok_or(NotJudged::NotUnderstood)?),
        };
        let before = before(call, judged.as_ref());
        let other_definition = tool.digest() != definition;
        let from_arguments = arguments.is_some();
        let judgement = |after, by| Judgement { before, after, by, from_arguments, other_definition };
        if (self.hidden)(tool) {
            let by = if before == Decision::Deny { Vec::new() } else { vec!["the tool is not offered".into()] };
            return Ok(judgement(Decision::Deny, by));
        }
        let task = match call.task.as_deref() {
            None => None,
            Some(name) => Some(self.workspace.tasks().recorded(name).map_err(|_| NotJudged::NoTask)?),
        };
        let task = task.as_deref();
        let caller = Caller::new(call.caller.as_deref().unwrap_or_default());
        let caller = call.session.as_deref().map_or(caller, |session| caller.in_session(session));
        let found = match (arguments, &judged) {
            (Some(arguments), _) => {
                let request = Request { tool, arguments, task, caller };
                let found = self.workspace.examine(&request).map_err(|_| NotJudged::NoTool)?;
                return Ok(conclude(call, before, &found, &judgement));
            }
            (None, None) => return Err(NotJudged::NothingKept),
            (None, Some(judged)) => judged,
        };
        // Arguments that do not fit are refused by whatever policy.
        if found.invalid && !other_definition {
            return Ok(judgement(Decision::Deny, Vec::new()));
        }
        let arguments = found.arguments();
        if let Some(prepared) = self.workspace.prepared(tool)
            && lost_selection(prepared.known(tool), found)
        {
            return Err(NotJudged::Selected);
        }
        let request = Request { tool, arguments: &arguments, task, caller };
        let facts = Arc::new(found.facts.clone());
        let (examination, open) = self.workspace.examine_facts(&request, facts).map_err(|_| NotJudged::NoTool)?;
        let after = decision(&examination);
        // Rules only make a verdict stricter, and one that allows only answers a question: of a denied call, no more need be known.
        let matters = |open: &&toolmark_policy::Open| match after {
            Decision::Deny => false,
            Decision::Ask => true,
            Decision::Allow => open.may_stop,
        };
        let needed: Vec<Arc<str>> = open.iter().filter(matters).map(|open| open.by.to_string().into()).collect();
        if !needed.is_empty() {
            return Err(NotJudged::Arguments(needed));
        }
        Ok(conclude(call, before, &examination, &judgement))
    }
}

/// The arguments, if they are exactly those of the call: neither blacked out nor cut off.
fn whole(text: &str, digest: Option<ArgumentDigest>) -> Option<Value> {
    let read = json::read(text).ok()?;
    (Some(ArgumentDigest::of(&read)) == digest).then(|| read.to_value())
}

/// True when the tool now does what an argument selects, and nobody kept what that was.
fn lost_selection(known: &KnownBehavior, judged: &Judged) -> bool {
    match known.by_argument() {
        None => false,
        // Then as now, a value that is not documented counts as the worst.
        Some(by_argument) => match &judged.selected {
            Some(selected) => selected.pointer != by_argument.pointer(),
            None => judged.behavior != Some(by_argument.floor()),
        },
    }
}

/// What was decided before anybody was asked.
fn before(call: &Recorded, judged: Option<&Judged>) -> Decision {
    match judged.map(|judged| judged.outcome) {
        Some("run" | "answered") => Decision::Allow,
        Some("ask") => Decision::Ask,
        Some("refuse") => Decision::Deny,
        // Who only observes lets everything run; what counts is what would have been said.
        _ => call.verdict.unwrap_or(Decision::Deny),
    }
}

fn decision(examination: &Examination<'_>) -> Decision {
    match examination.outcome() {
        Outcome::Run | Outcome::Answered(_) => Decision::Allow,
        Outcome::Observed(decision) => decision,
        Outcome::Ask => Decision::Ask,
        Outcome::Refuse => Decision::Deny,
    }
}

fn conclude(
    call: &Recorded,
    before: Decision,
    found: &Examination<'_>,
    judgement: &dyn Fn(Decision, Vec<Arc<str>>) -> Judgement,
) -> Judgement {
    let after = decision(found);
    let by = match after.cmp(&before) {
        std::cmp::Ordering::Equal => Vec::new(),
        std::cmp::Ordering::Greater => distinct(found.verdict().deciding().map(author)),
        std::cmp::Ordering::Less => match found.outcome() {
            Outcome::Answered(answered) => vec![format!("allowed by {}", answered.by()).into()],
            _ => distinct(gone(call).into_iter()),
        },
    };
    judgement(after, by)
}

/// Who gave a reason: a rule or policy by its id, everything else by its code.
fn author(reason: &Reason) -> String {
    let named = |key: &str| reason.facts.get(key).and_then(Value::as_str);
    match (named("rule"), named("policy")) {
        (Some(rule), _) => format!("rule `{rule}`"),
        (None, Some(policy)) => format!("policy `{policy}`"),
        (None, None) => reason.code.to_owned(),
    }
}

/// What stopped the call then and does not any more.
fn gone(call: &Recorded) -> Vec<String> {
    let rules: Option<Vec<String>> = call.rules.as_deref().and_then(|rules| serde_json::from_str(rules).ok());
    match rules {
        Some(rules) if !rules.is_empty() => rules.iter().map(|rule| format!("no longer `{rule}`")).collect(),
        _ => call.code.iter().map(|code| format!("no longer {code}")).collect(),
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<Arc<str>> {
    let mut all: Vec<Arc<str>> = names.map(Into::into).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
