//! Where do the joiner and the non-joiner mean something? Both are invisible, and in most writing they only hide. Between letters that join,
//! after a virama and between pictures they decide about what is seen: "می‌خواهم" is two words without one. There they stay (RFC 5892, A.1
//! and A.2; UAX #31, 2.3), everywhere else they go.

use icu_properties::props::{ExtendedPictographic, JoiningType};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_normalization::char::canonical_combining_class;

const NON_JOINER: char = '\u{200C}';
const JOINER: char = '\u{200D}';

/// The combining class of marks that take the vowel from a letter.
const VIRAMA: u8 = 9;

/// True for the joiner and the non-joiner.
pub(super) const fn is_joiner(character: char) -> bool {
    matches!(character, NON_JOINER | JOINER)
}

/// A text without the joiners that join nothing. Of several in a row, one stays at most.
pub(super) fn in_context(text: impl Iterator<Item = char>) -> std::vec::IntoIter<char> {
    let text: Vec<char> = text.collect();
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    for (at, &character) in text.iter().enumerate() {
        let rest = text.get(at + 1..).unwrap_or_default();
        if !is_joiner(character) || is_meant(character, &out, rest) {
            out.push(character);
        }
    }
    out.into_iter()
}

/// Whether a joiner changes what is seen, between what was kept before it and what follows.
fn is_meant(joiner: char, before: &[char], after: &[char]) -> bool {
    let Some(&last) = before.last() else { return false };
    let mut after = after.iter().copied().filter(|c| !is_joiner(*c));
    match joiner {
        // A letter follows, or the virama is seen anyway. What a joiner leaves at the end of a word is seen: half a letter.
        NON_JOINER if is_virama(last) => after.find(|c| canonical_combining_class(*c) == 0).is_some_and(is_letter),
        NON_JOINER => {
            let left = before.iter().rev().copied().find(|c| joining(*c) != JoiningType::Transparent);
            let right = after.find(|c| joining(*c) != JoiningType::Transparent);
            left.is_some_and(joins_next) && right.is_some_and(joins_last)
        }
        _ if is_virama(last) => true,
        _ => {
            // A picture may have a color of skin.
            let own = before.iter().rev().copied().find(|c| !is_skin(*c));
            own.is_some_and(is_picture) && after.next().is_some_and(is_picture)
        }
    }
}

fn is_virama(character: char) -> bool {
    canonical_combining_class(character) == VIRAMA
}

fn is_letter(character: char) -> bool {
    character.is_alphabetic()
}

fn joining(character: char) -> JoiningType {
    CodePointMapData::<JoiningType>::new().get(character)
}

fn joins_next(character: char) -> bool {
    matches!(joining(character), JoiningType::LeftJoining | JoiningType::DualJoining)
}

fn joins_last(character: char) -> bool {
    matches!(joining(character), JoiningType::RightJoining | JoiningType::DualJoining)
}

const fn is_skin(character: char) -> bool {
    matches!(character, '\u{1F3FB}'..='\u{1F3FF}')
}

/// True for what stands in sequences of pictures; signs such as `©` and `™` do not.
fn is_picture(character: char) -> bool {
    character >= '\u{2190}' && CodePointSetData::new::<ExtendedPictographic>().contains(character)
}

#[cfg(test)]
mod tests;
