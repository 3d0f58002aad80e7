//! One command as it is called: its name, its arguments, what it reads; and the effects that it can have.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::arg::Arg;
use super::walk::Input;
use crate::paths;

/// A command with its arguments.
pub(super) struct Call<'c> {
    /// The last part of its name: `rm` for `/bin/rm`.
    pub(super) name: &'c str,
    /// The name as it was written.
    pub(super) written: &'c str,
    pub(super) args: &'c [Arg],
    pub(super) input: &'c Input,
}

/// Where the programs of a system stand. A program of a known name elsewhere is another program.
const PLACES: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/snap/bin/",
];

impl<'c> Call<'c> {
    pub(super) fn new(written: &'c str, args: &'c [Arg], input: &'c Input) -> Self {
        let known = PLACES.iter().find_map(|place| written.strip_prefix(place));
        let name = known.filter(|name| !name.contains('/')).unwrap_or(written);
        Self { name, written, args, input }
    }

    /// The call in a few words.
    pub(super) fn summary(&self) -> String {
        let mut text = self.written.to_owned();
        for arg in self.args {
            text.push(' ');
            let quotes = arg.text.is_empty() || arg.text.contains([' ', ';', '|', '&', '<', '>', '(', '#']);
            let quote = if quotes && arg.exact { "'" } else { "" };
            text.extend([quote, &arg.text, quote]);
            if text.len() > 400 {
                break;
            }
        }
        visible(&text.replace(['\n', '\t'], " "), 100)
    }

    /// It changes nothing.
    pub(super) fn pure(&self, action: Action) -> Effect {
        Effect::pure(action, self.summary())
    }

    /// It changes something.
    pub(super) fn mutating(&self, action: Action) -> Effect {
        Effect::mutating(action, self.summary())
    }

    /// It runs something that cannot be seen.
    pub(super) fn runs(&self) -> Effect {
        self.mutating(Action::Execute).unbounded().with(Danger::Code)
    }

    /// The first argument, if it is known.
    pub(super) fn first(&self) -> Option<&'c str> {
        self.args.first().filter(|arg| arg.exact).map(|arg| arg.text.as_str())
    }

    /// True when it only asks how it is used, or what it is.
    pub(super) fn asks_for_help(&self) -> bool {
        let asks = |arg: &Arg| arg.exact && matches!(arg.text.as_str(), "--help" | "--version" | "-V" | "--usage");
        match self.args {
            [only] => {
                let single = matches!(self.name, "java" | "terraform" | "tofu" | "find" | "openssl");
                asks(only) || (single && only.exact && matches!(only.text.as_str(), "-version" | "-help"))
            }
            _ => false,
        }
    }

    /// The effect with the dangers of arguments that name what must stay secret.
    pub(super) fn reading<'a>(&self, effect: Effect, operands: impl IntoIterator<Item = &'a Arg>) -> Effect {
        let mut effect = effect;
        for operand in operands {
            if paths::is_secret(&operand.text) {
                effect = effect.with(Danger::Secret);
            } else if operand.text == "/etc/passwd" {
                effect = effect.with(Danger::Escape);
            }
            if effect.targets.len() < 8 {
                effect.targets.push(visible(&operand.text, 80));
            }
        }
        effect
    }

    /// The effect on these operands: unbounded when one of them is a root or may be one.
    pub(super) fn changing<'a>(&self, effect: Effect, operands: impl IntoIterator<Item = &'a Arg>) -> Effect {
        let mut effect = effect;
        for operand in operands {
            if paths::is_root(&operand.text) || operand.floating {
                effect = effect.unbounded();
            }
            if paths::is_system(&operand.text) {
                effect = effect.with(Danger::Escape);
            }
            if effect.targets.len() < 8 {
                effect.targets.push(visible(&operand.text, 80));
            }
        }
        effect
    }
}
