//! `find` and `fd`: they look, unless they are told to remove, to write or to run something.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use crate::paths;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    match name {
        "find" | "gfind" => Some(read),
        "fd" | "fdfind" => Some(fd),
        _ => None,
    }
}

/// Tests and actions without effect, each with the number of its values.
const TESTS: &[(&str, usize)] = &[
    ("-name", 1),
    ("-iname", 1),
    ("-path", 1),
    ("-ipath", 1),
    ("-wholename", 1),
    ("-iwholename", 1),
    ("-regex", 1),
    ("-iregex", 1),
    ("-regextype", 1),
    ("-type", 1),
    ("-xtype", 1),
    ("-size", 1),
    ("-mtime", 1),
    ("-atime", 1),
    ("-ctime", 1),
    ("-mmin", 1),
    ("-amin", 1),
    ("-cmin", 1),
    ("-newer", 1),
    ("-anewer", 1),
    ("-cnewer", 1),
    ("-newermt", 1),
    ("-newerct", 1),
    ("-newerat", 1),
    ("-user", 1),
    ("-group", 1),
    ("-uid", 1),
    ("-gid", 1),
    ("-perm", 1),
    ("-links", 1),
    ("-inum", 1),
    ("-samefile", 1),
    ("-fstype", 1),
    ("-lname", 1),
    ("-ilname", 1),
    ("-maxdepth", 1),
    ("-mindepth", 1),
    ("-printf", 1),
    ("-used", 1),
    ("-context", 1),
    ("-empty", 0),
    ("-executable", 0),
    ("-readable", 0),
    ("-writable", 0),
    ("-nouser", 0),
    ("-nogroup", 0),
    ("-print", 0),
    ("-print0", 0),
    ("-ls", 0),
    ("-prune", 0),
    ("-quit", 0),
    ("-depth", 0),
    ("-d", 0),
    ("-mount", 0),
    ("-xdev", 0),
    ("-daystart", 0),
    ("-follow", 0),
    ("-noleaf", 0),
    ("-ignore_readdir_race", 0),
    ("-noignore_readdir_race", 0),
    ("-nowarn", 0),
    ("-warn", 0),
    ("-true", 0),
    ("-false", 0),
    ("-not", 0),
    ("-a", 0),
    ("-and", 0),
    ("-o", 0),
    ("-or", 0),
    ("-H", 0),
    ("-L", 0),
    ("-P", 0),
    ("-E", 0),
    ("-X", 0),
    ("-s", 0),
    ("-x", 0),
    ("-D", 1),
    ("-files0-from", 1),
    ("-O1", 0),
    ("-O2", 0),
    ("-O3", 0),
];

fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let mut rest = call.args;
    let mut starts: Vec<&Arg> = Vec::new();
    let mut filtered = false;
    let mut names_secret = false;
    walk.found.effect(call.pure(Action::Search));
    while let Some((arg, after)) = rest.split_first() {
        rest = after;
        let text = arg.text.as_str();
        match text {
            _ if arg.floating && !text.starts_with('-') => {
                // A quoted or plain variable in front is a place to look; anything later may be an action.
                if !starts.is_empty() || filtered {
                    walk.found.unclear("an argument of `find` is computed");
                }
                starts.push(arg);
            }
            "-delete" => {
                let effect = call.mutating(Action::Delete);
                let wide = !filtered || starts.is_empty();
                let effect = starts.iter().fold(effect, |effect, start| effect.on([start.text.clone()]));
                let root = wide && starts.iter().all(|start| paths::is_root(&start.text));
                walk.found.effect(if root { effect.unbounded() } else { effect });
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = rest.iter().position(|arg| matches!(arg.text.as_str(), ";" | "+")).unwrap_or(rest.len());
                let (command, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
                rest = after.get(1..).unwrap_or_default();
                run_on_each(command, names_secret, walk);
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let target = rest.first().cloned().unwrap_or_default();
                let values = if text == "-fprintf" { 2 } else { 1 };
                rest = rest.get(values..).unwrap_or_default();
                walk.found.effect(redirect::write(&target, Action::Overwrite));
            }
            "(" | ")" | "!" | "," => {}
            _ if text.starts_with('-') && text.len() > 1 => match TESTS.iter().find(|(name, _)| *name == text) {
                Some((_, values)) => {
                    filtered |= *values > 0 && !matches!(text, "-maxdepth" | "-mindepth" | "-printf");
                    names_secret |= rest.iter().take(*values).any(|value| paths::is_secret(&value.text));
                    rest = rest.get(*values..).unwrap_or_default();
                }
                None if text.starts_with("-newer") => rest = rest.get(1..).unwrap_or_default(),
                None => walk.found.unclear(format!("`find` has no option `{text}` that is known")),
            },
            _ => {
                names_secret |= paths::is_secret(text);
                starts.push(arg);
            }
        }
    }
    Input::Names
}

/// Runs a command on files whose names only the disk knows.
fn run_on_each(command: &[Arg], names_secret: bool, walk: &mut Walk<'_>) {
    let each = |arg: &Arg| {
        if arg.text.contains("{}") { Arg::unknown(arg.text.clone()) } else { arg.clone() }
    };
    let args: Vec<Arg> = command.iter().map(each).collect();
    walk.run(&args, &Input::Output);
    let looks_outside = args.first().is_some_and(|name| {
        matches!(name.text.as_str(), "ls" | "stat" | "file" | "echo" | "du" | "basename" | "dirname")
    });
    if names_secret && !looks_outside {
        let effect = toolmark_core::facts::Effect::pure(Action::Read, "reads the files that were found");
        walk.found.effect(effect.with(Danger::Secret));
    }
}

fn fd(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.pure(Action::Search));
    if call.args.iter().any(|arg| arg.floating) {
        walk.found.unclear("an argument of `fd` is computed");
    }
    let runs = |text: &str| {
        matches!(text, "--exec" | "--exec-batch")
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'X']))
    };
    if let Some(at) = call.args.iter().position(|arg| runs(&arg.text)) {
        let exact =
            call.args.get(at).is_some_and(|arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        if exact {
            let command: Vec<Arg> = call.args.iter().skip(at + 1).filter(|arg| arg.text != ";").cloned().collect();
            run_on_each(&command, false, walk);
        } else {
            walk.found.unclear("`fd` runs a command");
        }
    }
    Input::Names
}
