//! Commands that talk to other machines: questions to the network read, everything that carries data or commands goes out.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::Reader;
use super::verbs::behind;
use crate::http;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "wget" => wget,
        "http" | "https" | "xh" | "curlie" => httpie,
        "ssh" | "mosh" | "autossh" | "sshpass" => ssh,
        "scp" | "sftp" | "rsync" => copy,
        "nc" | "ncat" | "netcat" | "telnet" | "socat" | "ftp" | "lftp" | "tftp" => connect,
        "ping" | "ping6" | "traceroute" | "tracepath" | "mtr" | "dig" | "nslookup" | "host" | "whois" | "drill"
        | "arping" => ask,
        "nmap" | "masscan" => scan,
        "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" | "write" | "wall" | "notify-send" | "ngrok"
        | "cloudflared" | "slack" | "telegram-send" => send,
        _ => return None,
    })
}

fn wget(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "OoaPeUtTwQiBADRIXl",
        long: &[
            "output-document",
            "output-file",
            "append-output",
            "directory-prefix",
            "execute",
            "user-agent",
            "tries",
            "timeout",
            "header",
            "post-data",
            "post-file",
            "method",
            "body-data",
            "body-file",
            "input-file",
            "user",
            "password",
        ],
        stops: false,
    };
    let found = options(call.args, spec);
    if found.has("e", "execute") || found.has_any(&["use-askpass", "config"]) {
        walk.found.unclear("`wget` takes settings that can run something");
    }
    if found.has("oa", "output-file")
        || found.has_any(&["append-output", "save-cookies", "warc-file", "hsts-file", "rejected-log"])
    {
        walk.found.effect(call.mutating(Action::Overwrite));
    }
    let document = found.value("O", "output-document");
    let sends = found.has_any(&["post-data", "post-file", "body-data", "body-file"])
        || found.value("", "method").is_some_and(|method| !matches!(method, "GET" | "HEAD"));
    let recursive = found.has("rmp", "recursive") || found.has_any(&["mirror", "page-requisites"]);
    let looks = found.has("", "spider") || matches!(document, Some("-" | "/dev/null" | "/dev/stdout"));
    let deletes = found.value("", "method").is_some_and(|method| method.eq_ignore_ascii_case("delete"));
    let mut effect = if sends {
        call.mutating(if deletes { Action::Delete } else { Action::Send }).with(Danger::Outward)
    } else if looks && !recursive {
        call.pure(Action::Read)
    } else if let Some(document) = document {
        redirect::write(&Arg::exact(document), Action::Overwrite)
    } else {
        call.mutating(Action::Create)
    };
    if recursive {
        effect = effect.with(Danger::Exhaustion);
    }
    for url in &found.operands {
        effect = http::with_dangers(effect, &url.text);
        if url.computed || url.secret {
            effect = effect.with(Danger::Outward);
        }
    }
    for file in [found.value("", "post-file"), found.value("", "body-file")].into_iter().flatten() {
        effect = call.reading(effect, [&Arg::exact(file)]);
    }
    walk.found.effect(effect);
    Input::Remote
}

fn httpie(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "oapA", long: &["output", "auth", "print", "session"], stops: false });
    let first = found.operands.first().map(|arg| arg.text.to_ascii_uppercase()).unwrap_or_default();
    let method = if first.chars().all(|c| c.is_ascii_alphabetic()) { first.as_str() } else { Default::default() };
    let item = |arg: &&Arg| {
        let text = arg.text.as_str();
        !text.contains("://")
            && (text.contains(":=") || (text.contains('=') && !text.contains("==")) || text.contains('@'))
    };
    let data = found.operands.iter().skip(1).any(item) || *call.input != Input::Inherit;
    let mut effect = match method {
        "DELETE" => call.mutating(Action::Delete).with(Danger::Outward),
        "PUT" => call.mutating(Action::Overwrite).with(Danger::Outward),
        "PATCH" => call.mutating(Action::Update).with(Danger::Outward),
        "GET" | "HEAD" | "OPTIONS" => call.pure(Action::Read),
        "" if !data => call.pure(Action::Read),
        _ => call.mutating(Action::Send).with(Danger::Outward),
    };
    let url = found.operands.get(usize::from(!method.is_empty())).map(|arg| arg.text.as_str()).unwrap_or_default();
    effect = http::with_dangers(effect, url);
    if let Some(file) = found.value("o", "output") {
        walk.found.effect(redirect::write(&Arg::exact(file), Action::Overwrite));
    } else if found.has("d", "download") {
        walk.found.effect(call.mutating(Action::Create));
    }
    walk.found.effect(effect);
    Input::Remote
}

fn ssh(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec { short: "bcDEeFIiJLlmOopQRSWwpf", long: &[], stops: true };
    let mut effect = call.mutating(Action::Execute).with(Danger::Outward);
    if call.args.iter().any(|arg| {
        let lower = arg.text.to_ascii_lowercase();
        lower.contains("proxycommand") || lower.contains("localcommand")
    }) {
        effect = effect.with(Danger::Code);
    }
    walk.found.effect(effect);
    if call.name != "ssh" {
        walk.found.unclear(format!("`{}` runs commands on another machine", call.name));
        return Input::Output;
    }
    let command = behind(call.args, spec, 1);
    if command.is_empty() {
        match call.input {
            Input::Text(text) => walk.shell(text),
            _ => walk.found.unclear("`ssh` opens a shell on another machine"),
        }
    } else if command.iter().all(|arg| arg.exact) {
        let text: Vec<&str> = command.iter().map(|arg| arg.text.as_str()).collect();
        walk.shell(&text.join(" "));
    } else {
        walk.found.unclear("`ssh` runs a text that is computed");
    }
    Input::Remote
}

/// True for `host:path` and `rsync://…`.
fn is_remote(arg: &Arg) -> bool {
    let text = arg.text.as_str();
    text.contains("://")
        || text
            .split_once(':')
            .is_some_and(|(host, path)| !host.contains('/') && !host.is_empty() && !path.starts_with('\\'))
}

fn copy(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let long = &[
        "rsh",
        "exclude",
        "include",
        "files-from",
        "exclude-from",
        "filter",
        "log-file",
        "rsync-path",
        "password-file",
        "bwlimit",
    ];
    let short = if call.name == "rsync" { "eTBfM" } else { "cFiJloPSD" };
    let found = options(call.args, Spec { short, long, stops: false });
    let rsh = found.value("e", "rsh").filter(|_| call.name == "rsync");
    let plain_rsh =
        rsh.is_none_or(|rsh| rsh == "ssh" || (rsh.starts_with("ssh ") && !rsh.contains("-o") && !rsh.contains("-F")));
    let runs = !plain_rsh
        || found.has_any(&["rsync-path"])
        || (call.name != "rsync" && found.has("S", ""))
        || call.args.iter().any(|arg| arg.text.contains("ProxyCommand"));
    if runs || found.uncertain && call.name == "rsync" && found.operands.len() < 2 {
        walk.found.unclear(format!("`{}` may run a program of its own", call.name));
    }
    if found.has_any(&["daemon", "config", "server", "log-file", "write-batch", "only-write-batch", "early-input"]) {
        walk.found.unclear(format!("`{}` writes a file of its own or serves", call.name));
    }
    if call.name == "sftp" {
        walk.found.unclear("`sftp` takes its commands from elsewhere");
        return Input::Output;
    }
    let rsync = call.name == "rsync";
    let dry = rsync && (found.has("n", "") || found.flags.iter().any(|flag| flag.long && flag.name == "dry-run"));
    let lists = rsync && (found.operands.len() == 1 || found.has_any(&["list-only"]));
    let (target, sources) = match found.operands.split_last() {
        Some((target, sources)) => (Some(*target), sources.to_vec()),
        None => (None, Vec::new()),
    };
    let uploads = target.is_some_and(is_remote);
    let deletes = rsync
        && (found.flags.iter().any(|flag| flag.long && flag.name.starts_with("del"))
            || found.has_any(&["remove-source-files"]));
    let effect: Effect = if dry || lists {
        call.pure(Action::Read)
    } else if deletes {
        call.mutating(Action::Delete).unbounded()
    } else if uploads {
        call.mutating(Action::Send)
    } else {
        call.mutating(Action::Overwrite)
    };
    let effect = if uploads && !dry { effect.with(Danger::Outward) } else { effect };
    let effect = call.reading(effect, sources.into_iter().filter(|_| !dry));
    walk.found.effect(effect);
    Input::Output
}

fn connect(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "pswWiIOqXxT", long: &[], stops: false });
    let nc = matches!(call.name, "nc" | "ncat" | "netcat");
    if nc && found.has("z", "") && !found.has("lec", "") {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    let runs = (nc && (found.has("ec", "exec") || found.has_any(&["sh-exec", "lua-exec"])))
        || call.args.iter().any(|arg| {
            let upper = arg.text.to_ascii_uppercase();
            upper.starts_with("EXEC:") || upper.starts_with("SYSTEM:") || upper.contains(",EXEC")
        });
    let effect = call.mutating(Action::Send).with(Danger::Outward);
    walk.found.effect(if runs { effect.with(Danger::Code).unbounded() } else { effect });
    Input::Remote
}

fn ask(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let mut effect = call.pure(Action::Read);
    // A name that holds the output of a command carries it to whoever answers for the name.
    if call.args.iter().any(|arg| arg.computed || arg.secret || arg.floating) {
        effect = effect.with(Danger::Outward);
    }
    if call.name.starts_with("ping") && call.args.iter().any(|arg| arg.text == "-f" || arg.text == "--flood") {
        effect = effect.with(Danger::Exhaustion);
    }
    if call.name == "dig" && call.args.iter().any(|arg| arg.text.starts_with("-f") || arg.text.starts_with("-k")) {
        walk.found.unclear("`dig` takes its questions from a file");
    }
    walk.found.effect(effect);
    Input::Output
}

fn scan(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    if call.args.iter().any(|arg| {
        arg.text.contains("script")
            || arg.text.starts_with("-o")
            || arg.text == "-A"
            || arg.text == "-sC"
            || arg.floating
    }) {
        walk.found.unclear(format!("`{}` runs scripts or writes files", call.name));
    }
    walk.found.effect(call.pure(Action::Search).with(Danger::Outward));
    Input::Output
}

fn send(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let effect = call.mutating(Action::Send).with(Danger::Outward);
    walk.found.effect(call.reading(effect, call.args));
    Input::Output
}
