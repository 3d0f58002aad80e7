//! What a publisher says about a tool, kept exactly as it was said, and the digest of that.
//!
//! The text stays where it is; only the name, the digest and a declared behavior are kept beside it. Everything else is read
//! again when somebody asks, so that a catalog of many tools costs little more than its snapshots.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::behavior::{Behavior, Facets, ParseBehaviorError, Polarity, Reach};
use crate::canonical;
use crate::digest::{self, BodyDigest, DefinitionDigest, PartDigest};
use crate::document::Slice;
use crate::explain::{Code, Explain, facts};
use crate::json::{self, Json, ReadJsonError};
use crate::names::{ParseRawNameError, RawName};

/// One tool as its publisher describes it.
#[derive(Clone, Debug)]
pub struct Definition {
    text: Slice,
    form: Form,
    name: RawName,
    digest: DefinitionDigest,
    declared: Option<Behavior>,
}

/// In which shape a definition was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An MCP tool object.
    Tool,
    /// An MCP tool object with the server, package and version it was collected from beside its own fields.
    Row,
}

/// A definition, read: borrows the text it was read from.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    fields: Vec<(Cow<'a, str>, Json<'a>)>,
}

/// A text that is not the definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadDefinitionError {
    /// Not JSON, or not JSON that we accept.
    #[error(transparent)]
    Json(#[from] ReadJsonError),
    /// A JSON value that is not an object.
    #[error("a tool must be an object, not {0}")]
    NotAnObject(&'static str),
    /// No name, or a name that is not a string.
    #[error("a tool has no name")]
    NoName,
    /// A name that no tool can have.
    #[error(transparent)]
    Name(#[from] ParseRawNameError),
    /// A field with a value of the wrong type.
    #[error("`{field}` of the tool `{tool}` must be {expected}, not {found}")]
    FieldType {
        /// The tool.
        tool: RawName,
        /// The field.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A definition too long to be honest.
    #[error("the definition is {bytes} bytes long, more than {}", Definition::MAX_BYTES)]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// A declared behavior that is none.
    #[error("the tool `{tool}` declares a behavior that is none: {error}")]
    Behavior {
        /// The tool.
        tool: RawName,
        /// What is wrong with it.
        error: ParseBehaviorError,
    },
}

/// The fields that a collected row has beside the tool's own.
const ROW_FIELDS: &[&str] = &["server", "package", "version", "snapshot"];

/// Fields whose type the protocol fixes.
const TYPED_FIELDS: &[(&str, &str)] = &[
    ("title", "string"),
    ("description", "string"),
    ("inputSchema", "object"),
    ("outputSchema", "object"),
    ("schema", "object"),
    ("annotations", "object"),
    ("icons", "array"),
    ("_meta", "object"),
    ("execution", "object"),
];

impl Definition {
    /// The longest definition. The largest of 4,018 real ones has 82 kB.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Reads one definition.
    ///
    /// # Errors
    /// [`ReadDefinitionError`] when it is not one, with the place in the text where that is known.
    pub fn read(text: &Slice, form: Form) -> Result<Self, ReadDefinitionError> {
        let bytes = text.text().len();
        if bytes > Self::MAX_BYTES {
            return Err(ReadDefinitionError::TooLarge { bytes });
        }
        let json = json::read(text.text()).map_err(|error| error.seen_in(text))?;
        Self::of_json(&json, text, form)
    }

    /// Makes a definition of a value that has no text of its own, such as a tool written in code.
    ///
    /// # Errors
    /// As [`Definition::read`].
    pub fn of_value(label: &str, value: &Value) -> Result<Self, ReadDefinitionError> {
        Self::read(&Slice::of(label, value.to_string()), Form::Tool)
    }

    pub(crate) fn of_json(json: &Json<'_>, text: &Slice, form: Form) -> Result<Self, ReadDefinitionError> {
        let entries = json.entries().ok_or(ReadDefinitionError::NotAnObject(json.type_name()))?;
        let name = json.get("name").and_then(Json::as_str).ok_or(ReadDefinitionError::NoName)?;
        let name: RawName = name.parse()?;
        check_types(&name, json)?;
        let declared =
            declared_behavior(json).map_err(|error| ReadDefinitionError::Behavior { tool: name.clone(), error })?;
        let mut said = Vec::with_capacity(text.text().len());
        let own = entries.iter().filter(|(key, value)| is_said(form, key, value));
        canonical::write_object(own.map(|(key, value)| (key.as_ref(), value)), &mut said);
        Ok(Self {
            text: text.clone(),
            form,
            name,
            digest: DefinitionDigest::of_bytes(digest::DEFINITION, &said),
            declared,
        })
    }

    /// What the source calls the tool.
    #[must_use]
    pub fn name(&self) -> &RawName {
        &self.name
    }

    /// The digest of everything the publisher says.
    #[must_use]
    pub fn digest(&self) -> DefinitionDigest {
        self.digest
    }

    /// The behavior that the publisher declares, if it declares one.
    #[must_use]
    pub fn declared(&self) -> Option<Behavior> {
        self.declared
    }

    /// The text, byte for byte.
    #[must_use]
    pub fn raw_json(&self) -> &str {
        self.text.text()
    }

    /// Where it was read.
    #[must_use]
    pub fn slice(&self) -> &Slice {
        &self.text
    }

    /// Reads the text again for its details.
    #[must_use]
    pub fn reading(&self) -> Reading<'_> {
        let fields = match json::read(self.text.text()) {
            Ok(Json::Object(fields)) => fields,
            // The text was read before, when the definition was made, and cannot have changed.
            _ => Vec::new(),
        };
        Reading { fields: fields.into_iter().filter(|(key, value)| is_said(self.form, key, value)).collect() }
    }
}

impl<'a> Reading<'a> {
    /// A field as the publisher wrote it. `null` counts as absent.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Json<'a>> {
        self.fields.iter().find(|(key, _)| key == field).map(|(_, value)| value)
    }

    /// All fields in their written order.
    #[must_use]
    pub fn fields(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        &self.fields
    }

    /// The title; blank counts as absent.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        let own = self.get("title").and_then(Json::as_str);
        let annotated = || self.get("annotations").and_then(|all| all.get("title")).and_then(Json::as_str);
        own.filter(|title| !title.trim().is_empty()).or_else(|| annotated().filter(|title| !title.trim().is_empty()))
    }

    /// The description, or an empty text.
    #[must_use]
    pub fn description(&self) -> &str {
        self.get("description").and_then(Json::as_str).unwrap_or_default()
    }

    /// The hint of an annotation, if the publisher gives it.
    #[must_use]
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.get("annotations")?.get(name)?.as_bool()
    }

    /// The input schema as written: `inputSchema`, or `schema` in the short form of the paper.
    #[must_use]
    pub fn written_schema(&self) -> Option<&Json<'a>> {
        self.get("inputSchema").or_else(|| self.get("schema"))
    }

    /// The input schema as JSON Schema. The paper's short form `{"query": "string"}` becomes an object whose parameters are
    /// all required; without any schema every object is accepted.
    #[must_use]
    pub fn input_schema(&self) -> Cow<'_, Json<'a>> {
        match (self.get("inputSchema"), self.get("schema")) {
            (Some(schema), _) => Cow::Borrowed(schema),
            (None, Some(schema)) if is_json_schema(schema) => Cow::Borrowed(schema),
            (None, Some(schema)) => Cow::Owned(from_short_form(schema)),
            (None, None) => Cow::Owned(Json::Object(vec![("type".into(), Json::String("object".into()))])),
        }
    }

    /// The digest without the name.
    #[must_use]
    pub fn body_digest(&self) -> BodyDigest {
        let mut said = Vec::new();
        let unnamed = self.fields.iter().filter(|(key, _)| key != "name");
        canonical::write_object(unnamed.map(|(key, value)| (key.as_ref(), value)), &mut said);
        BodyDigest::of_bytes(digest::BODY, &said)
    }

    /// The digest of each field but the name, in the order of their names.
    #[must_use]
    pub fn part_digests(&self) -> Vec<(String, PartDigest)> {
        let mut parts: Vec<(String, PartDigest)> = self
            .fields
            .iter()
            .filter(|(key, _)| key != "name")
            .map(|(key, value)| {
                let said = canonical::to_canonical(value);
                (key.to_string(), PartDigest::of_bytes(digest::PART, said.as_bytes()))
            })
            .collect();
        parts.sort();
        parts
    }
}

impl Explain for ReadDefinitionError {
    fn code(&self) -> Code {
        match self {
            Self::Json(error) => error.code(),
            Self::NotAnObject(_) => Code::new("definition-not-an-object"),
            Self::NoName => Code::new("definition-without-name"),
            Self::Name(error) => error.code(),
            Self::FieldType { .. } => Code::new("definition-field-type"),
            Self::TooLarge { .. } => Code::new("definition-too-large"),
            Self::Behavior { error, .. } => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Json(error) => error.why(),
            Self::NotAnObject(_) | Self::NoName => "there is nothing that a call could mean".into(),
            Self::Name(error) => error.why(),
            Self::FieldType { .. } => {
                "clients drop or reject such a list in different ways, so nobody knows which tools remain".into()
            }
            Self::TooLarge { .. } => {
                "no model reads so much, and such sizes are used to push other text out of view".into()
            }
            Self::Behavior { error, .. } => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Json(error) => error.fix(),
            Self::NotAnObject(_) => "write each tool as an object: `{\"name\": \"…\", \"inputSchema\": {…}}`".into(),
            Self::NoName => "give the tool a name: `\"name\": \"read_file\"`".into(),
            Self::Name(error) => error.fix(),
            Self::FieldType { field, expected, .. } => format!("make `{field}` {expected} on the server, or remove it"),
            Self::TooLarge { .. } => {
                "shorten the description or the schema on the server, or leave the tool out: `deny = [\"…\"]` under its pack".into()
            }
            Self::Behavior { error, .. } => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Json(error) => error.facts(),
            Self::NotAnObject(found) => facts([("found", (*found).into())]),
            Self::NoName => Map::new(),
            Self::Name(error) => error.facts(),
            Self::FieldType { tool, field, expected, found } => facts([
                ("tool", tool.as_str().into()),
                ("field", (*field).into()),
                ("expected", (*expected).into()),
                ("found", (*found).into()),
            ]),
            Self::TooLarge { bytes } => facts([("bytes", (*bytes).into()), ("max", Definition::MAX_BYTES.into())]),
            Self::Behavior { tool, error } => {
                let mut all = error.facts();
                all.insert("tool".into(), tool.as_str().into());
                all
            }
        }
    }
}

/// What counts as said by the publisher: every field but the collector's own, and not those that are `null`.
fn is_said(form: Form, key: &str, value: &Json<'_>) -> bool {
    let collected = form == Form::Row && ROW_FIELDS.contains(&key);
    !collected && !value.is_null()
}

fn check_types(tool: &RawName, json: &Json<'_>) -> Result<(), ReadDefinitionError> {
    for &(field, expected) in TYPED_FIELDS {
        match json.get(field) {
            None | Some(Json::Null) => {}
            Some(value) if value.type_name() == expected => {}
            Some(value) => {
                let expected = match expected {
                    "string" => "a string",
                    "array" => "an array",
                    _ => "an object",
                };
                return Err(ReadDefinitionError::FieldType {
                    tool: tool.clone(),
                    field,
                    expected,
                    found: value.type_name(),
                });
            }
        }
    }
    Ok(())
}

/// Reads `_meta["dev.toolmark/behavior"]`, or the top-level fields of the paper.
fn declared_behavior(json: &Json<'_>) -> Result<Option<Behavior>, ParseBehaviorError> {
    let declared = json.get("_meta").and_then(|meta| meta.get("dev.toolmark/behavior"));
    let place = declared.unwrap_or(json);
    let field = |name: &str| place.get(name).and_then(Json::as_str);
    let given = ["mutability", "action", "output_domain"].map(|name| (name, field(name)));
    // A field that is only called `action` declares nothing.
    if declared.is_none() && field("mutability").is_none() && field("output_domain").is_none() {
        return Ok(None);
    }
    match given {
        [(_, Some(mutability)), (_, Some(action)), (_, Some(domain))] => {
            let behavior = Behavior::new(mutability.parse()?, action.parse()?, domain.parse()?)?;
            let behavior = match field("content_type") {
                Some(content) => behavior.with_content_type(content.parse()?),
                None => behavior,
            };
            match ["target", "polarity", "reach"].map(field) {
                [None, None, None] => Ok(Some(behavior)),
                [target, polarity, reach] => Ok(Some(behavior.with_facets(Facets {
                    target: target.map(str::parse).transpose()?,
                    polarity: polarity.map_or(Ok(Polarity::Neutral), str::parse)?,
                    reach: reach.map_or(Ok(Reach::Named), str::parse)?,
                }))),
            }
        }
        _ => {
            let missing = given.iter().find(|(_, value)| value.is_none()).map_or("action", |(name, _)| name);
            Err(ParseBehaviorError::Incomplete { missing })
        }
    }
}

fn is_json_schema(schema: &Json<'_>) -> bool {
    schema.get("type").and_then(Json::as_str) == Some("object")
        || schema.get("properties").is_some_and(|properties| properties.entries().is_some())
        || schema.get("$schema").is_some()
}

fn from_short_form<'a>(schema: &Json<'a>) -> Json<'a> {
    let entries = schema.entries().unwrap_or_default();
    let property = |value: &Json<'a>| match value {
        Json::String(_) => Json::Object(vec![("type".into(), value.clone())]),
        other => other.clone(),
    };
    let properties = entries.iter().map(|(key, value)| (key.clone(), property(value))).collect();
    let required = entries.iter().map(|(key, _)| Json::String(key.clone())).collect();
    Json::Object(vec![
        ("type".into(), Json::String("object".into())),
        ("properties".into(), Json::Object(properties)),
        ("required".into(), Json::Array(required)),
    ])
}

#[cfg(test)]
mod tests;
