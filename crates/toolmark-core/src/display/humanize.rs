//! A name in words, for tools that nobody gave another one: `get_PR_url` becomes "Get PR URL".

use super::safe::{NAME, safe};

/// Words that are written in capitals.
const ACRONYMS: &[&str] = &[
    "AI", "API", "AWS", "CI", "CPU", "CSS", "CSV", "DB", "DNS", "GPU", "GUI", "HTML", "HTTP", "HTTPS", "ID", "IDE",
    "IP", "JSON", "JWT", "LLM", "MCP", "MR", "OCR", "OS", "PDF", "PNG", "PR", "RSS", "S3", "SDK", "SMS", "SQL", "SSH",
    "SSL", "SVG", "TLS", "TTL", "UI", "URI", "URL", "UUID", "VM", "VPC", "XML", "YAML",
];

/// Turns a name into words: `get_PR_url` → `Get PR URL`, `listOpenIssues` → `List open issues`.
#[must_use]
pub fn humanize(name: &str) -> String {
    let mut out = String::new();
    for word in words(&safe(name, NAME)) {
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
}
