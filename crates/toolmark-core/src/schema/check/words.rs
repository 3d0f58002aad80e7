//! The checker's findings in words: what is wrong with which value, what would be right, and nothing that is secret.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::secret;
use super::union;
use super::violation::{Violation, Violations};
use crate::schema::refs;
use crate::text::visible;

/// Characters of an argument's value that a message repeats.
const VALUE: usize = 60;
/// Values or names that a message lists.
const LISTED: usize = 30;
/// Edits between two names that may be one name mistyped.
const NEAR: usize = 2;
/// Longer names are not compared: nobody mistypes them, and comparing costs the product of their lengths.
const COMPARED: usize = 64;

/// Puts findings into words, with the schema at hand for what the findings leave out.
pub(super) struct Words<'s> {
    schema: Option<&'s Value>,
}

/// What would be accepted where something else was found.
#[derive(Default)]
pub(super) struct Expected {
    pub(super) types: Vec<&'static str>,
    pub(super) values: Vec<Value>,
}

impl<'s> Words<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        Self { schema: Some(schema) }
    }

    /// For values that are no arguments, of which only the path can say that they are secret.
    pub(super) fn without_schema() -> Self {
        Self { schema: None }
    }

    pub(super) fn violations<'e, 'v: 'e>(&self, errors: impl Iterator<Item = &'e ValidationError<'v>>) -> Violations {
        let mut found = Violations::default();
        for error in errors {
            self.add(error, 1, &mut found);
        }
        found
    }

    /// Adds one finding, or the findings inside it. `alternatives` is how many branches there were to choose this one from.
    fn add(&self, error: &ValidationError<'_>, alternatives: usize, found: &mut Violations) {
        if found.is_full() && !matches!(error.kind(), Kind::Required { .. }) {
            return found.count();
        }
        let path = error.instance_path().as_str();
        let value = error.instance();
        let is = || self.shown(error);
        let mut violation = Violation {
            path: path.to_owned(),
            keyword: error.kind().keyword().to_owned(),
            problem: String::new(),
            names: Vec::new(),
            allowed: Vec::new(),
            alternatives,
        };
        violation.problem = match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                if let Some(expected) = union::expected(context, path) {
                    violation.allowed = listable(&expected.values);
                    mismatch(&is(), value, &expected)
                } else if let Some(closest) = union::closest(context, path) {
                    closest.iter().for_each(|error| self.add(error, context.len(), found));
                    return;
                } else {
                    "fits none of the alternatives".to_owned()
                }
            }
            Kind::OneOfMultipleValid { context } => {
                let fitting = context.iter().filter(|branch| branch.is_empty()).count();
                format!("fits {fitting} of {} alternatives, where exactly one has to fit", context.len())
            }
            Kind::Type { kind } => mismatch(&is(), value, &Expected { types: types(kind), values: Vec::new() }),
            Kind::Enum { options } => {
                let values = options.as_array().cloned().unwrap_or_default();
                violation.allowed = listable(&values);
                mismatch(&is(), value, &Expected { types: Vec::new(), values })
            }
            Kind::Constant { expected_value } => {
                let values = vec![Value::clone(expected_value)];
                violation.allowed = listable(&values);
                mismatch(&is(), value, &Expected { types: Vec::new(), values })
            }
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default().to_owned();
                if let Some(same) = found.shown_mut().iter_mut().find(|one| one.is_about_missing(path, alternatives)) {
                    same.names.push(name);
                    same.problem = missing(&same.names) + &closest_of(alternatives);
                    return;
                }
                violation.names.push(name);
                missing(&violation.names)
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                let declared = self.declared(error);
                violation.names.clone_from(unexpected);
                violation.names.truncate(LISTED);
                violation.allowed = declared.iter().take(LISTED).map(|name| Value::from(*name)).collect();
                not_taken(unexpected, &declared, value)
            }
            Kind::PropertyNames { error } => {
                let name = error.instance().as_str().map(|name| visible(name, VALUE)).unwrap_or_default();
                let mut inner = Violations::default();
                self.add(error, 1, &mut inner);
                let reason = inner.shown().first().map_or("is not allowed", |violation| violation.problem.as_str());
                format!("has the name `{name}`, which {reason}")
            }
            Kind::FalseSchema => "is not allowed here".to_owned(),
            other => other_words(other, &is(), value),
        };
        if alternatives > 1 {
            violation.problem += &closest_of(alternatives);
        }
        found.push(violation);
    }

    /// The value, as far as it may be repeated.
    fn shown(&self, error: &ValidationError<'_>) -> String {
        let value = error.instance();
        let is_secret = || {
            secret::is_named_like_one(error.instance_path().as_str())
                || self.schema.is_some_and(|schema| match owners(schema, error.evaluation_path().as_str()) {
                    Some(owners) => owners.into_iter().any(secret::is_declared_one),
                    // Where the schema cannot be found again, nothing says that the value is no secret.
                    None => true,
                })
        };
        match value.as_ref() {
            Value::Null => "null".to_owned(),
            Value::Array(items) => format!("an array of {}", counted(items.len(), "item")),
            Value::Object(entries) => format!("an object with {}", counted(entries.len(), "property")),
            scalar if is_secret() => a_kind_of(scalar).to_owned(),
            Value::String(text) => format!("the string `\"{}\"`", visible(text, VALUE)),
            scalar => format!("`{}`", visible(&scalar.to_string(), VALUE)),
        }
    }

    /// The names that the schema which refused a name declares.
    fn declared(&self, error: &ValidationError<'_>) -> Vec<&'s str> {
        let owners = self.schema.and_then(|schema| owners(schema, error.evaluation_path().as_str()));
        let properties = owners.and_then(|owners| owners.into_iter().rev().find_map(|owner| owner.get("properties")));
        properties.and_then(Value::as_object).into_iter().flat_map(|names| names.keys()).map(String::as_str).collect()
    }
}

/// The one violation of arguments that do not fit, when saying why would take too long.
pub(super) fn too_much_to_say() -> Violations {
    let mut found = Violations::default();
    found.push(Violation {
        path: String::new(),
        keyword: String::new(),
        problem: "does not fit, and it is too much to say which value is wrong; send fewer, shorter or flatter values to be told"
            .to_owned(),
        names: Vec::new(),
        allowed: Vec::new(),
        alternatives: 1,
    });
    found
}

/// The kind of a value, with its article.
pub(super) fn a_kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The types that a finding asks for, with their articles.
pub(super) fn types(kind: &TypeKind) -> Vec<&'static str> {
    use jsonschema::JsonType;
    let with_article = |kind: JsonType| match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    };
    match kind {
        TypeKind::Single(kind) => vec![with_article(*kind)],
        TypeKind::Multiple(kinds) => kinds.iter().map(with_article).collect(),
    }
}

/// Every schema on the way to a keyword, through references, outermost first; `None` where the way is lost.
fn owners<'s>(schema: &'s Value, path: &str) -> Option<Vec<&'s Value>> {
    let mut owners = vec![schema];
    let mut here = schema;
    for step in path.split('/').skip(1) {
        let name = refs::unescaped(step);
        let next = match here {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
            other => other.get(name.as_ref())?,
        };
        here = match (name.as_ref(), next) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => refs::local(schema, reference)?,
            _ => next,
        };
        owners.push(here);
    }
    Some(owners)
}

fn mismatch(is: &str, value: &Value, expected: &Expected) -> String {
    let mut wanted: Vec<String> = expected.types.iter().map(|&kind| kind.to_owned()).collect();
    let options: Vec<String> = expected.values.iter().take(LISTED).map(quoted).collect();
    let rest = expected.values.len().saturating_sub(LISTED);
    wanted.extend(options);
    if rest > 0 {
        wanted.push(format!("{rest} more"));
    }
    let one_of = if expected.values.len() > 1 { "one of " } else { "" };
    format!("is {is}, expected {one_of}{}{}", joined(&wanted, "or"), hint(value, expected))
}

/// The mistakes that models make most: a value written as text, a value that is absent written as null, a word mistyped.
fn hint(value: &Value, expected: &Expected) -> String {
    let expects = |kind: &str| expected.types.contains(&kind);
    match value {
        Value::String(text) => {
            let start = text.trim_start().chars().next();
            if (expects("an array") && start == Some('[')) || (expects("an object") && start == Some('{')) {
                return "; send the JSON itself, not text that holds it".to_owned();
            }
            let is_number = (expects("a number") && text.parse::<f64>().is_ok_and(f64::is_finite))
                || (expects("an integer") && text.parse::<i64>().is_ok());
            if is_number || (expects("a boolean") && matches!(text.as_str(), "true" | "false")) {
                return "; send it without quotes".to_owned();
            }
            let words = expected.values.iter().filter_map(Value::as_str);
            near(text, words).map(|word| format!(" (did you mean `\"{}\"`?)", visible(word, VALUE))).unwrap_or_default()
        }
        Value::Null => "; leave it out if it is optional".to_owned(),
        _ => String::new(),
    }
}

fn missing(names: &[String]) -> String {
    format!("must have {}", joined(&listed(names.iter().map(String::as_str)), "and"))
}

fn not_taken(unexpected: &[String], declared: &[&str], value: &Value) -> String {
    let mut parts = Vec::new();
    for name in unexpected.iter().take(LISTED) {
        let free = declared.iter().copied().filter(|declared| value.get(declared).is_none());
        let guess = near(name, free).map(|guess| format!(" (did you mean `{}`?)", visible(guess, VALUE)));
        parts.push(format!("`{}`{}", visible(name, VALUE), guess.unwrap_or_default()));
    }
    let rest = unexpected.len().saturating_sub(LISTED);
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    let takes = match declared {
        [] => "nothing".to_owned(),
        names => joined(&listed(names.iter().copied()), "and"),
    };
    format!("does not take {}; it takes {takes}", joined(&parts, "or"))
}

fn other_words(kind: &Kind, is: &str, value: &Value) -> String {
    let length = || value.as_str().map_or(0, |text| text.chars().count());
    match kind {
        Kind::Minimum { limit } => format!("is {is}, must be at least {limit}"),
        Kind::Maximum { limit } => format!("is {is}, must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("is {is}, must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("is {is}, must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("is {is}, must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } if *limit == 1 => "must not be empty".to_owned(),
        Kind::MinLength { limit } => format!("must have at least {limit} characters, has {}", length()),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters, has {}", length()),
        Kind::MinItems { limit } => format!("is {is}, must have at least {limit}"),
        Kind::MaxItems { limit } => format!("is {is}, must have at most {limit}"),
        Kind::AdditionalItems { limit } => format!("is {is}, must have at most {limit}"),
        Kind::MinProperties { limit } => format!("is {is}, must have at least {limit}"),
        Kind::MaxProperties { limit } => format!("is {is}, must have at most {limit}"),
        Kind::UnevaluatedItems { .. } => format!("is {is}, some of which are not allowed"),
        Kind::UniqueItems => "has an item twice".to_owned(),
        Kind::Contains => "has too few or too many items of the kind that `contains` asks for".to_owned(),
        Kind::Pattern { pattern } => format!("is {is}, must match the pattern `{}`", visible(pattern, 80)),
        Kind::Format { format } => format!("is {is}, must have the format `{}`", visible(format, VALUE)),
        Kind::Not { .. } => "is what the schema excludes with `not`".to_owned(),
        // Our own `pattern` keyword; what it says holds no value.
        Kind::Custom { message, .. } => message.clone(),
        other => format!("does not satisfy `{}`", visible(other.keyword(), VALUE)),
    }
}

/// The candidate that a name may have been meant to be. Only ever shown: nothing is resolved by it.
fn near<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > COMPARED {
        return None;
    }
    let wanted = letters(name);
    let candidates = candidates.filter(|candidate| candidate.len() <= COMPARED).take(1_000);
    let measured = candidates.map(|candidate| {
        let same_letters = letters(candidate) == wanted;
        (if same_letters { 0 } else { strsim::damerau_levenshtein(name, candidate) }, candidate)
    });
    // Of two short names, each is two edits from the other.
    let near = measured.filter(|(edits, candidate)| *edits <= NEAR && edits * 3 <= candidate.chars().count());
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// A name without what styles of writing names differ in.
fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn closest_of(alternatives: usize) -> String {
    if alternatives > 1 { format!(" (in the closest of {alternatives} alternatives)") } else { String::new() }
}

fn listable(values: &[Value]) -> Vec<Value> {
    let short = |value: &&Value| value.as_str().map_or_else(|| value.to_string().len(), str::len) <= 200;
    values.iter().filter(short).take(LISTED).cloned().collect()
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = names.map(|name| format!("`{}`", visible(name, VALUE))).collect();
    let rest = names.len().saturating_sub(LISTED);
    if rest > 0 {
        names.truncate(LISTED);
        names.push(format!("{rest} more"));
    }
    names
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`\"{}\"`", visible(text, VALUE)),
        other => format!("`{}`", visible(&other.to_string(), VALUE)),
    }
}

fn joined(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

fn counted(count: usize, what: &str) -> String {
    match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "property") => format!("{count} properties"),
        (count, what) => format!("{count} {what}s"),
    }
}
