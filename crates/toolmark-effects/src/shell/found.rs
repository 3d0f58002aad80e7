//! What was found in a program so far: effects, programs in other languages, and what could not be understood.

use toolmark_core::facts::{Effect, Reading};

use crate::language::Language;

/// The findings of one reading.
#[derive(Debug, Default)]
pub(crate) struct Found {
    effects: Vec<Effect>,
    unclear: Vec<String>,
    embedded: Vec<Embedded>,
}

/// A program in another language, given to a command as an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Embedded {
    pub(crate) language: Language,
    pub(crate) text: String,
}

/// The most effects that are kept; a program with more is not one that a person can judge.
const MAX_EFFECTS: usize = 256;
/// The most reasons that are kept.
const MAX_REASONS: usize = 4;

impl Found {
    /// Notes an effect.
    pub(crate) fn effect(&mut self, effect: Effect) {
        if self.effects.len() >= MAX_EFFECTS {
            self.unclear("it runs too many commands");
        } else if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    /// Notes that something was not understood.
    pub(crate) fn unclear(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.unclear.len() < MAX_REASONS && !self.unclear.contains(&reason) {
            self.unclear.push(reason);
        }
    }

    /// Notes a program in another language.
    pub(crate) fn embedded(&mut self, language: Language, text: impl Into<String>) {
        if self.embedded.len() < MAX_EFFECTS {
            self.embedded.push(Embedded { language, text: text.into() });
        } else {
            self.unclear("it runs too many commands");
        }
    }

    /// Reads the programs in other languages with `read` and adds what they do.
    pub(crate) fn resolve(mut self, read: impl Fn(&Embedded) -> Vec<Reading>) -> Self {
        for embedded in std::mem::take(&mut self.embedded) {
            for reading in read(&embedded) {
                match reading {
                    Reading::Understood(effects) => effects.into_iter().for_each(|effect| self.effect(effect)),
                    Reading::CannotTell { reason } => self.unclear(reason),
                }
            }
        }
        self
    }

    /// The findings as readings: what was understood, and what was not. Invariant: a part that was not understood never
    /// disappears behind one that was, nor the other way round.
    pub(crate) fn into_readings(mut self) -> Vec<Reading> {
        for embedded in std::mem::take(&mut self.embedded) {
            self.unclear(format!("it holds a program in {}", embedded.language));
        }
        if self.unclear.is_empty() {
            return vec![Reading::Understood(self.effects)];
        }
        let reason = self.unclear.join("; ");
        let cannot_tell = Reading::CannotTell { reason };
        if self.effects.iter().all(Effect::is_harmless) {
            return vec![cannot_tell];
        }
        vec![Reading::Understood(self.effects), cannot_tell]
    }
}
