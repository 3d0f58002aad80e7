//! What one verb says about a tool. The table itself is in `verbs`.

use crate::behavior::{Noun, OutputDomain, Polarity};

/// One verb, and what it tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verb {
    pub(crate) word: &'static str,
    pub(crate) sense: Sense,
    pub(crate) polarity: Polarity,
    pub(crate) usage: Usage,
    /// The part of the object that it changes: to star is to change the star of something.
    pub(crate) part: Option<Noun>,
    /// What it acts on when nothing else is named: one commits a commit, one clicks in a page.
    pub(crate) scene: Option<(Noun, OutputDomain)>,
    /// What it returns, whatever it is done to: to calculate gives data.
    pub(crate) gives: Option<OutputDomain>,
    /// The scene holds whatever else is named: one presses a key *in a page*.
    pub(crate) fixed: bool,
}

/// How sure it is that the word is a verb where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// Always.
    Verb,
    /// Also a noun or an adjective: gives way to any other verb.
    Loose,
    /// A noun, unless it is the first word.
    Nouny,
}

/// What a verb does. The last ones need a second look at the object, the description or the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Read,
    Search,
    Create,
    Update,
    Delete,
    Merge,
    Overwrite,
    Append,
    Execute,
    Send,
    /// Works something out of its input: reads, unless it is said to change it.
    Compute,
    /// Makes a text, a picture, a sound: reads when it hands it over, creates when it stores it.
    Produce,
    /// Takes a copy out: reads when it hands it over, creates when it stores it.
    CopyOut,
    /// Runs a query or a program: what matters is which.
    Run,
    /// Whatever the arguments say.
    Manage,
    /// Adds a new thing, or ties an existing one to another.
    Add,
    /// Sets a value, or a property of a thing.
    Set,
    /// Sends a message, or makes a thing public.
    Publish,
    /// Ends a session, or changes the state of a thing.
    Close,
    /// Finds out what a name stands for, or settles a question.
    Resolve,
    /// Starts something running, or puts something in front of the user.
    Open,
    /// Says nothing by itself: the next word decides.
    Light,
}

impl Verb {
    pub(super) const fn new(word: &'static str, sense: Sense) -> Self {
        Self {
            word,
            sense,
            polarity: Polarity::Neutral,
            usage: Usage::Verb,
            part: None,
            scene: None,
            gives: None,
            fixed: false,
        }
    }

    pub(super) const fn loose(mut self) -> Self {
        self.usage = Usage::Loose;
        self
    }

    pub(super) const fn nouny(mut self) -> Self {
        self.usage = Usage::Nouny;
        self
    }

    pub(super) const fn up(mut self) -> Self {
        self.polarity = Polarity::Positive;
        self
    }

    pub(super) const fn down(mut self) -> Self {
        self.polarity = Polarity::Negative;
        self
    }

    pub(super) const fn of(mut self, part: &'static str) -> Self {
        self.part = Some(Noun::known(part));
        self
    }

    pub(super) const fn on(mut self, noun: &'static str, domain: OutputDomain) -> Self {
        self.scene = Some((Noun::known(noun), domain));
        self
    }

    pub(super) const fn gives(mut self, domain: OutputDomain) -> Self {
        self.gives = Some(domain);
        self
    }

    /// As [`Verb::on`], whatever else is named.
    pub(super) const fn within(self, noun: &'static str, domain: OutputDomain) -> Self {
        let mut verb = self.on(noun, domain);
        verb.fixed = true;
        verb
    }
}
