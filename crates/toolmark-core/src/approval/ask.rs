//! One question to a person about one call, and what may be answered.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{ArgumentPattern, AskId, Covers, EffectBound, Given, Grant, GrantId, Prompt, Scope};
use crate::digest::{ArgumentDigest, Mark};
use crate::explain::{Code, Explain, facts};
use crate::text::visible;
use crate::time::Micros;
use crate::verdict::Reason;

/// What makes two calls one question: who calls what with what, for what, under which policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskKey(String);

/// One question about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// What it is answered by.
    pub id: AskId,
    /// What makes another call the same question.
    pub key: AskKey,
    /// Who calls.
    pub principal: String,
    /// In which session.
    pub session: Option<String>,
    /// The name under which it was called.
    pub called: String,
    /// The tool's canonical name.
    pub canonical: String,
    /// The tool in its version.
    pub mark: Mark,
    /// What the tool is known to do, such as `MUTATES|DELETE|RECORD`.
    pub behavior: String,
    /// The arguments that were judged, as JSON text.
    pub arguments: String,
    /// Their digest.
    pub digest: ArgumentDigest,
    /// What they would do, in words, one line each.
    pub effects: Vec<String>,
    /// The same as a limit for later calls, where they can be one.
    pub bound: Option<EffectBound>,
    /// Why it is asked: the reasons of the verdict, as JSON.
    pub reasons: Value,
    /// What changed in the tool since it was approved, one line each.
    pub changes: Vec<String>,
    /// What the caller came for.
    pub task: Option<String>,
    /// Under which policy.
    pub policy: String,
    /// When.
    pub created: Micros,
    /// Until when it can be answered.
    pub expires: Micros,
    /// What became of it.
    pub state: AskState,
}

/// What became of a question. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskState {
    /// Nobody has answered.
    Pending,
    /// Somebody has.
    Decided(Decided),
    /// Its time ran out.
    Expired,
}

/// An answer, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Yes or no.
    pub allows: bool,
    /// How far it reaches.
    pub scope: Scope,
    /// What the model is told.
    pub message: Option<String>,
    /// The arguments that it is to run with instead, as JSON text.
    pub edited: Option<String>,
    /// The grant that stays of it.
    pub grant: Option<GrantId>,
    /// Whether the tool as it was shown is the approved one from now on, for everybody.
    #[serde(default)]
    pub pin: bool,
    /// By whom, when and from where.
    pub given: Given,
}

/// What somebody answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Yes or no.
    pub allows: bool,
    /// How far it reaches.
    pub scope: Scope,
    /// For the scope `pattern`: what later arguments must be.
    pub pattern: Option<ArgumentPattern>,
    /// What the model is told.
    pub message: Option<String>,
    /// Other arguments to run with, as JSON text of an object.
    pub edited: Option<String>,
    /// When what stays of it ends.
    pub expires: Option<Micros>,
    /// For how many calls what stays of it holds.
    pub uses: Option<u32>,
    /// The digest of the arguments that the person saw, where they say so.
    pub seen: Option<ArgumentDigest>,
    /// Whether what stays of it outlives a change of the policy.
    pub any_policy: bool,
    /// Whether the tool as it was shown is the approved one from now on, for everybody.
    pub pin: bool,
    /// By whom, when and from where.
    pub given: Given,
}

/// An answer that cannot be given to this question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulingError {
    /// The scope is not among those that are offered.
    #[error("the scope `{scope}` is not offered for this call")]
    NotOffered {
        /// The scope.
        scope: Scope,
        /// Those that are.
        offered: Vec<Scope>,
    },
    /// A pattern is missing, or does not cover the call itself.
    #[error("the pattern does not cover the call that is asked about")]
    Pattern,
    /// Edited arguments that are no JSON object, or come with a no or a scope.
    #[error("the edited arguments cannot be used: {0}")]
    Edited(String),
    /// The person saw other arguments.
    #[error("the answer is about other arguments than those that wait")]
    SeenOther,
    /// The tool cannot be pinned with this answer.
    #[error("the tool cannot be pinned with this answer: {0}")]
    Pin(&'static str),
    /// It would hold for no call, or end before it begins.
    #[error("the answer would hold for nothing")]
    Empty,
}

impl AskKey {
    /// The key of a call.
    #[must_use]
    pub fn of(principal: &str, mark: &Mark, digest: &ArgumentDigest, task: Option<&str>, policy: &str) -> Self {
        let mut hash = Sha256::new_with_prefix("toolmark/ask/v1\0");
        for text in [principal, task.unwrap_or("\u{1}"), policy] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        hash.update(mark.as_bytes());
        hash.update(digest.as_bytes());
        Self(crate::digest::hex(&hash.finalize()))
    }

    /// A key as it was written down.
    #[must_use]
    pub fn read(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Ask {
    /// What a person is shown, made from the bytes that were judged.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        Prompt::of(self)
    }

    /// The arguments as a value.
    #[must_use]
    pub fn arguments(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_default()
    }

    /// True when it is asked because nobody has approved the tool yet.
    #[must_use]
    pub fn is_first_use(&self) -> bool {
        let code = |reason: &Value| reason.get("code").and_then(Value::as_str) == Some(Reason::FIRST_USE);
        self.reasons.as_array().is_some_and(|reasons| reasons.iter().any(code))
    }

    /// How far an answer may reach. What cannot be shown whole is answered once and no further. What stays of an answer is for this
    /// caller: a tool that changed is held for everybody else until somebody pins it.
    #[must_use]
    pub fn offered(&self) -> Vec<Scope> {
        if !self.prompt().is_whole() {
            return vec![Scope::Once];
        }
        let possible = |scope: &Scope| match scope {
            Scope::Once | Scope::Always => true,
            Scope::Pattern => self.arguments().as_object().is_some_and(|members| !members.is_empty()),
            Scope::Session => self.session.is_some(),
            Scope::Effect => self.bound.is_some(),
        };
        Scope::ALL.into_iter().filter(possible).collect()
    }

    /// True when it can be answered at this time.
    #[must_use]
    pub fn is_open(&self, now: Micros) -> bool {
        self.state == AskState::Pending && now < self.expires
    }

    /// What an answer means, with the grant that stays of it under this id.
    ///
    /// # Errors
    /// [`RulingError`] when it cannot be the answer to this question.
    pub fn settle(&self, ruling: &Ruling, id: GrantId) -> Result<(Decided, Option<Grant>), RulingError> {
        if ruling.seen.is_some_and(|seen| seen != self.digest) {
            return Err(RulingError::SeenOther);
        }
        let offered = self.offered();
        if !offered.contains(&ruling.scope) {
            return Err(RulingError::NotOffered { scope: ruling.scope, offered });
        }
        if ruling.uses == Some(0) || ruling.expires.is_some_and(|end| end <= ruling.given.at) {
            return Err(RulingError::Empty);
        }
        if let Some(edited) = &ruling.edited {
            check_edited(ruling, edited)?;
        }
        match (ruling.pin, ruling.allows, self.prompt().is_whole()) {
            (true, false, _) => return Err(RulingError::Pin("it is a no")),
            (true, true, false) => return Err(RulingError::Pin("what it says could not be shown whole")),
            (true, true, true) | (false, _, _) => {}
        }
        // More than one use is something that stays, whatever the scope is called.
        let stays = ruling.scope.is_sticky() || ruling.uses.is_some_and(|uses| uses > 1);
        let covers = match ruling.scope {
            Scope::Once => Covers::Arguments(self.digest),
            Scope::Session | Scope::Always => Covers::Anything,
            Scope::Effect => Covers::Effect(self.bound.clone().ok_or(RulingError::Pattern)?),
            Scope::Pattern => {
                let pattern = ruling.pattern.clone().ok_or(RulingError::Pattern)?;
                if !pattern.covers(&self.arguments()) {
                    return Err(RulingError::Pattern);
                }
                Covers::Pattern(pattern)
            }
        };
        let grant = stays.then(|| Grant {
            id,
            principal: self.principal.clone(),
            session: self.session.clone().filter(|_| ruling.scope == Scope::Session),
            canonical: self.canonical.clone(),
            mark: self.mark,
            covers,
            allows: ruling.allows,
            message: ruling.message.clone(),
            policy: (!ruling.any_policy).then(|| self.policy.clone()),
            given: ruling.given.clone(),
            expires: ruling.expires,
            // The call that waits is the first of them, and is not counted against what stays.
            uses: ruling.uses.map(|uses| uses - 1),
            used: 0,
            revoked: None,
        });
        // What is used up by the call that waits does not stay, and is not named either.
        let grant = grant.filter(|grant| grant.uses != Some(0));
        let decided = Decided {
            allows: ruling.allows,
            scope: ruling.scope,
            message: ruling.message.clone(),
            edited: ruling.edited.clone(),
            grant: grant.as_ref().map(|grant| grant.id),
            // What stays of a first use is that somebody saw the tool.
            pin: ruling.pin || (ruling.allows && ruling.scope.is_sticky() && self.is_first_use()),
            given: ruling.given.clone(),
        };
        Ok((decided, grant))
    }

    /// The question as JSON for people and programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let prompt = self.prompt();
        json!({
            "id": self.id,
            "state": self.state.as_str(),
            "principal": self.principal,
            "session": self.session,
            "called": self.called,
            "tool": self.canonical,
            "mark": self.mark,
            "behavior": self.behavior,
            "arguments": self.arguments(),
            "arguments_digest": self.digest,
            "effects": self.effects,
            "reasons": self.reasons,
            "changes": self.changes,
            "task": self.task,
            "policy": self.policy,
            "created": self.created.to_string(),
            "expires": self.expires.to_string(),
            "offered": self.offered(),
            "prompt": prompt.text(),
            "whole": prompt.is_whole(),
            "decision": match &self.state {
                AskState::Decided(decided) => json!({
                    "allows": decided.allows,
                    "scope": decided.scope,
                    "message": decided.message,
                    "edited": decided.edited.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()),
                    "grant": decided.grant,
                    "pin": decided.pin,
                    "given": decided.given.to_json(),
                }),
                AskState::Pending | AskState::Expired => Value::Null,
            },
        })
    }
}

fn check_edited(ruling: &Ruling, edited: &str) -> Result<(), RulingError> {
    let refuse = |why: &str| Err(RulingError::Edited(why.into()));
    if !ruling.allows {
        return refuse("a no runs nothing");
    }
    if ruling.scope.is_sticky() || ruling.uses.is_some_and(|uses| uses > 1) {
        return refuse("they are for the calls that wait, so their scope is `once`");
    }
    match crate::json::read(edited) {
        Ok(json) if json.entries().is_some() => Ok(()),
        Ok(_) => refuse("they are no object"),
        Err(error) => Err(RulingError::Edited(error.to_string())),
    }
}

impl AskState {
    /// The state in one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Decided(Decided { allows: true, .. }) => "approved",
            Self::Decided(_) => "rejected",
            Self::Expired => "expired",
        }
    }
}

impl Ruling {
    /// A plain yes or no to the calls that wait.
    #[must_use]
    pub fn once(allows: bool, given: Given) -> Self {
        Self {
            allows,
            scope: Scope::Once,
            pattern: None,
            message: None,
            edited: None,
            expires: None,
            uses: None,
            seen: None,
            any_policy: false,
            pin: false,
            given,
        }
    }
}

impl fmt::Display for AskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Explain for RulingError {
    fn code(&self) -> Code {
        match self {
            Self::NotOffered { .. } => Code::new("approval-scope-not-offered"),
            Self::Pattern => Code::new("approval-pattern"),
            Self::Edited(_) => Code::new("approval-edited-arguments"),
            Self::SeenOther => Code::new("approval-changed"),
            Self::Pin(_) => Code::new("approval-pin"),
            Self::Empty => Code::new("approval-empty"),
        }
    }

    fn why(&self) -> String {
        let why = match self {
            Self::NotOffered { .. } => {
                "what was not shown whole, or has no such limit, must not be approved beyond this call"
            }
            Self::Pattern => "a pattern that does not cover what was shown would approve something nobody saw",
            Self::Edited(_) => {
                "edited arguments go through the pipeline like any others, and only for the calls that wait"
            }
            Self::SeenOther => "an answer is worth nothing for a call that is not the one that was shown",
            Self::Pin(_) => "a pin says that somebody saw the whole tool and approved it, for every caller",
            Self::Empty => "an approval that covers no call only looks like one",
        };
        why.into()
    }

    fn fix(&self) -> String {
        match self {
            Self::NotOffered { offered, .. } => {
                let offered: Vec<String> = offered.iter().map(|scope| format!("`{scope}`")).collect();
                format!("use one of {}", offered.join(", "))
            }
            Self::Pattern => "name arguments of this call that may differ, such as `--vary issue_number`".into(),
            Self::Edited(_) => "give an object, such as `--arguments '{\"limit\": 10}'`, and approve once".into(),
            Self::SeenOther => "look at the call again, then answer".into(),
            Self::Pin(_) => {
                "approve without pinning, then read `toolmark pins diff TOOL` and use `toolmark pins accept TOOL`"
                    .into()
            }
            Self::Empty => "give at least one use, and an end in the future".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NotOffered { scope, offered } => {
                facts([("scope", scope.as_str().into()), ("offered", json!(offered))])
            }
            Self::Edited(why) => facts([("why", visible(why, 300).into())]),
            Self::Pattern | Self::SeenOther | Self::Pin(_) | Self::Empty => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) mod samples;
