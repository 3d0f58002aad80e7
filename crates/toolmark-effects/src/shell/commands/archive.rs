//! Archives and compression: listing and testing look, packing and unpacking write.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "tar" | "gtar" | "bsdtar" => tar,
        "zip" => zip,
        "unzip" => unzip,
        "zipinfo" => list,
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "lzma" | "unlzma" | "zstd" | "unzstd" | "lz4"
        | "compress" | "uncompress" | "pigz" | "brotli" => compress,
        "7z" | "7za" | "7zz" | "unrar" | "rar" => seven,
        "ar" | "cpio" => packed,
        _ => return None,
    })
}

fn list(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.pure(Action::Read));
    Input::Output
}

/// Options of `tar` that run a program.
const TAR_RUNS: &[&str] = &[
    "to-command",
    "checkpoint-action",
    "use-compress-program",
    "info-script",
    "new-volume-script",
    "rsh-command",
    "rmt-command",
    "index-file",
    "volno-file",
];

fn tar(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "fCTXbHgIFKLNV", long: &["file", "directory"], stops: false });
    // `tar xzf a.tgz`: the first operand may be letters without a dash.
    let old =
        call.args.first().filter(|arg| arg.exact && !arg.text.starts_with('-')).map_or("", |arg| arg.text.as_str());
    let mode = |letter: char, name: &str| old.contains(letter) || found.has(letter.encode_utf8(&mut [0; 4]), name);
    let runs = found
        .flags
        .iter()
        .any(|flag| flag.long && flag.name.len() > 2 && TAR_RUNS.iter().any(|name| name.starts_with(flag.name)));
    if runs
        || found.has("IF", "")
        || old.contains(['I', 'F'])
        || found.uncertain
        || found.value("f", "file").is_some_and(|file| file.contains(':'))
    {
        walk.found.unclear("`tar` may run a program");
    }
    let outside = found.has("P", "absolute-names") || old.contains('P');
    let prints = found.has("O", "to-stdout");
    let effect = if mode('t', "list") || mode('d', "diff") || (mode('x', "extract") && prints) {
        call.pure(Action::Read)
    } else if mode('x', "extract") || found.has("", "get") {
        call.mutating(Action::Overwrite)
    } else if mode('r', "append") || mode('u', "update") || mode('A', "concatenate") {
        call.mutating(Action::Append)
    } else if mode('c', "create") {
        let to_output = !found.has("g", "listed-incremental") && found.value("f", "file") == Some("-")
            || (old.contains('f') && call.args.get(1).is_some_and(|arg| arg.text == "-"));
        let effect = if to_output { call.pure(Action::Read) } else { call.mutating(Action::Overwrite) };
        call.reading(effect, found.operands.iter().copied())
    } else if found.has("", "delete") {
        call.mutating(Action::Delete)
    } else {
        walk.found.unclear("`tar` is called in a way that is not known");
        return Input::Output;
    };
    let effect = if found.has("", "remove-files") { call.mutating(Action::Delete) } else { effect };
    walk.found.effect(if outside { effect.with(Danger::Escape) } else { effect });
    Input::Output
}

fn zip(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "bnPtsx", long: &[], stops: false });
    if found.has("T", "test") && found.has("T", "unzip-command")
        || call.args.iter().any(|arg| arg.text.starts_with("-TT") || arg.floating)
    {
        walk.found.unclear("`zip` may run a program");
    }
    let action = if found.has("dm", "move") { Action::Delete } else { Action::Overwrite };
    walk.found.effect(call.reading(call.mutating(action), found.operands.iter().copied()));
    Input::Output
}

fn unzip(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "dxP", long: &[], stops: false });
    let looks = found.has("ltvpcZz", "");
    let outside = call.args.iter().any(|arg| arg.text == "-:" || arg.text.contains(":"));
    let effect = if looks { call.pure(Action::Read) } else { call.mutating(Action::Overwrite) };
    walk.found.effect(if outside { effect.with(Danger::Escape) } else { effect });
    Input::Output
}

fn compress(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "SboTM", long: &["suffix"], stops: false });
    let looks =
        found.has("ltc", "list") || found.has_any(&["test", "stdout", "to-stdout"]) || found.operands.is_empty();
    // They replace the file by its other form.
    let effect = if found.flags.iter().any(|flag| flag.long && flag.name == "rm") {
        call.mutating(Action::Delete)
    } else if looks {
        call.pure(Action::Read)
    } else {
        call.mutating(Action::Update)
    };
    walk.found.effect(call.reading(effect, found.operands.iter().copied()));
    if found.has("d", "decompress")
        || call.name.starts_with("un")
        || call.name.starts_with("gun")
        || call.name.starts_with("bun")
    {
        return if *call.input == Input::Remote { Input::Remote } else { Input::Decoded };
    }
    call.input.clone()
}

fn seven(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let effect = match call.first() {
        Some("l" | "t" | "i" | "h" | "v" | "lb" | "vt") => call.pure(Action::Read),
        Some("d") => call.mutating(Action::Delete),
        _ => call.mutating(Action::Overwrite),
    };
    walk.found.effect(effect);
    Input::Output
}

fn packed(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let looks = match call.name {
        "ar" => call.first().is_some_and(|first| first.trim_start_matches('-').starts_with(['t', 'p'])),
        _ => call
            .args
            .iter()
            .any(|arg| arg.text.starts_with('-') && arg.text.contains('t') && !arg.text.contains(['i', 'o', 'p'])),
    };
    walk.found.effect(if looks { call.pure(Action::Read) } else { call.mutating(Action::Overwrite) });
    Input::Output
}
