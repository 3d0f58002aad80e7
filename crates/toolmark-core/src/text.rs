//! Text from strangers, made safe to print: what is invisible becomes visible, what is endless gets an end.

/// Writes `text` so that a person sees what is there, and cuts it, visibly, after `limit` characters.
///
/// Control, bidirectional, zero-width and tag characters come out as `\u{…}`; nothing else changes.
#[must_use]
pub fn visible(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut left = limit;
    for (taken, character) in text.chars().enumerate() {
        if left == 0 {
            let rest = text.chars().count() - taken;
            out.push_str(&format!("… ({rest} more characters)"));
            break;
        }
        left -= 1;
        if is_hidden(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// True for characters that a person cannot see or that reorder what is seen.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || is_bidirectional(character)
        || matches!(character,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// True for the controls that change the direction in which text is shown.
#[must_use]
pub fn is_bidirectional(character: char) -> bool {
    matches!(character, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out() {
        assert_eq!(visible("a\u{202e}b\u{200b}\u{0}c", 99), "a\\u{202e}b\\u{200b}\\u{0}c");
    }

    #[test]
    fn a_cut_says_how_much_is_missing() {
        assert_eq!(visible("abcdef", 2), "ab… (4 more characters)");
        assert_eq!(visible("ab", 2), "ab");
    }
}
