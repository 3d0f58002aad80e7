//! Packs as text for `toolmark.toml`: whole for the file, masked for the eyes.

mod mask;

use std::fmt::Write as _;
use std::time::Duration;

use toolmark_core::names::PackName;
use toolmark_policy::pattern::Glob;

use crate::sections::{Pack, PackLimits};
use crate::values::{Entries, Localized, Template};

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
        Secrets::Masked if mask::may_be_secret(key) => quoted(&mask::whole(text)),
        Secrets::Masked => quoted(&mask::text(text).unwrap_or_else(|| text.written().expose().to_owned())),
        Secrets::Written => plain(text),
    };
    let or_masked = |text: &Template, masked: &dyn Fn() -> Option<String>| match secrets {
        Secrets::Masked => masked().map_or_else(|| plain(text), |masked| quoted(&masked)),
        Secrets::Written => plain(text),
    };
    let argument =
        |at: usize, text: &Template| or_masked(text, &|| mask::argument(pack.command.as_ref(), &pack.args, at));
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    if let Some(command) = &pack.command {
        line("command", or_masked(command, &|| mask::text(command)));
    }
    if !pack.args.is_empty() {
        let all: Vec<String> = pack.args.iter().enumerate().map(|(at, text)| argument(at, text)).collect();
        line("args", format!("[{}]", all.join(", ")));
    }
    if let Some(url) = &pack.url {
        line("url", if secrets == Secrets::Masked { quoted(&mask::address(url)) } else { plain(url) });
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
        line("env_file", or_masked(file, &|| mask::text(file)));
    }
    if let Some(cwd) = &pack.cwd {
        line("cwd", or_masked(cwd, &|| mask::text(cwd)));
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
        let secret =
            |text: &Template| if secrets == Secrets::Masked { quoted(&mask::whole(text)) } else { plain(text) };
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
