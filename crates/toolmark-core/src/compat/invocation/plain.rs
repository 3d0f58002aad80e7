//! JSON as Python writes it for hashing: keys in order, no spaces, text as it is, whole numbers whole and doubles as `repr` has them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{IdentifyInvocationError, MAX_DEPTH};
use crate::canonical::write_string;
use crate::json::Json;

/// A JSON value with the distinctions that Python makes, and without those that it does not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain<'a> {
    Null,
    Bool(bool),
    /// A whole number of any size, in digits.
    Whole(Cow<'a, str>),
    /// A number that was written with a point or an exponent.
    Double(f64),
    Text(Cow<'a, str>),
    /// A string, as value or as key, with half a surrogate pair in it. It can be read, and overwritten, but not written.
    Broken,
    Array(Vec<Plain<'a>>),
    /// Sorted by code point, which is the order of UTF-8.
    Object(BTreeMap<Cow<'a, str>, Plain<'a>>),
}

impl<'a> Plain<'a> {
    /// Takes over a value. Without `nulls`, entries of objects that hold null are left out; items of arrays never are.
    pub(super) fn of(value: &'a Json<'_>, nulls: bool) -> Result<Self, IdentifyInvocationError> {
        Self::below(value, nulls, 0)
    }

    fn below(value: &'a Json<'_>, nulls: bool, depth: usize) -> Result<Self, IdentifyInvocationError> {
        if depth > MAX_DEPTH {
            return Err(IdentifyInvocationError::TooDeep);
        }
        Ok(match value {
            Json::Null => Plain::Null,
            Json::Bool(flag) => Plain::Bool(*flag),
            Json::Number(text) => Self::number(text),
            Json::String(text) => Plain::Text(Cow::Borrowed(text)),
            Json::Array(items) => {
                Plain::Array(items.iter().map(|item| Self::below(item, nulls, depth + 1)).collect::<Result<_, _>>()?)
            }
            Json::Object(entries) => Plain::Object(
                entries
                    .iter()
                    .filter(|(_, value)| nulls || !value.is_null())
                    .map(|(key, value)| Ok((Cow::Borrowed(key.as_ref()), Self::below(value, nulls, depth + 1)?)))
                    .collect::<Result<_, IdentifyInvocationError>>()?,
            ),
        })
    }

    /// A number from its text: whole if it is only digits.
    pub(super) fn number(text: &'a str) -> Self {
        match text {
            "-0" => Plain::Whole("0".into()),
            _ if text.contains(['.', 'e', 'E']) => Plain::Double(text.parse().unwrap_or(f64::NAN)),
            _ => Plain::Whole(text.into()),
        }
    }

    /// Appends the text that is hashed.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), IdentifyInvocationError> {
        match self {
            Plain::Null => out.extend_from_slice(b"null"),
            Plain::Bool(true) => out.extend_from_slice(b"true"),
            Plain::Bool(false) => out.extend_from_slice(b"false"),
            Plain::Whole(digits) => out.extend_from_slice(digits.as_bytes()),
            Plain::Double(double) => out.extend_from_slice(double_repr(*double).as_bytes()),
            Plain::Text(text) => write_string(text, out),
            Plain::Broken => return Err(IdentifyInvocationError::LoneSurrogate),
            Plain::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(out)?;
                }
                out.push(b']');
            }
            Plain::Object(entries) => {
                out.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_string(key, out);
                    out.push(b':');
                    value.write(out)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }
}

/// A double as Python's `repr` has it: the shortest digits that lead back to it, with a point or an exponent.
pub(super) fn double_repr(double: f64) -> String {
    if double.is_infinite() {
        return if double > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    if double.is_nan() {
        return "NaN".into();
    }
    let (sign, digits, exponent) = shortest(double);
    if (-4..16).contains(&exponent) {
        return format!("{sign}{}", positional(&digits, exponent));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let direction = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{direction}{:02}", exponent.unsigned_abs())
}

/// The sign, the shortest digits that lead back to a finite double, and the power of ten of the first of them.
///
/// Of two candidates that are equally near, Python takes the even one. So does JavaScript, and Rust does not.
fn shortest(double: f64) -> (&'static str, String, i32) {
    let sign = if double.is_sign_negative() { "-" } else { "" };
    let mut buffer = ryu_js::Buffer::new();
    let text = buffer.format(double.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return (sign, "0".to_owned(), 0);
    }
    let count = |text: &str| i32::try_from(text.len()).unwrap_or(0);
    let leading = count(&all) - count(digits);
    let exponent = exponent.parse::<i32>().unwrap_or(0) + count(whole) - 1 - leading;
    (sign, digits.trim_end_matches('0').to_owned(), exponent)
}

/// Writes the digits without an exponent; at least one stands behind the point.
fn positional(digits: &str, exponent: i32) -> String {
    let Ok(exponent) = usize::try_from(exponent) else {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0));
        return format!("0.{zeros}{digits}");
    };
    let whole = exponent + 1;
    let padded = format!("{digits:0<whole$}");
    let (before, after) = padded.split_at(whole);
    format!("{before}.{}", if after.is_empty() { "0" } else { after })
}
