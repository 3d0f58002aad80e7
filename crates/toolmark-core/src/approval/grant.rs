//! A decision that holds for later calls, and whether it holds for this one.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ArgumentPattern, EffectBound, GrantId, Scope};
use crate::digest::{ArgumentDigest, Mark};
use crate::facts::Facts;
use crate::time::Micros;

/// A standing yes or no of a person, bound to one tool in one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What it is revoked by.
    pub id: GrantId,
    /// Whose calls it is for.
    pub principal: String,
    /// The only session it holds in.
    pub session: Option<String>,
    /// The tool's canonical name, for people. The mark decides.
    pub canonical: String,
    /// The tool in the version that was shown.
    pub mark: Mark,
    /// Which calls of it.
    pub covers: Covers,
    /// A yes; otherwise it is a standing no.
    pub allows: bool,
    /// What the model is told, where it is a no.
    pub message: Option<String>,
    /// The policy under which it was given. Under another one it says nothing. None: under any.
    pub policy: Option<String>,
    /// By whom, when and from where.
    pub given: Given,
    /// When it ends.
    pub expires: Option<Micros>,
    /// For how many calls. None: any number.
    pub uses: Option<u32>,
    /// How many calls it was used for, where that is counted.
    pub used: u32,
    /// By whom it was taken back.
    pub revoked: Option<Given>,
}

/// Which calls of a tool a grant covers. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covers {
    /// Those with exactly these arguments, however they are spelled.
    Arguments(ArgumentDigest),
    /// Those whose arguments fit.
    Pattern(ArgumentPattern),
    /// Those that do no more than this.
    Effect(EffectBound),
    /// All.
    Anything,
}

/// Who decided, when, and from where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// A name.
    pub by: String,
    /// How they were asked.
    pub way: Way,
    /// When.
    pub at: Micros,
    /// An address, a host, a process.
    pub from: Option<String>,
}

/// How a decision came in. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The client that called asked its user (MCP elicitation or `input_required`).
    Client,
    /// On the command line.
    Cli,
    /// Over the HTTP interface.
    Http,
    /// A webhook answered.
    Webhook,
    /// In the console.
    Console,
    /// A callback of the program that uses the library.
    Library,
}

/// A call that a grant may cover.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Who calls.
    pub principal: &'a str,
    /// In which session.
    pub session: Option<&'a str>,
    /// Which tool.
    pub mark: &'a Mark,
    /// With what.
    pub arguments: &'a Value,
    /// The digest of that.
    pub digest: &'a ArgumentDigest,
    /// What it would do.
    pub facts: &'a Facts,
    /// Under which policy.
    pub policy: &'a str,
    /// When.
    pub now: Micros,
}

impl Grant {
    /// Whether it speaks about this call.
    ///
    /// Invariant: never for another mark, another principal, another policy, after its end or beyond its uses.
    #[must_use]
    pub fn covers(&self, asked: &Asked<'_>) -> bool {
        self.mark == *asked.mark
            && self.principal == asked.principal
            && self.session.as_deref().is_none_or(|session| Some(session) == asked.session)
            && self.policy.as_deref().is_none_or(|policy| policy == asked.policy)
            && self.is_alive(asked.now)
            && match &self.covers {
                Covers::Arguments(digest) => digest == asked.digest,
                Covers::Pattern(pattern) => pattern.covers(asked.arguments),
                Covers::Effect(bound) => bound.covers(asked.facts),
                Covers::Anything => true,
            }
    }

    /// Whether it can cover anything at this time.
    #[must_use]
    pub fn is_alive(&self, now: Micros) -> bool {
        self.revoked.is_none()
            && self.expires.is_none_or(|end| now < end)
            && self.uses.is_none_or(|uses| self.used < uses)
    }

    /// How far it reaches.
    #[must_use]
    pub fn scope(&self) -> Scope {
        match (&self.covers, &self.session) {
            (_, Some(_)) => Scope::Session,
            (Covers::Arguments(_), None) => Scope::Once,
            (Covers::Pattern(_), None) => Scope::Pattern,
            (Covers::Effect(_), None) => Scope::Effect,
            (Covers::Anything, None) => Scope::Always,
        }
    }

    /// The grant as JSON for people and programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let limit = match &self.covers {
            Covers::Arguments(digest) => json!({"arguments_digest": digest}),
            Covers::Pattern(pattern) => json!({"pattern": pattern, "text": pattern.to_string()}),
            Covers::Effect(bound) => json!({"effect": bound.to_string()}),
            Covers::Anything => Value::Null,
        };
        json!({
            "id": self.id,
            "allows": self.allows,
            "scope": self.scope(),
            "principal": self.principal,
            "session": self.session,
            "tool": self.canonical,
            "mark": self.mark,
            "covers": limit,
            "message": self.message,
            "policy": self.policy,
            "given": self.given.to_json(),
            "expires": self.expires.map(|end| end.to_string()),
            "uses": self.uses,
            "used": self.used,
            "revoked": self.revoked.as_ref().map(Given::to_json),
        })
    }
}

impl Given {
    /// As JSON, with the time in words.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"by": self.by, "way": self.way, "at": self.at.to_string(), "from": self.from})
    }
}

impl Way {
    /// The way in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Cli => "cli",
            Self::Http => "http",
            Self::Webhook => "webhook",
            Self::Console => "console",
            Self::Library => "library",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests;
