//! Arguments as the shell would pass them, as far as the text tells: what is known, and how the rest could come to be.

use super::scope::Scope;
use super::tree::{Command, Form, Parameter, Piece, Script, Word};

/// One argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arg {
    /// The text; unknown parts stand as they were written.
    pub(super) text: String,
    /// The argument is this text and nothing else.
    pub(super) exact: bool,
    /// It may begin with anything, even with a dash, or be several arguments or none.
    pub(super) floating: bool,
    /// It was written so that its meaning cannot be seen.
    pub(super) obscure: bool,
    /// The output of a command is part of it.
    pub(super) computed: bool,
    /// A variable that holds a credential is part of it.
    pub(super) secret: bool,
    /// It is one of several known texts, or a pattern.
    pub(super) pattern: bool,
}

/// The most arguments that a brace expression or a variable may become.
const MAX_FIELDS: usize = 64;

impl Arg {
    /// An argument that is exactly this text.
    pub(super) fn exact(text: impl Into<String>) -> Self {
        Self { text: text.into(), exact: true, ..Self::default() }
    }

    /// An argument that some command fills in.
    pub(super) fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Adds the arguments that a word becomes.
pub(super) fn lower(word: &Word, scope: &Scope, out: &mut Vec<Arg>) {
    if let Some(texts) = braces(word) {
        let pattern = word.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
        let obscure = texts.is_empty();
        out.extend(texts.into_iter().map(|text| Arg { exact: !pattern, pattern: true, ..Arg::exact(text) }));
        if obscure {
            out.push(Arg { text: written(word), floating: true, obscure: true, ..Arg::default() });
        }
        return;
    }
    let mut fields = Fields { done: Vec::new(), current: Arg::exact(""), started: false };
    for piece in &word.pieces {
        fields.piece(piece, scope);
    }
    if fields.started {
        fields.done.push(fields.current);
    }
    out.append(&mut fields.done);
}

/// The text of a word, whatever it becomes; for messages and for values that are only looked through.
pub(super) fn written(word: &Word) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
            Piece::Glob(character) => text.push(*character),
            Piece::Parameter(parameter) => text.push_str(&display(parameter)),
            Piece::Output(_) => text.push_str("$(…)"),
            Piece::Process(_) => text.push_str("<(…)"),
            Piece::Number => text.push('0'),
            Piece::Touched(_) => {}
        }
    }
    text
}

fn display(parameter: &Parameter) -> String {
    format!("${}", parameter.name)
}

/// The arguments of one word while they are put together.
struct Fields {
    done: Vec<Arg>,
    current: Arg,
    started: bool,
}

impl Fields {
    fn piece(&mut self, piece: &Piece, scope: &Scope) {
        match piece {
            Piece::Plain(text) => {
                self.current.pattern |= text.contains('{') && text.contains("..");
                self.known(text);
            }
            Piece::Quoted(text) => self.known(text),
            Piece::Glob(character) => {
                self.current.pattern = true;
                self.current.exact = false;
                self.known(character.encode_utf8(&mut [0; 4]));
            }
            Piece::Parameter(parameter) => self.parameter(parameter, scope),
            Piece::Output(script) => {
                self.current.computed = true;
                self.current.obscure |= decodes(script);
                self.unknown("$(…)");
            }
            Piece::Process(_) => {
                self.known("/dev/fd/63");
                self.current.exact = false;
            }
            Piece::Number => {
                self.known("0");
                self.current.exact = false;
            }
            Piece::Touched(_) => {}
        }
    }

    fn known(&mut self, text: &str) {
        self.current.text.push_str(text);
        self.started = true;
    }

    fn unknown(&mut self, text: &str) {
        self.current.floating |= self.current.text.is_empty();
        self.current.exact = false;
        self.known(text);
    }

    fn parameter(&mut self, parameter: &Parameter, scope: &Scope) {
        self.current.secret |= crate::paths::is_secret_variable(&parameter.name);
        let value = scope.value(&parameter.name).filter(|_| parameter.form == Form::Whole);
        match value {
            Some(value) if parameter.quoted || !value.contains([' ', '\t', '\n']) => {
                self.current.pattern |= !parameter.quoted && value.contains(['*', '?', '[']);
                self.current.exact &= !self.current.pattern;
                if parameter.quoted || !value.is_empty() {
                    self.known(value);
                }
            }
            Some(value) => self.split(value),
            None => {
                self.current.obscure |=
                    parameter.form == Form::Sliced || parameter.name == "IFS" || scope.is_obscure(&parameter.name);
                self.current.computed |= scope.is_computed(&parameter.name);
                if parameter.form == Form::Default && scope.value(&parameter.name).is_none() {
                    self.unknown(&parameter.instead);
                } else if scope.is_name(&parameter.name) {
                    self.current.exact = false;
                    self.known(&display(parameter));
                } else {
                    self.unknown(&display(parameter));
                }
            }
        }
    }

    /// An unquoted variable with blanks in its value becomes several arguments.
    fn split(&mut self, value: &str) {
        for (at, field) in value.split([' ', '\t', '\n']).filter(|field| !field.is_empty()).enumerate() {
            if at > 0 || value.starts_with([' ', '\t', '\n']) {
                if self.done.len() >= MAX_FIELDS {
                    self.current.obscure = true;
                    return;
                }
                if self.started {
                    self.done.push(std::mem::replace(&mut self.current, Arg::exact("")));
                }
            }
            self.current.pattern |= field.contains(['*', '?', '[']);
            self.current.exact &= !self.current.pattern;
            self.known(field);
        }
    }
}

/// What a brace expression becomes; `Some` and empty when that is too much to say; `None` when there is none.
fn braces(word: &Word) -> Option<Vec<String>> {
    let is_brace = |piece: &Piece| matches!(piece, Piece::Plain(text) if text.contains('{'));
    if !word.pieces.iter().any(is_brace) {
        return None;
    }
    let all = written(word);
    let (head, rest) = all.split_once('{')?;
    let (inner, tail) = rest.split_once('}')?;
    if !inner.contains(',') {
        return None;
    }
    let simple = word.pieces.iter().all(|piece| matches!(piece, Piece::Plain(_) | Piece::Glob(_)));
    if !simple || inner.contains('{') || tail.contains(['{', '}']) || inner.matches(',').count() >= MAX_FIELDS {
        return Some(Vec::new());
    }
    Some(inner.split(',').map(|choice| format!("{head}{choice}{tail}")).collect())
}

/// True when a script turns text into other text: a way to spell what must not be seen.
fn decodes(script: &Script) -> bool {
    const DECODERS: &[&str] = &["base64", "base32", "basenc", "xxd", "rev", "openssl", "uudecode", "gpg", "tr"];
    let spells = |word: &Word| word.literal().is_some_and(|text| text.contains("\\x") || text.contains("\\0"));
    script.pipelines.iter().flat_map(|pipeline| &pipeline.commands).any(|command| match command {
        Command::Simple(simple) => match simple.words.first().and_then(Word::literal) {
            Some(name) if matches!(name.as_str(), "printf" | "echo") => simple.words.iter().any(spells),
            Some(name) => DECODERS.contains(&name.rsplit('/').next().unwrap_or(&name)),
            None => !simple.words.is_empty(),
        },
        _ => false,
    })
}
