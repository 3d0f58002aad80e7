//! Whether a pack of the configuration is the server that a client has.

use toolmark_config::clients::Client;
use toolmark_config::sections::Pack;
use toolmark_config::values::{Part, Template};
use toolmark_core::names::PackName;

/// True when a pack may stand for a client's server of this name: it is called the same, or as `init` calls it beside another of that name.
pub(super) fn is_named(pack: &PackName, server: &PackName, client: Client) -> bool {
    let of_client = PackName::slug(&format!("{server}-{client}")).ok();
    let numbered = |name: &PackName| {
        let number = pack.as_str().strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    pack == server || of_client.is_some_and(|name| *pack == name || numbered(&name))
}

/// True when both start the same program with the same arguments, or call the same address. Everything else is a setting.
pub(super) fn is_same(one: &Pack, other: &Pack) -> bool {
    let alike = |one: Option<&Template>, other: Option<&Template>| match (one, other) {
        (Some(one), Some(other)) => may_be_equal(one, other),
        (None, None) => true,
        _ => false,
    };
    alike(one.command.as_ref(), other.command.as_ref())
        && alike(one.url.as_ref(), other.url.as_ref())
        && one.args.len() == other.args.len()
        && one.args.iter().zip(&other.args).all(|(one, other)| may_be_equal(one, other))
}

/// A secret of the client is often a variable in the configuration, or the other way round; what it stands for is not known here.
fn may_be_equal(one: &Template, other: &Template) -> bool {
    let text = |template: &Template| template.as_literal().unwrap_or_else(|| template.written());
    one == other || fits(one, text(other).expose()) || fits(other, text(one).expose())
}

/// True when the text is the template with something in the place of each variable.
fn fits(template: &Template, text: &str) -> bool {
    let parts = template.parts();
    let mut rest = text;
    let mut anything = false;
    for (at, part) in parts.iter().enumerate() {
        let Part::Literal(literal) = part else {
            anything = true;
            continue;
        };
        let literal = literal.expose();
        let left = match anything {
            false => rest.strip_prefix(literal),
            true if at + 1 == parts.len() => rest.strip_suffix(literal).map(|_| ""),
            true => rest.split_once(literal).map(|(_, after)| after),
        };
        let Some(left) = left else { return false };
        rest = left;
        anything = false;
    }
    anything || rest.is_empty()
}

#[cfg(test)]
mod tests;
