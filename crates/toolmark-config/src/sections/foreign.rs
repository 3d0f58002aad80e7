//! Types of the other crates, read from the texts that they already parse, and what a schema says about them.

use std::borrow::Cow;
use std::net::SocketAddr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toolmark_core::behavior::{Behavior, BehaviorPattern};
use toolmark_core::exposure::{Mode, ProfileName};
use toolmark_core::gate::OnMismatch;
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_effects::language::Language;
use toolmark_policy::pattern::Glob;
use toolmark_policy::{CedarDefault, OneOrMany, Preset};

use crate::read::{FromToml, Node, Reader, Refused, parsed};
use crate::values::{Name, Rate, Redact, Size, Tasks, Template, no_word};

/// Reads a type with its own parser, whose error explains itself.
macro_rules! explained {
    ($($type:ty, $what:literal;)*) => {$(
        impl FromToml for $type {
            fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
                parsed(node, $what, reader, |text| text.parse().map_err(|error| Refused::inner(&error)))
            }
        }
    )*};
}

explained! {
    Behavior, "a behavior such as \"MUTATES|MERGE|PR\"";
    BehaviorPattern, "a pattern such as \"PURE|*|*\"";
    ProfileName, "a client";
    PackName, "the name of a pack";
    Preset, "a preset";
    CedarDefault, "\"permit\" or \"deny\"";
}

impl FromToml for Mode {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a word", reader, |text| text.parse().map_err(|_| no_word(text, &["auto", "prefixed", "bare"])))
    }
}

impl FromToml for OnMismatch {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a word", reader, |text| match text {
            "deny" => Ok(Self::Deny),
            "ask" => Ok(Self::Ask),
            other => Err(no_word(other, &["deny", "ask"])),
        })
    }
}

/// The language of an argument, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spoken(pub(super) Option<Language>);

impl FromToml for Spoken {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a language", reader, |text| match text {
            "none" => Ok(Self(None)),
            text => text.parse().map(|language| Self(Some(language))).map_err(|_| {
                let words: Vec<&str> = Language::words().chain(["none"]).collect();
                no_word(text, &words)
            }),
        })
    }
}

impl FromToml for Glob {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "the name of a tool, with `*` for several", reader, |text| match text {
            "" => Err(Refused::value("the text is empty", "write the name of a tool, or `*` for all")),
            text => Ok(Self::new(text)),
        })
    }
}

impl FromToml for SocketAddr {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "an address such as \"127.0.0.1:7319\"", reader, |text| {
            let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
            numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
                let message = format!("`{}` is no address with a port", visible(text, 60));
                Refused::value(
                    message,
                    "write numbers: `127.0.0.1:7319`, `[::1]:7319`, or `0.0.0.0:7319` for every interface",
                )
            })
        })
    }
}

impl<T: FromToml> FromToml for OneOrMany<T> {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node.value.as_str() {
            Some(_) => T::from_toml(node, reader).map(|one| Self(vec![one])),
            None => Vec::from_toml(node, reader).map(Self),
        }
    }
}

/// Declares what a schema says about a text: what it is and, where that can be said, which.
macro_rules! text_schema {
    ($($(#[$meta:meta])* $name:ident = $schema:tt;)*) => {$(
        $(#[$meta])*
        pub(crate) struct $name;

        text_schema!(@impl $name, stringify!($name), $schema);
    )*};
    (@impl $type:ty, $title:expr, $schema:tt) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

text_schema! {
    /// A time.
    DurationText = {"type": "string", "pattern": "^[0-9]+ ?(ms|s|m|min|h|d)$", "examples": ["500ms", "30s", "5min"]};
    /// A time in which something is kept.
    SpanText = {"type": "string", "pattern": "^[0-9]+ ?(min|h|d|w)$", "examples": ["90d", "52w"]};
    /// A behavior.
    BehaviorText = {"type": "string", "examples": ["PURE|READ|DATA", "MUTATES|MERGE|PR"]};
    /// A pattern over behaviors.
    PatternText = {"type": "string", "examples": ["PURE|*|*", "MUTATES|CREATE,UPDATE|ISSUE"]};
    /// How names are exposed.
    ExposureWord = {"enum": ["auto", "prefixed", "bare"]};
    /// A client.
    ClientWord = {"enum": (ProfileName::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>())};
    /// A preset.
    PresetWord = {"enum": (Preset::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>())};
    /// What holds where no policy permits.
    DefaultWord = {"enum": ["permit", "deny"]};
    /// What a call gets that is not expected.
    MismatchWord = {"enum": ["deny", "ask"]};
    /// A verdict.
    VerdictWord = {"enum": ["allow", "ask", "deny"]};
    /// The language of an argument.
    LanguageWord = {"enum": (Language::words().chain(["none"]).collect::<Vec<_>>())};
    /// An address with a port.
    AddressText = {"type": "string", "examples": ["127.0.0.1:7319"]};
    /// A pattern of names.
    GlobText = {"type": "string", "minLength": 1, "examples": ["read_*"]};
    /// One text or several.
    OneOrManyTexts = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]};
    /// A language.
    LanguageTagText = {"type": "string", "pattern": "^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$", "examples": ["en", "nl", "pt-BR", "zh-Hant"]};
    /// A small picture.
    IconText = {"type": "string", "examples": ["🔎", "data:image/png;base64,…"]};
    /// Any table.
    AnyTable = {"type": "object"};
}

text_schema!(@impl Template, "Template", {"type": "string", "description": "May hold `${NAME}`, `${NAME:-default}`, `${env:NAME}`; `$${` is a literal `${`."});
text_schema!(@impl Size, "Size", {"oneOf": [{"type": "string", "pattern": "^[0-9]+ ?(B|kB|KB|MB|GB|KiB|MiB|GiB)$"}, {"type": "integer", "minimum": 0}], "examples": ["16MiB"]});
text_schema!(@impl Rate, "Rate", {"type": "string", "pattern": "^[1-9][0-9]* ?/ ?(s|m|min|h)$", "examples": ["100/s"]});
text_schema!(@impl Redact, "Redact", {"type": "string", "minLength": 1, "examples": ["iban", "/user/email", "regex:[0-9]{16}"]});
text_schema!(@impl Tasks, "Tasks", {"oneOf": [{"type": "string", "description": "`*` is all of them, and what belongs to none."}, {"type": "array", "items": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}}]});
text_schema!(@impl Name, "Name", {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"});
