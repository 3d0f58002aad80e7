//! One spelling for each path: encodings undone, separators alike, `.` and `..` resolved as far as the text tells.

/// A path in its one spelling, and what was noticed on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Normal {
    /// The path with `/` as separator, resolved.
    pub(super) text: String,
    pub(super) absolute: bool,
    /// It begins with the home directory.
    pub(super) home: bool,
    /// It begins with the home directory of somebody else.
    pub(super) foreign_home: bool,
    /// `..` leads out of where it starts.
    pub(super) climbs: bool,
    /// It names another machine or a device.
    pub(super) network: bool,
    /// Characters or encodings hide what it says.
    pub(super) hidden: bool,
}

/// How often an encoding is undone: once for each layer that may decode it.
const MAX_ROUNDS: usize = 3;

/// Brings a path into its one spelling.
pub(super) fn normalize(path: &str) -> Normal {
    let mut normal = Normal { hidden: path.chars().any(char::is_control), ..Normal::default() };
    let path = path.trim();
    let stripped = strip_scheme(path);
    let mut text = decode(stripped, &mut normal);
    if text.chars().any(is_look_alike) {
        let plain: String = text.chars().map(plain_character).collect();
        normal.hidden |= plain.split(['/', '\\']).any(|part| part == "..");
        text = plain;
    }
    normal.network = text.starts_with("\\\\") || (text.starts_with("//") && !text.trim_start_matches('/').is_empty());
    let mut text = text.replace('\\', "/");
    for home in ["${HOME}", "$HOME", "%USERPROFILE%", "$env:USERPROFILE", "%HOMEPATH%"] {
        if let Some(rest) = text.strip_prefix(home).filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            text = format!("~{rest}");
        }
    }
    normal.home = text.starts_with('~') && text.chars().nth(1).is_none_or(|next| next == '/');
    normal.foreign_home = text.starts_with('~')
        && text.chars().nth(1).is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, '+' | '-' | '_'));
    normal.absolute = text.starts_with('/') || has_drive(&text);
    resolve(&text, &mut normal);
    normal
}

fn strip_scheme(path: &str) -> &str {
    match path.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file://") => {
            let rest = path.get(7..).unwrap_or_default();
            rest.strip_prefix("localhost").unwrap_or(rest)
        }
        _ => path,
    }
}

/// Undoes percent encoding where it hides separators or dots. A name such as `100%.txt` stays as it is.
fn decode(path: &str, normal: &mut Normal) -> String {
    let mut text = path.to_owned();
    for _ in 0..MAX_ROUNDS {
        let lower = text.to_ascii_lowercase();
        if !["%2e", "%2f", "%5c", "%25", "%00", "%c0", "%c1", "%e0"].iter().any(|code| lower.contains(code)) {
            break;
        }
        // Overlong forms stand for no character at all, only for an attempt.
        normal.hidden |= ["%00", "%c0%a", "%c1%9", "%e0%80"].iter().any(|code| lower.contains(code));
        text = percent_decoded(&text);
    }
    if text != path {
        let climbs = |text: &str| text.split(['/', '\\']).any(|part| part == "..");
        normal.hidden |= climbs(&text) && !climbs(path);
    }
    text
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = match (byte, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        bytes.push(code.unwrap_or(byte));
        rest = after.get(if code.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn has_drive(text: &str) -> bool {
    let mut characters = text.chars();
    matches!((characters.next(), characters.next()), (Some(drive), Some(':')) if drive.is_ascii_alphabetic())
}

fn resolve(text: &str, normal: &mut Normal) {
    let anchored = normal.absolute || normal.home || normal.foreign_home;
    let mut parts: Vec<&str> = Vec::new();
    let mut second = None;
    let mut lowest = usize::MAX;
    for part in text.split('/') {
        match part {
            "" | "." => {}
            // Windows drops blanks at the end of a name.
            _ if part.trim_end_matches(' ') == ".." => {
                if parts.len() <= usize::from(normal.home || normal.foreign_home) {
                    normal.climbs = true;
                }
                second = second.or(parts.get(1).copied());
                parts.pop();
                lowest = lowest.min(parts.len());
            }
            _ => parts.push(part),
        }
    }
    // From an absolute path nobody climbs to the root or into a sibling of what its first two names lead to.
    let sibling = lowest <= 1 && second.is_some() && parts.get(1).copied() != second;
    normal.climbs |= anchored && lowest != usize::MAX && (lowest == 0 || sibling);
    let joined = parts.join("/");
    let absolute = normal.absolute && !has_drive(&joined);
    normal.text = if absolute { format!("/{joined}") } else { joined };
    if normal.text.is_empty() {
        normal.text.push('.');
    }
}

fn is_look_alike(character: char) -> bool {
    plain_character(character) != character
}

/// The character that another one is made to look like.
fn plain_character(character: char) -> char {
    match character {
        '\u{2024}' | '\u{FF0E}' | '\u{FE52}' | '\u{A4F8}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{29F8}' | '\u{FF0F}' => '/',
        '\u{2216}' | '\u{29F5}' | '\u{29F9}' | '\u{FE68}' | '\u{FF3C}' => '\\',
        other => other,
    }
}
