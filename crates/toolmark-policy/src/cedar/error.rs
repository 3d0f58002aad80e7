//! What is wrong with a Cedar policy, told like every other refusal: with a code, a place and a fix.

use std::sync::Arc;

use cedar_policy::ffi::DetailedError;
use serde_json::{Map, Value};
use toolmark_core::document::Document;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

/// One thing that is wrong with one policy, or worth a note.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{owner}: {what}")]
pub(super) struct CedarError {
    kind: Kind,
    owner: String,
    what: String,
    help: Option<String>,
}

/// What kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is not Cedar.
    Syntax,
    /// It does not fit the schema.
    Type,
    /// It can never apply.
    Impossible,
    /// It compares the principal in a way that would miss agents and sessions.
    Principal,
    /// An annotation that means nothing here.
    Annotation,
    /// Two policies have one id.
    DuplicateId,
    /// Characters that look like others (a note), or change the order of reading.
    Suspicious,
    /// A note: a permit that changes nothing.
    IdlePermit,
}

impl CedarError {
    pub(super) fn new(kind: Kind, owner: impl Into<String>, what: impl Into<String>) -> Self {
        Self { kind, owner: owner.into(), what: one_line(&what.into()), help: None }
    }

    /// What Cedar itself found, without the policy's id, which stands in front already.
    pub(super) fn of(kind: Kind, owner: impl Into<String>, id: &str, error: &DetailedError) -> Self {
        let about = format!("for policy `{id}`, ");
        let what = error.message.strip_prefix(&about).unwrap_or(&error.message);
        let label = error.source_locations.iter().find_map(|location| location.label.as_deref());
        let help = error.help.as_deref().map(|help| help.strip_prefix(&about).unwrap_or(help));
        let help = help.or(label).map(one_line);
        Self { help, ..Self::new(kind, owner, what) }
    }

    /// The same with its place.
    pub(super) fn at(&self, document: &Arc<Document>, offset: usize) -> Problem {
        Problem::refused(self.report(), Some(document.place(offset)))
    }
}

fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "), 1_000)
}

impl Explain for CedarError {
    fn code(&self) -> Code {
        match self.kind {
            Kind::Syntax => Code::new("policy-cedar-syntax"),
            Kind::Type => Code::new("policy-cedar-type"),
            Kind::Impossible => Code::new("policy-cedar-impossible"),
            Kind::Principal => Code::new("policy-cedar-principal"),
            Kind::Annotation => Code::new("policy-cedar-annotation"),
            Kind::DuplicateId => Code::new("policy-duplicate-id"),
            Kind::Suspicious => Code::new("policy-cedar-suspicious"),
            Kind::IdlePermit => Code::new("policy-permit-idle"),
        }
    }

    fn why(&self) -> String {
        match self.kind {
            Kind::Syntax => "a policy that cannot be read protects nothing",
            Kind::Type => "it would fail when a call is judged, and Cedar skips a policy that fails, even a `forbid`",
            Kind::Impossible => "a policy that can never apply protects nothing, and nobody would notice",
            Kind::Principal => {
                "the principal is the session or agent where there is one, so this would miss calls of the same caller"
            }
            Kind::Annotation => "an annotation that nobody reads would not do what its author meant",
            Kind::DuplicateId => "a verdict names the policies that decided it, and this id would name two",
            Kind::Suspicious => {
                "characters that look like others, or reorder what is read, can hide what a policy says"
            }
            Kind::IdlePermit => "everything is permitted unless a policy forbids it, so a `permit` changes nothing",
        }
        .into()
    }

    fn fix(&self) -> String {
        match (&self.help, self.kind) {
            (Some(help), _) => help.clone(),
            (None, Kind::Syntax) => "check the policy with `toolmark policy check`".into(),
            (None, Kind::Type) => "compare it with the schema in docs/policy.md".into(),
            (None, Kind::Impossible) => "remove it, or widen its scope or conditions".into(),
            (None, Kind::Principal) => "write `principal in Caller::\"…\"` or `principal in Agent::\"…\"`".into(),
            (None, Kind::Annotation) => {
                "write `@verdict(\"ask\")` on a `forbid`, or `@verdict(\"allow\")` on a `permit`".into()
            }
            (None, Kind::DuplicateId) => "give each policy an `@id` of its own".into(),
            (None, Kind::Suspicious) => "write it in one script, without controls of direction".into(),
            (None, Kind::IdlePermit) => {
                "set `default = \"deny\"` under `[policy]`, or mark it `@verdict(\"allow\")`, or remove it".into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("owner", self.owner.as_str().into())])
    }
}
