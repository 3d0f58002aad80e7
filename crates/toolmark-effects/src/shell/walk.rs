//! Goes through the tree and asks of each command what it does. Branches that may run count as if they did.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::arg::{Arg, lower};
use super::call::Call;
use super::commands;
use super::found::Found;
use super::parse::{self, Program, Refusal, SETTERS};
use super::scan;
use super::scope::Scope;
use super::tree::{Command, Compound, CompoundKind, Piece, Pipeline, Script, Simple, Word};

/// A walk through one program.
pub(super) struct Walk<'f> {
    pub(super) found: &'f mut Found,
    pub(super) scope: Scope,
    bodies: Vec<Word>,
    /// How many programs are inside each other: `sh -c "sh -c …"`.
    nesting: u8,
    /// Functions whose bodies are being read.
    inside: Vec<String>,
    /// The end of an endless loop was seen.
    breaks: bool,
}

/// What a command reads, and what it passes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Input {
    /// What the whole program was given: nothing.
    #[default]
    Inherit,
    /// Exactly this text.
    Text(String),
    /// A file.
    File(String),
    /// What came over the network.
    Remote,
    /// What was decoded from something else.
    Decoded,
    /// Names of files and the like, which begin with no dash.
    Names,
    /// What some command prints.
    Output,
}

/// How many programs may be inside each other.
const MAX_NESTING: u8 = 8;

impl<'f> Walk<'f> {
    pub(super) fn new(found: &'f mut Found, nesting: u8) -> Self {
        Self { found, scope: Scope::default(), bodies: Vec::new(), nesting, inside: Vec::new(), breaks: false }
    }

    /// Reads a whole program.
    pub(super) fn program(&mut self, text: &str) {
        match parse::program(text) {
            Ok(Program { script, bodies, runs_text, assigned, volatile }) => {
                self.scope = Scope::new(&assigned, volatile);
                self.bodies = bodies;
                if runs_text {
                    self.found.unclear("arithmetic may run a text that stands in quotes");
                }
                self.script(&script);
            }
            Err(Refusal(reason)) => self.found.unclear(reason),
        }
    }

    /// Reads a program that a command was given as text.
    pub(super) fn shell(&mut self, text: &str) {
        if self.nesting >= MAX_NESTING {
            self.found.unclear("programs are nested too deeply");
        } else if let Err(Refusal(reason)) = scan::check(text) {
            self.found.unclear(reason);
        } else {
            Walk::new(self.found, self.nesting + 1).program(text);
        }
    }

    /// Reads a command that another one runs: `env`, `sudo`, `xargs`.
    pub(super) fn run(&mut self, args: &[Arg], input: &Input) -> Input {
        let Some((name, rest)) = args.split_first() else { return Input::Output };
        if !name.exact {
            self.found.unclear(format!("the name of a command is computed: `{}`", visible(&name.text, 40)));
            return Input::Output;
        }
        if self.nesting >= MAX_NESTING {
            self.found.unclear("commands are nested too deeply");
            return Input::Output;
        }
        self.nesting += 1;
        let output = commands::read(&Call::new(&name.text, rest, input), self);
        self.nesting -= 1;
        output
    }

    fn script(&mut self, script: &Script) {
        for pipeline in &script.pipelines {
            self.pipeline(pipeline, &Input::Inherit);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: &Input) {
        let mut input = input.clone();
        for command in &pipeline.commands {
            input = self.command(command, &input);
        }
    }

    fn command(&mut self, command: &Command, input: &Input) -> Input {
        match command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Compound(compound) => self.compound(compound, input),
            Command::Function { name, body } => {
                self.scope.define(name);
                self.inside.push(name.clone());
                self.command(body, &Input::Output);
                self.inside.pop();
                Input::Output
            }
        }
    }

    fn compound(&mut self, compound: &Compound, input: &Input) -> Input {
        for word in &compound.words {
            self.word(word);
            // A shell without arithmetic or `[[` runs what it takes for commands.
            let touched = word.pieces.iter().filter_map(|piece| match piece {
                Piece::Touched(name) => Some(name),
                _ => None,
            });
            for name in touched {
                if commands::is_known(name) || self.scope.defines(name) {
                    self.found.unclear(format!("another shell would run `{name}` instead of computing with it"));
                }
                self.scope.set_computed(name, false);
            }
        }
        let mut effective = input.clone();
        for redirect in &compound.redirects {
            if let Some(replaced) = self.redirect(redirect) {
                effective = replaced;
            }
        }
        if let Some(name) = &compound.binds {
            let mut args = Vec::new();
            compound.words.iter().for_each(|word| lower(word, &self.scope, &mut args));
            for arg in args.iter().filter(|arg| crate::paths::is_secret(&arg.text)) {
                self.note_variable(name, &arg.text, false);
            }
            // Names that the text shows are no options.
            if args.iter().all(|arg| !arg.floating && !arg.obscure && !arg.text.starts_with('-')) && !args.is_empty() {
                self.scope.set_names(name);
            } else {
                self.scope.set_computed(name, args.iter().any(|arg| arg.obscure));
            }
        }
        let outer = std::mem::replace(&mut self.breaks, false);
        for script in &compound.scripts {
            for pipeline in &script.pipelines {
                self.pipeline(pipeline, &effective);
            }
        }
        let endless = match compound.kind {
            CompoundKind::Endless => true,
            CompoundKind::While => compound.scripts.first().is_some_and(|head| is_one_of(head, &["true", ":"])),
            CompoundKind::Until => compound.scripts.first().is_some_and(|head| is_one_of(head, &["false"])),
            CompoundKind::Once | CompoundKind::Each => false,
        };
        if endless && !self.breaks {
            let effect = Effect::pure(Action::Execute, "a loop without an end").with(Danger::Exhaustion);
            self.found.effect(effect);
        }
        self.breaks |= outer;
        match effective {
            Input::Remote | Input::Decoded => effective,
            _ => Input::Output,
        }
    }

    fn simple(&mut self, simple: &Simple, input: &Input) -> Input {
        for word in &simple.words {
            self.word(word);
        }
        let mut input = input.clone();
        for redirect in &simple.redirects {
            if let Some(replaced) = self.redirect(redirect) {
                input = replaced;
            }
        }
        let mut args = Vec::with_capacity(simple.words.len());
        simple.words.iter().for_each(|word| lower(word, &self.scope, &mut args));
        for assignment in &simple.assignments {
            self.word(&assignment.value);
            self.assign(&assignment.name, &assignment.value, assignment.partial);
        }
        let Some((name, rest)) = args.split_first() else { return input };
        if !name.exact {
            self.found.unclear(format!("the name of a command is computed: `{}`", visible(&name.text, 40)));
            return Input::Output;
        }
        let spelled = simple.words.first().and_then(Word::literal).is_some();
        if !spelled && SETTERS.contains(&name.text.as_str()) {
            self.found.unclear("a command that sets variables is computed");
        }
        if self.scope.defines(&name.text) {
            if self.inside.contains(&name.text) {
                let effect = Effect::mutating(Action::Execute, format!("{} calls itself", visible(&name.text, 40)));
                self.found.effect(effect.unbounded().with(Danger::Exhaustion));
            }
            let call = Call::new(&name.text, rest, &input);
            if rest.iter().any(|arg| crate::paths::is_secret(&arg.text)) {
                self.found.effect(call.pure(Action::Read).with(Danger::Secret));
            }
            return Input::Output;
        }
        commands::read(&Call::new(&name.text, rest, &input), self)
    }

    /// Reads the scripts inside a word.
    pub(super) fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Output(script) | Piece::Process(script) => self.script(script),
                _ => {}
            }
        }
    }

    /// The body of a here-document.
    pub(super) fn body(&self, number: usize) -> Option<&Word> {
        self.bodies.get(number)
    }

    /// Lends the body of a here-document, so that its scripts can be read.
    pub(super) fn read_body(&mut self, number: usize) {
        if let Some(body) = self.bodies.get_mut(number) {
            let body = std::mem::take(body);
            self.word(&body);
            if let Some(place) = self.bodies.get_mut(number) {
                *place = body;
            }
        }
    }

    /// Notes that a loop can end.
    pub(super) fn note_break(&mut self) {
        self.breaks = true;
    }

    /// The arguments that a word becomes.
    pub(super) fn args(&self, word: &Word) -> Vec<Arg> {
        let mut args = Vec::new();
        lower(word, &self.scope, &mut args);
        args
    }
}

/// True when a script is one of these commands and nothing else.
fn is_one_of(script: &Script, names: &[&str]) -> bool {
    match script.pipelines.as_slice() {
        [Pipeline { commands }] => match commands.as_slice() {
            [Command::Simple(simple)] => {
                simple.words.len() == 1
                    && simple.words.first().and_then(Word::literal).is_some_and(|name| names.contains(&name.as_str()))
            }
            _ => false,
        },
        _ => false,
    }
}
