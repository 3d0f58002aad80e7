//! Where is a pack, and what are its tools called to come from? Secrets are in neither name.

use std::collections::BTreeMap;
use std::path::Path;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolmark_config::sections::{self, is_web_address};
use toolmark_config::values::{Filled, Part, Secret, Template, Transport};
use toolmark_config::{Connection, UpstreamAuth};
use toolmark_core::text::visible;
use toolmark_core::tool::Source;
use toolmark_mcp::upstream::Target;

/// Where the tools of a pack come from.
pub(super) fn source(connection: &Connection, written: &[Template]) -> Result<Source, String> {
    match connection {
        Connection::Stdio(stdio) => {
            let program = stdio.command.expose().rsplit('/').next().unwrap_or_default();
            Ok(Source::new(&format!("stdio:{program}#{}", fingerprint(written))))
        }
        Connection::Http(http) => {
            let url = address(&http.url)?;
            Ok(Source::new(&format!(
                "{}://{}{}",
                url.scheme_str().unwrap_or("http"),
                url.authority()
                    .map(|authority| authority.as_str().rsplit('@').next().unwrap_or_default())
                    .unwrap_or_default(),
                named_path(&http.url, &url)
            )))
        }
    }
}

/// Where a pack is. Relative paths start from a directory.
pub(super) fn target(connection: &Connection, directory: &Path) -> Result<Target, String> {
    match connection {
        Connection::Stdio(stdio) => {
            let args: Vec<String> = stdio.args.iter().map(|arg| arg.expose().to_owned()).collect();
            let mut env: BTreeMap<String, String> =
                stdio.inherit_env.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect();
            if let Some(path) = &stdio.env_file {
                let text = std::fs::read_to_string(directory.join(path.expose())).map_err(|error| {
                    format!("its `env_file` `{}` cannot be read: {error}", visible(path.expose(), LONGEST_PATH))
                })?;
                let more = toolmark_config::env_file::read(&text, "env_file").map_err(|error| error.to_string())?;
                env.extend(more.into_iter().map(|(name, value)| (name, value.expose().to_owned())));
            }
            env.extend(stdio.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
            let command = stdio.command.expose().to_owned();
            let cwd = stdio.cwd.as_ref().map(|cwd| directory.join(cwd.expose()));
            Ok(Target::Stdio { command, args, env, cwd })
        }
        Connection::Http(http) => {
            let url = address(&http.url)?;
            let mut headers = HeaderMap::new();
            let mut insert = |name: &str, value: &str| -> Result<(), String> {
                let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
                let mut value =
                    HeaderValue::try_from(value).map_err(|_| format!("the header `{name}` has no valid value"))?;
                value.set_sensitive(true);
                headers.insert(name, value);
                Ok(())
            };
            for (name, value) in &http.headers {
                insert(name, value.expose())?;
            }
            match &http.auth {
                Some(UpstreamAuth::Bearer(token)) => insert("authorization", &format!("Bearer {}", token.expose()))?,
                // Shown request by request, since it changes.
                Some(UpstreamAuth::OAuth { .. }) | None => {}
            }
            Ok(match http.transport {
                Transport::Sse => Target::Sse { url, headers },
                Transport::Http => Target::Http { url, headers },
            })
        }
    }
}

/// What must not be read in reasons, and what is said instead: paths and programs with variables in them, longest first.
pub(super) fn named(connection: &Connection, pack: &sections::Pack) -> Vec<(String, String)> {
    let pairs = match connection {
        Connection::Stdio(stdio) => vec![
            (pack.command.as_ref(), Some(&stdio.command)),
            (pack.cwd.as_ref(), stdio.cwd.as_ref()),
            (pack.env_file.as_ref(), stdio.env_file.as_ref()),
        ],
        Connection::Http(http) => vec![(pack.ca.as_ref(), http.ca.as_ref())],
    };
    let named = |(written, filled): (Option<&Template>, Option<&Secret>)| {
        Some((filled?.expose().to_owned(), written?.named()?))
    };
    let mut all: Vec<_> = pairs.into_iter().filter_map(named).filter(|(filled, _)| !filled.is_empty()).collect();
    // Reasons show no character that could pretend to be another.
    let shown: Vec<_> = all.iter().map(|(filled, name)| (visible(filled, LONGEST_PATH), name.clone())).collect();
    all.extend(shown);
    all.sort_by_key(|(filled, _)| std::cmp::Reverse(filled.len()));
    all.dedup();
    all
}

/// No path is longer.
const LONGEST_PATH: usize = 4096;

/// A reason in which variables are named and not filled in. What is quoted is looked at, and not the words around it.
pub(super) fn reworded(why: &str, named: &[(String, String)]) -> String {
    let quoted =
        |(at, text): (usize, &str)| match named.iter().find(|(filled, _)| at % 2 == 1 && text.ends_with(filled)) {
            Some((_, name)) => name.clone(),
            None => text.to_owned(),
        };
    why.split('`').enumerate().map(quoted).collect::<Vec<_>>().join("`")
}

/// What stands in place of what a program was given and writes.
pub(super) const HIDDEN: &str = "••••";

/// What a program is given that may be secret, longest first: values of variables, and arguments after a flag that says so. Words that
/// everybody uses are none.
pub(super) fn hidden(target: &Target) -> Vec<String> {
    const HARMLESS: [&str; 12] =
        ["PATH", "HOME", "LANG", "USER", "SHELL", "TERM", "TZ", "PWD", "TMPDIR", "NODE_ENV", "DEBUG", "LOG_LEVEL"];
    const WORDS: [&str; 10] =
        ["true", "false", "none", "info", "warn", "error", "debug", "trace", "production", "development"];
    const SECRET: [&str; 6] = ["token", "secret", "pass", "key", "auth", "credential"];
    let Target::Stdio { args, env, .. } = target else { return Vec::new() };
    let given = env.iter().filter(|(name, _)| !HARMLESS.contains(&name.as_str())).map(|(_, value)| value.as_str());
    let is_secret = |flag: &str| flag.starts_with('-') && SECRET.iter().any(|word| flag.to_lowercase().contains(word));
    let after = args.windows(2).filter_map(|pair| match pair {
        [flag, value] if is_secret(flag) && !flag.contains('=') => Some(value.as_str()),
        _ => None,
    });
    let within =
        args.iter().filter_map(|arg| arg.split_once('=').filter(|(flag, _)| is_secret(flag))).map(|(_, value)| value);
    let long = |value: &&str| value.len() >= 4 && !WORDS.contains(&value.to_lowercase().as_str());
    let mut all: Vec<String> = given.chain(after).chain(within).filter(long).map(str::to_owned).collect();
    all.sort_by_key(|value| std::cmp::Reverse(value.len()));
    all.dedup();
    all
}

fn address(written: &Filled) -> Result<http::Uri, String> {
    let text = written.text.expose();
    // Variables may have brought something in that the configuration could not be refused for.
    if !is_web_address(text) {
        return Err("its `url` is no address: it wants `http://` or `https://`, a host, and a port up to 65535".into());
    }
    text.parse().map_err(|error| format!("its `url` is no address: {error}"))
}

/// The path of an address with variables by their names, as in the arguments of a program. The host is that which is really called:
/// another one is another source, and it is no secret, since everybody on the way reads it.
fn named_path(written: &Filled, url: &http::Uri) -> String {
    if written.variables.is_empty() {
        return url.path().to_owned();
    }
    let text = written.text.expose();
    let host = text.find("://").map_or(0, |at| at + 3);
    let after = |at: usize, ends: &[char]| {
        let rest = text.get(at..).unwrap_or_default();
        at + rest.find(ends).unwrap_or(rest.len())
    };
    let start = after(host, &['/', '?', '#']);
    let end = after(start, &['?', '#']);
    let (mut named, mut at) = (String::new(), start);
    for (value, name) in written.variables.iter().filter(|(value, _)| value.start < end && value.end > start) {
        named.push_str(text.get(at..value.start).unwrap_or_default());
        named.push_str(&format!("${{{name}}}"));
        at = value.end.min(end);
    }
    named.push_str(text.get(at..end).unwrap_or_default());
    // Also where there is no path, and where a variable brings host and path at once.
    if named.starts_with('/') { named } else { format!("/{named}") }
}

/// Tells the arguments of a program from others, as they are written: a variable counts by its name, so that a secret that is rotated
/// makes no other source of it, and nothing that could be guessed at is in its name.
fn fingerprint(written: &[Template]) -> String {
    let plain: Option<Vec<Secret>> = written.iter().map(Template::as_literal).collect();
    let text = match plain {
        Some(plain) => plain.iter().map(Secret::expose).collect::<Vec<_>>().join("\0"),
        None => {
            let part = |part: &Part| match part {
                Part::Literal(text) => json!({"text": text.expose()}),
                Part::Variable { name, default } => {
                    json!({"variable": name, "default": default.as_ref().map(Secret::expose)})
                }
            };
            let argument = |template: &Template| Value::from_iter(template.parts().iter().map(part));
            Value::from_iter(written.iter().map(argument)).to_string()
        }
    };
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
