//! Commands whose first words say what they do: `npm install`, `docker ps`, `systemctl status`. A word that is not listed is
//! not known.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Options, Spec, options};
use crate::shell::walk::{Input, Walk};

/// What a verb does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Reads,
    Searches,
    /// Reads what must stay secret.
    Reveals,
    Creates,
    Updates,
    Overwrites,
    Merges,
    Deletes,
    /// Deletes or stops without a limit.
    Purges,
    /// Delivers to somebody outside.
    Sends,
    /// Fetches something and runs what it brings along.
    Installs,
    /// Runs what a project or a file says.
    Runs,
    /// Changes rights.
    Grants,
}

/// The verbs of a command, each one word or two.
pub(super) struct Verbs {
    /// Options in front of the verb that take a value.
    pub(super) spec: Spec,
    pub(super) rows: &'static [(&'static str, Does)],
    /// Options that keep everything as it is.
    pub(super) dry: &'static [&'static str],
}

/// The option that most commands have for that.
pub(super) const DRY: &[&str] = &["dry-run"];

/// Notes what a command does by its verb.
pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>, verbs: &Verbs) -> Input {
    let found = options(call.args, verbs.spec);
    if hides_verb(call.args, verbs.spec) {
        walk.found.unclear(format!("an option of `{}` may hide the verb", call.name));
    }
    let asks = found.flags.iter().all(|flag| matches!(flag.name, "help" | "version" | "h" | "v" | "V" | "info"));
    if found.operands.is_empty() && !found.uncertain && asks {
        // Without a verb, programs of this kind explain themselves.
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    match decide(call.args, &found, verbs) {
        Some(does) => note(call, walk, does, &found, verbs),
        None => {
            let verb = found.operands.first().map(|arg| arg.text.as_str()).unwrap_or_default();
            let verb = toolmark_core::text::visible(verb, 40);
            walk.found.unclear(format!("`{} {verb}` is not known", call.name));
        }
    }
    Input::Output
}

/// The row of the first two words, else of the first.
fn decide(args: &[Arg], found: &Options<'_>, verbs: &Verbs) -> Option<Does> {
    let word = |at: usize| found.operands.get(at).filter(|arg| arg.exact);
    let first = word(0)?;
    let row = |name: &str| verbs.rows.iter().find(|(verb, _)| *verb == name).map(|(_, does)| *does);
    let two = word(1).and_then(|second| row(&format!("{} {}", first.text, second.text)));
    // An option between the two words may have swallowed the second one: then only what changes something is believed.
    let together = args.windows(2).any(|pair| matches!(pair, [a, b] if std::ptr::eq(a, *first) && word(1).is_some_and(|second| std::ptr::eq(b, *second))));
    let two = two.filter(|does| together || !matches!(does, Does::Reads | Does::Searches | Does::Reveals));
    two.or_else(|| row(&first.text))
}

/// Options in front of a verb that take no value.
const PLAIN: &[&str] = &[
    "no-pager",
    "verbose",
    "quiet",
    "silent",
    "yes",
    "json",
    "long",
    "help",
    "global",
    "debug",
    "no-color",
    "color",
    "offline",
    "locked",
    "frozen",
    "user",
    "system",
    "all",
    "failed",
    "plain",
    "no-legend",
    "full",
    "version",
    "tls",
    "no-cli-pager",
    "insecure-skip-tls-verify",
    "no-input",
    "status-all",
];

/// True when an option in front of the verb is not known: it may take the verb for its value, and another word is the verb.
pub(super) fn hides_verb(args: &[Arg], spec: Spec) -> bool {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(long) = arg.text.strip_prefix("--").filter(|_| !arg.floating) else {
            if arg.text.starts_with('-') && !arg.floating {
                // The value of a short option, unless it is attached.
                if arg.text.chars().count() == 2
                    && arg.text.chars().nth(1).is_some_and(|letter| spec.short.contains(letter))
                {
                    rest.next();
                }
                continue;
            }
            return false;
        };
        if long.is_empty() || long.contains('=') || PLAIN.contains(&long) {
            continue;
        }
        if !spec.long.contains(&long) {
            return true;
        }
        rest.next();
    }
    false
}

fn note(call: &Call<'_>, walk: &mut Walk<'_>, does: Does, found: &Options<'_>, verbs: &Verbs) {
    let asks = found.flags.iter().any(|flag| flag.long && flag.name == "help");
    let dry = found.flags.iter().any(|flag| {
        let off = flag.value.is_some_and(|value| matches!(value, "false" | "none"));
        !off && verbs.dry.contains(&flag.name)
    });
    if asks || dry {
        walk.found.effect(call.pure(Action::Read));
        return;
    }
    match effect(call, does) {
        Some(effect) => walk.found.effect(effect),
        None => walk.found.unclear(format!("`{}` runs what a project or file says", call.summary())),
    }
}

/// The effect of a verb; nothing for one that runs what cannot be seen.
pub(super) fn effect(call: &Call<'_>, does: Does) -> Option<Effect> {
    Some(match does {
        Does::Reads => call.pure(Action::Read),
        Does::Searches => call.pure(Action::Search),
        Does::Reveals => call.pure(Action::Read).with(Danger::Secret),
        Does::Creates => call.mutating(Action::Create),
        Does::Updates => call.mutating(Action::Update),
        Does::Overwrites => call.mutating(Action::Overwrite),
        Does::Merges => call.mutating(Action::Merge),
        Does::Deletes => call.mutating(Action::Delete),
        Does::Purges => call.mutating(Action::Delete).unbounded(),
        Does::Sends => call.mutating(Action::Send).with(Danger::Outward),
        Does::Installs => call.mutating(Action::Create).with(Danger::Code),
        Does::Grants => call.mutating(Action::Update).with(Danger::Privilege),
        Does::Runs => return None,
    })
}

/// The arguments behind the first `count` operands, as they were written: a command that is run elsewhere.
pub(super) fn behind(args: &[Arg], spec: Spec, count: usize) -> &[Arg] {
    let mut rest = args;
    let mut seen = 0;
    while seen < count {
        let found = options(rest, Spec { stops: true, ..spec });
        let Some(operand) = found.operands.first() else { return &[] };
        let at = rest.iter().position(|arg| std::ptr::eq(arg, *operand)).unwrap_or(rest.len());
        rest = rest.get(at + 1..).unwrap_or_default();
        seen += 1;
    }
    rest
}
