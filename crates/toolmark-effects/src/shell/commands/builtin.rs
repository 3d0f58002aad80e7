//! What the shell does itself: options, variables, handlers, text that it runs as a program.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use crate::paths;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "break" | "exit" | "return" | "logout" => leave,
        "shift" | "continue" | "getopts" | "disown" | "caller" | "suspend" | "unset" => nothing,
        "set" | "shopt" | "setopt" => set,
        "export" | "declare" | "typeset" | "local" | "readonly" => declare,
        "read" | "mapfile" | "readarray" => read,
        "eval" => eval,
        "source" | "." => source,
        "trap" => trap,
        "alias" => alias,
        "let" => arithmetic,
        "hash" | "enable" | "bind" | "complete" | "compgen" | "fc" | "unalias" => special,
        _ => return None,
    })
}

fn leave(_: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.note_break();
    Input::Output
}

fn nothing(_: &Call<'_>, _: &mut Walk<'_>) -> Input {
    Input::Output
}

/// `set -e` and its kin change how the program runs; alone, `set` prints every variable.
fn set(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    if call.args.is_empty() && call.name == "set" {
        walk.found.effect(call.pure(Action::Read).with(Danger::Secret));
    }
    // With aliases, patterns or variables of its own the rest of the program may mean something else.
    let plain = |text: &str| {
        let letters =
            text.strip_prefix(['-', '+']).is_some_and(|letters| letters.chars().all(|c| "euxovnfhbmC".contains(c)));
        letters
            || matches!(
                text,
                "errexit" | "nounset" | "pipefail" | "xtrace" | "noclobber" | "verbose" | "noexec" | "nullglob" | "-s"
            )
    };
    let own = call.args.iter().take_while(|arg| arg.text != "--");
    if own.clone().any(|arg| !arg.exact || !plain(&arg.text)) {
        walk.found.unclear(format!("`{}` changes how the program is read", call.name));
    }
    Input::Output
}

fn declare(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let prints = call.args.iter().all(|arg| arg.exact && arg.text.starts_with('-'));
    if prints {
        walk.found.effect(call.pure(Action::Read).with(Danger::Secret));
        return Input::Output;
    }
    for arg in call.args {
        if arg.text.starts_with('-') && arg.text.contains(['i', 'n', 'u', 'l', 'c']) && call.name != "export" {
            walk.found.unclear("a variable is given a special meaning");
        }
        match arg.text.split_once('=') {
            Some((name, value)) => {
                walk.note_variable(name, value, arg.exact);
                if arg.exact && !arg.pattern {
                    walk.scope.set(name, value.to_owned());
                } else {
                    walk.scope.set_computed(name, arg.obscure);
                }
            }
            None if arg.floating => walk.found.unclear("the name of a variable is computed"),
            None => {}
        }
    }
    Input::Output
}

fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let calls_back = call.name != "read" && call.args.iter().any(|arg| arg.text.starts_with("-C") || arg.floating);
    if calls_back {
        walk.found.unclear(format!("`{}` may call a command", call.name));
    }
    for arg in call.args.iter().filter(|arg| !arg.text.starts_with('-')) {
        walk.note_variable(&arg.text, "$(…)", false);
        walk.scope.set_computed(&arg.text, false);
    }
    Input::Output
}

fn eval(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    if call.args.iter().all(|arg| arg.exact) {
        let text: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
        walk.shell(&text.join(" "));
    } else {
        walk.found.unclear("`eval` runs a text that is computed");
    }
    Input::Output
}

fn source(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let secret = call.args.first().is_some_and(|arg| paths::is_secret(&arg.text));
    if secret {
        walk.found.effect(call.pure(Action::Read).with(Danger::Secret));
    }
    walk.found.unclear(format!("`{}` runs a file", call.name));
    Input::Output
}

fn trap(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    if call.first() == Some("-") {
        return Input::Output;
    }
    match call.args.iter().find(|arg| arg.floating || !arg.text.starts_with('-')) {
        Some(Arg { exact: true, text, .. }) => walk.shell(text),
        Some(_) => walk.found.unclear("`trap` sets a handler that is computed"),
        None => {}
    }
    Input::Output
}

/// Some shells replace names by aliases, so that what follows may mean something else.
fn alias(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    if call.args.iter().any(|arg| arg.text.contains('=') || !arg.exact) {
        walk.found.unclear("`alias` changes what names mean");
    } else {
        walk.found.effect(call.pure(Action::Read));
    }
    Input::Output
}

fn arithmetic(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_+-*/%=<>()&|^!~ ".contains(c);
    if !call.args.iter().all(|arg| arg.exact && arg.text.chars().all(plain)) {
        walk.found.unclear("`let` may run what stands in a variable");
    }
    Input::Output
}

fn special(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let harmless = match call.name {
        "hash" => call.args.iter().all(|arg| arg.exact && !(arg.text.starts_with('-') && arg.text.contains('p'))),
        "compgen" => call.args.len() == 1 && matches!(call.first(), Some("-c" | "-b" | "-a" | "-k" | "-v")),
        "unalias" => true,
        _ => call.args.is_empty(),
    };
    if !harmless {
        walk.found.unclear(format!("`{}` changes what names mean", call.name));
    }
    Input::Output
}
