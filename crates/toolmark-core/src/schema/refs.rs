//! Where a reference inside one document points. It never leaves the document and never follows more than one step.

use std::borrow::Cow;

use serde_json::Value;

/// What `reference` (`#`, `#/$defs/name`) names inside `document`; `None` when it names nothing there or is no local pointer.
pub(crate) fn local<'s>(document: &'s Value, reference: &str) -> Option<&'s Value> {
    pointer(document, reference.strip_prefix('#')?)
}

/// What a fragment that is a JSON pointer names below `base`.
pub(crate) fn pointer<'s>(base: &'s Value, fragment: &str) -> Option<&'s Value> {
    if fragment.is_empty() { Some(base) } else { base.pointer(&percent_decoded(fragment)?) }
}

/// Appends one step to a JSON pointer, escaped as RFC 6901 asks.
pub(crate) fn step(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The name that one step of a JSON pointer spells.
pub(crate) fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { Cow::Owned(step.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(step) }
}

fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pointer_is_percent_decoded_and_unescaped() {
        let document = json!({"$defs": {"a/b c~": 1}, "list": [10, 20]});
        assert_eq!(local(&document, "#/$defs/a~1b%20c~0"), Some(&json!(1)));
        assert_eq!(local(&document, "#/list/1"), Some(&json!(20)));
        assert_eq!(local(&document, "#"), Some(&document));
    }

    #[test]
    fn what_is_no_local_pointer_points_nowhere() {
        let document = json!({"a": 1});
        for reference in ["", "a", "http://x/#/a", "#a", "#/b", "#/%zz", "#/%f", "#/%ff"] {
            assert_eq!(local(&document, reference), None, "{reference}");
        }
    }

    #[test]
    fn a_step_survives_the_way_there_and_back() {
        for name in ["plain", "a/b", "~", "~1", "a~/~0"] {
            let path = step("", name);
            assert_eq!(unescaped(path.strip_prefix('/').unwrap()), name);
        }
    }
}
