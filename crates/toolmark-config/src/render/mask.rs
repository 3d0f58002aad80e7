//! What may be secret in a pack, and what is shown in its place. In doubt a text is masked: whoever wrote it has the file.

use std::fmt::Write as _;

use crate::values::{Part, Secret, Template};

const MASK: &str = "••••";

/// Everything literal masked, variables shown. A scheme such as `Bearer ` is no secret.
pub(super) fn whole(text: &Template) -> String {
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
pub(super) fn address(url: &Template) -> String {
    let written = url.written();
    let text = written.expose();
    let (text, query) = text.split_once('?').map_or((text, ""), |(before, _)| (before, "?••••"));
    let shown = match text.split_once("://") {
        Some((scheme, rest)) => {
            let host_end = rest.find('/').unwrap_or(rest.len());
            match rest.get(..host_end).and_then(|host| host.rfind('@')) {
                Some(at) => format!("{scheme}://{MASK}{}", rest.get(at..).unwrap_or_default()),
                None => text.to_owned(),
            }
        }
        None => text.to_owned(),
    };
    let segments: Vec<&str> = shown.split('/').map(|part| if looks_secret(part) { MASK } else { part }).collect();
    segments.join("/") + query
}

/// One argument of a program as it is shown, or nothing where it holds no secret.
pub(super) fn argument(program: Option<&Template>, args: &[Template], at: usize) -> Option<String> {
    let text = args.get(at)?;
    let before = at.checked_sub(1).and_then(|before| args.get(before)).and_then(Template::as_literal);
    let flag = before.as_ref().map(Secret::expose).filter(|before| before.starts_with('-'));
    let written = text.written();
    let written = written.expose();
    let own = || args.iter().take(at.saturating_sub(1)).all(|arg| arg.written().expose().starts_with('-'));
    let whole_flag = flag.is_some_and(|flag| names_secret(flag) || is_password_flag(flag, written, program, own()));
    // What is all variables has nothing to hide.
    if whole_flag && !is_variable(written) {
        return Some(whole(text));
    }
    if let Some(rest) = written.strip_prefix("-p").filter(|rest| !rest.is_empty() && of_mysql(program, args)) {
        return (!is_variable(rest)).then(|| format!("-p{MASK}"));
    }
    // `-e NAME=value` of containers, with its name and value in one argument or in two.
    let given = match flag {
        Some("-e" | "--env") => Some(("", written)),
        _ => ["--env=", "-e"].iter().find_map(|flag| Some((*flag, written.strip_prefix(flag)?))),
    };
    if let Some((flag, (name, value))) = given.and_then(|(flag, given)| Some((flag, given.split_once('=')?)))
        && is_loud(name)
        && may_be_secret(name)
    {
        return (!value.is_empty() && !is_variable(value)).then(|| format!("{flag}{name}={MASK}"));
    }
    if matches!(flag, Some("-u" | "--user"))
        && let Some((user, password)) = written.split_once(':')
        && !is_variable(password)
    {
        return Some(format!("{user}:{MASK}"));
    }
    let shown = parts(written);
    if shown != written {
        return Some(shown);
    }
    looks_secret(written).then(|| whole(text))
}

/// A program that is written with its arguments, or nothing where it holds no secret.
pub(super) fn command(text: &Template) -> Option<String> {
    let written = text.written();
    let shown = parts(written.expose());
    (shown != written.expose()).then_some(shown)
}

/// Names of variables and headers whose values are masked: all that are not known to be harmless.
pub(super) fn may_be_secret(name: &str) -> bool {
    const HARMLESS: &[&str] =
        &["PATH", "HOME", "LANG", "NODE_ENV", "DEBUG", "LOG_LEVEL", "Content-Type", "Accept", "User-Agent"];
    !HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(name))
}

/// Names, also of options, that say that what comes is secret.
fn names_secret(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "credential",
        "header",
        "bearer",
        "cookie",
    ];
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    WORDS.iter().any(|word| name.contains(word))
        || parts.any(|part| {
            matches!(part, "pwd" | "pass" | "pw" | "psw" | "pat" | "sas" | "sig" | "signature")
                || part.ends_with("key")
                || part.ends_with("pwd")
                || (part.contains("auth") && (!part.contains("author") || part.contains("authoriz")))
        })
}

/// Short options that take a password in the programs that people know. `-p` is a port, a project or a package too, which look different.
fn is_password_flag(flag: &str, value: &str, program: Option<&Template>, of_launcher: bool) -> bool {
    let port = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-'));
    let place = value.starts_with(['.', '/', '~', '@']) || value.contains("://") || value.contains('\\');
    let program = program.map(|program| program.written().expose().to_owned()).unwrap_or_default();
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    // `npx -p package` names what is started.
    let launcher =
        matches!(program, "npx" | "npm" | "pnpm" | "bunx" | "yarn" | "uv" | "uvx" | "pipx" | "node" | "deno");
    match flag {
        "-p" | "-P" | "-pw" => !(port || place || (launcher && of_launcher)),
        "-a" => program.starts_with("redis"),
        _ => false,
    }
}

/// Only there the password stands right behind `-p`.
fn of_mysql(program: Option<&Template>, args: &[Template]) -> bool {
    let named = |text: &Template| {
        let written = text.written();
        let name = written.expose().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        matches!(name.as_str(), "mysql" | "mysqldump" | "mysqladmin" | "mariadb" | "mariadb-dump")
    };
    program.is_some_and(named) || args.iter().any(named)
}

/// `NAME` as variables are written.
fn is_loud(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// True for a text that is one variable, without a default that could be secret.
fn is_variable(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// A text without the passwords in it: of addresses, of connection strings and of whatever else is written as `name=value` or `"name": "value"`.
fn parts(text: &str) -> String {
    let text = &without_users(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['=', ':']) {
        let (name, value) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        let quote = name.ends_with(['"', '\'']);
        let word = name.trim_end_matches(['"', '\'', ' ']);
        let word = word.rsplit([';', '&', '?', ',', '{', '"', '\'', ' ', '\t', '\n', '/']).next().unwrap_or_default();
        // A colon is also part of addresses and versions; it only counts after a word that says what comes.
        let assigned = rest.get(at..=at) == Some("=") || quote || value.starts_with(' ');
        out.push_str(rest.get(..=at).unwrap_or_default());
        rest = value;
        if !(assigned && names_secret(word)) {
            continue;
        }
        let end = end_of_value(value);
        let (secret, after) = (value.get(..end).unwrap_or_default(), value.get(end..).unwrap_or_default());
        let bare = secret.trim().trim_matches(['"', '\'']);
        let scheme = ["Bearer ", "Basic "].into_iter().find(|scheme| bare.starts_with(scheme)).unwrap_or_default();
        let bare = bare.strip_prefix(scheme).unwrap_or(bare);
        if bare.is_empty() || is_variable(bare) {
            out.push_str(secret);
        } else {
            let gap = if secret.starts_with(' ') { " " } else { "" };
            out.push_str(&format!("{gap}{scheme}{MASK}"));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Where a value ends: at its closing quote, or where the next `name=` begins; whatever stands in between may be part of it.
fn end_of_value(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let value = text.get(start..).unwrap_or_default();
    if let Some(quote) = value.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let inside = value.get(1..).unwrap_or_default();
        return inside.find(quote).map_or(text.len(), |end| start + end + 2);
    }
    let begins = |at: usize| {
        let next = value.get(at + 1..).unwrap_or_default().trim_start();
        let name =
            next.find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | ' ')));
        name.is_some_and(|end| end > 0 && next.get(end..).is_some_and(|rest| rest.starts_with('=')))
    };
    let ends = value.char_indices().filter(|(_, letter)| matches!(letter, ';' | '&' | ' ' | ',' | '\n'));
    let end = ends.map(|(at, _)| at).find(|at| begins(*at));
    start + end.unwrap_or(value.len())
}

/// Addresses in a text without the users and passwords in them.
fn without_users(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = (rest.get(..at + 3).unwrap_or_default(), rest.get(at + 3..).unwrap_or_default());
        out.push_str(before);
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let word = after.get(..word).unwrap_or_default();
        let host = word.get(..word.find(['/', '?', '#']).unwrap_or(word.len())).unwrap_or_default();
        // A password with a `/` in it ends the host too early; what looks like its port is then none.
        let split = |part: &str| part.split_once(':').map(|(_, password)| password.to_owned());
        let port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let users = match host.rfind('@') {
            Some(end) => Some(end),
            None if split(host).is_some_and(|after| !port(&after)) => word.rfind('@'),
            None => None,
        };
        let users = users.filter(|end| {
            let user = word.get(..*end).unwrap_or_default();
            split(user).is_some_and(|password| !password.is_empty() && !is_variable(&password)) || looks_secret(user)
        });
        if let Some(end) = users {
            out.push_str(MASK);
            rest = after.get(end..).unwrap_or_default();
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Long runs of letters and digits, and well-known beginnings.
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
    dense || BEGINNINGS.iter().any(|beginning| value.starts_with(beginning))
}

#[cfg(test)]
mod tests;
