//! Can this address be called, and can what it answers be believed? What is asked of addresses in `toolmark.toml`, also by whoever replaces
//! their variables.

use std::net::{IpAddr, Ipv6Addr};

/// True for an address that can be called: `http://` or `https://`, a host, and a port that is one if there is any.
#[must_use]
pub fn is_web_address(text: &str) -> bool {
    place(text).is_some_and(|place| host(place).is_some()) && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// True for a host whose answers can be believed: over TLS, or on this machine. Anybody between here and there could give others over plain
/// HTTP.
#[must_use]
pub fn is_trusted_host(scheme: &str, host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let near = || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    match scheme {
        "https" => !host.is_empty(),
        "http" => near(),
        _ => false,
    }
}

/// True for an address that is called without encryption.
pub(crate) fn is_plain(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http"))
}

/// True for an address whose answers can be believed.
pub(crate) fn is_trusted_address(text: &str) -> bool {
    let host = place(text).and_then(host);
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
    is_web_address(text) && host.is_some_and(|host| is_trusted_host(&scheme, host))
}

/// Whether this is an address of a receiver of OpenTelemetry data. What is secret in one would end up in logs.
///
/// # Errors
/// What it is or has instead.
pub fn check_receiver(text: &str) -> Result<(), &'static str> {
    if !is_web_address(text) {
        return Err("is no `http://` or `https://` address");
    }
    let authority = place_with_user(text).unwrap_or_default();
    if text.contains('?') || authority.contains('@') {
        return Err("has a query or a password; put what is secret into `headers`");
    }
    Ok(())
}

/// Host and port of an address, and who asks.
fn place_with_user(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_known = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_known.then_some(rest)?.split(['/', '?', '#']).next()
}

/// Host and port of an address.
fn place(text: &str) -> Option<&str> {
    place_with_user(text).map(|authority| authority.rsplit_once('@').map_or(authority, |(_, place)| place))
}

/// The host of a place, if it is one, with a port or without. What is no port must not become the usual one.
fn host(place: &str) -> Option<&str> {
    let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) if host.parse::<Ipv6Addr>().is_ok() => match rest.strip_prefix(':') {
            None if !rest.is_empty() => return None,
            port => (host, port),
        },
        _ => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    (!host.is_empty() && !host.starts_with('[') && port.is_none_or(is_port)).then_some(host)
}

#[cfg(test)]
mod tests;
