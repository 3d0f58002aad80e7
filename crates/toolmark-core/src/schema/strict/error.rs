//! Why a schema has no strict form, and where in it.

use serde_json::{Map, Value};

use super::MAX_DEPTH;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// A schema that has no strict form, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at `{place}`")]
pub struct StrictSchemaError {
    kind: StrictSchemaErrorKind,
    place: String,
}

/// What is wrong with the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrictSchemaErrorKind {
    /// Too many levels.
    #[error("the schema is more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// Too many nodes, once everything is written out.
    #[error("the schema is too large once its references are written out")]
    TooLarge,
    /// A part that should be a schema is something else.
    #[error("the schema is {0}, not an object")]
    NotAnObject(&'static str),
    /// An object accepts properties that it does not declare.
    #[error("`additionalProperties` is something other than `false`")]
    AdditionalProperties,
    /// An object declares no properties and is not closed.
    #[error("the object declares no properties and accepts any")]
    OpenObject,
    /// The root is a choice.
    #[error("the root of the schema is an `anyOf` or `oneOf`")]
    RootAnyOf,
    /// The root may be something other than an object.
    #[error("the root of the schema may be something other than an object")]
    RootNullable,
    /// A `$ref` that is no text.
    #[error("the `$ref` is {0}, not a string")]
    RefNotText(&'static str),
    /// A `$ref` to somewhere outside of the schema, or to all of it.
    #[error("the `$ref` `{0}` does not start with `#/`")]
    RefFormat(String),
    /// A `$ref` to a key that is not there.
    #[error("the `$ref` `{0}` leads to the key `{1}`, which is not there")]
    RefMissingKey(String, String),
    /// A `$ref` through something that is no object.
    #[error("the `$ref` `{0}` leads through `{1}`, which is no object")]
    RefNotAnObject(String, String),
    /// A `$ref` whose percent encoding is no text.
    #[error("the `$ref` `{0}` is not UTF-8 once decoded")]
    RefPercentEncoding(String),
    /// A `$ref` beside keywords that say more than its target does.
    #[error("the `$ref` stands beside {0}")]
    RefSiblings(String),
    /// A reference across the border of a schema with an `$id` of its own.
    #[error("a `$ref` crosses the border of a schema with its own `$id`")]
    NestedResource,
    /// References that lead to each other only.
    #[error("the `$ref` `{0}` leads back to itself")]
    CircularRefChain(String),
    /// A `$ref` whose target was not looked at.
    #[error("the target of the `$ref` may accept undeclared properties")]
    UnvalidatedRef,
    /// An `allOf` entry that says the same keyword as its parent, differently.
    #[error("the single entry of `allOf` and the schema around it both say `{0}`")]
    AllOfOverlap(String),
}

impl StrictSchemaError {
    pub(super) fn new(kind: StrictSchemaErrorKind, place: String) -> Self {
        Self { kind, place }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &StrictSchemaErrorKind {
        &self.kind
    }

    /// Where, as a path from the root `#`.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self.kind {
            StrictSchemaErrorKind::TooDeep => "strict_too_deep",
            StrictSchemaErrorKind::TooLarge => "strict_too_large",
            StrictSchemaErrorKind::NotAnObject(_) => "strict_not_an_object",
            StrictSchemaErrorKind::AdditionalProperties => "strict_additional_properties",
            StrictSchemaErrorKind::OpenObject => "strict_open_object",
            StrictSchemaErrorKind::RootAnyOf => "strict_root_any_of",
            StrictSchemaErrorKind::RootNullable => "strict_root_nullable",
            StrictSchemaErrorKind::RefNotText(_) => "strict_ref_non_string",
            StrictSchemaErrorKind::RefFormat(_) => "strict_ref_format",
            StrictSchemaErrorKind::RefMissingKey(..) => "strict_ref_missing_key",
            StrictSchemaErrorKind::RefNotAnObject(..) => "strict_ref_not_an_object",
            StrictSchemaErrorKind::RefPercentEncoding(_) => "strict_ref_percent_encoding",
            StrictSchemaErrorKind::RefSiblings(_) => "strict_ref_siblings",
            StrictSchemaErrorKind::NestedResource => "strict_nested_resource_ref",
            StrictSchemaErrorKind::CircularRefChain(_) => "strict_circular_ref_chain",
            StrictSchemaErrorKind::UnvalidatedRef => "strict_unvalidated_ref",
            StrictSchemaErrorKind::AllOfOverlap(_) => "strict_all_of_overlap",
        }
    }
}

impl Explain for StrictSchemaError {
    fn code(&self) -> Code {
        match self.kind {
            StrictSchemaErrorKind::TooDeep => Code::new("strict-schema-too-deep"),
            StrictSchemaErrorKind::TooLarge => Code::new("strict-schema-too-large"),
            StrictSchemaErrorKind::NotAnObject(_) => Code::new("strict-schema-not-an-object"),
            StrictSchemaErrorKind::AdditionalProperties => Code::new("strict-schema-additional-properties"),
            StrictSchemaErrorKind::OpenObject => Code::new("strict-schema-open-object"),
            StrictSchemaErrorKind::RootAnyOf => Code::new("strict-schema-root-any-of"),
            StrictSchemaErrorKind::RootNullable => Code::new("strict-schema-root-nullable"),
            StrictSchemaErrorKind::RefNotText(_) => Code::new("strict-schema-ref-not-text"),
            StrictSchemaErrorKind::RefFormat(_) => Code::new("strict-schema-ref-format"),
            StrictSchemaErrorKind::RefMissingKey(..) => Code::new("strict-schema-ref-missing-key"),
            StrictSchemaErrorKind::RefNotAnObject(..) => Code::new("strict-schema-ref-not-an-object"),
            StrictSchemaErrorKind::RefPercentEncoding(_) => Code::new("strict-schema-ref-percent-encoding"),
            StrictSchemaErrorKind::RefSiblings(_) => Code::new("strict-schema-ref-siblings"),
            StrictSchemaErrorKind::NestedResource => Code::new("strict-schema-nested-resource"),
            StrictSchemaErrorKind::CircularRefChain(_) => Code::new("strict-schema-circular-ref-chain"),
            StrictSchemaErrorKind::UnvalidatedRef => Code::new("strict-schema-unvalidated-ref"),
            StrictSchemaErrorKind::AllOfOverlap(_) => Code::new("strict-schema-all-of-overlap"),
        }
    }

    fn why(&self) -> String {
        use StrictSchemaErrorKind as Kind;
        match self.kind {
            Kind::TooDeep | Kind::TooLarge => "a schema of this shape is used to exhaust the programs that read it",
            Kind::NotAnObject(_) => "strict mode has no form for a schema that accepts everything or nothing",
            Kind::AdditionalProperties | Kind::OpenObject => {
                "strict mode closes every object, so calls that the schema accepts today would be refused"
            }
            Kind::RootAnyOf | Kind::RootNullable => "providers take the arguments of a call only as one object",
            Kind::RefNotText(_)
            | Kind::RefFormat(_)
            | Kind::RefMissingKey(..)
            | Kind::RefNotAnObject(..)
            | Kind::RefPercentEncoding(_) => {
                "what the reference stands for is not known, and a guess would change what is accepted"
            }
            Kind::RefSiblings(_) => "readers disagree on whether keywords beside a `$ref` count",
            Kind::NestedResource => "inside a schema with its own `$id`, a reference starts somewhere else",
            Kind::CircularRefChain(_) => "such a chain never says what is accepted",
            Kind::UnvalidatedRef => "closing the target would change what the schema accepts elsewhere",
            Kind::AllOfOverlap(_) => "one of the two would be lost when they become one schema",
        }
        .into()
    }

    fn fix(&self) -> String {
        use StrictSchemaErrorKind as Kind;
        match &self.kind {
            Kind::TooDeep => "use `$defs` and `$ref` in place of nesting".into(),
            Kind::TooLarge => "leave out what stands beside a `$ref`, so that its target is not repeated".into(),
            Kind::NotAnObject(_) => r#"write `{"type": "string"}`, or whatever is meant"#.into(),
            Kind::AdditionalProperties => {
                r#"remove `additionalProperties` or write `"additionalProperties": false`; or do without strict mode"#
                    .into()
            }
            Kind::OpenObject => {
                r#"declare its `properties`, or write `"additionalProperties": false`; or do without strict mode"#
                    .into()
            }
            Kind::RootAnyOf => "put the choice into a property, such as `request`".into(),
            Kind::RootNullable => r#"write `"type": "object"`"#.into(),
            Kind::RefNotText(_) | Kind::RefFormat(_) => r##"write `"$ref": "#/$defs/Name"`"##.into(),
            Kind::RefMissingKey(_, key) | Kind::RefNotAnObject(_, key) => {
                format!("define `{key}` as a schema under `$defs`, or correct the reference")
            }
            Kind::RefPercentEncoding(_) => "write the name as it is, without percent encoding".into(),
            Kind::RefSiblings(_) => "move the keywords into the target, or put the `$ref` into `allOf`".into(),
            Kind::NestedResource => "remove the inner `$id`".into(),
            Kind::CircularRefChain(_) => "let one of the definitions in the chain say what it accepts".into(),
            Kind::UnvalidatedRef => "write the target out in place of the `$ref`; or do without strict mode".into(),
            Kind::AllOfOverlap(key) => format!("say `{key}` in one of the two only"),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("place", self.place.as_str().into())])
    }
}

/// Keeps a message readable when the input is not.
pub(super) fn shown(text: &str) -> String {
    visible(text, 80)
}
