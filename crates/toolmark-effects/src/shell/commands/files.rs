//! Commands that make, change, move and remove files.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::Reader;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Options, Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "rm" | "rmdir" | "unlink" | "srm" | "trash" | "trash-put" => remove,
        "shred" | "wipe" => shred,
        "cp" | "gcp" | "install" | "ditto" => copy,
        "mv" | "gmv" | "rename" | "mmv" => relocate,
        "ln" | "link" => link,
        "mkdir" | "mktemp" | "mkfifo" | "mknod" | "touch" | "split" | "csplit" => create,
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "setfattr" | "chcon" | "restorecon" | "xattr" => mode,
        "tee" => tee,
        "dd" => dd,
        "truncate" | "fallocate" => truncate,
        "patch" => patch,
        "mkfs" | "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "wipefs" | "mkswap" | "blkdiscard"
        | "mke2fs" | "diskutil" | "format" | "lvremove" | "vgremove" | "pvremove" | "zpool" | "cryptsetup" => disk,
        _ if name.starts_with("mkfs.") => disk,
        "vi" | "vim" | "nvim" | "nano" | "emacs" | "ed" | "ex" | "pico" | "joe" => editor,
        _ => return None,
    })
}

fn operands<'a>(call: &Call<'a>, short: &'static str, long: &'static [&'static str]) -> Options<'a> {
    options(call.args, Spec { short, long, stops: false })
}

fn remove(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "", &[]);
    let mut effect = call.mutating(Action::Delete);
    let recursive = found.has("rRd", "recursive") || found.uncertain;
    for operand in &found.operands {
        // A variable that is empty leaves the root, or everything that stands here.
        let computed = recursive && operand.text.starts_with('$');
        if computed || found.has("", "no-preserve-root") {
            effect = effect.unbounded();
        }
    }
    walk.found.effect(call.changing(effect, found.operands.iter().copied()));
    Input::Output
}

fn shred(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "ns", &["iterations", "size"]);
    let device = found.operands.iter().any(|operand| redirect::is_device(&operand.text));
    let effect = call.changing(call.mutating(Action::Delete), found.operands.iter().copied());
    walk.found.effect(if device { effect.unbounded() } else { effect });
    Input::Output
}

/// The last operand or `-t` is where things go; the others are read.
fn split_target<'a>(found: &Options<'a>) -> (Vec<&'a Arg>, Option<&'a Arg>) {
    if found.has("t", "target-directory") {
        return (found.operands.clone(), None);
    }
    match found.operands.split_last() {
        Some((last, rest)) => (rest.to_vec(), Some(last)),
        None => (Vec::new(), None),
    }
}

fn copy(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "tSmog", &["target-directory", "suffix", "mode", "owner", "group"]);
    if found.has_any(&["strip-program"]) {
        walk.found.unclear(format!("`{}` runs a program", call.name));
    }
    let (sources, target) = split_target(&found);
    let action = if found.has("n", "no-clobber") { Action::Create } else { Action::Overwrite };
    let effect = call.reading(call.mutating(action), sources);
    let mut effect = on_target(effect, target);
    if found.has("", "mode") && found.value("m", "mode").is_some_and(grants) {
        effect = effect.with(Danger::Privilege);
    }
    walk.found.effect(effect);
    Input::Output
}

fn on_target(effect: Effect, target: Option<&Arg>) -> Effect {
    let Some(target) = target else { return effect };
    let mut effect = effect.on([target.text.clone()]);
    if crate::paths::is_system(&target.text) {
        effect = effect.with(Danger::Escape);
    }
    if redirect::is_device(&target.text) { effect.unbounded() } else { effect }
}

fn relocate(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "tS", &["target-directory", "suffix"]);
    if call.name != "mv" && call.name != "gmv" {
        // Other tools of this kind take programs that rewrite names.
        walk.found.unclear(format!("`{}` rewrites names with a program of its own", call.name));
    }
    let (sources, target) = split_target(&found);
    let lost = target.is_some_and(|target| target.text == "/dev/null");
    let action = if lost { Action::Delete } else { Action::Update };
    let effect = on_target(call.changing(call.mutating(action), sources), target);
    walk.found.effect(effect);
    Input::Output
}

fn link(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "tS", &["target-directory", "suffix"]);
    let action = if found.has("f", "force") { Action::Overwrite } else { Action::Create };
    walk.found.effect(call.reading(call.mutating(action), found.operands.iter().copied()));
    Input::Output
}

fn create(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "mprtdbCalnZfk", &["mode", "reference", "date", "suffix", "tmpdir", "bytes", "lines"]);
    if matches!(call.name, "split" | "csplit") && found.has("", "filter") {
        walk.found.unclear(format!("`{}` runs a filter", call.name));
    }
    if call.name == "mktemp" && found.has_any(&["dry-run"]) {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    let mut effect = call.mutating(Action::Create);
    for operand in &found.operands {
        if crate::paths::is_system(&operand.text) {
            effect = effect.with(Danger::Escape);
        }
        effect = effect.on([operand.text.clone()]);
    }
    walk.found.effect(effect);
    Input::Output
}

fn mode(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "", &["reference"]);
    let (mode, files) = match found.operands.split_first() {
        Some((mode, files)) => (mode.text.as_str(), files),
        None => ("", &[][..]),
    };
    if files.is_empty() && found.operands.len() < 2 && call.name == "xattr" {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    let mut effect = call.changing(call.mutating(Action::Update), files.iter().copied());
    if call.name != "chmod" || grants(mode) || call.args.iter().any(|arg| grants(&arg.text)) {
        effect = effect.with(Danger::Privilege);
    }
    walk.found.effect(effect);
    Input::Output
}

/// True for modes that let everybody write or let a program run as somebody else.
fn grants(mode: &str) -> bool {
    let digits = mode.len() >= 3 && mode.chars().all(|c| c.is_digit(8));
    let world = digits && mode.ends_with(['2', '3', '6', '7']);
    let special = digits && mode.len() == 4 && !mode.starts_with('0') && !mode.starts_with('1');
    let named = mode.contains("+s")
        || mode.contains("o+w")
        || mode.contains("a+w")
        || mode.contains("a+rw")
        || mode.contains("u+s");
    world || special || named
}

fn tee(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "", &[]);
    let action = if found.has("a", "append") { Action::Append } else { Action::Overwrite };
    for operand in &found.operands {
        let nowhere = operand.exact
            && matches!(operand.text.as_str(), "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty" | "-");
        if !nowhere {
            walk.found.effect(redirect::write(operand, action));
        }
    }
    if found.operands.is_empty() {
        walk.found.effect(call.pure(Action::Read));
    }
    call.input.clone()
}

fn dd(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let value = |key: &str| call.args.iter().rev().find_map(|arg| arg.text.strip_prefix(key).map(|text| (arg, text)));
    let source = value("if=");
    if call.args.iter().any(|arg| arg.floating) {
        walk.found.unclear("an operand of `dd` is computed");
    }
    if let Some((_, path)) = source {
        walk.found.effect(call.reading(call.pure(Action::Read), [&Arg::exact(path)]));
    }
    let endless = source.is_some_and(|(_, path)| matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random"));
    match value("of=") {
        Some((arg, path)) if path != "/dev/null" => {
            let target = Arg { text: path.to_owned(), ..arg.clone() };
            let effect = redirect::write(&target, Action::Overwrite);
            let effect = if endless && value("count=").is_none() { effect.with(Danger::Exhaustion) } else { effect };
            walk.found.effect(effect);
        }
        _ if endless && value("count=").is_none() => {
            walk.found.effect(call.pure(Action::Read).with(Danger::Exhaustion));
        }
        _ => walk.found.effect(call.pure(Action::Read)),
    }
    Input::Output
}

fn truncate(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "srol", &["size", "reference", "length", "offset"]);
    let effect = call.changing(call.mutating(Action::Overwrite), found.operands.iter().copied());
    let huge = found.value("sl", "size").is_some_and(|size| size.ends_with(['T', 'P', 'E']) || size.len() > 11);
    walk.found.effect(if huge { effect.with(Danger::Exhaustion) } else { effect });
    Input::Output
}

fn patch(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = operands(call, "pidoDFrBVxYz", &["input", "strip", "output", "directory"]);
    let dry = found.flags.iter().any(|flag| flag.long && flag.name == "dry-run");
    if found.has("e", "ed") {
        walk.found.unclear("`patch` runs an editor script");
    }
    walk.found.effect(if dry { call.pure(Action::Read) } else { call.mutating(Action::Update) });
    Input::Output
}

fn disk(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let lists = call
        .args
        .iter()
        .any(|arg| arg.exact && matches!(arg.text.as_str(), "-l" | "--list" | "list" | "print" | "status" | "info"));
    if lists && call.args.len() <= 2 {
        walk.found.effect(call.pure(Action::Read));
    } else {
        walk.found.effect(call.mutating(Action::Overwrite).unbounded().with(Danger::Privilege));
    }
    Input::Output
}

fn editor(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.unclear(format!("`{}` is an editor that can write and run anything", call.name));
    Input::Output
}
