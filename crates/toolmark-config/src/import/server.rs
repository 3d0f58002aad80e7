//! One server as some client writes it, as a pack. A key without a counterpart is noted by name, never by value.

use std::collections::HashMap;
use std::time::Duration;

use toolmark_core::display::LanguageTag;
use toolmark_core::names::RawName;
use toolmark_core::text::visible;
use toolmark_policy::pattern::Glob;

use super::error::Refused;
use super::{File, variables};
use crate::clients::Client;
use crate::sections::{OAuth, Pack, PackAuth, Tool, is_header, is_web_address};
use crate::tree::{Entry, Tree, Value};
use crate::values::{Entries, Grant, Localized, Part, Secret, Template, Transport, is_environment_name, is_variable};

/// Keys that say nothing that Toolmark would have to know.
const OF_NO_CONSEQUENCE: &[&str] =
    &["description", "name", "id", "gallery", "version", "icon", "dev", "metadata", "_comment"];

/// Reads a server; what makes it unusable is noted.
pub(super) fn read(file: &mut File<'_>, key: &str, server: &Tree) -> Option<Pack> {
    let own = own_variables(file.client, server);
    let mut reader =
        Reader { file, key, own, pack: Pack::default(), kind: None, bearer: None, of_variables: Vec::new() };
    for entry in server.entries() {
        reader.field(entry);
    }
    reader.join_headers(server.span.start);
    let Reader { mut pack, kind, bearer, file, .. } = reader;
    if let Some(bearer) = bearer {
        pack.auth.get_or_insert_default().bearer = Some(bearer);
    }
    let stdio = kind.as_deref() == Some("stdio");
    let what = match (&pack.command, &pack.url) {
        (None, None) => Some("it has neither a program nor an address"),
        (Some(_), Some(_)) if stdio || kind.is_none() => {
            pack.url = None;
            file.note(
                server.span.start,
                format!("`{}` has a program and an address; the program is used", visible(key, 80)),
            );
            None
        }
        (Some(_), Some(_)) => {
            pack.command = None;
            file.note(
                server.span.start,
                format!("`{}` has a program and an address; the address is used", visible(key, 80)),
            );
            None
        }
        (None, Some(url)) => match url.as_literal() {
            Some(url) if !is_web_address(url.expose()) => {
                Some("its address does not begin with `http://` or `https://`")
            }
            _ => None,
        },
        (Some(command), None) => {
            let empty = command.as_literal().is_some_and(|command| command.expose().trim().is_empty());
            empty.then_some("its program is empty")
        }
    };
    if let Some(what) = what {
        file.refuse(server.span.start, &Refused::NotAServer { key: key.to_owned(), what });
        return None;
    }
    tidy(&mut pack, kind.as_deref());
    Some(pack)
}

/// Leaves only what belongs to the kind of server, and says which kind of address it is.
fn tidy(pack: &mut Pack, kind: Option<&str>) {
    if pack.url.is_some() {
        pack.args = Vec::new();
        pack.env = Entries::default();
        pack.env_file = None;
        pack.cwd = None;
        pack.inherit_env = Vec::new();
        if kind == Some("sse") {
            pack.transport = Some(Transport::Sse);
        }
        let authorized = pack.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if authorized {
            pack.auth = None;
        }
    } else {
        pack.headers = Entries::default();
        pack.auth = None;
        pack.transport = None;
    }
}

/// The variables that a server is given and whose `${NAME}` in its own arguments is for the program to replace, not for the client.
fn own_variables(client: Client, server: &Tree) -> Vec<String> {
    let env = server.get("env").map(Tree::entries).unwrap_or_default();
    // Of what a client replaces, nothing is left for the program; but where its environment does not have it, the text stays as it is, and
    // this program is known to look for it in what it is given.
    let left = |entry: &&Entry| {
        !client.replaces_names()
            || (runs_mcp_remote(server) && scalar(&entry.value).is_some_and(|text| !text.contains('$')))
    };
    env.iter().filter(left).map(|entry| entry.key.clone()).collect()
}

fn runs_mcp_remote(server: &Tree) -> bool {
    let is_it = |text: &str| {
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
        name == "mcp-remote" || name.starts_with("mcp-remote@")
    };
    let command = server.get("command").and_then(Tree::text).is_some_and(is_it);
    command || server.get("args").map(Tree::texts).unwrap_or_default().iter().any(|text| is_it(text))
}

struct Reader<'r, 's> {
    file: &'r mut File<'s>,
    key: &'r str,
    own: Vec<String>,
    pack: Pack,
    kind: Option<String>,
    bearer: Option<Template>,
    /// Headers whose values are variables.
    of_variables: Vec<(String, Template)>,
}

impl Reader<'_, '_> {
    fn field(&mut self, entry: &Entry) {
        let value = &entry.value;
        match entry.key.as_str() {
            "type" | "transport" | "transportType" => self.kind = value.text().map(kind_of),
            "command" => self.command(value),
            "args" => {
                let more = self.list(value);
                self.pack.args.extend(more);
            }
            "env" => self.pack.env = self.table(value, is_environment_name, &[]),
            "envFile" | "env_file" => self.pack.env_file = self.text(value, &[]),
            "env_vars" => self.pack.inherit_env = names(value),
            "cwd" => self.pack.cwd = self.text(value, &[]),
            "url" => {
                self.pack.url = self.text(value, &[]);
                // Gemini CLI calls the address of an old server `url` and that of a new one `httpUrl`.
                if self.file.client == Client::GeminiCli && self.kind.is_none() {
                    self.kind = Some("sse".into());
                }
            }
            "serverUrl" | "httpUrl" => {
                self.pack.url = self.text(value, &[]);
                self.kind = Some("http".into());
            }
            "headers" | "http_headers" | "requestInit" => self.headers(entry),
            "env_http_headers" => self.headers_of_variables(value),
            "bearer_token_env_var" => self.bearer = value.text().filter(|name| is_variable(name)).map(variable),
            "bearer_token" => self.bearer = self.text(value, &[]),
            "oauth" | "auth" => self.oauth(entry),
            "disabled" => self.pack.enabled &= !is_true(value),
            "enabled" => self.pack.enabled &= !matches!(value.value, Value::Bool(false)),
            "includeTools" | "enabled_tools" => self.only(entry),
            "displayName" => self.pack.display_name = localized(value),
            "signalText" => self.pack.spoken = localized(value),
            // Other clients mean other things by `tools`; only what has names is taken.
            "tools" if value.entries().iter().any(|tool| has_names(&tool.value)) => self.tools(value),
            "excludeTools" | "disabled_tools" | "disabledTools" => self.pack.deny = globs(value),
            "timeout" | "startup_timeout_ms" | "startup_timeout_sec" | "tool_timeout_sec" => self.timeout(entry),
            key if OF_NO_CONSEQUENCE.contains(&key) => {}
            key => {
                let text = format!(
                    "`{}` of `{}` has no counterpart and was left out",
                    visible(key, 60),
                    visible(self.key, 80)
                );
                self.file.note(entry.at, text);
            }
        }
    }

    /// A program; some clients write it as a list with its arguments.
    fn command(&mut self, value: &Tree) {
        if let Value::List(_) = value.value {
            let mut parts = self.list(value).into_iter();
            self.pack.command = parts.next();
            self.pack.args.splice(0..0, parts);
        } else {
            self.pack.command = self.text(value, &[]);
        }
    }

    fn text(&mut self, value: &Tree, own: &[String]) -> Option<Template> {
        scalar(value).map(|text| variables::template(self.file, value.span.start, &text, own))
    }

    fn list(&mut self, value: &Tree) -> Vec<Template> {
        let Value::List(items) = &value.value else { return Vec::new() };
        let own = std::mem::take(&mut self.own);
        let read = items.iter().filter_map(|item| self.text(item, &own)).collect();
        self.own = own;
        read
    }

    fn table(&mut self, value: &Tree, legal: impl Fn(&str) -> bool, own: &[String]) -> Entries<String, Template> {
        let mut read: Vec<(String, Template)> = Vec::new();
        let last: HashMap<&str, usize> =
            value.entries().iter().enumerate().map(|(at, entry)| (entry.key.as_str(), at)).collect();
        for (at, entry) in value.entries().iter().enumerate() {
            if !legal(&entry.key) {
                let text =
                    format!("`{}` of `{}` is no name that can be used", visible(&entry.key, 60), visible(self.key, 80));
                self.file.note(entry.at, text);
            } else if last.get(entry.key.as_str()) == Some(&at)
                && let Some(text) = self.text(&entry.value, own)
            {
                read.push((entry.key.clone(), text));
            }
        }
        Entries::new(read)
    }

    /// What people call tools.
    fn tools(&mut self, value: &Tree) {
        let mut all: Vec<(RawName, Tool)> = Vec::new();
        for entry in value.entries().iter().filter(|entry| has_names(&entry.value)) {
            let Ok(raw) = entry.key.parse::<RawName>() else {
                self.file.note(
                    entry.at,
                    format!("`{}` of `{}` is no name of a tool", visible(&entry.key, 60), visible(self.key, 80)),
                );
                continue;
            };
            let tool = Tool {
                display_name: entry.value.get("displayName").and_then(localized),
                spoken: entry.value.get("signalText").and_then(localized),
                ..Tool::default()
            };
            all.retain(|(known, _)| *known != raw);
            all.push((raw, tool));
        }
        self.pack.tools = Entries::new(all);
    }

    fn headers(&mut self, entry: &Entry) {
        let value = if entry.key == "requestInit" { entry.value.get("headers") } else { Some(&entry.value) };
        let Some(value) = value else { return };
        let more = self.table(value, is_header, &[]);
        self.add_headers(more);
    }

    fn headers_of_variables(&mut self, value: &Tree) {
        let named = value.entries().iter().filter_map(|entry| Some((entry.key.clone(), entry.value.text()?)));
        let usable = named.filter(|(header, name)| is_header(header) && is_variable(name));
        self.of_variables.extend(usable.map(|(header, name)| (header, variable(name))));
    }

    fn add_headers(&mut self, more: Entries<String, Template>) {
        let before = std::mem::take(&mut self.pack.headers);
        self.pack.headers = Entries::new(before.into_iter().chain(more).collect());
    }

    /// All headers, each once, however it is written: a variable comes before a text, and of two others the later counts.
    fn join_headers(&mut self, at: usize) {
        let mut joined: Vec<(String, Template)> = Vec::new();
        for (name, value) in std::mem::take(&mut self.pack.headers).into_iter().chain(self.of_variables.drain(..)) {
            let same = joined.iter().position(|(known, _)| known.eq_ignore_ascii_case(&name));
            if let Some(same) = same {
                joined.remove(same);
                let (header, server) = (visible(&name, 60), visible(self.key, 80));
                let of_variable = value.as_literal().is_none();
                let which = if of_variable { "the one of a variable" } else { "the later" };
                self.file.note(at, format!("the header `{header}` of `{server}` stands there twice; {which} is used"));
            }
            joined.push((name, value));
        }
        self.pack.headers = Entries::new(joined);
    }

    /// The only tools that are used. A list without any allows none, and never all.
    fn only(&mut self, entry: &Entry) {
        let Value::List(_) = entry.value.value else { return };
        let names = globs(&entry.value);
        if names.is_empty() {
            self.pack.enabled = false;
            let (list, server) = (visible(&entry.key, 60), visible(self.key, 80));
            self.file.note(entry.at, format!("`{list}` of `{server}` allows no tool, so the pack is switched off"));
        } else {
            self.pack.allow = Some(names);
        }
    }

    fn oauth(&mut self, entry: &Entry) {
        let value = &entry.value;
        let get = |names: &[&str]| names.iter().find_map(|name| value.get(name));
        let (client_id, client_secret) =
            (get(&["clientId", "client_id", "CLIENT_ID"]), get(&["clientSecret", "client_secret", "CLIENT_SECRET"]));
        if client_id.is_none() && client_secret.is_none() {
            let text = format!(
                "`{}` of `{}` has no counterpart and was left out",
                visible(&entry.key, 60),
                visible(self.key, 80)
            );
            return self.file.note(entry.at, text);
        }
        let oauth = OAuth {
            grant: Grant::AuthorizationCode,
            client_id: client_id.and_then(|value| self.text(value, &[])),
            client_secret: client_secret.and_then(|value| self.text(value, &[])),
            scopes: get(&["scopes"]).map(Tree::texts).unwrap_or_default(),
            ..OAuth::default()
        };
        self.pack.auth = Some(PackAuth { bearer: None, oauth: Some(oauth) });
    }

    /// Seconds in Codex, milliseconds in the others.
    fn timeout(&mut self, entry: &Entry) {
        let Value::Number(number) = &entry.value.value else { return };
        let factor = if entry.key.ends_with("_sec") { 1000.0 } else { 1.0 };
        let milliseconds = number.parse::<f64>().ok().map(|number| number * factor);
        let Some(milliseconds) = milliseconds.filter(|value| (1.0..=86_400_000.0).contains(value)) else { return };
        // Within these bounds the value is a whole number of 64 bits.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are checked")]
        let duration = Duration::from_millis(milliseconds.round() as u64);
        if entry.key.starts_with("startup") {
            self.pack.limits.start = duration;
        } else {
            self.pack.limits.timeout = duration;
        }
    }
}

fn has_names(tool: &Tree) -> bool {
    tool.get("displayName").is_some() || tool.get("signalText").is_some()
}

/// A text, or a text for each language; `pt_BR` is `pt-BR`.
fn localized<const MAX: usize>(value: &Tree) -> Option<Localized<MAX>> {
    if let Some(text) = value.text() {
        return Localized::of([(None, text.to_owned())]);
    }
    Localized::of(value.entries().iter().filter_map(|entry| {
        let tag = entry.key.replace('_', "-").parse::<LanguageTag>().and_then(LanguageTag::known).ok()?;
        Some((Some(tag), entry.value.text()?.to_owned()))
    }))
}

/// The kinds of servers under all the names that clients give them.
fn kind_of(text: &str) -> String {
    match text.to_ascii_lowercase().as_str() {
        "sse" => "sse".into(),
        "stdio" | "local" => "stdio".into(),
        _ => "http".into(),
    }
}

/// A text, or what becomes one.
fn scalar(value: &Tree) -> Option<String> {
    match &value.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Table(_) => None,
    }
}

fn is_true(value: &Tree) -> bool {
    matches!(value.value, Value::Bool(true))
}

/// Names of variables, as texts or as tables with a name.
fn names(value: &Tree) -> Vec<String> {
    let Value::List(items) = &value.value else { return Vec::new() };
    let name = |item: &Tree| item.text().or_else(|| item.get("name").and_then(Tree::text)).map(ToOwned::to_owned);
    items.iter().filter_map(name).filter(|name| is_environment_name(name)).collect()
}

/// Names of tools, exactly as they stand; a star in them is one. Gemini CLI also writes `name(arguments)`.
fn globs(value: &Tree) -> Vec<Glob> {
    let exact = |name: String| {
        let name = name.split('(').next().unwrap_or_default().to_owned();
        Glob::new(&name.replace('\\', "\\\\").replace('*', "\\*"))
    };
    value.texts().into_iter().filter(|name| !name.is_empty()).map(exact).collect()
}

fn variable(name: &str) -> Template {
    Template::from_parts(vec![Part::Variable { name: name.to_owned(), default: None::<Secret> }])
}
