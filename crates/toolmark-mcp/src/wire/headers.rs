//! Do the headers of a request say what its body says? The rules of 2026-07-28, for both directions.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use super::object::RawObject;
use super::params::naming_parameter;

/// `MCP-Protocol-Version`.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// `Mcp-Session-Id`, up to 2025-11-25.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// `Last-Event-ID`, up to 2025-11-25.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// What the names of headers begin with that repeat an argument.
pub const PARAM_PREFIX: &str = "mcp-param-";

const ENCODED_START: &str = "=?base64?";
const ENCODED_END: &str = "?=";

/// Which arguments of a tool are repeated in headers: `x-mcp-header` in its input schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders(Vec<ParamHeader>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ParamHeader {
    header: HeaderName,
    path: Vec<String>,
    whole_number: bool,
}

/// An input schema whose `x-mcp-header` cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`x-mcp-header` of `{property}` {reason}")]
pub struct ParamHeadersError {
    property: String,
    reason: &'static str,
}

/// A header that does not say what the body says. The JSON-RPC code is [`HEADER_MISMATCH`](super::codes::HEADER_MISMATCH).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header `{header}` {reason}")]
pub struct HeaderMismatchError {
    header: String,
    reason: &'static str,
}

/// A text as the value of a header: as it is, or as `=?base64?…?=` where it would not survive.
#[must_use]
pub fn encode(text: &str) -> HeaderValue {
    let value = if must_encode(text) {
        HeaderValue::from_str(&format!("{ENCODED_START}{}{ENCODED_END}", BASE64_STANDARD.encode(text)))
    } else {
        HeaderValue::from_str(text)
    };
    // Invariant: both forms are printable ASCII, which every header takes.
    value.unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// The text that a header stands for; `None` if it is encoded wrongly or not ASCII.
#[must_use]
pub fn decode(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let text = value.to_str().ok()?;
    match text.strip_prefix(ENCODED_START).and_then(|rest| rest.strip_suffix(ENCODED_END)) {
        None => Some(Cow::Borrowed(text)),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

fn must_encode(text: &str) -> bool {
    text.starts_with([' ', '\t'])
        || text.ends_with([' ', '\t'])
        || text.bytes().any(|byte| !(0x20..=0x7e).contains(&byte))
        || (text.starts_with(ENCODED_START) && text.ends_with(ENCODED_END))
}

/// Checks `Mcp-Method` and `Mcp-Name` of a request against its body.
///
/// # Errors
/// A header that is missing, there twice, not readable or says something else than the body.
pub fn check(headers: &HeaderMap, method: &str, params: Option<&RawObject>) -> Result<(), HeaderMismatchError> {
    match single(headers, &METHOD)? {
        None => return Err(mismatch(&METHOD, "is missing")),
        Some(value) if value.as_bytes() != method.as_bytes() => {
            return Err(mismatch(&METHOD, "differs from the method of the body"));
        }
        Some(_) => {}
    }
    let Some(name) = naming_parameter(method).and_then(|key| params?.text(key)) else { return Ok(()) };
    let Some(value) = single(headers, &NAME)? else {
        // Other methods may say what they are about, these three have to.
        let required = matches!(method, "tools/call" | "prompts/get" | "resources/read");
        return if required { Err(mismatch(&NAME, "is missing")) } else { Ok(()) };
    };
    let decoded = decode(value).ok_or_else(|| mismatch(&NAME, "is not readable"))?;
    if decoded == name { Ok(()) } else { Err(mismatch(&NAME, "differs from the name in the body")) }
}

/// The same for a request that need not have them: what something in between may have believed has to be true.
///
/// # Errors
/// A header that is there twice, not readable or says something else than the body.
pub fn check_given(headers: &HeaderMap, method: &str, params: Option<&RawObject>) -> Result<(), HeaderMismatchError> {
    if let Some(value) = single(headers, &METHOD)?
        && value.as_bytes() != method.as_bytes()
    {
        return Err(mismatch(&METHOD, "differs from the method of the body"));
    }
    let Some(value) = single(headers, &NAME)? else { return Ok(()) };
    let decoded = decode(value).ok_or_else(|| mismatch(&NAME, "is not readable"))?;
    match naming_parameter(method).and_then(|key| params?.text(key)) {
        Some(name) if name != decoded => Err(mismatch(&NAME, "differs from the name in the body")),
        _ => Ok(()),
    }
}

/// Checks `MCP-Protocol-Version` against the version that the body names.
///
/// # Errors
/// A header that is missing, there twice or names another version.
pub fn check_version(headers: &HeaderMap, version: &str) -> Result<(), HeaderMismatchError> {
    match single(headers, &PROTOCOL_VERSION)? {
        None => Err(mismatch(&PROTOCOL_VERSION, "is missing")),
        Some(value) if value.as_bytes() == version.as_bytes() => Ok(()),
        Some(_) => Err(mismatch(&PROTOCOL_VERSION, "differs from the version of the body")),
    }
}

/// The only value of a header that must not be there twice.
///
/// # Errors
/// When it is there twice: a middle box might have read the other one.
pub fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, HeaderMismatchError> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(mismatch(name, "is there twice")) } else { Ok(first) }
}

impl ParamHeaders {
    /// Reads `x-mcp-header` from an input schema.
    ///
    /// # Errors
    /// When one is no header name, is used twice, or stands where the protocol does not allow it. Such a tool must not be
    /// used, says the protocol.
    pub fn read(schema: &Value) -> Result<Self, ParamHeadersError> {
        let mut found = Vec::new();
        collect(schema, true, &mut Vec::new(), &mut found)?;
        Ok(Self(found))
    }

    /// True if no argument is repeated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers for a call with these arguments. An argument that is absent or `null` has none.
    #[must_use]
    pub fn headers(&self, arguments: &Value) -> Vec<(HeaderName, HeaderValue)> {
        let value = |param: &ParamHeader| Some((param.header.clone(), encode(&param.text(arguments)?)));
        self.0.iter().filter_map(value).collect()
    }

    /// Checks the headers of a call against its arguments.
    ///
    /// # Errors
    /// A header that is missing, too much, there twice, not readable, or different.
    pub fn check(&self, headers: &HeaderMap, arguments: &Value) -> Result<(), HeaderMismatchError> {
        for param in &self.0 {
            let name = &param.header;
            match (single(headers, name)?, param.text(arguments)) {
                (None, None) => {}
                (None, Some(_)) => return Err(mismatch(name, "is missing")),
                (Some(_), None) => return Err(mismatch(name, "repeats an argument that is not there")),
                (Some(value), Some(expected)) => {
                    let decoded = decode(value).ok_or_else(|| mismatch(name, "is not readable"))?;
                    let same = decoded == expected || (param.whole_number && same_number(&decoded, &expected));
                    if !same {
                        return Err(mismatch(name, "differs from the argument in the body"));
                    }
                }
            }
        }
        Ok(())
    }
}

impl ParamHeader {
    fn text(&self, arguments: &Value) -> Option<String> {
        match self.path.iter().try_fold(arguments, |value, key| value.get(key))? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// `42` and `42.0` are one whole number.
fn same_number(left: &str, right: &str) -> bool {
    match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => left == right && left.abs() < 9_007_199_254_740_992.0,
        _ => false,
    }
}

/// Walks the schema. Only properties of properties may carry the keyword; anywhere else it is a mistake.
fn collect(
    schema: &Value,
    on_path: bool,
    path: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), ParamHeadersError> {
    // Schemas come from strangers; nesting is bounded before they get here, and here once more.
    if path.len() > 64 {
        return Ok(());
    }
    let Value::Object(schema) = schema else { return Ok(()) };
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("x-mcp-header", value) => {
                let param = annotated(schema, value, on_path, path)?;
                if found.iter().any(|other| other.header == param.header) {
                    return Err(refuse(path, "is used twice"));
                }
                found.push(param);
            }
            ("default" | "const" | "enum" | "examples", _) => {}
            ("properties", Value::Object(map)) => descend(map, on_path, path, found)?,
            ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(map)) => {
                descend(map, false, path, found)?;
            }
            (_, Value::Object(_)) => step(keyword, value, path, found)?,
            (_, Value::Array(items)) => {
                for item in items {
                    step(keyword, item, path, found)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn descend(
    map: &Map<String, Value>,
    on_path: bool,
    path: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), ParamHeadersError> {
    for (name, schema) in map {
        path.push(name.clone());
        collect(schema, on_path, path, found)?;
        path.pop();
    }
    Ok(())
}

fn step(
    keyword: &str,
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), ParamHeadersError> {
    path.push(keyword.to_owned());
    collect(schema, false, path, found)?;
    path.pop();
    Ok(())
}

fn annotated(
    schema: &Map<String, Value>,
    value: &Value,
    on_path: bool,
    path: &[String],
) -> Result<ParamHeader, ParamHeadersError> {
    if !on_path || path.is_empty() {
        return Err(refuse(path, "stands where no argument can be found"));
    }
    let name = value.as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| refuse(path, "is not a text"))?;
    let header = HeaderName::from_bytes(format!("{PARAM_PREFIX}{name}").as_bytes());
    let header = header.map_err(|_| refuse(path, "is not the name of a header"))?;
    let kind = schema.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(refuse(path, "repeats something that is neither text, whole number nor truth value"));
    }
    Ok(ParamHeader { header, path: path.to_vec(), whole_number: kind == Some("integer") })
}

fn refuse(path: &[String], reason: &'static str) -> ParamHeadersError {
    ParamHeadersError { property: path.join("."), reason }
}

fn mismatch(header: &HeaderName, reason: &'static str) -> HeaderMismatchError {
    HeaderMismatchError { header: header.as_str().to_owned(), reason }
}

impl Explain for HeaderMismatchError {
    fn code(&self) -> Code {
        Code::new("header-mismatch")
    }

    fn why(&self) -> String {
        "something between client and server may have decided by the header what the body does not say".to_owned()
    }

    fn fix(&self) -> String {
        format!("send `{}` once, with the value that the body has", self.header)
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("header", Value::from(self.header.as_str())), ("reason", Value::from(self.reason))])
    }
}

impl Explain for ParamHeadersError {
    fn code(&self) -> Code {
        Code::new("param-header-invalid")
    }

    fn why(&self) -> String {
        "a call could not be sent with the headers that its tool asks for".to_owned()
    }

    fn fix(&self) -> String {
        "have the server's author mend `x-mcp-header` in the input schema".to_owned()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("property", Value::from(self.property.as_str())), ("reason", Value::from(self.reason))])
    }
}

#[cfg(test)]
mod tests;
