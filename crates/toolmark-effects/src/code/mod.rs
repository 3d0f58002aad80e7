//! Programs in general languages: nobody can tell what they do, unless there is nothing in them or they only look at a page.

mod glimpse;
mod words;

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect, Reading};

use glimpse::Glimpse;

/// The longest program that is looked at.
const MAX_LENGTH: usize = 10_000;

/// Reads a program in Python, JavaScript or any other general language.
#[must_use]
pub fn read(text: &str) -> Reading {
    if text.len() <= MAX_LENGTH {
        if is_empty(text) {
            return Reading::Understood(Vec::new());
        }
        match glimpse::look(text) {
            Some(Glimpse::Page) => {
                return Reading::Understood(vec![Effect::pure(Action::Read, "looks at the page")]);
            }
            Some(Glimpse::Storage) => {
                let effect = Effect::pure(Action::Read, "looks at cookies or at what the page has stored");
                return Reading::Understood(vec![effect.with(Danger::Secret)]);
            }
            None => {}
        }
    }
    Reading::CannotTell { reason: "it is a program in a general language".into() }
}

/// True when a text holds nothing but blanks and comments. A comment with a quote or a line end that languages read differently
/// is not taken for one.
fn is_empty(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| {
        let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#'));
        line.is_empty()
            || comment.is_some_and(|rest| rest.chars().all(|c| c.is_ascii() && !c.is_control() && !"*!?".contains(c)))
    })
}

#[cfg(test)]
mod tests;
