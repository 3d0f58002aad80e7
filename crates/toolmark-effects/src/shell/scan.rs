//! What is refused before anything is parsed: texts too long to be read by people, and characters that hide what is there.

use toolmark_core::text::is_hidden;

use super::parse::Refusal;

/// The longest command that is read at all. Nobody reviews more, and no honest call needs it.
pub(super) const MAX_CHARACTERS: usize = 10_000;

/// Refuses a text that must not be parsed.
pub(super) fn check(text: &str) -> Result<(), Refusal> {
    // A character has at most four bytes; without this, counting the characters of a huge text would take its time.
    if text.len() > 4 * MAX_CHARACTERS || text.chars().count() > MAX_CHARACTERS {
        return Err(Refusal("it is longer than 10,000 characters"));
    }
    let mut before = '\n';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\t' | '\n' => {}
            '\0' => return Err(Refusal("it holds a NUL character")),
            _ if character.is_control() => return Err(Refusal("it holds a control character")),
            _ if is_hidden(character) => return Err(Refusal("it holds an invisible character")),
            _ if !character.is_ascii() && character.is_whitespace() => {
                return Err(Refusal("it holds a space that is none"));
            }
            // Invariant: a line is continued only between words. Inside a word or an operator, shells join what they see
            // in ways of their own, and `$`, a continued line and `(` make a substitution.
            '\\' if characters.peek() == Some(&'\n') => {
                let mut ahead = characters.clone();
                ahead.next();
                let spaced = |c: char| matches!(c, ' ' | '\t' | '\n');
                if !spaced(before) && !ahead.next().is_none_or(spaced) {
                    return Err(Refusal("a line is continued in the middle of a word"));
                }
            }
            _ => {}
        }
        before = character;
    }
    Ok(())
}
