//! Which arguments of a tool carry a program, a path or an address, found once from what its publisher says. Each finding says why.

mod clues;
mod commands;
mod paths;
mod places;
mod programs;

use toolmark_core::tool::Tool;

use crate::language::Language;
use crate::options::{Described, Manner};
use clues::Clues;
pub(crate) use clues::words;

/// The arguments of one tool that carry something. Cheap to keep beside the tool; found again only when the tool changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carriers {
    list: Vec<Carrier>,
    manner: Option<Manner>,
}

/// One argument that carries something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// Where it stands: a JSON pointer in which `*` is every item of an array; empty for all arguments together.
    pub pointer: String,
    /// What it is written in.
    pub language: Language,
    /// What speaks for that, in a few words.
    pub evidence: String,
    /// What else belongs to it.
    pub(crate) with: With,
}

/// What belongs to an argument so that it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum With {
    /// Nothing.
    Nothing,
    /// This text comes before it: `EXPLAIN `.
    Before(&'static str),
    /// Another argument holds the rest of the command line.
    Arguments(String),
    /// The tool's own name is part of the program.
    Name(String),
    /// The parts of a request, by name.
    Request {
        method: Option<String>,
        /// The method, where the tool's name says it.
        fixed: Option<&'static str>,
        headers: Option<String>,
        body: Option<String>,
        parameters: Option<String>,
        relative: bool,
        rows: bool,
    },
    /// The argument that names the operation of a document.
    Operation(Option<String>),
}

impl Carriers {
    /// Finds the arguments of a tool that carry something.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        let Some(clues) = Clues::of(tool) else {
            return Self { list: Vec::new(), manner: Manner::of(tool, std::iter::empty()) };
        };
        let mut list = Vec::new();
        programs::find(&clues, &mut list);
        commands::find(&clues, &mut list);
        places::find(&clues, &mut list);
        // The first finding for an argument is the most specific.
        let mut kept: Vec<Carrier> = Vec::new();
        for carrier in list {
            if !kept.iter().any(|other| other.pointer == carrier.pointer) {
                kept.push(carrier);
            }
        }
        let described = clues.parameters.iter().filter(|parameter| parameter.top).map(|parameter| Described {
            pointer: &parameter.pointer,
            key: &parameter.key,
            says: &parameter.description,
            text: parameter.is_text(),
            carries: kept.iter().any(|carrier| carrier.pointer == parameter.pointer),
        });
        let manner = Manner::of(tool, described);
        Self { list: kept, manner }
    }

    /// The findings, in the order in which they are read.
    #[must_use]
    pub fn list(&self) -> &[Carrier] {
        &self.list
    }

    /// True when no argument carries anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How the options of the tool are read; none when it takes nothing.
    pub(crate) fn manner(&self) -> Option<&Manner> {
        self.manner.as_ref()
    }
}

impl Carrier {
    fn new(pointer: impl Into<String>, language: Language, evidence: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), language, evidence: evidence.into(), with: With::Nothing }
    }

    fn with(mut self, with: With) -> Self {
        self.with = with;
        self
    }
}

#[cfg(test)]
mod tests;
