//! Everything a definition says, gathered once, so that each field is decided from the same clues.

use super::Mode;
use super::parameters::Parameters;
use super::phrase::Phrase;
use crate::behavior::Annotations;
use crate::definition::Reading;
use crate::json::Json;

/// What is known about a tool before anything is decided.
#[derive(Debug)]
pub(crate) struct Clues {
    /// Its name, parsed; empty when only the schema counts.
    pub(crate) name: Phrase,
    /// Its first sentence, parsed.
    pub(crate) lead: Phrase,
    /// The beginning of its title and description, in lower case.
    pub(crate) text: String,
    pub(crate) parameters: Parameters,
    pub(crate) hints: Annotations,
}

/// How much of a description is looked at. What matters stands at the beginning; the rest talks about other tools.
const READ_BYTES: usize = 1200;

impl Clues {
    pub(crate) fn of(reading: &Reading<'_>, mode: Mode) -> Self {
        let schema = reading.input_schema();
        let parameters = Parameters::of(&schema, mode == Mode::SchemaOnly);
        let hints = if mode == Mode::Full { Annotations::of(reading) } else { Annotations::default() };
        if mode == Mode::SchemaOnly {
            let nothing = || Phrase::of_name("");
            return Self { name: nothing(), lead: nothing(), text: String::new(), parameters, hints };
        }
        let name = reading.get("name").and_then(Json::as_str).unwrap_or_default();
        let description = beginning(reading.description());
        let said = if description.trim().is_empty() { reading.title().unwrap_or_default() } else { description };
        Self {
            name: Phrase::of_name(name),
            lead: Phrase::of_sentence(said),
            text: said.to_lowercase(),
            parameters,
            hints,
        }
    }

    /// True when the beginning of the description says one of these.
    pub(crate) fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.text.contains(phrase))
    }

    /// True when the description says one of these, and not under a condition.
    pub(crate) fn says_plainly(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| {
            self.text.contains(phrase)
                && self.text.match_indices(phrase).any(|(at, _)| {
                    let sentence = self.text.get(..at).unwrap_or_default();
                    let start = sentence.rfind(['.', '\n', ';']).map_or(0, |dot| dot + 1);
                    let before = sentence.get(start..).unwrap_or_default();
                    ![
                        "when ",
                        "if ",
                        "optional",
                        "unless ",
                        "not ",
                        "n't ",
                        "never ",
                        "instead of",
                        "before ",
                        "after ",
                        "without ",
                    ]
                    .iter()
                    .any(|condition| before.contains(condition))
                })
        })
    }

    /// True when the name has the word.
    pub(crate) fn named(&self, word: &str) -> bool {
        self.name.words.has(word)
    }
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(READ_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
