//! What may be secret in a pack, and what is shown in its place. In doubt a text is masked: whoever wrote it has the file.

mod words;

use std::fmt::Write as _;

use crate::values::{Part, Secret, Template};
pub(super) use words::may_be_secret;
use words::{is_harmless, is_secret_word, looks_secret, names_secret};

const MASK: &str = "••••";
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic ", "token "];

/// Everything literal masked, variables shown. A scheme such as `Bearer ` is no secret; the default of a variable may be one.
pub(super) fn whole(text: &Template) -> String {
    let mut out = String::new();
    for part in text.parts() {
        match part {
            Part::Literal(secret) => {
                let scheme = SCHEMES.iter().find(|scheme| secret.expose().starts_with(**scheme));
                out.push_str(scheme.unwrap_or(&""));
                if scheme.is_none_or(|scheme| secret.expose() != *scheme) {
                    let _ = write!(out, "{secret}");
                }
            }
            Part::Variable { name, default: Some(default) } if !default.expose().is_empty() => {
                let _ = write!(out, "${{{name}:-{MASK}}}");
            }
            Part::Variable { name, .. } => {
                let _ = write!(out, "${{{name}}}");
            }
        }
    }
    out
}

/// A text as it is written, without the defaults of variables that are secret.
fn without_defaults(text: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Variable { name, default: Some(default) }
            if !default.expose().is_empty()
                && !is_harmless(name, default.expose())
                && (names_secret(name) || looks_secret(default.expose())) =>
        {
            Part::Variable { name: name.clone(), default: Some(Secret::new(MASK)) }
        }
        other => other.clone(),
    };
    Template::from_parts(text.parts().iter().map(part).collect()).written().expose().to_owned()
}

/// An address without what may be secret in it: user information, parts of the path that look like it, and every value after `?` or `#`.
pub(super) fn address(url: &Template) -> String {
    let text = without_defaults(url);
    let (text, after) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
    let shown = match text.split_once("://") {
        Some((scheme, rest)) => {
            let host_end = rest.find('/').unwrap_or(rest.len());
            match rest.get(..host_end).and_then(|host| host.rfind('@')) {
                Some(at) => format!("{scheme}://{MASK}{}", rest.get(at..).unwrap_or_default()),
                None => without_users(text),
            }
        }
        None => text.to_owned(),
    };
    let segments: Vec<&str> = shown.split('/').map(|part| if looks_secret(part) { MASK } else { part }).collect();
    segments.join("/") + &values(after)
}

/// What stands after `?` or `#`, with its names only.
fn values(text: &str) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive(['?', '&', '#']) {
        let end = piece.strip_suffix(['?', '&', '#']).unwrap_or(piece);
        match end.split_once('=') {
            _ if end.is_empty() || is_variable(end) => out.push_str(end),
            Some((name, value)) if !looks_secret(name) => {
                let _ = write!(out, "{name}={}", if value.is_empty() || is_variable(value) { value } else { MASK });
            }
            _ => out.push_str(MASK),
        }
        out.push_str(piece.get(end.len()..).unwrap_or_default());
    }
    out
}

/// One argument of a program as it is shown, or nothing where it holds no secret.
pub(super) fn argument(program: Option<&Template>, args: &[Template], at: usize) -> Option<String> {
    let program = program.map(|program| program.written().expose().to_owned()).unwrap_or_default();
    let original = args.get(at)?.written();
    let args: Vec<String> = args.iter().map(without_defaults).collect();
    let shown = Line { program: &program, args: &args }.masked(at).or_else(|| args.get(at).cloned())?;
    let shown = in_words(&shown).unwrap_or(shown);
    (shown != original.expose()).then_some(shown)
}

/// A text that may hold a program with its arguments, or nothing where it holds no secret.
pub(super) fn text(text: &Template) -> Option<String> {
    let written = without_defaults(text);
    let shown = parts(&written);
    let shown = in_words(&shown).unwrap_or(shown);
    (shown != text.written().expose()).then_some(shown)
}

/// A text of several words, read as a program and its arguments; or nothing where it holds no secret.
fn in_words(text: &str) -> Option<String> {
    let mut quote = None;
    let between = |letter: char| {
        match quote {
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            Some(open) if open == letter => quote = None,
            _ => {}
        }
        letter == ' ' && quote.is_none()
    };
    let words: Vec<String> = text.split(between).map(ToOwned::to_owned).collect();
    let line = Line { program: words.first()?, args: words.get(1..).filter(|args| !args.is_empty())? };
    let shown: Vec<String> =
        line.args.iter().enumerate().map(|(at, word)| line.masked(at).unwrap_or_else(|| word.clone())).collect();
    (shown != line.args).then(|| format!("{} {}", line.program, shown.join(" ")))
}

/// A program and its arguments.
struct Line<'l> {
    program: &'l str,
    args: &'l [String],
}

impl Line<'_> {
    /// An argument as it is shown, or nothing where it holds no secret.
    fn masked(&self, at: usize) -> Option<String> {
        let written = self.args.get(at)?.as_str();
        let before = at.checked_sub(1).and_then(|before| self.args.get(before)).map(String::as_str);
        // An option that has its value already has nothing to do with what comes.
        let flag = before
            .filter(|flag| flag.starts_with('-') && flag.split_once('=').is_none_or(|(_, value)| value.is_empty()));
        let own = || self.args.iter().take(at.saturating_sub(1)).all(|arg| arg.starts_with('-'));
        if let Some(header) = header(flag, written) {
            return Some(header).filter(|shown| shown != written);
        }
        let secret = flag.is_some_and(|flag| {
            (names_secret(flag) && !is_harmless(flag, written)) || is_password_flag(flag, written, self.program, own())
        });
        // What is all variables has nothing to hide.
        if secret && !is_variable(written) {
            return Some(whole_text(written));
        }
        if let Some(rest) = written.strip_prefix("-p").filter(|rest| !rest.is_empty() && self.runs_mysql()) {
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
        self.user(flag, written)
            .or_else(|| self.named(before, written))
            .or_else(|| {
                let shown = parts(written);
                (shown != written).then_some(shown)
            })
            .or_else(|| looks_secret(written).then(|| whole_text(written)))
    }

    /// `-u name:password`; two numbers are a user and a group.
    fn user(&self, flag: Option<&str>, written: &str) -> Option<String> {
        let given = match flag {
            Some("-u" | "--user" | "-U" | "--proxy-user") => ("", written),
            _ => ["--user=", "--proxy-user="].iter().find_map(|flag| Some((*flag, written.strip_prefix(flag)?)))?,
        };
        let (user, password) = given.1.split_once(':')?;
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let plain = is_variable(password) || (number(user) && number(password));
        (!plain).then(|| format!("{}{user}:{MASK}", given.0))
    }

    /// `x-api-key:value`, which is no image with a version and no script of a package.
    fn named(&self, before: Option<&str>, written: &str) -> Option<String> {
        let (name, value) = written.split_once(':')?;
        let word = name.trim_start_matches(['-', '/']);
        let image = value == "latest"
            || (value.contains('.') && value.bytes().skip(1).all(|byte| byte.is_ascii_digit() || byte == b'.'));
        let script = is_launcher(self.program) && matches!(before, Some("run" | "run-script"));
        let plain = value.is_empty() || value.starts_with("//") || image || script || is_harmless(name, value);
        (is_token(word) && names_secret(name) && !plain).then(|| format!("{name}:{}", value_of(value)))
    }

    /// Only there the password stands right behind `-p`.
    fn runs_mysql(&self) -> bool {
        let named = |text: &str| {
            let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
            matches!(name, "mysql" | "mysqldump" | "mysqladmin" | "mariadb" | "mariadb-dump")
        };
        named(self.program) || self.args.iter().any(|arg| named(arg))
    }
}

/// `-H name:value` and its like, with the name of the header and without its value.
fn header(flag: Option<&str>, written: &str) -> Option<String> {
    let lower = flag.map(str::to_ascii_lowercase).unwrap_or_default();
    let (start, given) = match flag {
        Some("-H") => ("", written),
        Some(_) if lower.ends_with("header") || lower.ends_with("headers") => ("", written),
        _ => written.strip_prefix("-H").map(|given| ("-H", given))?,
    };
    let (name, value) = given.split_once(':')?;
    // `-H host:port` is an address.
    let address = value.starts_with("//") || value.bytes().all(|byte| byte.is_ascii_digit());
    let short = lower.is_empty() || flag == Some("-H");
    let bare = name.trim_matches(['"', '\'', ' ']);
    if !is_token(bare) || (short && address) {
        return None;
    }
    Some(if may_be_secret(bare) { format!("{start}{name}:{}", value_of(value)) } else { written.to_owned() })
}

/// What stands for a value: its scheme and its variables stay.
fn value_of(value: &str) -> String {
    let bare = value.trim_start();
    let gap = value.get(..value.len() - bare.len()).unwrap_or_default();
    let scheme = SCHEMES.iter().find(|scheme| bare.starts_with(**scheme)).copied().unwrap_or_default();
    let bare = bare.strip_prefix(scheme).unwrap_or(bare);
    let shown = if bare.is_empty() || is_variable(bare) { bare.to_owned() } else { whole_text(bare) };
    format!("{gap}{scheme}{shown}")
}

/// What a name of a header or an option is made of.
fn is_token(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// As [`whole`], of a text as it is written.
fn whole_text(written: &str) -> String {
    Template::parse(written).map_or_else(|_| MASK.to_owned(), |template| whole(&template))
}

/// Programs that start others, by name.
fn is_launcher(program: &str) -> bool {
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(program, "npx" | "npm" | "pnpm" | "bunx" | "bun" | "yarn" | "uv" | "uvx" | "pipx" | "node" | "deno")
}

/// Short options that take a password in the programs that people know. `-p` is a port, a project or a package too, which look different.
fn is_password_flag(flag: &str, value: &str, program: &str, of_launcher: bool) -> bool {
    let port = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-'));
    let place = value.starts_with(['.', '/', '~', '@']) || value.contains("://") || value.contains('\\');
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    match flag {
        // `npx -p package` names what is started.
        "-p" | "-P" | "-pw" => !(port || place || (is_launcher(program) && of_launcher)),
        "-a" => name.starts_with("redis"),
        _ => false,
    }
}

/// `NAME` as variables are written.
fn is_loud(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// True for a text that is one variable, also one that the program replaces itself, without a default that could be secret.
fn is_variable(text: &str) -> bool {
    let inside = text.strip_prefix("$${").or_else(|| text.strip_prefix("${")).and_then(|rest| rest.strip_suffix('}'));
    let name =
        inside.map(|inside| inside.strip_suffix(MASK).and_then(|name| name.strip_suffix(":-")).unwrap_or(inside));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// A text without the passwords in it: of addresses, of connection strings and of whatever else is written as `name=value` or `"name": "value"`.
fn parts(text: &str) -> String {
    let text = &without_tokens(&without_users(text));
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['=', ':']) {
        let (name, value) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        let quote = name.ends_with(['"', '\'']);
        let word = name.trim_end_matches(['"', '\'', ' ']);
        let word =
            word.rsplit([';', '&', '?', ',', '{', '"', '\'', ' ', '\t', '\n', '/', '#']).next().unwrap_or_default();
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
        if is_harmless(word, bare) {
            continue;
        }
        let scheme = SCHEMES.iter().find(|scheme| bare.starts_with(**scheme)).copied().unwrap_or_default();
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

/// A text without the words in it that begin as tokens do.
fn without_tokens(text: &str) -> String {
    let inside = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(inside) {
        let (before, word) = (rest.get(..start).unwrap_or_default(), rest.get(start..).unwrap_or_default());
        let end = word.find(|letter| !inside(letter)).unwrap_or(word.len());
        let (word, after) = (word.get(..end).unwrap_or_default(), word.get(end..).unwrap_or_default());
        out.push_str(before);
        out.push_str(if is_secret_word(word) { MASK } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
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

#[cfg(test)]
mod tests;
