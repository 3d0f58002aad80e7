//! A shell program as a tree, with everything left out that cannot change what it does.

/// A list of pipelines: those that always run and those that only may are not told apart.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) pipelines: Vec<Pipeline>,
}

/// Commands that feed each other.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<Command>,
}

/// One command.
#[derive(Debug)]
pub(super) enum Command {
    /// A name with arguments.
    Simple(Simple),
    /// A group, loop, choice or test.
    Compound(Compound),
    /// The definition of a function.
    Function { name: String, body: Box<Command> },
}

/// Assignments, a name with arguments, and redirections.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

/// `name=value`, `name+=value` or `name=(values)`.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Word,
    /// True when the value is not the whole of what the variable holds afterwards.
    pub(super) partial: bool,
}

/// A command made of commands.
#[derive(Debug, Default)]
pub(super) struct Compound {
    pub(super) kind: CompoundKind,
    /// Words that are evaluated but are no commands: what a `for` runs over, what a `case` looks at, what a test tests.
    pub(super) words: Vec<Word>,
    pub(super) scripts: Vec<Script>,
    /// The variable that a `for` sets.
    pub(super) binds: Option<String>,
    pub(super) redirects: Vec<Redirect>,
}

/// What a compound command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CompoundKind {
    /// Runs its scripts, or some of them, once.
    #[default]
    Once,
    /// Runs them once for each word.
    Each,
    /// Runs them for as long as the first one succeeds.
    While,
    /// Runs them for as long as the first one fails.
    Until,
    /// Runs them without an end of its own.
    Endless,
}

/// Where a command reads from or writes to.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) kind: RedirectKind,
    pub(super) target: Word,
}

/// How a redirection opens its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    /// `<`
    Read,
    /// `<>`
    ReadWrite,
    /// `>` and its kin
    Overwrite,
    /// `>>` and its kin
    Append,
    /// `>&` and `<&`
    Duplicate,
    /// `<<<`
    HereString,
    /// `<<`, with the number of its body
    HereDocument(usize),
}

/// A word in pieces, before the shell expands it.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
}

/// A piece of a word.
#[derive(Debug)]
pub(super) enum Piece {
    /// Text that stands as it is, without quotes.
    Plain(String),
    /// Text that stands as it is, quoted or escaped.
    Quoted(String),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// A variable or another parameter.
    Parameter(Parameter),
    /// The output of a script.
    Output(Script),
    /// A file that is the input or output of a script.
    Process(Script),
    /// A number that the shell computes.
    Number,
    /// A variable that arithmetic may change.
    Touched(String),
}

/// `$name` or `${name…}`.
#[derive(Debug)]
pub(super) struct Parameter {
    /// Its name; empty when another variable holds the name.
    pub(super) name: String,
    pub(super) quoted: bool,
    /// What is done to the value before it is used.
    pub(super) form: Form,
    /// The text that stands in when the variable has none.
    pub(super) instead: String,
}

/// What an expansion does to the value of its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Uses it whole.
    Whole,
    /// Uses it whole or another text instead.
    Default,
    /// Cuts, replaces or counts.
    Changed,
    /// Picks characters out of it: a way to spell what must not be seen.
    Sliced,
}

impl Word {
    /// The text, if it needs no expansion at all.
    pub(super) fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
                _ => return None,
            }
        }
        Some(text)
    }

    /// The text, if it is one unquoted piece: what a keyword or the name of a function looks like.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Plain(text)] => Some(text),
            _ => None,
        }
    }
}
