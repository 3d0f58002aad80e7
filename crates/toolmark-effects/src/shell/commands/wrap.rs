//! Commands that run another command: the other one counts, plus what the wrapper adds.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use super::verbs::behind;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "env" => env,
        "sudo" | "doas" | "pkexec" | "runuser" | "su" | "chroot" | "nsenter" | "unshare" | "setpriv" => privileged,
        "nohup" | "setsid" | "command" | "builtin" | "exec" | "time" | "nice" | "ionice" | "chrt" | "taskset"
        | "stdbuf" | "timeout" | "gtimeout" | "unbuffer" | "caffeinate" | "numactl" | "busybox" | "toybox"
        | "strace" | "ltrace" | "flock" | "proxychains" | "proxychains4" | "torsocks" | "chronic" | "xvfb-run"
        | "faketime" => plain,
        "xargs" | "gxargs" => xargs,
        "watch" => watch,
        "script" | "parallel" | "entr" | "systemd-run" | "expect" | "screen" | "tmux" => unseen,
        _ => return None,
    })
}

/// How a wrapper's own arguments end: its options, then this many operands.
fn shape(name: &str) -> (Spec, usize) {
    let spec = |short, long| Spec { short, long, stops: true };
    match name {
        "nice" => (spec("n", &["adjustment"]), 0),
        "ionice" => (spec("cnp", &["class", "classdata"]), 0),
        "chrt" => (spec("TPDp", &[]), 1),
        "taskset" => (spec("p", &[]), 1),
        "stdbuf" => (spec("ioe", &["input", "output", "error"]), 0),
        "timeout" | "gtimeout" => (spec("ks", &["kill-after", "signal"]), 1),
        "exec" => (spec("a", &[]), 0),
        "time" => (spec("fo", &["format", "output"]), 0),
        "strace" | "ltrace" => (spec("eopsuEPSaIOXbtn", &[]), 0),
        "flock" => (spec("wE", &["timeout", "conflict-exit-code"]), 1),
        "proxychains" | "proxychains4" => (spec("f", &[]), 0),
        "caffeinate" => (spec("tw", &[]), 0),
        "numactl" => (spec("CNmipP", &[]), 0),
        "faketime" => (spec("f", &[]), 1),
        "xvfb-run" => (spec("enfswp", &[]), 0),
        _ => (spec("", &[]), 0),
    }
}

fn plain(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let (spec, operands) = shape(call.name);
    let found = options(call.args, spec);
    if call.name == "command" && found.has("vV", "") || (call.name == "builtin" && call.args.is_empty()) {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    if let Some(file) = found.value("o", "output").filter(|_| matches!(call.name, "time" | "strace" | "ltrace")) {
        walk.found.effect(crate::shell::redirect::write(&Arg::exact(file), Action::Overwrite));
    }
    if call.name == "flock" && found.has("c", "command") {
        walk.found.unclear("`flock` runs a text");
    }
    let command = behind(call.args, spec, operands);
    let command = skip_options(command, if operands == 0 { spec } else { Spec::default() });
    if command.is_empty() {
        // `exec > file` and the like only redirect; the others explain themselves.
        return Input::Output;
    }
    walk.run(command, call.input)
}

/// Skips options up to the first operand.
fn skip_options(args: &[Arg], spec: Spec) -> &[Arg] {
    let found = options(args, Spec { stops: true, ..spec });
    match found.operands.first() {
        Some(first) => {
            let at = args.iter().position(|arg| std::ptr::eq(arg, *first)).unwrap_or(args.len());
            args.get(at..).unwrap_or_default()
        }
        None => &[],
    }
}

fn env(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec { short: "uCS", long: &["unset", "chdir", "split-string"], stops: true };
    let found = options(call.args, spec);
    if found.has("S", "split-string") {
        walk.found.unclear("`env` splits a text into a command");
    }
    let mut command = skip_options(call.args, spec);
    while let Some((first, rest)) = command.split_first() {
        let Some((name, value)) = first.text.split_once('=').filter(|_| !first.floating) else { break };
        walk.note_variable(name, value, first.exact);
        command = rest;
    }
    if command.is_empty() {
        walk.found.effect(call.pure(Action::Read).with(Danger::Secret));
        return Input::Output;
    }
    walk.run(command, call.input)
}

fn privileged(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let (spec, operands) = match call.name {
        "sudo" => (
            Spec { short: "ugpCrthUTDR", long: &["user", "group", "prompt", "chdir", "host", "chroot"], stops: true },
            0,
        ),
        "chroot" => (Spec { short: "", long: &[], stops: true }, 1),
        "nsenter" => (Spec { short: "tSG", long: &["target"], stops: true }, 0),
        _ => (Spec { short: "uCcsg", long: &["user", "command", "shell"], stops: true }, 0),
    };
    let found = options(call.args, spec);
    // Whether something changes is for the command behind it to say.
    walk.found.effect(call.pure(Action::Execute).with(Danger::Privilege));
    if matches!(call.name, "su" | "runuser") {
        match found.value("c", "command") {
            Some(text) => walk.shell(text),
            None => walk.found.unclear(format!("`{}` opens a shell as somebody else", call.name)),
        }
        return Input::Output;
    }
    if call.name == "sudo" && (found.has("ise", "login") || found.has_any(&["shell", "edit"])) {
        walk.found.unclear("`sudo` opens a shell or an editor");
    }
    let mut command = behind(call.args, spec, operands);
    command = skip_options(command, if operands == 0 { spec } else { Spec::default() });
    while let Some((first, rest)) = command.split_first() {
        let Some((name, value)) = first.text.split_once('=').filter(|_| !first.floating) else { break };
        walk.note_variable(name, value, first.exact);
        command = rest;
    }
    if command.is_empty() {
        return Input::Output;
    }
    walk.run(command, call.input)
}

fn xargs(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "adEILnPsRSJ",
        long: &["arg-file", "delimiter", "max-args", "max-lines", "max-procs", "max-chars", "replace", "eof"],
        stops: true,
    };
    let found = options(call.args, spec);
    let command = skip_options(call.args, spec);
    let Some((name, rest)) = command.split_first() else {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    };
    if !name.exact {
        walk.found.unclear("`xargs` runs a command that is computed");
        return Input::Output;
    }
    // What is read becomes arguments, and options unless it is a list of names.
    let mut args = vec![name.clone()];
    let marker = found.value("IRJ", "replace").unwrap_or("{}");
    let replaces = found.has("IiRJ", "replace");
    let somewhere = found.has("i", "");
    let filled = |arg: &Arg| {
        if somewhere || (replaces && arg.text.contains(marker)) { Arg::unknown(arg.text.clone()) } else { arg.clone() }
    };
    args.extend(rest.iter().map(filled));
    if !replaces {
        match call.input {
            Input::Text(text) => args.extend(text.split_whitespace().map(Arg::exact)),
            Input::Names => args.push(Arg::unknown("…")),
            _ => args.push(Arg { floating: true, ..Arg::unknown("…") }),
        }
    }
    if matches!(name.text.as_str(), "sh" | "bash" | "zsh" | "dash" | "eval") && rest.is_empty() {
        walk.found.unclear("`xargs` passes what it reads to a shell");
        return Input::Output;
    }
    walk.run(&args, &Input::Output)
}

fn watch(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let command = skip_options(call.args, Spec { short: "nx", long: &["interval"], stops: true });
    if command.iter().all(|arg| arg.exact) {
        let text: Vec<&str> = command.iter().map(|arg| arg.text.as_str()).collect();
        walk.shell(&text.join(" "));
        walk.found.effect(call.pure(Action::Read).with(Danger::Exhaustion));
    } else {
        walk.found.unclear("`watch` runs a text that is computed");
    }
    Input::Output
}

fn unseen(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let lists = matches!(call.first(), Some("ls" | "list-sessions" | "-ls" | "-list")) && call.args.len() == 1;
    if lists && matches!(call.name, "tmux" | "screen") {
        walk.found.effect(call.pure(Action::Read));
    } else {
        walk.found.unclear(format!("`{}` runs commands that are not seen here", call.name));
    }
    Input::Output
}
