//! Which language a text is in: a BCP 47 tag, checked, in canonical case, and which tag answers which wish (RFC 4647 lookup).
//!
//! Scripts count even where they are not written: `zh-TW` is traditional Chinese, so it never answers for `zh` or `zh-Hans`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use icu_locale::{LanguageIdentifier, LocaleDirectionality, LocaleExpander, subtags};
use serde_json::{Map, Value};

use super::grandfathered;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// A language, as BCP 47 writes it: `nl`, `pt-BR`, `zh-Hant-TW`. Equal tags are equal in any case.
#[derive(Clone, Debug)]
pub struct LanguageTag {
    /// The tag in canonical case.
    text: Arc<str>,
    /// The language by today's name: `he` for `iw`.
    language: Short,
    /// The script that is written, or the one that the language is written in there.
    script: Option<[u8; 4]>,
    written_script: bool,
    region: Option<Short>,
    /// The region that is usual for the language in its script: `TW` for `zh-Hant`.
    usual_region: Option<Short>,
    /// Where variants, extensions and private parts begin.
    rest: u8,
    direction: Direction,
    /// Whether anybody is known to write this language.
    known: bool,
}

/// In which direction a text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Direction {
    /// From left to right.
    #[default]
    Ltr,
    /// From right to left.
    Rtl,
    /// As its first strong character says; for texts whose language nobody told.
    Auto,
}

/// A text that is no language tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no language tag: {problem}")]
pub struct ParseLanguageTagError {
    text: String,
    problem: &'static str,
}

/// At most eight ASCII characters, in place.
type Short = [u8; 8];

const EXPANDER: LocaleExpander = LocaleExpander::new_extended();
const DIRECTIONS: LocaleDirectionality = LocaleDirectionality::new_extended();

/// Names of languages that were replaced and are still sent.
const REPLACED: [(&str, &str); 10] = [
    ("iw", "he"),
    ("in", "id"),
    ("ji", "yi"),
    ("jw", "jv"),
    ("mo", "ro"),
    ("tl", "fil"),
    ("nb", "no"),
    ("cmn", "zh"),
    ("arb", "ar"),
    ("zsm", "ms"),
];

impl LanguageTag {
    /// The longest tag. RFC 5646 asks for at least 35.
    pub const MAX: usize = 64;

    /// English, which names fall back to where nobody says otherwise.
    #[must_use]
    pub fn english() -> Self {
        Parts { language: "en", script: None, region: None, rest: 2 }.tag("en")
    }

    /// The tag in canonical case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same tag, if its language is one that people write, or private. `dutch` is well formed, and nobody's language.
    ///
    /// # Errors
    /// [`ParseLanguageTagError`] when nobody is known to write it.
    pub fn known(self) -> Result<Self, ParseLanguageTagError> {
        if self.known {
            return Ok(self);
        }
        Err(ParseLanguageTagError { text: self.text.to_string(), problem: "no such language is known" })
    }

    /// The language by today's name. Tags of another one are no answer to each other, which is told without looking at the rest.
    pub(super) fn language(&self) -> u64 {
        u64::from_ne_bytes(self.language)
    }

    /// The direction of texts in this language.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// How well this tag answers a wish for `wanted`: nothing if it does not, more for a closer answer.
    ///
    /// This is RFC 4647 lookup: `wanted` is shortened from its end until it is this tag. A script that is not written is the one
    /// that is usual there, and a tag in another script is no answer.
    #[must_use]
    pub fn answers(&self, wanted: &Self) -> Option<u8> {
        if self.language != wanted.language {
            return None;
        }
        if self.text == wanted.text {
            return Some(u8::MAX);
        }
        if let (Some(own), Some(asked)) = (self.script, wanted.script)
            && own != asked
        {
            return None;
        }
        let (rest, asked) = (self.rest(), wanted.rest());
        let begins = asked.strip_prefix(rest).is_some_and(|more| more.is_empty() || more.starts_with('-'));
        // `de-CH-1996` is shortened to `de-CH` and `de`, never to `de-1996`.
        let region = match (self.region, wanted.region) {
            (None, None) => true,
            (None, Some(_)) => rest.is_empty(),
            (Some(own), Some(asked)) => own == asked,
            // `zh-Hant` is written out what `zh-TW` is in short.
            (Some(own), None) => {
                wanted.written_script && !self.written_script && rest.is_empty() && wanted.usual_region == Some(own)
            }
        };
        if !region || !(rest.is_empty() || begins) {
            return None;
        }
        let parts = rest.split('-').filter(|part| !part.is_empty()).count().min(100);
        let parts = u8::try_from(parts).unwrap_or(100) * 2;
        Some(1 + parts + u8::from(self.region.is_some()) * 2 + u8::from(self.written_script == wanted.written_script))
    }

    fn rest(&self) -> &str {
        self.text.get(usize::from(self.rest)..).unwrap_or_default()
    }
}

impl Direction {
    /// As HTML writes it: `ltr`, `rtl` or `auto`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ltr => "ltr",
            Self::Rtl => "rtl",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Direction {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl FromStr for LanguageTag {
    type Err = ParseLanguageTagError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |problem| ParseLanguageTagError { text: visible(text, 80), problem };
        if text.is_empty() {
            return Err(refuse("it is empty"));
        }
        if text.len() > Self::MAX {
            return Err(refuse("it is longer than 64 characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(refuse("it may hold letters, digits and hyphens"));
        }
        if text.split('-').any(str::is_empty) {
            return Err(refuse("one of its parts is empty"));
        }
        let lower = text.to_ascii_lowercase();
        if let Some((tag, meaning)) = grandfathered::find(&lower) {
            // The old tag stays what is shown; what it means decides what it answers.
            let meant = meaning.parse::<Self>().map_err(|_| refuse("it means nothing"))?;
            let rest = u8::try_from(tag.len()).unwrap_or(u8::MAX);
            return Ok(Self { text: tag.into(), rest, ..meant });
        }
        let parts = Parts::read(&lower).map_err(refuse)?;
        Ok(parts.tag(&lower))
    }
}

/// Where the parts of a tag are, all in lower case.
struct Parts<'t> {
    language: &'t str,
    script: Option<&'t str>,
    region: Option<&'t str>,
    /// Where what follows the region begins.
    rest: usize,
}

impl<'t> Parts<'t> {
    /// Reads the grammar of RFC 5646, section 2.1.
    fn read(text: &'t str) -> Result<Self, &'static str> {
        let mut subtags = Subtags { text, at: 0 };
        let first = subtags.next().unwrap_or_default();
        if first == "x" {
            well_formed_rest(text)?;
            return Ok(Self { language: "", script: None, region: None, rest: 0 });
        }
        if !(2..=8).contains(&first.len()) || !letters(first) {
            return Err("it begins with a language of 2 to 8 letters");
        }
        let mut language = first;
        if first.len() <= 3 {
            for count in 0..3 {
                let Some(part) = subtags.take_if(|part| part.len() == 3 && letters(part)) else { break };
                // `zh-yue` is `yue` today. Further ones are reserved and mean nothing.
                if count == 0 {
                    language = part;
                }
            }
        }
        let script = subtags.take_if(|part| part.len() == 4 && letters(part));
        let region = subtags.take_if(|part| match part.len() {
            2 => letters(part),
            3 => part.bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        });
        let rest = subtags.at.min(text.len());
        well_formed_rest(text.get(rest..).unwrap_or_default())?;
        Ok(Self { language, script, region, rest })
    }

    fn tag(&self, lower: &str) -> LanguageTag {
        let language = REPLACED.iter().find(|(old, _)| *old == self.language).map_or(self.language, |(_, new)| new);
        let mut whole = LanguageIdentifier::UNKNOWN;
        whole.language = language.parse().unwrap_or(subtags::Language::UNKNOWN);
        whole.script = self.script.and_then(|script| script.parse().ok());
        whole.region = self.region.and_then(|region| region.parse().ok());
        let known = !whole.language.is_unknown();
        let mut alone = LanguageIdentifier::UNKNOWN;
        alone.language = whole.language;
        if known {
            EXPANDER.maximize(&mut alone);
        }
        let direction = if known { DIRECTIONS.get(&whole) } else { None };
        let direction = match direction {
            Some(icu_locale::Direction::RightToLeft) => Direction::Rtl,
            Some(_) => Direction::Ltr,
            None => Direction::Auto,
        };
        if known {
            EXPANDER.maximize(&mut whole);
        }
        let script = whole.script.map(|script| fixed(script.as_str())).or_else(|| self.script.map(fixed));
        LanguageTag {
            text: canonical_case(lower).into(),
            language: fixed(language),
            script,
            written_script: self.script.is_some(),
            region: self.region.map(fixed),
            usual_region: whole.region.map(|region| fixed(&region.as_str().to_ascii_lowercase())),
            rest: u8::try_from(self.rest).unwrap_or(u8::MAX),
            direction,
            known: alone.script.is_some() || matches!(language, "" | "und"),
        }
    }
}

/// Subtags, one after the other.
struct Subtags<'t> {
    text: &'t str,
    /// Where the next one begins; beyond the end when there is none.
    at: usize,
}

impl<'t> Subtags<'t> {
    fn peek(&self) -> Option<&'t str> {
        self.text.get(self.at..).filter(|left| !left.is_empty()).map(|left| left.split('-').next().unwrap_or(left))
    }

    fn next(&mut self) -> Option<&'t str> {
        let next = self.peek()?;
        self.at += next.len() + 1;
        Some(next)
    }

    fn take_if(&mut self, fits: impl FnOnce(&str) -> bool) -> Option<&'t str> {
        let next = self.peek().filter(|next| fits(next))?;
        self.at += next.len() + 1;
        Some(next)
    }
}

/// Checks variants, extensions and private use.
fn well_formed_rest(rest: &str) -> Result<(), &'static str> {
    if rest.is_empty() {
        return Ok(());
    }
    let mut parts = rest.split('-').peekable();
    let mut variants: Vec<&str> = Vec::new();
    while let Some(part) = parts.next_if(|part| part.len() != 1) {
        let digit = part.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if !((5..=8).contains(&part.len()) || part.len() == 4 && digit) {
            return Err("one of its parts is none that BCP 47 knows in that place");
        }
        if variants.contains(&part) {
            return Err("it names a variant twice");
        }
        variants.push(part);
    }
    let mut seen: Vec<&str> = Vec::new();
    while let Some(singleton) = parts.next() {
        let least = if singleton == "x" { 1 } else { 2 };
        if seen.contains(&singleton) {
            return Err("it has an extension twice");
        }
        seen.push(singleton);
        let mut count = 0;
        while let Some(part) = parts.next_if(|part| singleton == "x" || part.len() != 1) {
            if !(least..=8).contains(&part.len()) {
                return Err("its parts have at most 8 characters, and none is empty");
            }
            count += 1;
        }
        if count == 0 {
            return Err("an extension has nothing in it");
        }
    }
    Ok(())
}

/// As RFC 5646, section 2.1.1 writes it: `zh-Hant-TW`. The text is in lower case.
fn canonical_case(lower: &str) -> String {
    let mut out = String::with_capacity(lower.len());
    let mut after_singleton = false;
    for (at, part) in lower.split('-').enumerate() {
        if at > 0 {
            out.push('-');
        }
        let plain = at == 0 || after_singleton;
        match part.len() {
            2 if !plain => out.push_str(&part.to_ascii_uppercase()),
            4 if !plain && letters(part) => {
                let (first, more) = part.split_at(1);
                out.push_str(&first.to_ascii_uppercase());
                out.push_str(more);
            }
            _ => out.push_str(part),
        }
        after_singleton |= part.len() == 1;
    }
    out
}

fn letters(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn fixed<const N: usize>(part: &str) -> [u8; N] {
    let mut all = [0; N];
    all.iter_mut().zip(part.bytes()).for_each(|(place, byte)| *place = byte);
    all
}

impl PartialEq for LanguageTag {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for LanguageTag {}

impl PartialOrd for LanguageTag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LanguageTag {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for LanguageTag {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for LanguageTag {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Explain for ParseLanguageTagError {
    fn code(&self) -> Code {
        Code::new("language-tag")
    }

    fn why(&self) -> String {
        "nobody who asks for a language would ever be shown what stands under it".into()
    }

    fn fix(&self) -> String {
        "write a tag of BCP 47, such as `en`, `nl`, `pt-BR` or `zh-Hant`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("tag", self.text.as_str().into()), ("problem", self.problem.into())])
    }
}

#[cfg(test)]
mod tests;
