//! Commands that only look: with every option, but for the few listed with them that write or run something.

use toolmark_core::behavior::Action;

use super::Reader;
use crate::shell::call::Call;
use crate::shell::options::{Options, Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

/// What a command looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// The content of its operands.
    Inside,
    /// What is known about its operands, or nothing of theirs.
    Outside,
}

/// What is known about a command.
struct Row {
    looks: Looks,
    action: Action,
    /// Short options with a value.
    valued: &'static str,
    /// Short options that write or run something.
    short: &'static str,
    /// Long options that write or run something.
    long: &'static [&'static str],
}

const INSIDE: Row = Row { looks: Looks::Inside, action: Action::Read, valued: "", short: "", long: &[] };
const OUTSIDE: Row = Row { looks: Looks::Outside, ..INSIDE };
const SEARCH: Row = Row { action: Action::Search, valued: "efmABCDd", ..INSIDE };

fn row(name: &str) -> Option<Row> {
    Some(match name {
        "cat" | "tac" | "nl" | "tail" | "head" | "wc" | "cut" | "tr" | "comm" | "paste" | "join" | "fold" | "fmt"
        | "column" | "expand" | "unexpand" | "rev" | "strings" | "od" | "hexdump" | "hd" | "cksum" | "sum"
        | "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum" | "sha512sum" | "b2sum" | "md5" | "shasum"
        | "cmp" | "diff" | "diff3" | "colordiff" | "zcat" | "bzcat" | "xzcat" | "gzcat" | "zstdcat" | "lz4cat"
        | "zdiff" | "zcmp" | "look" | "tsort" | "readelf" | "size" | "tokei" | "pr" | "dircolors" | "hexyl"
        | "lsattr" | "getfacl" | "getfattr" => INSIDE,
        "nm" | "objdump" => Row { long: &["plugin"], ..INSIDE },
        "iconv" => Row { valued: "fto", short: "o", long: &["output"], ..INSIDE },
        "base64" | "base32" => Row { valued: "wbio", short: "o", long: &["output"], ..INSIDE },
        "less" | "more" | "bat" | "batcat" | "most" | "zless" | "zmore" => {
            Row { valued: "hjktTpPxyzbDo", short: "oOk", long: &["log-file", "LOG-FILE", "pager", "lesskey"], ..INSIDE }
        }
        "jq" | "gojq" => Row { valued: "fL", ..INSIDE },
        "yq" => Row { short: "is", long: &["inplace", "split-exp", "in-place"], ..INSIDE },
        "sdiff" => Row { valued: "owI", short: "o", long: &["output", "diff-program"], ..INSIDE },
        "sort" => Row { valued: "kotST", short: "o", long: &["output", "compress-program"], ..INSIDE },
        "shuf" => Row { valued: "ino", short: "o", long: &["output"], ..INSIDE },
        "grep" | "egrep" | "fgrep" | "zgrep" | "bzgrep" | "xzgrep" | "zipgrep" => SEARCH,
        "rg" | "ripgrep" => Row { long: &["pre", "pre-glob", "hostname-bin"], valued: "efmABCgtTjMrE", ..SEARCH },
        "ag" | "ack" => Row { long: &["pager", "output"], ..SEARCH },
        "ls" | "dir" | "vdir" | "ll" | "stat" | "du" | "df" | "pwd" | "which" | "whereis" | "whoami" | "groups"
        | "users" | "who" | "w" | "last" | "uptime" | "uname" | "arch" | "nproc" | "free" | "lscpu" | "lsblk"
        | "lsusb" | "lspci" | "lsmod" | "ps" | "pgrep" | "pidof" | "pstree" | "vmstat" | "iostat" | "mpstat"
        | "netstat" | "locale" | "cal" | "tty" | "tput" | "apropos" | "whatis" | "findmnt" | "dpkg-query"
        | "getconf" | "basename" | "dirname" | "readlink" | "realpath" | "seq" | "expr" | "factor" | "numfmt"
        | "id" | "modinfo" | "logname" | "sw_vers" | "system_profiler" | "pathchk" | "lsb_release" | "exa" | "eza"
        | "lsd" | "namei" | "ncal" | "acpi" | "pmap" | "runlevel" | "vm_stat" | "otool" | "mdls" | "lsns" | "clear"
        | "lslocks" | "lsipc" | "ipcs" => OUTSIDE,
        "man" | "info" => {
            let long = &["pager", "html", "config-file", "output", "restore", "init-file"];
            Row { valued: "PHMSCofnd", short: "PHCoR", long, ..OUTSIDE }
        }
        "ldconfig" => Row { short: "bcfCnlrvXN", ..OUTSIDE },
        "lastlog" => Row { valued: "utb", short: "CS", long: &["clear", "set"], ..OUTSIDE },
        "lsof" => Row { valued: "acdFgiopsSu", short: "D", ..OUTSIDE },
        "sensors" => Row { short: "s", long: &["set"], ..OUTSIDE },
        "blkid" => Row { valued: "ostLUn", short: "cg", long: &["cache-file", "garbage-collect"], ..OUTSIDE },
        "file" => Row { valued: "efFmPs", short: "C", long: &["compile"], ..OUTSIDE },
        "tree" => Row { valued: "LPIHTo", short: "oR", long: &["output"], ..OUTSIDE },
        "ss" => Row { valued: "AfFD", short: "KD", long: &["kill", "diag"], ..OUTSIDE },
        "top" => Row { valued: "dnpuUwEo", ..OUTSIDE },
        "locate" | "mlocate" | "plocate" | "mdfind" => Row { looks: Looks::Outside, valued: "dln", ..SEARCH },
        _ => return None,
    })
}

pub(super) fn find(name: &str) -> Option<Reader> {
    match name {
        "uniq" | "xxd" => Some(two_operands),
        _ => row(name).map(|_| read as Reader),
    }
}

fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let Some(row) = row(call.name) else { return Input::Output };
    let found = options(call.args, Spec { short: row.valued, long: row.long, stops: false });
    if let Some(flag) = found.flags.iter().find(|flag| writes(flag, &row)) {
        let target = flag.value.unwrap_or_default();
        if matches!(flag.name, "o" | "output" | "O") || "output".starts_with(flag.name) {
            let target = crate::shell::arg::Arg::exact(target);
            walk.found.effect(redirect::write(&target, Action::Overwrite));
        } else if call.name == "yq" {
            walk.found.effect(call.changing(call.mutating(Action::Update), found.operands.iter().copied()));
        } else {
            walk.found.unclear(format!("`{}` is called with an option that can write or run something", call.name));
        }
    }
    // Invariant: an option that nobody knows may be one of those that write.
    if found.uncertain && call.name != "file" && (!row.short.is_empty() || !row.long.is_empty()) {
        walk.found.unclear(format!("an option of `{}` may come out of a variable", call.name));
    }
    if runs_operand(call) {
        walk.found.unclear(format!("`{}` is told to run something", call.name));
    }
    let mut effect = call.pure(row.action);
    if row.looks == Looks::Inside {
        effect = call.reading(effect, content_operands(call.name, &found).iter().copied());
    }
    if call.name != "head"
        && found
            .operands
            .iter()
            .any(|operand| matches!(operand.text.as_str(), "/dev/zero" | "/dev/urandom" | "/dev/random"))
    {
        effect = effect.with(toolmark_core::facts::Danger::Exhaustion);
    }
    if never_ends(call, &found) {
        effect = effect.with(toolmark_core::facts::Danger::Exhaustion);
    }
    if call.name == "jq" && call.args.iter().any(|arg| dumps_environment(&arg.text)) {
        effect = effect.with(toolmark_core::facts::Danger::Secret);
    }
    walk.found.effect(effect);
    passes_on(call)
}

/// `tail -f /dev/null`, and counting further than anybody reads.
fn never_ends(call: &Call<'_>, found: &crate::shell::options::Options<'_>) -> bool {
    /// More lines than are of use to anybody.
    const MANY: f64 = 100_000_000.0;
    let follows = |flag: &crate::shell::options::Flag<'_>| match flag.long {
        true => flag.name == "follow" || flag.name == "retry",
        false => matches!(flag.name, "f" | "F"),
    };
    match call.name {
        // A log that is followed shows something; a device keeps a shell busy and shows nothing.
        "tail" => {
            found.flags.iter().any(follows) && found.operands.iter().any(|operand| operand.text.starts_with("/dev/"))
        }
        "seq" => {
            found.operands.iter().any(|operand| operand.text.parse::<f64>().is_ok_and(|number| number.abs() > MANY))
        }
        _ => false,
    }
}

fn writes(flag: &crate::shell::options::Flag<'_>, row: &Row) -> bool {
    if flag.long {
        // `--color` must not be taken for an abbreviation of a long name that it only begins like.
        row.long.iter().any(|long| flag.name.len() > 2 && (long.starts_with(flag.name) || flag.name.starts_with(long)))
    } else {
        row.short.contains(flag.name)
    }
}

/// The operands that are files. The first one of a search is what is searched for.
fn content_operands<'a>(name: &str, found: &Options<'a>) -> Vec<&'a crate::shell::arg::Arg> {
    let patterned = matches!(
        name,
        "grep"
            | "egrep"
            | "fgrep"
            | "zgrep"
            | "bzgrep"
            | "xzgrep"
            | "zipgrep"
            | "rg"
            | "ripgrep"
            | "ag"
            | "ack"
            | "jq"
            | "gojq"
    );
    let given = found.has("ef", "regexp");
    found.operands.iter().copied().skip(usize::from(patterned && !given)).collect()
}

/// Pagers take commands of their own as operands.
fn runs_operand(call: &Call<'_>) -> bool {
    matches!(call.name, "less" | "more" | "most" | "zless" | "zmore")
        && call.args.iter().any(|arg| arg.text.starts_with('+') || arg.floating)
}

fn dumps_environment(program: &str) -> bool {
    program.contains("$ENV") || program.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "env")
}

/// What was fetched or decoded stays so through every filter.
fn passes_on(call: &Call<'_>) -> Input {
    let decodes = matches!(call.name, "base64" | "base32" | "rev" | "tr")
        && (call.name != "base64"
            || call
                .args
                .iter()
                .any(|arg| arg.text.starts_with("-d") || arg.text.starts_with("--d") || arg.text == "-D"));
    match call.input {
        _ if decodes => Input::Decoded,
        Input::Text(text) if call.name == "cat" && call.args.is_empty() => Input::Text(text.clone()),
        Input::Remote => Input::Remote,
        Input::Decoded => Input::Decoded,
        Input::Names => Input::Names,
        _ if matches!(call.name, "ls" | "rg" | "grep" | "pgrep" | "locate" | "pidof" | "readlink" | "realpath") => {
            Input::Names
        }
        _ => Input::Output,
    }
}

/// Commands whose second operand is written.
fn two_operands(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "fswlgcs", long: &[], stops: false });
    walk.found.effect(call.reading(call.pure(Action::Read), found.operands.first().copied()));
    if let Some(target) = found.operands.get(1) {
        walk.found.effect(redirect::write(target, Action::Overwrite));
    }
    if found.uncertain && found.operands.len() == 1 && call.args.iter().any(|arg| arg.floating && !arg.computed) {
        // One variable may hold two names, but only a program made to surprise does that.
        return passes_on(call);
    }
    if call.name == "xxd" && found.has("r", "revert") { Input::Decoded } else { passes_on(call) }
}
