//! What one noun says about a tool. The table itself is in `nouns`.

use crate::behavior::{ContentType, Noun, OutputDomain};

/// One noun as it is written in names, and what it tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// One, two or three words, singular.
    pub(crate) words: &'static str,
    /// The noun of the closed list that it stands for.
    pub(crate) noun: Noun,
    pub(crate) kind: Kind,
    /// What is returned when it is read.
    pub(crate) domain: OutputDomain,
    /// Who changes it gets no more than an acknowledgement.
    pub(crate) quiet: bool,
    /// The kind of payload, where it is not the usual one of its domain.
    pub(crate) content: Option<ContentType>,
}

/// How a noun stands to the others in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Stands for itself.
    Thing,
    /// Belongs to something else and is of its domain: a comment *on an issue*.
    Part,
    /// Belongs to something else, but reading it gives the structure of that: the fields *of an issue*.
    Taxon,
    /// Reading it gives values: a count, a price, a load.
    Measure,
    /// Says no more than "something about it".
    Vague,
}

impl Entry {
    pub(super) const fn new(words: &'static str, noun: &'static str, kind: Kind, domain: OutputDomain) -> Self {
        Self { words, noun: Noun::known(noun), kind, domain, quiet: false, content: None }
    }

    pub(super) const fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    pub(super) const fn content(mut self, content: ContentType) -> Self {
        self.content = Some(content);
        self
    }
}
