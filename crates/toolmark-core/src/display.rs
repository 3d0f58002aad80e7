//! What a person reads in place of a tool's name: its title, or its name in words. Made safe, never used as identity.

use crate::names::{DisplayName, RawName};
use crate::text::is_hidden;

/// The longest display name, in characters.
const MAX: usize = 80;

/// Words that are written in capitals.
const ACRONYMS: &[&str] = &[
    "AI", "API", "AWS", "CI", "CPU", "CSS", "CSV", "DB", "DNS", "GPU", "GUI", "HTML", "HTTP", "HTTPS", "ID", "IDE",
    "IP", "JSON", "JWT", "LLM", "MCP", "MR", "OCR", "OS", "PDF", "PNG", "PR", "RSS", "S3", "SDK", "SMS", "SQL", "SSH",
    "SSL", "SVG", "TLS", "TTL", "UI", "URI", "URL", "UUID", "VM", "VPC", "XML", "YAML",
];

/// The display name of a tool: its title if it has one, else its name in words.
#[must_use]
pub fn name(title: Option<&str>, raw: &RawName) -> DisplayName {
    let text = title.map(safe).filter(|title| !title.is_empty()).unwrap_or_else(|| humanize(raw.as_str()));
    DisplayName::new(if text.is_empty() { safe(raw.as_str()) } else { text })
}

/// Turns a name into words: `get_PR_url` → `Get PR URL`, `listOpenIssues` → `List open issues`.
#[must_use]
pub fn humanize(name: &str) -> String {
    let mut out = String::new();
    for word in words(&safe(name)) {
        let upper = word.to_uppercase();
        let plural = upper.strip_suffix('S').filter(|stem| ACRONYMS.contains(stem));
        let shown = if ACRONYMS.contains(&upper.as_str()) {
            upper
        } else if let Some(stem) = plural {
            format!("{stem}s")
        } else if out.is_empty() {
            capitalize(&word)
        } else {
            word.to_lowercase()
        };
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&shown);
    }
    out
}

/// Removes what hides or reorders text, folds white space, and cuts at 80 characters.
fn safe(text: &str) -> String {
    let spaced: String =
        text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|&c| !is_hidden(c)).collect();
    let folded = spaced.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(MAX) {
        Some((cut, _)) => format!("{}…", folded.get(..cut).unwrap_or_default()),
        None => folded,
    }
}

fn capitalize(word: &str) -> String {
    let mut characters = word.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters.as_str().to_lowercase().chars()).collect(),
        None => String::new(),
    }
}

/// Cuts at separators and where camel case begins a new word.
fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, &character) in characters.iter().enumerate() {
        if matches!(character, '_' | '-' | '.' | '/' | ':' | ' ') {
            words.push(String::new());
            continue;
        }
        let before = index.checked_sub(1).and_then(|at| characters.get(at)).copied().unwrap_or('_');
        let after = characters.get(index + 1).copied().unwrap_or('_');
        let starts = character.is_uppercase()
            && (before.is_lowercase() || before.is_ascii_digit() || (before.is_uppercase() && after.is_lowercase()));
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_and_acronyms_stay_capital() {
        for (name, words) in [
            ("get_PR_url", "Get PR URL"),
            ("listOpenIssues", "List open issues"),
            ("read-file", "Read file"),
            ("HTTPServer.start", "HTTP server start"),
            ("get_user_ids", "Get user IDs"),
            ("検索", "検索"),
            ("s3_list", "S3 list"),
            ("__x__", "X"),
        ] {
            assert_eq!(humanize(name), words, "{name}");
        }
    }

    #[test]
    fn a_title_wins_unless_nothing_of_it_can_be_seen() {
        let raw: RawName = "read_file".parse().unwrap();
        assert_eq!(name(Some("Read a file"), &raw).as_str(), "Read a file");
        assert_eq!(name(Some("\u{200b}\u{202e}"), &raw).as_str(), "Read file");
        assert_eq!(name(None, &raw).as_str(), "Read file");
    }

    #[test]
    fn hostile_titles_are_made_safe() {
        let raw: RawName = "x".parse().unwrap();
        assert_eq!(name(Some("a\u{202e}b\nc"), &raw).as_str(), "ab c");
        assert_eq!(name(Some(&"y".repeat(500)), &raw).as_str().chars().count(), 81);
    }

    #[test]
    fn a_name_of_separators_only_is_shown_as_it_is() {
        let raw: RawName = "__".parse().unwrap();
        assert_eq!(name(None, &raw).as_str(), "__");
    }
}
