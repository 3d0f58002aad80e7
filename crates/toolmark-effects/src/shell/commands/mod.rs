//! Which command does what. A command that is not listed here is not known, and what is not known may do anything.

mod archive;
mod awk;
mod builtin;
mod cloud;
mod containers;
mod curl;
mod databases;
mod files;
mod git;
mod interpret;
mod kubectl;
mod look;
mod network;
mod packages;
mod print;
mod search;
mod sed;
mod system;
mod tables;
mod verbs;
mod wrap;

use toolmark_core::behavior::Action;
use toolmark_core::text::visible;

use super::call::Call;
use super::walk::{Input, Walk};

/// Notes what a call does, and says what it passes on.
type Reader = fn(&Call<'_>, &mut Walk<'_>) -> Input;

/// Notes what a command does.
pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let Some(reader) = find(call.name) else {
        walk.found.unclear(format!("`{}` is not a command that is known", visible(call.written, 40)));
        return Input::Output;
    };
    if call.asks_for_help() {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    if call.args.iter().any(|arg| arg.obscure) && !matches!(call.name, "echo" | "printf" | "[" | "test") {
        walk.found.unclear(format!("an argument of `{}` is spelled so that it cannot be seen", call.name));
    }
    // An index into an array is arithmetic, and arithmetic runs the substitutions that stand in a text.
    let names = matches!(
        call.name,
        "test"
            | "["
            | "printf"
            | "read"
            | "unset"
            | "declare"
            | "typeset"
            | "local"
            | "export"
            | "readonly"
            | "getopts"
            | "mapfile"
            | "readarray"
            | "wait"
            | "let"
    );
    if names && call.args.iter().any(|arg| arg.text.contains('[') && arg.text.contains(['$', '`'])) {
        walk.found.unclear(format!("`{}` may run a text that stands in quotes", call.name));
    }
    reader(call, walk)
}

/// True when a command of this name is known.
pub(super) fn is_known(name: &str) -> bool {
    find(name).is_some()
}

fn find(name: &str) -> Option<Reader> {
    look::find(name)
        .or_else(|| builtin::find(name))
        .or_else(|| print::find(name))
        .or_else(|| files::find(name))
        .or_else(|| archive::find(name))
        .or_else(|| search::find(name))
        .or_else(|| wrap::find(name))
        .or_else(|| network::find(name))
        .or_else(|| interpret::find(name))
        .or_else(|| packages::find(name))
        .or_else(|| containers::find(name))
        .or_else(|| cloud::find(name))
        .or_else(|| system::find(name))
        .or_else(|| databases::find(name))
        .or(match name {
            "sed" | "gsed" => Some(sed::read as Reader),
            "awk" | "gawk" | "mawk" | "nawk" => Some(awk::read),
            "git" => Some(git::read),
            "curl" => Some(curl::read),
            _ => None,
        })
}
