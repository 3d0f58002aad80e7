//! Text that people cannot read and models can: base64, hexadecimal, escapes, Unicode tags, variation selectors, spelled-out
//! words. It counts only when it decodes to language; identifiers, hashes and images do not.

use std::ops::Range;

use super::{Kind, Match, fold, is_serious};
use crate::severity::Severity;

/// Shorter runs of base64 or hexadecimal digits are names and numbers.
const SHORTEST_RUN: usize = 20;
/// Fewer escapes in a row are honest.
const FEWEST_ESCAPES: usize = 8;
/// Fewer invisible characters in a row carry no text.
const FEWEST_INVISIBLE: usize = 4;
/// A decoded text of this length is no example.
const LONG: usize = 60;
/// Fewer single letters in a row spell nothing.
const FEWEST_LETTERS: usize = 6;
/// What is worth spelling out.
const SPELLED: &[&str] =
    &["ignore", "instruction", "previous", "system", "password", "credential", "donottell", "donotmention", "secret"];

/// Adds every text that has to be decoded to be read.
pub(super) fn find(text: &str, found: &mut Vec<Match>) {
    runs(text, found);
    if text.contains(['\\', '&', '%']) {
        escapes(text, found);
    }
    spelled_out(text, found);
    if !text.is_ascii() {
        invisible(text, found);
    }
}

fn report(range: Range<usize>, bytes: &[u8], found: &mut Vec<Match>) {
    let Some(decoded) = language(bytes) else { return };
    let serious = is_serious(decoded);
    let severity = match decoded.len() {
        _ if serious => Severity::Critical,
        LONG.. => Severity::Medium,
        _ => Severity::Low,
    };
    found.push(Match::new(Kind::Encoded, severity, range).showing(decoded));
}

/// The bytes as text, if they are words with spaces between them.
fn language(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let readable = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | '\n' | '\'')).count();
    let characters = text.chars().count();
    let words = text.split_whitespace().count();
    (words >= 2 && characters >= 8 && readable * 10 >= characters * 8 && !text.contains(char::is_control))
        .then_some(text)
}

fn runs(text: &str, found: &mut Vec<Match>) {
    for run in long_runs(text.as_bytes(), SHORTEST_RUN, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
    }) {
        let digits = text.as_bytes().get(run.clone()).unwrap_or_default();
        if let Some(bytes) = hexadecimal(digits) {
            report(run.clone(), &bytes, found);
        }
        report(run, &base64(digits), found);
    }
}

/// Where at least `shortest` bytes in a row are `wanted`. Looks at the end of each window first, so that text in which such runs
/// are rare is mostly skipped.
pub(super) fn long_runs(bytes: &[u8], shortest: usize, wanted: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    while let Some(window) = bytes.get(start..start + shortest) {
        match window.iter().rposition(|&byte| !wanted(byte)) {
            Some(other) => start += other + 1,
            None => {
                let rest = bytes.get(start + shortest..).unwrap_or_default();
                let more = rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len());
                let end = start + shortest + more;
                runs.push(start..end);
                start = end + 1;
            }
        }
    }
    runs
}

fn hexadecimal(run: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = run.iter().map(|&byte| digit(byte)).collect::<Option<_>>()?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| (byte << 4) | digit)).collect())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn base64(run: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(run.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for &byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xFF).unwrap_or_default());
        }
    }
    out
}

/// Finds runs of `\x41`, `\u0041`, `&#65;`, `&#x41;` and `%41`.
fn escapes(text: &str, found: &mut Vec<Match>) {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut count) = (0, 0, 0);
    let mut decoded = Vec::new();
    while at <= bytes.len() {
        match escape(bytes.get(at..).unwrap_or_default()) {
            Some((byte, length)) => {
                if count == 0 {
                    start = at;
                }
                count += 1;
                decoded.push(byte);
                at += length;
            }
            None => {
                // One plain character between escapes, such as a space, does not end the run.
                let again = count > 0 && escape(bytes.get(at + 1..).unwrap_or_default()).is_some();
                if again && bytes.get(at) == Some(&b' ') {
                    decoded.push(b' ');
                } else {
                    if count >= FEWEST_ESCAPES {
                        report(start..at, &decoded, found);
                    }
                    count = 0;
                    decoded.clear();
                }
                at += 1;
            }
        }
    }
}

fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let number = |digits: &[u8]| digits.iter().try_fold(0u32, |sum, &byte| Some(sum * 16 + u32::from(digit(byte)?)));
    let (value, length) = match rest {
        [b'\\', b'x', one, two, ..] => (number(&[*one, *two])?, 4),
        [b'\\', b'u', one, two, three, four, ..] => (number(&[*one, *two, *three, *four])?, 6),
        [b'%', one, two, ..] => (number(&[*one, *two])?, 3),
        [b'&', b'#', tail @ ..] => {
            let end = tail.iter().take(8).position(|&byte| byte == b';')?;
            let digits = std::str::from_utf8(tail.get(..end)?).ok()?;
            let value = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            (value, end + 3)
        }
        _ => return None,
    };
    u8::try_from(value).ok().filter(u8::is_ascii).map(|byte| (byte, length))
}

/// Finds `i g n o r e`: single letters with a separator or two between them.
fn spelled_out(text: &str, found: &mut Vec<Match>) {
    let bytes = text.as_bytes();
    let letter = |at: usize| bytes.get(at).copied().filter(u8::is_ascii_alphabetic);
    let separator =
        |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'.' | b'-' | b'_' | b'*' | b'|'));
    // How far it is from one single letter to the next.
    let step = |at: usize| {
        let gap = (1..=3).take_while(|ahead| separator(at + ahead)).count();
        (gap > 0 && letter(at + gap + 1).is_some() && letter(at + gap + 2).is_none()).then_some(gap + 1)
    };
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        if !separator(at) || letter(start).is_none() || (start > 0 && letter(start - 1).is_some()) {
            continue;
        }
        let mut end = start;
        let mut word = String::from(char::from(bytes.get(start).copied().unwrap_or_default()).to_ascii_lowercase());
        while let Some(step) = step(end) {
            end += step;
            word.push(char::from(bytes.get(end).copied().unwrap_or_default()).to_ascii_lowercase());
        }
        if word.len() >= FEWEST_LETTERS && SPELLED.iter().any(|one| word.contains(one)) {
            found.push(Match::new(Kind::Encoded, Severity::High, start..end + 1).showing(&word));
        }
        at = end + 1;
    }
}

/// Finds text in Unicode tags and bytes in variation selectors.
fn invisible(text: &str, found: &mut Vec<Match>) {
    let mut run = Invisible::default();
    for (at, character) in text.char_indices() {
        let byte = fold::tag(character).or_else(|| selector(character));
        match byte {
            Some(byte) => {
                if run.bytes.is_empty() {
                    run.start = at;
                }
                run.bytes.push(byte);
                run.end = at + character.len_utf8();
            }
            None => {
                run.finish(found);
                run.flag = character == '\u{1F3F4}';
            }
        }
    }
    run.finish(found);
}

#[derive(Default)]
struct Invisible {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// A black flag stands before it: with tags, the flag of England, Scotland or Wales.
    flag: bool,
}

impl Invisible {
    fn finish(&mut self, found: &mut Vec<Match>) {
        let bytes = std::mem::take(&mut self.bytes);
        let honest = self.flag && matches!(bytes.as_slice(), b"gbeng" | b"gbsct" | b"gbwls");
        self.flag = false;
        if bytes.len() < FEWEST_INVISIBLE || honest {
            return;
        }
        let decoded = String::from_utf8_lossy(&bytes);
        let found_here = Match::new(Kind::Encoded, Severity::Critical, self.start..self.end);
        found.push(found_here.showing(&decoded));
    }
}

/// The byte that a variation selector carries when it is used to smuggle text.
fn selector(character: char) -> Option<u8> {
    match u32::from(character) {
        point @ 0xFE00..=0xFE0F => u8::try_from(point - 0xFE00).ok(),
        point @ 0xE0100..=0xE01EF => u8::try_from(point - 0xE0100 + 16).ok(),
        _ => None,
    }
}
