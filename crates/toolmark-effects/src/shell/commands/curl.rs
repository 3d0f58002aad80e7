//! `curl`: a plain request reads; data, forms, uploads and other methods send; `-o` writes.

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::{Danger, Effect};

use crate::http;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Flag, Options, Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

const SPEC: Spec = Spec {
    short: "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    long: &[
        "user-agent",
        "cookie",
        "cookie-jar",
        "continue-at",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "data-ascii",
        "json",
        "dump-header",
        "referer",
        "cert",
        "key",
        "form",
        "form-string",
        "header",
        "config",
        "max-time",
        "output",
        "output-dir",
        "ftp-port",
        "quote",
        "range",
        "upload-file",
        "user",
        "proxy-user",
        "write-out",
        "proxy",
        "request",
        "speed-limit",
        "speed-time",
        "time-cond",
        "url",
        "url-query",
        "connect-timeout",
        "retry",
        "retry-delay",
        "retry-max-time",
        "resolve",
        "interface",
        "cacert",
        "capath",
        "ciphers",
        "connect-to",
        "limit-rate",
        "max-filesize",
        "max-redirs",
        "netrc-file",
        "noproxy",
        "oauth2-bearer",
        "stderr",
        "trace",
        "trace-ascii",
        "unix-socket",
        "libcurl",
        "etag-save",
        "etag-compare",
        "hsts",
        "alt-svc",
        "variable",
        "aws-sigv4",
        "dns-servers",
        "doh-url",
        "proto",
        "local-port",
        "rate",
    ],
    stops: false,
};

/// Options that carry data, by letter and by name.
const DATA: &[(&str, &str)] = &[
    ("d", "data"),
    ("", "data-raw"),
    ("", "data-binary"),
    ("", "data-urlencode"),
    ("", "data-ascii"),
    ("", "json"),
    ("F", "form"),
    ("", "form-string"),
    ("T", "upload-file"),
];

/// Options that write a file.
const WRITES: &[(&str, &str)] = &[
    ("o", "output"),
    ("D", "dump-header"),
    ("c", "cookie-jar"),
    ("", "trace"),
    ("", "trace-ascii"),
    ("", "stderr"),
    ("", "libcurl"),
    ("", "etag-save"),
    ("", "hsts"),
    ("", "alt-svc"),
];

pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, SPEC);
    if found.has("K", "config")
        || found.has_any(&["variable"])
        || found.flags.iter().any(|flag| flag.name.starts_with("expand-"))
    {
        walk.found.unclear("`curl` takes its options from a file");
    }
    for flag in &found.flags {
        if WRITES.iter().any(|(short, long)| is(flag, short, long)) {
            let target = Arg::exact(flag.value.unwrap_or_default());
            if !matches!(target.text.as_str(), "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "%") {
                walk.found.effect(redirect::write(&target, Action::Overwrite));
            }
        }
    }
    if found.has("OJ", "remote-name") || found.has_any(&["remote-name-all", "remote-header-name"]) {
        walk.found.effect(call.mutating(Action::Create));
    }
    if found.value("w", "write-out").is_some_and(|format| format.contains("%output")) || found.has_any(&["engine"]) {
        walk.found.unclear("`curl` writes or loads something of its own");
    }
    let mut effect = request(call, &found);
    if found.has_any(&["unix-socket", "abstract-unix-socket"]) {
        effect = effect.with(Danger::Escape);
    }
    for url in urls(&found) {
        effect = http::with_dangers(effect, url);
    }
    if found.operands.iter().any(|arg| arg.computed || arg.secret)
        || call.args.iter().any(|arg| arg.computed && carries(&arg.text))
    {
        // What a command printed leaves with the address.
        effect.mutability = Mutability::Mutates;
        effect.action = Action::Send;
        effect = effect.with(Danger::Outward);
    }
    if found.operands.iter().any(|arg| arg.floating) && !found.operands.iter().any(|arg| arg.text.contains("://")) {
        effect = effect.with(Danger::Outward);
    }
    for file in found.flags.iter().filter_map(uploaded) {
        effect = call.reading(effect, [&Arg::exact(file)]);
        if effect.mutability == Mutability::Pure {
            // The content of a file leaves, whatever the method is called.
            effect = Effect { mutability: Mutability::Mutates, action: Action::Send, ..effect }.with(Danger::Outward);
        }
    }
    walk.found.effect(effect);
    Input::Remote
}

fn is(flag: &Flag<'_>, short: &str, long: &str) -> bool {
    if flag.long {
        flag.name == long || (flag.name.len() > 3 && long.starts_with(flag.name))
    } else {
        !short.is_empty() && flag.name == short
    }
}

/// Headers and addresses in which a substitution carries something out.
fn carries(text: &str) -> bool {
    text.contains("://") || text.contains(": ") && !text.to_ascii_lowercase().starts_with("authorization")
}

fn urls<'a>(found: &'a Options<'a>) -> impl Iterator<Item = &'a str> {
    let named =
        found.flags.iter().filter(|flag| is(flag, "", "url") || is(flag, "x", "proxy")).filter_map(|flag| flag.value);
    found.operands.iter().map(|arg| arg.text.as_str()).chain(named)
}

fn request(call: &Call<'_>, found: &Options<'_>) -> Effect {
    let data = found.flags.iter().any(|flag| DATA.iter().any(|(short, long)| is(flag, short, long)));
    let several = found.has_any(&["next"]) || found.has(":", "");
    let gets = found.flags.iter().any(|flag| is(flag, "G", "get")) && !several;
    let method = found.value("X", "request").map(str::to_ascii_uppercase);
    let uploads = found.flags.iter().any(|flag| is(flag, "T", "upload-file"));
    let quotes = found.has("Q", "quote");
    match method.as_deref() {
        _ if quotes => call.mutating(Action::Execute).with(Danger::Outward),
        Some("DELETE") => call.mutating(Action::Delete).with(Danger::Outward),
        Some("PUT") if !uploads => call.mutating(Action::Overwrite).with(Danger::Outward),
        Some("PATCH") => call.mutating(Action::Update).with(Danger::Outward),
        Some("GET" | "HEAD" | "OPTIONS") if !uploads && !several => call.pure(Action::Read),
        None if gets || !data => call.pure(Action::Read),
        _ => call.mutating(Action::Send).with(Danger::Outward),
    }
}

/// The file that an option sends.
fn uploaded<'a>(flag: &Flag<'a>) -> Option<&'a str> {
    let value = flag.value?;
    if is(flag, "T", "upload-file") {
        return Some(value);
    }
    let sends =
        DATA.iter().any(|(short, long)| is(flag, short, long)) && !matches!(flag.name, "data-raw" | "form-string");
    let (before, file) = value.split_once('@').or_else(|| value.split_once("=<"))?;
    let named = before.is_empty() || before.ends_with('=') || (flag.name == "data-urlencode" && !before.contains('='));
    (sends && named).then(|| file.split(';').next().unwrap_or(file))
}
