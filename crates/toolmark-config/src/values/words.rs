//! Settings that are one of a few words. A word that is not among them is refused, with the list.

use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// Declares an enum whose values are words.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$variant_meta])* #[schemars(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every word.
            pub const WORDS: &[&str] = &[$($word),*];

            /// The setting in one word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The setting that a word stands for.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl FromToml for $name {
            fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
                parsed(node, "a word", reader, |text| Self::of_word(text).ok_or_else(|| no_word(text, Self::WORDS)))
            }
        }
    };
}

/// A word that is not in the list.
pub(crate) fn no_word(found: &str, words: &[&str]) -> Refused {
    Refused::value(
        format!("`{}` is not one of its words", visible(found, 40)),
        format!("use one of {}", words.join(", ")),
    )
}

words! {
    /// How an HTTP server is spoken to.
    pub enum Transport {
        /// Streamable HTTP.
        #[default]
        Http = "http",
        /// HTTP with server-sent events, as before 2025-03-26.
        Sse = "sse",
    }
}

words! {
    /// Which revision of MCP a server speaks.
    pub enum Era {
        /// The server is asked.
        #[default]
        Auto = "auto",
        /// Sessions.
        Sessions = "2025-11-25",
        /// Stateless.
        Stateless = "2026-07-28",
    }
}

words! {
    /// Whether what a publisher says about its own tools is believed.
    pub enum Trust {
        /// Only as far as a second opinion agrees. A claim alone never makes a call less guarded.
        #[default]
        Untrusted = "untrusted",
        /// As if the operator had said it.
        Trusted = "trusted",
    }
}

words! {
    /// How Toolmark gets a token for a server.
    pub enum Grant {
        /// A person logs in once, with `toolmark login`.
        #[default]
        AuthorizationCode = "authorization_code",
        /// The client's own credentials.
        ClientCredentials = "client_credentials",
    }
}

words! {
    /// When a row of the audit counts as written.
    pub enum Durability {
        /// When it is in the queue: rows are written together, a moment later; a crash may lose that moment.
        #[default]
        Batched = "batched",
        /// When the disk has it: before a call that may change something runs, and before any answer leaves.
        Strict = "strict",
    }
}

words! {
    /// How much of what Toolmark knows about a tool stands in lists, in `_meta`.
    pub enum ListMeta {
        /// All of it in lists of up to 250 tools, `mark` in those of up to 500, and `none` in longer ones.
        #[default]
        Auto = "auto",
        /// Who it is, what it does and what people call it.
        Full = "full",
        /// Its canonical name and its mark.
        Mark = "mark",
        /// Nothing, except that its server is away.
        None = "none",
    }
}

words! {
    /// What becomes of a question that nobody answered in time.
    pub enum OnTimeout {
        /// The call is refused, and the question is closed.
        #[default]
        Deny = "deny",
        /// The question stays open; the caller is told to call again once it is answered.
        Keep = "keep",
    }
}

words! {
    /// What happens when a tool is used that is pinned nowhere.
    pub enum FirstUse {
        /// It is taken for the right one, and pinned as it is.
        #[default]
        Trust = "trust",
        /// A person is asked.
        Ask = "ask",
        /// It is refused: only what `toolmark.lock` names may run.
        Locked = "locked",
    }
}

words! {
    /// Whether the audit keeps what calls carry.
    pub enum KeptBodies {
        /// Digests and sizes only.
        #[default]
        None = "none",
        /// Arguments.
        Arguments = "arguments",
        /// Arguments and results.
        All = "all",
    }
}

words! {
    /// How log lines are written.
    pub enum LogFormat {
        /// For people.
        #[default]
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

words! {
    /// How long a model thinks.
    pub enum Effort {
        /// Not at all.
        None = "none",
        /// Hardly.
        Minimal = "minimal",
        /// A little.
        Low = "low",
        /// As usual.
        #[default]
        Medium = "medium",
        /// Long.
        High = "high",
        /// Longer.
        Xhigh = "xhigh",
        /// As long as it can.
        Max = "max",
    }
}
