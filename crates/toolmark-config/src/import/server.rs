//! One server as some client writes it, as a pack. A key without a counterpart is noted by name, never by value.

use std::collections::HashMap;
use std::time::Duration;

use toolmark_core::display::LanguageTag;
use toolmark_core::names::RawName;
use toolmark_core::text::visible;
use toolmark_policy::pattern::Glob;

use super::error::Refused;
use super::{File, texts, variables};
use crate::clients::Client;
use crate::sections::{OAuth, Pack, PackAuth, Tool, is_header, is_of_transport, is_web_address, unsendable};
use crate::tree::{Entry, Tree, Value};
use crate::values::{Entries, Grant, Localized, Part, Secret, Template, Transport, is_environment_name, is_variable};

/// Keys that say nothing that Toolmark would have to know.
const OF_NO_CONSEQUENCE: &[&str] =
    &["description", "name", "id", "gallery", "version", "icon", "dev", "metadata", "_comment"];

/// Reads a server; what makes it unusable is noted.
pub(super) fn read(file: &mut File<'_>, key: &str, server: &Tree) -> Option<Pack> {
    let own = own_variables(file.client, server);
    let required = file.found.required.len();
    let mut reader = Reader {
        file,
        key,
        own,
        pack: Pack::default(),
        kind: None,
        bearer: None,
        of_variables: Vec::new(),
        wrong: Vec::new(),
        first_wrong: None,
    };
    for entry in server.entries() {
        reader.field(entry);
    }
    reader.join_headers(server.span.start);
    let Reader { mut pack, kind, bearer, file, wrong, first_wrong, .. } = reader;
    if let Some(at) = first_wrong {
        file.refuse(at, &Refused::Settings { key: key.to_owned(), what: wrong });
        file.found.required.truncate(required);
        return None;
    }
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
        (None, Some(_)) if stdio => Some("it is said to be a program, and has only an address"),
        (Some(_), None) if !stdio && kind.is_some() => Some("it is said to be an address, and has only a program"),
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
        file.found.required.truncate(required);
        return None;
    }
    tidy(&mut pack, kind.as_deref());
    let unsendable: Vec<String> =
        unsendable(&pack).into_iter().map(|(_, setting, why)| format!("`{}`: {why}", visible(&setting, 60))).collect();
    if !unsendable.is_empty() {
        file.refuse(server.span.start, &Refused::Settings { key: key.to_owned(), what: unsendable });
        file.found.required.truncate(required);
        return None;
    }
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
    /// Settings that cannot be read and without which the server would be another one, by name and never by value.
    wrong: Vec<String>,
    first_wrong: Option<usize>,
}

impl Reader<'_, '_> {
    /// Nothing in place of a value is no value.
    fn field(&mut self, entry: &Entry) {
        let value = &entry.value;
        if matches!(value.value, Value::Null) {
            return;
        }
        match entry.key.as_str() {
            "type" | "transport" | "transportType" => match value.text().and_then(kind_of) {
                Some(kind) => self.kind = Some(kind.into()),
                None => self.wrong(entry, &entry.key, "is no kind of server that is known"),
            },
            "command" => self.command(entry),
            "args" => {
                let more = self.list(entry);
                self.pack.args.extend(more);
            }
            "env" => self.pack.env = self.table(entry, value, is_environment_name),
            "envFile" | "env_file" => self.pack.env_file = self.setting(entry),
            "env_vars" => match names(value) {
                Some(names) => self.pack.inherit_env = names,
                None => self.wrong(entry, &entry.key, "is no list of names of variables"),
            },
            "cwd" => self.pack.cwd = self.setting(entry),
            "url" => {
                self.pack.url = self.setting(entry);
                // Gemini CLI calls the address of an old server `url` and that of a new one `httpUrl`.
                if self.file.client == Client::GeminiCli && self.kind.is_none() {
                    self.kind = Some("sse".into());
                }
            }
            "serverUrl" | "httpUrl" => {
                self.pack.url = self.setting(entry);
                self.kind = Some("http".into());
            }
            "headers" | "http_headers" | "requestInit" => self.headers(entry),
            "env_http_headers" => self.headers_of_variables(entry),
            "bearer_token_env_var" => match value.text().filter(|name| is_variable(name)) {
                Some(name) => self.bearer = Some(variable(name)),
                None => self.wrong(entry, &entry.key, "is no name of a variable"),
            },
            "bearer_token" => self.bearer = self.setting(entry),
            "oauth" | "auth" => self.oauth(entry),
            "disabled" | "enabled" => match value.value {
                Value::Bool(said) => self.pack.enabled &= said == (entry.key == "enabled"),
                _ => self.wrong(entry, &entry.key, "is neither true nor false"),
            },
            "includeTools" | "enabled_tools" => self.only(entry),
            "displayName" => self.pack.display_name = localized(value),
            "signalText" => self.pack.spoken = localized(value),
            // Other clients mean other things by `tools`; only what has names is taken.
            "tools" if value.entries().iter().any(|tool| has_names(&tool.value)) => self.tools(value),
            "excludeTools" | "disabled_tools" | "disabledTools" => {
                let more = self.globs(entry).unwrap_or_default();
                self.pack.deny.extend(more);
            }
            "timeout" | "startup_timeout_ms" | "startup_timeout_sec" | "tool_timeout_sec" => self.timeout(entry),
            key if OF_NO_CONSEQUENCE.contains(&key) => {}
            key => self.left_out(entry.at, key),
        }
    }

    fn left_out(&mut self, at: usize, key: &str) {
        let text = format!("`{}` of `{}` has no counterpart and was left out", visible(key, 60), visible(self.key, 80));
        self.file.note(at, text);
    }

    /// A setting that cannot be read and that must not be left out.
    fn wrong(&mut self, entry: &Entry, setting: &str, what: &str) {
        self.first_wrong.get_or_insert(entry.at);
        self.wrong.push(format!("`{}` {what}", visible(setting, 60)));
    }

    /// A program; some clients write it as a list with its arguments.
    fn command(&mut self, entry: &Entry) {
        if let Value::List(_) = entry.value.value {
            let mut parts = self.list(entry).into_iter();
            self.pack.command = parts.next();
            self.pack.args.splice(0..0, parts);
        } else {
            self.pack.command = self.setting(entry);
        }
    }

    fn text(&mut self, value: &Tree, own: &[String]) -> Option<Template> {
        scalar(value).map(|text| variables::template(self.file, value.span.start, &text, own))
    }

    fn setting(&mut self, entry: &Entry) -> Option<Template> {
        let read = self.text(&entry.value, &[]);
        if read.is_none() {
            self.wrong(entry, &entry.key, "is no text");
        }
        read
    }

    fn list(&mut self, entry: &Entry) -> Vec<Template> {
        let own = std::mem::take(&mut self.own);
        let read: Option<Vec<Template>> = match &entry.value.value {
            Value::List(items) => items.iter().map(|item| self.text(item, &own)).collect(),
            _ => None,
        };
        self.own = own;
        if read.is_none() {
            self.wrong(entry, &entry.key, "is no list of texts");
        }
        read.unwrap_or_default()
    }

    /// The texts of a table, which is the value of the entry or stands in it.
    fn table(&mut self, entry: &Entry, value: &Tree, legal: impl Fn(&str) -> bool) -> Entries<String, Template> {
        if !matches!(value.value, Value::Table(_)) {
            self.wrong(entry, &entry.key, "is no table of names and texts");
        }
        let mut read: Vec<(String, Template)> = Vec::new();
        let last: HashMap<&str, usize> =
            value.entries().iter().enumerate().map(|(at, one)| (one.key.as_str(), at)).collect();
        for (at, one) in value.entries().iter().enumerate() {
            if !legal(&one.key) {
                self.no_name(one);
            } else if last.get(one.key.as_str()) == Some(&at) {
                match self.text(&one.value, &[]) {
                    Some(text) => read.push((one.key.clone(), text)),
                    None => self.wrong(one, &format!("{}.{}", entry.key, one.key), "is no text"),
                }
            }
        }
        Entries::new(read)
    }

    fn no_name(&mut self, entry: &Entry) {
        let text = format!("`{}` of `{}` is no name that can be used", visible(&entry.key, 60), visible(self.key, 80));
        self.file.note(entry.at, text);
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
        let mut value = Some(&entry.value);
        if entry.key == "requestInit" {
            if !matches!(entry.value.value, Value::Table(_)) {
                return self.wrong(entry, &entry.key, "is no table of settings");
            }
            for other in entry.value.entries().iter().filter(|other| other.key != "headers") {
                self.left_out(other.at, &format!("requestInit.{}", other.key));
            }
            value = entry.value.get("headers").filter(|value| !matches!(value.value, Value::Null));
        }
        let Some(value) = value else { return };
        let more = self.table(entry, value, is_header);
        for of_transport in value.entries().iter().filter(|one| is_of_transport(&one.key)) {
            self.left_out(of_transport.at, &format!("{}.{}", entry.key, of_transport.key));
        }
        self.add_headers(Entries::new(more.into_iter().filter(|(name, _)| !is_of_transport(name)).collect()));
    }

    fn headers_of_variables(&mut self, entry: &Entry) {
        if !matches!(entry.value.value, Value::Table(_)) {
            return self.wrong(entry, &entry.key, "is no table of headers and variables");
        }
        for one in entry.value.entries() {
            match one.value.text().filter(|name| is_variable(name)) {
                _ if !is_header(&one.key) => self.no_name(one),
                _ if is_of_transport(&one.key) => self.left_out(one.at, &format!("{}.{}", entry.key, one.key)),
                Some(name) => self.of_variables.push((one.key.clone(), variable(name))),
                None => self.wrong(one, &format!("{}.{}", entry.key, one.key), "is no name of a variable"),
            }
        }
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

    /// Names of tools, exactly as they stand; a star in them is one. Gemini CLI also writes `name(arguments)`.
    fn globs(&mut self, entry: &Entry) -> Option<Vec<Glob>> {
        let exact = |name: String| {
            let name = name.split('(').next().unwrap_or_default().to_owned();
            Glob::new(&name.replace('\\', "\\\\").replace('*', "\\*"))
        };
        let names = texts(&entry.value);
        if names.is_none() {
            self.wrong(entry, &entry.key, "is no list of names of tools");
        }
        Some(names?.into_iter().filter(|name| !name.is_empty()).map(exact).collect())
    }

    /// The only tools that are used. A list without any allows none, and never all.
    fn only(&mut self, entry: &Entry) {
        let Some(names) = self.globs(entry) else { return };
        if names.is_empty() {
            self.pack.enabled = false;
            let (list, server) = (visible(&entry.key, 60), visible(self.key, 80));
            self.file.note(entry.at, format!("`{list}` of `{server}` allows no tool, so the pack is switched off"));
        } else {
            self.pack.allow = Some(names);
        }
    }

    fn oauth(&mut self, entry: &Entry) {
        const ID: &[&str] = &["clientId", "client_id", "CLIENT_ID"];
        const SECRET: &[&str] = &["clientSecret", "client_secret", "CLIENT_SECRET"];
        let there: Vec<&Entry> =
            entry.value.entries().iter().filter(|one| !matches!(one.value.value, Value::Null)).collect();
        if !there.iter().any(|one| ID.contains(&one.key.as_str()) || SECRET.contains(&one.key.as_str())) {
            return self.left_out(entry.at, &entry.key);
        }
        let mut oauth = OAuth { grant: Grant::AuthorizationCode, ..OAuth::default() };
        for one in there {
            let name = format!("{}.{}", entry.key, one.key);
            match one.key.as_str() {
                "scopes" => match texts(&one.value) {
                    Some(scopes) => oauth.scopes = scopes,
                    None => self.wrong(one, &name, "is no list of texts"),
                },
                key if ID.contains(&key) || SECRET.contains(&key) => {
                    let text = self.text(&one.value, &[]);
                    if text.is_none() {
                        self.wrong(one, &name, "is no text");
                    }
                    *(if ID.contains(&key) { &mut oauth.client_id } else { &mut oauth.client_secret }) = text;
                }
                _ => self.left_out(one.at, &name),
            }
        }
        self.pack.auth = Some(PackAuth { bearer: None, oauth: Some(oauth) });
    }

    /// Seconds in Codex, milliseconds in the others.
    fn timeout(&mut self, entry: &Entry) {
        let factor = if entry.key.ends_with("_sec") { 1000.0 } else { 1.0 };
        let milliseconds = match &entry.value.value {
            Value::Number(number) => number.parse::<f64>().ok().map(|number| number * factor),
            _ => None,
        };
        let Some(milliseconds) = milliseconds.filter(|value| (1.0..=86_400_000.0).contains(value)) else {
            let (setting, server) = (visible(&entry.key, 60), visible(self.key, 80));
            let text = format!("`{setting}` of `{server}` is no time of at most a day, and was left out");
            return self.file.note(entry.at, text);
        };
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
fn kind_of(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().replace(['-', '_', ' '], "").as_str() {
        "sse" => Some("sse"),
        "stdio" | "local" => Some("stdio"),
        "http" | "https" | "streamablehttp" | "streamable" | "httpstream" | "remote" => Some("http"),
        _ => None,
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

/// Names of variables, as texts or as tables with a name.
fn names(value: &Tree) -> Option<Vec<String>> {
    let Value::List(items) = &value.value else { return None };
    let name = |item: &Tree| item.text().or_else(|| item.get("name").and_then(Tree::text)).map(ToOwned::to_owned);
    items.iter().map(|item| name(item).filter(|name| is_environment_name(name))).collect()
}

fn variable(name: &str) -> Template {
    Template::from_parts(vec![Part::Variable { name: name.to_owned(), default: None::<Secret> }])
}
