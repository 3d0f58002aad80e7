//! The parts of a URL as Python's `urlsplit` sees them, which is neither RFC 3986 nor what browsers do.

use std::net::Ipv6Addr;

use crate::compat::python::lower;

/// The parts of a URL that survive in a log; user, query and fragment are left behind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// In lower case; empty when there is none.
    pub(super) scheme: String,
    /// Everything between `//` and the path.
    pub(super) authority: String,
    /// As written.
    pub(super) path: String,
}

/// Text that cannot be split, or whose host or port cannot be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAUrl;

/// Splits `text`.
pub(super) fn split(text: &str) -> Result<Split, NotAUrl> {
    let text = text.trim_start_matches(|character: char| character <= ' ');
    let text: String = text.chars().filter(|character| !matches!(character, '\t' | '\r' | '\n')).collect();
    let (scheme, rest) = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
        _ => (String::new(), text.as_str()),
    };
    let (authority, rest) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    check_brackets(authority)?;
    if authority.chars().any(turns_into_a_separator) {
        return Err(NotAUrl);
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    Ok(Split { scheme, authority: authority.to_owned(), path: path.to_owned() })
}

impl Split {
    /// The host, in lower case up to a `%`, and the port. The host may be empty.
    pub(super) fn host_and_port(&self) -> Result<(String, Option<u16>), NotAUrl> {
        let place = self.authority.rsplit_once('@').map_or(self.authority.as_str(), |(_, place)| place);
        let (host, port) = match place.split_once('[') {
            Some((_, bracketed)) => {
                let (host, after) = bracketed.split_once(']').unwrap_or((bracketed, ""));
                (host, after.split_once(':').map(|(_, port)| port))
            }
            None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
        };
        let (name, zone) = host.split_at(host.find('%').unwrap_or(host.len()));
        let port = port.filter(|port| !port.is_empty()).map(port_number).transpose()?;
        Ok((lower(name) + zone, port))
    }
}

/// Python refuses to read a whole number of more digits than this.
const MAX_DIGITS: usize = 4300;

fn port_number(text: &str) -> Result<u16, NotAUrl> {
    if text.len() > MAX_DIGITS || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotAUrl);
    }
    match text.trim_start_matches('0') {
        "" => Ok(0),
        digits => digits.parse().map_err(|_| NotAUrl),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Both brackets or none, and an address between them, wherever in the authority they stand.
fn check_brackets(authority: &str) -> Result<(), NotAUrl> {
    match (authority.split_once('['), authority.contains(']')) {
        (None, false) => Ok(()),
        (Some((_, rest)), true) => {
            let address = rest.split(']').next().unwrap_or_default();
            if is_bracketed_address(address) { Ok(()) } else { Err(NotAUrl) }
        }
        _ => Err(NotAUrl),
    }
}

fn is_bracketed_address(text: &str) -> bool {
    if let Some(future) = text.strip_prefix('v') {
        return future.split_once('.').is_some_and(|(version, rest)| {
            !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit()) && !rest.is_empty()
        });
    }
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    zone.is_none_or(|zone| !zone.is_empty() && !zone.contains('%')) && address.parse::<Ipv6Addr>().is_ok()
}

/// Characters whose compatibility form holds one of `/ ? # @ :` and would move the end of the authority.
fn turns_into_a_separator(character: char) -> bool {
    matches!(
        character,
        '\u{2047}'
            ..='\u{2049}'
                | '\u{2100}'
                | '\u{2101}'
                | '\u{2105}'
                | '\u{2106}'
                | '\u{2A74}'
                | '\u{FE13}'
                | '\u{FE16}'
                | '\u{FE55}'
                | '\u{FE56}'
                | '\u{FE5F}'
                | '\u{FE6B}'
                | '\u{FF03}'
                | '\u{FF0F}'
                | '\u{FF1A}'
                | '\u{FF1F}'
                | '\u{FF20}'
    )
}
