//! `hidden-characters` and `bidirectional-characters`: what the model reads and a person does not see.
//!
//! The same character may be honest in one place and not in another: a joiner inside an emoji or a Persian word, a mark in a
//! Hebrew sentence, a selector after a symbol. So each is judged by its neighbours.

use serde_json::{Value, json};
use toolmark_core::definition::Reading;
use toolmark_core::severity::Severity;
use toolmark_core::text::{is_bidirectional, is_hidden};

use crate::finding::Finding;
use crate::most::Most;
use crate::rule::RuleId;
use crate::subject::{Subject, quoted};
use crate::walk::{self, Path};

/// One hidden character where it has no business.
struct Hidden {
    at: String,
    character: char,
}

/// What was found, by rule.
#[derive(Default)]
struct Found {
    hidden: Most<Hidden>,
    bidirectional: Most<Hidden>,
}

/// Fields that people or models read.
const FIELDS: &[&str] = &["title", "description", "inputSchema", "schema", "outputSchema", "annotations"];
/// So many invisible characters in a row carry data.
const SMUGGLING: usize = 8;
pub(crate) fn look(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let raw = subject.tool.definition().raw_json();
    if raw.is_ascii() && !raw.contains("\\u") && !raw.contains("\\b") && !raw.contains("\\f") {
        return;
    }
    let mut found = Found::default();
    scan(subject.name(), &Path::of("name"), true, &mut found);
    for field in FIELDS {
        if let Some(json) = reading.get(field) {
            walk::texts(json, &Path::of(field), &mut |path, text| scan(text, path, false, &mut found));
        }
    }
    report(RuleId::HiddenCharacters, &found.hidden, subject, findings);
    report(RuleId::BidirectionalCharacters, &found.bidirectional, subject, findings);
}

fn report(rule: RuleId, found: &Most<Hidden>, subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((severity, worst)) = found.worst() else { return };
    findings.push(
        Finding::new(
            rule,
            *severity,
            format!(
                "{} of {} holds {} ({}){}",
                quoted(&worst.at),
                quoted(subject.tool.canonical().as_str()),
                point(worst.character),
                name_of(worst.character),
                found.and_more(),
            ),
        )
        .about([subject.tool])
        .with("count", found.count())
        .with(
            "characters",
            found
                .iter()
                .map(|(severity, one)| json!({"at": one.at, "character": point(one.character), "severity": severity}))
                .collect::<Value>(),
        ),
    );
}

fn scan(text: &str, path: &Path<'_>, is_name: bool, found: &mut Found) {
    if !text.chars().any(suspect) {
        return;
    }
    let characters: Vec<char> = text.chars().collect();
    let context = Context {
        is_name,
        right_to_left: characters.iter().any(|&character| is_right_to_left(character)),
        balanced: is_balanced(&characters),
        smuggles: longest_run(&characters) >= SMUGGLING,
    };
    for (at, &character) in characters.iter().enumerate() {
        if !suspect(character) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| characters.get(before)).copied();
        let after = characters.get(at + 1).copied();
        if is_flag(&characters, at) {
            continue;
        }
        let say = || Hidden { at: path.to_string(), character };
        if is_bidirectional(character) {
            if let Some(severity) = context.direction(character) {
                found.bidirectional.push(severity, say);
            }
        } else if let Some(severity) = context.hidden(character, before, after) {
            found.hidden.push(severity, say);
        }
    }
}

/// What a text as a whole says about its hidden characters.
struct Context {
    is_name: bool,
    right_to_left: bool,
    balanced: bool,
    smuggles: bool,
}

impl Context {
    fn direction(&self, character: char) -> Option<Severity> {
        match character {
            '\u{202D}' | '\u{202E}' => Some(Severity::Critical),
            _ if self.is_name => Some(Severity::Critical),
            '\u{202A}'..='\u{202C}' => Some(if self.right_to_left { Severity::Medium } else { Severity::High }),
            '\u{2066}'..='\u{2069}' => (!(self.right_to_left && self.balanced)).then_some(Severity::High),
            _ => (!self.right_to_left).then_some(Severity::Medium),
        }
    }

    fn hidden(&self, character: char, before: Option<char>, after: Option<char>) -> Option<Severity> {
        let other_script = |neighbour: Option<char>| neighbour.is_some_and(|c| !c.is_ascii() && !c.is_whitespace());
        let in_word = |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_ascii_alphanumeric());
        match character {
            '\u{E0000}'..='\u{E007F}' => Some(Severity::Critical),
            _ if self.smuggles && is_zero_width(character) => Some(Severity::Critical),
            '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => self.selector(character, before, after),
            '\u{200C}' | '\u{200D}'
                if other_script(before)
                    && (other_script(after) || !self.is_name && after.is_none_or(char::is_whitespace)) =>
            {
                None
            }
            '\u{200B}' | '\u{2060}' if !self.is_name && other_script(before) && other_script(after) => None,
            '\u{180B}'..='\u{180F}' if before.is_some_and(|c| matches!(c, '\u{1800}'..='\u{18AF}')) => None,
            '\u{FEFF}' if before.is_none() && !self.is_name => Some(Severity::Low),
            '\u{2028}' | '\u{2029}' | '\u{85}' if !self.is_name => Some(Severity::Low),
            _ if self.is_name => Some(Severity::High),
            '\u{AD}' => Some(Severity::Low),
            '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' => {
                Some(if matches!(character, '\u{0}' | '\u{8}' | '\u{1B}' | '\u{9B}') {
                    Severity::High
                } else {
                    Severity::Medium
                })
            }
            // Between the letters of a word it is there to break a comparison.
            _ if in_word(before) && in_word(after) => Some(Severity::High),
            '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' => Some(Severity::Medium),
            '\u{2061}'..='\u{206F}' => Some(Severity::High),
            _ => Some(Severity::Medium),
        }
    }

    fn selector(&self, character: char, before: Option<char>, after: Option<char>) -> Option<Severity> {
        let is_selector = |c: char| matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}');
        if before.is_some_and(is_selector) || after.is_some_and(is_selector) {
            return Some(Severity::Critical);
        }
        let fits = match character {
            '\u{E0100}'..='\u{E01EF}' => before.is_some_and(is_ideograph),
            _ => before.is_some_and(|c| !c.is_ascii_alphabetic() && !c.is_whitespace()),
        };
        (!fits).then_some(if self.is_name { Severity::High } else { Severity::Medium })
    }
}

/// Hidden, and not the white space of ordinary text.
fn suspect(character: char) -> bool {
    !matches!(character, '\t' | '\n' | '\r') && is_hidden(character)
}

fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
        && character.is_alphabetic()
}

/// True when every isolate is closed.
fn is_balanced(characters: &[char]) -> bool {
    let mut open = 0usize;
    for character in characters {
        match character {
            '\u{2066}'..='\u{2068}' => open += 1,
            '\u{2069}' => match open.checked_sub(1) {
                Some(rest) => open = rest,
                None => return false,
            },
            _ => {}
        }
    }
    open == 0
}

fn longest_run(characters: &[char]) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for &character in characters {
        run = if is_zero_width(character) { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// True for the tags in the flags of England, Scotland and Wales: a black flag, five letters, an end.
fn is_flag(characters: &[char], at: usize) -> bool {
    let back = (0..=at.min(6)).find(|back| characters.get(at - back) == Some(&'\u{1F3F4}'));
    let Some(start) = back.map(|back| at - back) else { return false };
    let letters: String = characters
        .get(start + 1..)
        .unwrap_or_default()
        .iter()
        .take(6)
        .filter_map(|&c| char::from_u32(u32::from(c).checked_sub(0xE0000)?))
        .collect();
    matches!(letters.as_str(), "gbeng\u{7f}" | "gbsct\u{7f}" | "gbwls\u{7f}")
}

fn point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

fn name_of(character: char) -> &'static str {
    match character {
        '\u{200B}' => "zero width space",
        '\u{200C}' => "zero width non-joiner",
        '\u{200D}' => "zero width joiner",
        '\u{200E}' => "left-to-right mark",
        '\u{200F}' => "right-to-left mark",
        '\u{202A}'..='\u{202B}' => "bidirectional embedding",
        '\u{202C}' => "end of a bidirectional embedding",
        '\u{202D}'..='\u{202E}' => "bidirectional override",
        '\u{2066}'..='\u{2069}' => "bidirectional isolate",
        '\u{2060}' => "word joiner",
        '\u{FEFF}' => "byte order mark",
        '\u{AD}' => "soft hyphen",
        '\u{1B}' => "escape",
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => "variation selector",
        '\u{E0000}'..='\u{E007F}' => "tag character",
        _ if character.is_control() => "control character",
        _ => "invisible character",
    }
}
