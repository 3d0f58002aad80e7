//! Commands that print what they are told or what the system knows: `echo`, `date`, `env`, `sleep`, tests.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::Reader;
use crate::paths;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::walk::{Input, Walk};

/// How many seconds a command may wait before it counts as using up time.
const LONG_WAIT: f64 = 300.0;

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "echo" | "printf" => echo,
        "true" | "false" | ":" | "test" | "[" | "cd" | "pushd" | "popd" | "dirs" | "wait" | "times" | "jobs"
        | "type" | "umask" | "ulimit" => quiet,
        "date" => date,
        "hostname" => hostname,
        "printenv" | "getent" => environment,
        "sleep" | "usleep" => sleep,
        "yes" => yes,
        "history" => history,
        "dmesg" => dmesg,
        "journalctl" => journal,
        "ifconfig" | "route" | "arp" | "mount" | "stty" | "timedatectl" | "hostnamectl" | "localectl" | "swapon"
        | "hwclock" => bare,
        "ip" => ip,
        "sysctl" => sysctl,
        _ => return None,
    })
}

fn echo(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let mut effect = call.pure(Action::Read);
    if call.args.iter().any(|arg| arg.secret) {
        effect = effect.with(Danger::Secret);
    }
    walk.found.effect(effect);
    let plain = |text: &str| !text.contains(['\\', '%']) && !text.starts_with('-');
    if call.args.iter().all(|arg| arg.exact && plain(&arg.text)) {
        let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
        return Input::Text(words.join(" "));
    }
    // `printf '\162\155'` and `echo -e '\x72m'` spell what must not be seen.
    if call.args.iter().any(|arg| arg.text.contains("\\x") || arg.text.contains("\\0") || arg.text.contains("\\1")) {
        return Input::Decoded;
    }
    Input::Output
}

fn quiet(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.effect(call.pure(Action::Read));
    Input::Output
}

fn date(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found =
        options(call.args, Spec { short: "dfrsIvz", long: &["date", "file", "reference", "set"], stops: false });
    // Without a `+` an operand is the time to set.
    let bare = found.operands.iter().any(|operand| !operand.text.starts_with('+'));
    if found.has("s", "set") || found.uncertain || (bare && !found.has("vjd", "date")) {
        walk.found.effect(call.mutating(Action::Update).with(Danger::Privilege));
    } else {
        walk.found.effect(call.pure(Action::Read));
    }
    Input::Output
}

fn hostname(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let harmless = call.args.iter().all(|arg| {
        arg.exact && matches!(arg.text.as_str(), "-f" | "-i" | "-I" | "-s" | "-d" | "-A" | "--fqdn" | "--short")
    });
    let effect = if harmless { call.pure(Action::Read) } else { call.mutating(Action::Update).with(Danger::Privilege) };
    walk.found.effect(effect);
    Input::Output
}

fn environment(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let mut effect = call.pure(Action::Read);
    let secret = if call.name == "getent" {
        call.args.iter().any(|arg| arg.text.contains("shadow"))
    } else {
        let names: Vec<&str> =
            call.args.iter().map(|arg| arg.text.as_str()).filter(|text| !text.starts_with('-')).collect();
        names.is_empty() || names.iter().any(|name| paths::is_secret_variable(name.trim_start_matches('$')))
    };
    if secret {
        effect = effect.with(Danger::Secret);
    }
    walk.found.effect(effect);
    Input::Output
}

fn sleep(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let seconds: f64 = call.args.iter().map(|arg| seconds(&arg.text).unwrap_or(LONG_WAIT + 1.0)).sum();
    let effect = call.pure(Action::Read);
    let unknown = call.args.iter().any(|arg| !arg.exact);
    let long = seconds > LONG_WAIT && !(unknown && call.args.len() == 1);
    walk.found.effect(if long { effect.with(Danger::Exhaustion) } else { effect });
    Input::Output
}

/// `10`, `1.5`, `2m`, `1e9`, `infinity`; nothing when it is no time.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let (number, factor) = match text.char_indices().last() {
        Some((at, 's')) => (text.get(..at)?, 1.0),
        Some((at, 'm')) => (text.get(..at)?, 60.0),
        Some((at, 'h')) => (text.get(..at)?, 3600.0),
        Some((at, 'd')) => (text.get(..at)?, 86400.0),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|number| number * factor)
}

fn yes(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    // It ends only when whatever reads it does.
    walk.found.effect(call.pure(Action::Read).with(Danger::Exhaustion));
    Input::Output
}

fn history(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let changes = call.args.iter().any(|arg| {
        arg.floating || (arg.text.starts_with('-') && arg.text.contains(['c', 'd', 'w', 's', 'r', 'a', 'n']))
    });
    let effect = if changes { call.mutating(Action::Delete) } else { call.pure(Action::Read).with(Danger::Secret) };
    walk.found.effect(effect);
    Input::Output
}

fn dmesg(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "flnsFk", long: &[], stops: false });
    let changes =
        found.has("cCDEn", "clear") || found.has_any(&["read-clear", "console-off", "console-on", "console-level"]);
    walk.found.effect(if changes { call.mutating(Action::Delete) } else { call.pure(Action::Read) });
    Input::Output
}

fn journal(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found =
        options(call.args, Spec { short: "unpbtSUo", long: &["unit", "since", "until", "lines"], stops: false });
    let changes = found.flags.iter().any(|flag| {
        flag.long
            && ["vacuum", "rotate", "flush", "sync", "relinquish", "smart", "update", "setup", "force", "cursor-file"]
                .iter()
                .any(|word| flag.name.starts_with(word))
    });
    walk.found.effect(if changes { call.mutating(Action::Delete).unbounded() } else { call.pure(Action::Read) });
    Input::Output
}

/// Commands that only look when they are called without operands.
fn bare(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let harmless: &[&str] = match call.name {
        "ifconfig" => &["-a", "-s", "-v"],
        "route" => &["-n", "-e", "-v"],
        "arp" => &["-a", "-n", "-v", "-e"],
        "mount" => &["-l", "-v"],
        "stty" => &["-a"],
        "swapon" => &["-s", "--show", "-v"],
        "hwclock" => &["-r", "--show"],
        _ => &["status", "show", "list-timezones", "--no-pager"],
    };
    let looks = |text: &str| harmless.contains(&text);
    let first_is_interface = call.name == "ifconfig" && call.args.len() == 1;
    if first_is_interface || call.args.iter().all(|arg| arg.exact && looks(&arg.text)) {
        walk.found.effect(call.pure(Action::Read));
    } else {
        walk.found.effect(call.mutating(Action::Update).with(Danger::Privilege));
    }
    Input::Output
}

fn ip(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let changes = [
        "add", "del", "delete", "set", "change", "replace", "flush", "append", "exec", "up", "down", "restore",
        "attach", "detach", "prepend",
    ];
    let batch = call.args.iter().any(|arg| arg.text.starts_with("-b") && "-batch".starts_with(arg.text.as_str()));
    let word = call.args.iter().any(|arg| arg.floating || changes.contains(&arg.text.as_str()));
    let second = call.args.iter().filter(|arg| !arg.text.starts_with('-')).nth(1);
    let abbreviated = second.is_some_and(|arg| {
        !arg.text.is_empty()
            && ["add", "del", "set", "change", "replace", "flush", "exec"]
                .iter()
                .any(|word| word.starts_with(arg.text.as_str()))
    });
    if batch || word || abbreviated {
        walk.found.effect(call.mutating(Action::Update).with(Danger::Privilege));
    } else {
        walk.found.effect(call.pure(Action::Read));
    }
    Input::Output
}

fn sysctl(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let writes = call.args.iter().any(|arg| {
        arg.floating
            || arg.text.contains('=')
            || arg.text.starts_with("-p")
            || arg.text.starts_with("-f")
            || arg.text.starts_with("-w")
            || arg.text.starts_with("--")
    });
    walk.found.effect(if writes {
        call.mutating(Action::Update).with(Danger::Privilege)
    } else {
        call.pure(Action::Read)
    });
    Input::Output
}
