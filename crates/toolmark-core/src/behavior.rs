//! What a tool does, in four closed vocabularies, and the short identity of that.
//!
//! The first three fields and the first identity are those of "Behavioral Identity for Tool Ecosystems"; some values are ours.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::digest::hex;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// A closed vocabulary: each value has one upper-case spelling.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $field:literal, { $($(#[$value_doc:meta])* $value:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$value_doc])* $value),+
        }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$value),+];

            /// The one spelling.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text),+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = ParseBehaviorError;

            fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
                match text {
                    $($text => Ok(Self::$value),)+
                    _ => Err(ParseBehaviorError::Value {
                        field: $field,
                        found: visible(text, 60),
                        allowed: &[$($text),+],
                    }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// Whether a tool changes anything that a later call or anybody else can observe.
    Mutability, "mutability", {
        /// Changes nothing.
        Pure = "PURE",
        /// Changes something.
        Mutates = "MUTATES",
    }
}

vocabulary! {
    /// What a tool does to the thing it acts on.
    Action, "action", {
        /// Returns known or enumerated things.
        Read = "READ",
        /// Returns what a query or pattern of the caller's selects.
        Search = "SEARCH",
        /// Makes a new addressable thing or relation.
        Create = "CREATE",
        /// Changes an existing thing or its state.
        Update = "UPDATE",
        /// Ends a thing or relation.
        Delete = "DELETE",
        /// Brings one line of history into another.
        Merge = "MERGE",
        /// Replaces the whole content.
        Overwrite = "OVERWRITE",
        /// Adds without touching what is there.
        Append = "APPEND",
        /// Runs something whose effect is open-ended.
        Execute = "EXECUTE",
        /// Delivers to somebody outside; cannot be taken back.
        Send = "SEND",
    }
}

vocabulary! {
    /// What kind of thing comes back or is acted on.
    OutputDomain, "output_domain", {
        /// Records and values.
        Data = "DATA",
        /// Bodies of files, pages, documents, media.
        Content = "CONTENT",
        /// Listings, trees, schemas, metadata.
        Structure = "STRUCTURE",
        /// A difference between two states.
        Diff = "DIFF",
        /// A pull or merge request.
        Pr = "PR",
        /// An issue, discussion, card or comment on one.
        Issue = "ISSUE",
        /// A branch, tag, commit or release.
        Ref = "REF",
        /// A repository.
        Repo = "REPO",
        /// People and teams.
        User = "USER",
        /// Only a confirmation.
        Ack = "ACK",
        /// Mail, chat, notifications, queue messages.
        Message = "MESSAGE",
        /// A program run, job or process, its output and logs.
        Run = "RUN",
        /// Managed infrastructure.
        Resource = "RESOURCE",
        /// A browser page, terminal, connection or login.
        Session = "SESSION",
        /// A security or quality alert.
        Finding = "FINDING",
        /// Credentials, tokens, key material.
        Secret = "SECRET",
    }
}

vocabulary! {
    /// The kind of the principal payload: what a reader returns, what a writer writes.
    ContentType, "content_type", {
        /// Identifiers in, an acknowledgement out.
        None = "NONE",
        /// Text.
        Text = "TEXT",
        /// Records or JSON.
        Structured = "STRUCTURED",
        /// An image.
        Image = "IMAGE",
        /// Sound.
        Audio = "AUDIO",
        /// Moving pictures.
        Video = "VIDEO",
        /// Opaque or mixed bytes.
        Binary = "BINARY",
        /// It depends on the arguments.
        Any = "ANY",
    }
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Behavior {
    mutability: Mutability,
    action: Action,
    output_domain: OutputDomain,
    content_type: Option<ContentType>,
}

/// Sixteen hexadecimal digits for a behavior: a label to compare, not a secret to rely on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BehaviorIdentity([u8; 8]);

/// Text that is no behavior.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseBehaviorError {
    /// A word that is not in the vocabulary of its field.
    #[error("`{found}` is not a value of `{field}`")]
    Value {
        /// The field.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: &'static [&'static str],
    },
    /// Not three or four fields.
    #[error("`{found}` has {fields} fields, not three or four")]
    Fields {
        /// What was read.
        found: String,
        /// How many fields it has.
        fields: usize,
    },
    /// Some of the three fields are given and some are not.
    #[error("the declaration has no `{missing}`")]
    Incomplete {
        /// The first field that is missing.
        missing: &'static str,
    },
    /// A pure tool that is said to change something.
    #[error("a PURE tool cannot {0}")]
    Contradiction(Action),
}

impl Behavior {
    /// Puts three fields together.
    ///
    /// # Errors
    /// When they contradict each other: what is PURE does not create, change or delete.
    pub fn new(
        mutability: Mutability,
        action: Action,
        output_domain: OutputDomain,
    ) -> Result<Self, ParseBehaviorError> {
        let harmless = matches!(action, Action::Read | Action::Search | Action::Execute);
        if mutability == Mutability::Pure && !harmless {
            return Err(ParseBehaviorError::Contradiction(action));
        }
        Ok(Self { mutability, action, output_domain, content_type: None })
    }

    /// The same with a content type.
    #[must_use]
    pub fn with_content_type(mut self, content_type: ContentType) -> Self {
        self.content_type = Some(content_type);
        self
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn mutability(&self) -> Mutability {
        self.mutability
    }

    /// What it does.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// What it acts on or returns.
    #[must_use]
    pub fn output_domain(&self) -> OutputDomain {
        self.output_domain
    }

    /// The kind of its payload, where it is known.
    #[must_use]
    pub fn content_type(&self) -> Option<ContentType> {
        self.content_type
    }

    /// The identity of the paper: over `MUTABILITY|ACTION|OUTPUT_DOMAIN`.
    #[must_use]
    pub fn identity(&self) -> BehaviorIdentity {
        BehaviorIdentity::of(&self.three())
    }

    /// The second identity, over all four fields, where the content type is known.
    #[must_use]
    pub fn identity_v2(&self) -> Option<BehaviorIdentity> {
        self.content_type.map(|_| BehaviorIdentity::of(&self.to_string()))
    }

    fn three(&self) -> String {
        format!("{}|{}|{}", self.mutability, self.action, self.output_domain)
    }
}

impl BehaviorIdentity {
    fn of(text: &str) -> Self {
        let digest: [u8; 32] = Sha256::digest(text).into();
        let mut first = [0; 8];
        first.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(first)
    }
}

impl fmt::Display for Behavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.three())?;
        match self.content_type {
            Some(content_type) => write!(f, "|{content_type}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for BehaviorIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for BehaviorIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Behavior {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        let fields: Vec<&str> = text.split('|').collect();
        match fields.as_slice() {
            [mutability, action, domain] => Self::new(mutability.parse()?, action.parse()?, domain.parse()?),
            [mutability, action, domain, content] => {
                Ok(Self::new(mutability.parse()?, action.parse()?, domain.parse()?)?
                    .with_content_type(content.parse()?))
            }
            other => Err(ParseBehaviorError::Fields { found: visible(text, 60), fields: other.len() }),
        }
    }
}

impl serde::Serialize for Behavior {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Explain for ParseBehaviorError {
    fn code(&self) -> Code {
        match self {
            Self::Value { .. } => Code::new("behavior-value"),
            Self::Fields { .. } | Self::Incomplete { .. } => Code::new("behavior-syntax"),
            Self::Contradiction(_) => Code::new("behavior-contradiction"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Value { .. } => "the vocabularies are closed: a word nobody else knows would match no rule",
            Self::Fields { .. } | Self::Incomplete { .. } => {
                "a behavior is compared as a whole; a missing field would silently match less than was meant"
            }
            Self::Contradiction(_) => "one of the two is wrong, and guessing which would weaken a guard",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Value { allowed, .. } => format!("use one of {}", allowed.join(", ")),
            Self::Fields { .. } | Self::Incomplete { .. } => {
                "write it as `MUTABILITY|ACTION|OUTPUT_DOMAIN`, such as `PURE|READ|DATA`".into()
            }
            Self::Contradiction(action) => format!("declare `MUTATES|{action}|…`, or `PURE|READ|…`"),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Value { field, found, allowed } => {
                facts([("field", (*field).into()), ("found", found.as_str().into()), ("allowed", (*allowed).into())])
            }
            Self::Fields { found, .. } => facts([("found", found.as_str().into())]),
            Self::Incomplete { missing } => facts([("missing", (*missing).into())]),
            Self::Contradiction(action) => facts([("action", action.as_str().into())]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identities_of_the_paper_come_out_as_published() {
        let of = |text: &str| text.parse::<Behavior>().unwrap();
        assert_eq!(of("PURE|READ|DATA").identity().to_string(), "b2795a7bb60a9c04");
        assert_eq!(of("MUTATES|CREATE|ACK").identity().to_string(), "224da4ec8f32d39e");
        let four = of("PURE|READ|DATA|STRUCTURED");
        assert_eq!(four.identity().to_string(), "b2795a7bb60a9c04");
        assert_eq!(four.identity_v2().unwrap().to_string(), "4f5039a790ec59b2");
    }

    #[test]
    fn every_behavior_survives_printing_and_parsing() {
        for &mutability in Mutability::ALL {
            for &action in Action::ALL {
                for &domain in OutputDomain::ALL {
                    let Ok(three) = Behavior::new(mutability, action, domain) else { continue };
                    assert_eq!(three.to_string().parse(), Ok(three));
                    for &content in ContentType::ALL {
                        let four = three.with_content_type(content);
                        assert_eq!(four.to_string().parse(), Ok(four));
                    }
                }
            }
        }
    }

    #[test]
    fn a_pure_tool_does_not_delete() {
        let error = "PURE|DELETE|ACK".parse::<Behavior>().unwrap_err();
        assert_eq!(error.code().as_str(), "behavior-contradiction");
    }

    #[test]
    fn unknown_words_and_wrong_counts_are_refused_with_what_is_allowed() {
        assert_eq!("pure|READ|DATA".parse::<Behavior>().unwrap_err().fix(), "use one of PURE, MUTATES");
        assert_eq!("PURE|READ".parse::<Behavior>().unwrap_err().code().as_str(), "behavior-syntax");
    }
}
