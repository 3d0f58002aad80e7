//! The closed vocabularies: each field of a behavior has few values, and each value one spelling.

use std::fmt;
use std::str::FromStr;

use super::ParseBehaviorError;
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

vocabulary! {
    /// Which way a change goes, for what can be done and undone under one action.
    Polarity, "polarity", {
        /// Neither way.
        Neutral = "NEUTRAL",
        /// Toward on, up, open, allowed, the far end: start, approve, restore, increment, push right.
        Positive = "POSITIVE",
        /// Toward off, down, shut, refused, the near end: stop, unapprove, revoke, decrement, push left.
        Negative = "NEGATIVE",
    }
}

vocabulary! {
    /// How far a tool reaches beyond the one thing that its arguments name.
    Reach, "reach", {
        /// What the arguments name.
        Named = "NAMED",
        /// Everything or everybody there is.
        All = "ALL",
        /// With more rights than the caller's own.
        Root = "ROOT",
    }
}
