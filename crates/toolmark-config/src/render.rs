//! Packs as text for `toolmark.toml`: whole for the file, masked for the eyes.

use std::fmt::Write as _;
use std::time::Duration;

use toolmark_core::names::PackName;
use toolmark_policy::pattern::Glob;

use crate::sections::{Pack, PackLimits};
use crate::values::{Entries, Localized, Part, Template};

/// Whether secrets are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// As they are: for a file that only its owner reads.
    Written,
    /// As `••••`: for a preview. Variables are shown.
    Masked,
}

/// One pack as text, with everything that an import can give it. Written with its secrets, it reads as the same pack.
#[must_use]
pub fn render(name: &PackName, pack: &Pack, secrets: Secrets) -> String {
    let mut out = format!("[packs.{name}]\n");
    let plain = |text: &Template| quoted(text.written().expose());
    let value = |key: &str, text: &Template| match secrets {
        Secrets::Masked if may_be_secret(key) => quoted(&masked(text)),
        _ => plain(text),
    };
    let argument = |at: usize, text: &Template| {
        let before = at.checked_sub(1).and_then(|before| pack.args.get(before)).and_then(Template::as_literal);
        let flagged = before.is_some_and(|before| before.expose().starts_with('-') && may_be_secret(before.expose()));
        let whole = text.as_literal().is_some_and(|text| looks_secret(text.expose()));
        if secrets == Secrets::Masked && (flagged || whole) { quoted(&masked(text)) } else { plain(text) }
    };
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    if let Some(command) = &pack.command {
        line("command", plain(command));
    }
    if !pack.args.is_empty() {
        let all: Vec<String> = pack.args.iter().enumerate().map(|(at, text)| argument(at, text)).collect();
        line("args", format!("[{}]", all.join(", ")));
    }
    if let Some(url) = &pack.url {
        line("url", if secrets == Secrets::Masked { quoted(&masked_url(url)) } else { plain(url) });
    }
    if let Some(transport) = pack.transport {
        line("transport", quoted(transport.as_str()));
    }
    let table = |entries: &Entries<String, Template>| {
        let all: Vec<String> =
            entries.iter().map(|(key, text)| format!("{} = {}", bare(key), value(key, text))).collect();
        format!("{{ {} }}", all.join(", "))
    };
    if !pack.env.is_empty() {
        line("env", table(&pack.env));
    }
    if !pack.inherit_env.is_empty() {
        line("inherit_env", list(pack.inherit_env.iter().map(String::as_str)));
    }
    if let Some(file) = &pack.env_file {
        line("env_file", plain(file));
    }
    if let Some(cwd) = &pack.cwd {
        line("cwd", plain(cwd));
    }
    if !pack.headers.is_empty() {
        line("headers", table(&pack.headers));
    }
    if let Some(names) = &pack.display_name {
        line("display_name", texts(names));
    }
    if let Some(spoken) = &pack.spoken {
        line("spoken", texts(spoken));
    }
    if !pack.enabled {
        line("enabled", "false".into());
    }
    if let Some(allow) = &pack.allow {
        line("allow", list(allow.iter().map(Glob::as_str)));
    }
    if !pack.deny.is_empty() {
        line("deny", list(pack.deny.iter().map(Glob::as_str)));
    }
    let limits = limits(&pack.limits);
    if !limits.is_empty() {
        line("limits", format!("{{ {} }}", limits.join(", ")));
    }
    if let Some(auth) = &pack.auth {
        let secret = |text: &Template| if secrets == Secrets::Masked { quoted(&masked(text)) } else { plain(text) };
        if let Some(bearer) = &auth.bearer {
            line("auth", format!("{{ bearer = {} }}", secret(bearer)));
        }
        if let Some(oauth) = &auth.oauth {
            let mut parts = vec![format!("grant = {}", quoted(oauth.grant.as_str()))];
            parts.extend(oauth.client_id.as_ref().map(|text| format!("client_id = {}", plain(text))));
            parts.extend(oauth.client_secret.as_ref().map(|text| format!("client_secret = {}", secret(text))));
            if !oauth.scopes.is_empty() {
                parts.push(format!("scopes = {}", list(oauth.scopes.iter().map(String::as_str))));
            }
            line("auth", format!("{{ oauth = {{ {} }} }}", parts.join(", ")));
        }
    }
    for (raw, tool) in &pack.tools {
        let names = tool.display_name.iter().map(|names| format!("display_name = {}\n", texts(names)));
        let spoken = tool.spoken.iter().map(|spoken| format!("spoken = {}\n", texts(spoken)));
        let lines: String = names.chain(spoken).collect();
        if !lines.is_empty() {
            let _ = write!(out, "\n[packs.{name}.tools.{}]\n{lines}", bare(raw.as_str()));
        }
    }
    out
}

/// A text, or a table of languages and texts.
fn texts<const MAX: usize>(all: &Localized<MAX>) -> String {
    let mut written = all.iter().map(|(tag, text)| match tag {
        Some(tag) => format!("{} = {}", bare(tag.as_str()), quoted(text)),
        None => quoted(text),
    });
    match all.iter().next() {
        Some((None, _)) => written.next().unwrap_or_default(),
        _ => format!("{{ {} }}", written.collect::<Vec<_>>().join(", ")),
    }
}

/// True when the pack holds a text that a preview masks.
#[must_use]
pub fn holds_secrets(name: &PackName, pack: &Pack) -> bool {
    render(name, pack, Secrets::Masked) != render(name, pack, Secrets::Written)
}

fn limits(limits: &PackLimits) -> Vec<String> {
    let usual = PackLimits::default();
    let mut all = Vec::new();
    if limits.timeout != usual.timeout {
        all.push(format!("timeout = {}", quoted(&time(limits.timeout))));
    }
    if limits.start != usual.start {
        all.push(format!("start = {}", quoted(&time(limits.start))));
    }
    all
}

/// In the largest unit that holds it whole.
fn time(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    let units = [("h", 3_600_000), ("min", 60_000), ("s", 1_000)];
    match units.into_iter().find(|(_, factor)| milliseconds >= *factor && milliseconds.is_multiple_of(*factor)) {
        Some((unit, factor)) => format!("{}{unit}", milliseconds / factor),
        None => format!("{milliseconds}ms"),
    }
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", texts.map(quoted).collect::<Vec<_>>().join(", "))
}

/// Everything literal masked, variables shown. A scheme such as `Bearer ` is no secret.
fn masked(text: &Template) -> String {
    let mut out = String::new();
    for part in text.parts() {
        match part {
            Part::Literal(secret) => {
                let scheme =
                    ["Bearer ", "Basic ", "token "].into_iter().find(|scheme| secret.expose().starts_with(scheme));
                out.push_str(scheme.unwrap_or_default());
                if scheme.is_none_or(|scheme| secret.expose() != scheme) {
                    let _ = write!(out, "{secret}");
                }
            }
            Part::Variable { name, .. } => {
                let _ = write!(out, "${{{name}}}");
            }
        }
    }
    out
}

/// An address without what may be secret in it: user information and everything after `?`.
fn masked_url(url: &Template) -> String {
    let written = url.written();
    let text = written.expose();
    let (text, query) = text.split_once('?').map_or((text, ""), |(before, _)| (before, "?••••"));
    let shown = match text.split_once("://") {
        Some((scheme, rest)) => {
            let host_end = rest.find('/').unwrap_or(rest.len());
            match rest.get(..host_end).and_then(|host| host.rfind('@')) {
                Some(at) => format!("{scheme}://••••{}", rest.get(at..).unwrap_or_default()),
                None => text.to_owned(),
            }
        }
        None => text.to_owned(),
    };
    let segments: Vec<&str> = shown.split('/').map(|part| if looks_secret(part) { "••••" } else { part }).collect();
    segments.join("/") + query
}

/// Names of what is secret. Everything else in `env` and `headers` that looks like a key is masked too.
fn may_be_secret(key: &str) -> bool {
    // A value of the environment or of a header is masked whatever it is called, unless it is known to be harmless.
    const HARMLESS: &[&str] =
        &["PATH", "HOME", "LANG", "NODE_ENV", "DEBUG", "LOG_LEVEL", "Content-Type", "Accept", "User-Agent"];
    if key.starts_with('-') {
        let key = key.to_ascii_lowercase();
        return ["key", "token", "secret", "password", "passwd", "auth", "header", "credential"]
            .iter()
            .any(|word| key.contains(word));
    }
    !HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(key))
}

/// Long runs of letters and digits, well-known beginnings, and addresses with a password.
fn looks_secret(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "sk-",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "eyJ",
        "Bearer ",
        "npm_",
        "hf_",
        "ntn_",
        "secret_",
    ];
    let value = text.rsplit_once('=').map_or(text, |(_, value)| value);
    let value = value.rsplit_once(": ").map_or(value, |(_, value)| value);
    let dense = value.len() >= 24
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let flag = text.starts_with("--") && text.split_once('=').is_some_and(|(flag, _)| may_be_secret(flag));
    let address = text.split_once("://").is_some_and(|(_, rest)| {
        rest.split('/').next().and_then(|host| host.split_once('@')).is_some_and(|(user, _)| user.contains(':'))
    });
    dense || flag || address || BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
}

/// A key that needs no quotes, or one in quotes.
fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if plain { key.to_owned() } else { quoted(key) }
}

/// A basic string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
