//! Does a host lie inside: on this machine, in a private network, behind a cloud's metadata address? Whatever its spelling.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Names that lead inside.
const NAMES: &[&str] = &[
    "localhost",
    "metadata",
    "metadata.google.internal",
    "instance-data",
    "ip6-localhost",
    "ip6-loopback",
    "broadcasthost",
    "kubernetes.default",
    "kubernetes.default.svc",
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
];
/// Ends of names that lead inside.
const ENDS: &[&str] = &[
    ".localhost",
    ".localdomain",
    ".local",
    ".internal",
    ".lan",
    ".corp",
    ".intranet",
    ".private",
    ".home.arpa",
    ".home",
    ".svc",
    ".cluster.local",
    ".nip.io",
    ".sslip.io",
    ".xip.io",
    ".localtest.me",
    ".lvh.me",
    ".vcap.me",
    ".in-addr.arpa",
];

/// The host without its port.
pub(super) fn without_port(text: &str) -> String {
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default().to_owned();
    }
    match text.split_once(':') {
        // An address of version six without brackets has more than one colon and begins without a dot.
        Some((host, rest)) if !rest.contains(':') || host.contains('.') => host.to_owned(),
        _ => text.to_owned(),
    }
}

/// True when a host lies inside, or is spelled so that nobody can say.
pub(super) fn is_inside(host: &str) -> bool {
    if host.is_empty() {
        return false;
    }
    let Some(plain) = plain(host) else { return true };
    let name = plain.trim_end_matches('.');
    if name.is_empty() || NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    let bare = name.split('%').next().unwrap_or(name);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return is_inside_v6(address);
    }
    if let Some(address) = loose_v4(name) {
        return is_inside_v4(address);
    }
    // A name without a dot is known only inside.
    !name.contains('.')
}

/// The host in lower case, with what stands for ASCII characters replaced by them; nothing when something else stands there.
fn plain(host: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = host.chars();
    while let Some(character) = rest.next() {
        match character {
            '%' => {
                let high = rest.next().and_then(|c| c.to_digit(16));
                let low = rest.next().and_then(|c| c.to_digit(16));
                match high.zip(low).and_then(|(high, low)| char::from_u32(high * 16 + low)) {
                    Some(decoded) if decoded.is_ascii_alphanumeric() || matches!(decoded, '.' | '-' | ':') => {
                        out.push(decoded.to_ascii_lowercase());
                    }
                    // A zone such as `%eth0`, or an attempt.
                    _ => return None,
                }
            }
            '\u{3002}' | '\u{FF0E}' | '\u{FF61}' => out.push('.'),
            '\u{FF01}'..='\u{FF5E}' => {
                out.extend(char::from_u32(u32::from(character) - 0xFEE0).map(|c| c.to_ascii_lowercase()));
            }
            _ if character.is_ascii() => out.push(character.to_ascii_lowercase()),
            // Circled and other digits become plain ones in some clients.
            _ if character.is_numeric() || !character.is_alphanumeric() => return None,
            _ => out.extend(character.to_lowercase()),
        }
    }
    Some(out)
}

/// Reads an address as `inet_aton` does: one to four parts, decimal, octal or hexadecimal.
fn loose_v4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let numbers: Vec<u64> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    let mut address: u64 = 0;
    for part in first {
        address = (address << 8) | (part & 0xFF);
    }
    let bits = 32 - 8 * u32::try_from(first.len()).ok()?;
    // Too large a number wraps around in some clients.
    address = (address << bits) | (last & ((1 << bits) - 1));
    u32::try_from(address & 0xFFFF_FFFF).ok().map(Ipv4Addr::from)
}

fn number(part: &str) -> Option<u64> {
    if let Some(hex) = part.strip_prefix("0x") {
        return if hex.is_empty() { Some(0) } else { u64::from_str_radix(hex, 16).ok() };
    }
    if part.len() > 1 && part.starts_with('0') {
        return u64::from_str_radix(part, 8).ok().or_else(|| part.parse().ok());
    }
    part.parse().ok()
}

fn is_inside_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    matches!(
        (a, b, c),
        (0 | 10 | 127, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0)
            | (198, 18 | 19, _)
            | (224..=255, ..)
    )
}

fn is_inside_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| is_inside_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => true,
        // Addresses of version four in the clothes of version six.
        [0, 0, 0, 0, 0, 0xFFFF | 0, high, low]
        | [0x64, 0xFF9B, _, _, _, _, high, low]
        | [0, 0, 0, 0, 0xFFFF, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        [first, ..] => {
            (first & 0xFE00) == 0xFC00
                || (first & 0xFFC0) == 0xFE80
                || (first & 0xFF00) == 0xFF00
                || (first & 0xFFC0) == 0xFEC0
        }
    }
}
