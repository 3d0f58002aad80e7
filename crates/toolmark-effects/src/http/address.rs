//! An address in parts, read the way the most careless client would read it.

use serde_json::Value;
use toolmark_core::facts::Danger;
use toolmark_core::text::visible;

use super::host;

/// The parts of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) scheme: String,
    /// What stands before `@`.
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) query: String,
    /// Characters that parsers read differently.
    pub(super) odd: bool,
}

/// Schemes that lead to web servers, or nowhere.
const WEB: &[&str] = &["http", "https", "ws", "wss", ""];
/// Parameters that hold credentials.
const CREDENTIALS: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "client_secret",
    "api_key",
    "apikey",
    "access_token",
    "auth_token",
    "private_key",
    "token",
];

impl Address {
    pub(super) fn parse(text: &str) -> Self {
        let trimmed = text.trim();
        let odd = trimmed.chars().any(|c| c.is_control() || c == '\\' || (c.is_whitespace() && c != ' '));
        let text: String =
            trimmed.chars().filter(|c| !matches!(c, '\n' | '\r' | '\t')).collect::<String>().replace('\\', "/");
        let mut address = Self { odd, ..Self::default() };
        let scheme_end = text.find(':').filter(|at| {
            text.get(..*at).is_some_and(|scheme| {
                scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                    && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            })
        });
        let rest = match scheme_end {
            Some(at)
                if text
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with("://") || !rest.starts_with(":/") && !is_port(rest)) =>
            {
                address.scheme = text.get(..at).unwrap_or_default().to_ascii_lowercase();
                text.get(at + 1..).unwrap_or_default()
            }
            Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with(":/")) => {
                // `http:/host` is a host to some clients.
                address.scheme = text.get(..at).unwrap_or_default().to_ascii_lowercase();
                address.odd = true;
                text.get(at + 1..).unwrap_or_default()
            }
            _ => text.as_str(),
        };
        let (rest, _) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        address.query = query.to_owned();
        let relative = address.scheme.is_empty() && !rest.starts_with("//");
        if relative && (rest.starts_with('/') || !looks_like_host(rest)) {
            address.path = rest.to_owned();
            return address;
        }
        if address.scheme == "file" {
            address.path = format!("/{}", rest.trim_start_matches('/'));
            return address;
        }
        let authority = rest.trim_start_matches('/');
        let (authority, path) = authority.split_once('/').unwrap_or((authority, ""));
        address.path = format!("/{path}");
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user.to_owned()), host),
            None => (None, authority),
        };
        address.user = user;
        address.host = host::without_port(host);
        address
    }

    /// Adds parameters that a tool takes apart from the address.
    pub(super) fn add_parameters(&mut self, parameters: Option<&Value>) {
        let Some(Value::Object(parameters)) = parameters else { return };
        for (name, value) in parameters.iter().take(64) {
            if !self.query.is_empty() {
                self.query.push('&');
            }
            let value = value.as_str().map_or_else(|| "1".to_owned(), |text| visible(text, 200));
            self.query.push_str(&format!("{name}={value}"));
        }
    }

    /// True when the address names a host, rather than a path on one.
    pub(super) fn names_host(&self) -> bool {
        !self.host.is_empty() || !self.scheme.is_empty()
    }

    /// The dangers of a path on a known host.
    pub(super) fn path_dangers(&self) -> Vec<Danger> {
        let mut dangers = Vec::new();
        let decoded = self
            .path
            .to_ascii_lowercase()
            .replace("%2e", ".")
            .replace("%2f", "/")
            .replace("%5c", "/")
            .replace("%25", "%");
        let decoded = decoded.replace("%2e", ".").replace("%2f", "/");
        if self.odd || decoded.split('/').any(|part| part == "..") {
            dangers.push(Danger::Escape);
        }
        let secret =
            |part: &str| matches!(part, "secrets" | ".env" | ".git" | "credentials" | "id_rsa" | ".aws" | ".ssh");
        if decoded.split('/').any(secret) {
            dangers.push(Danger::Secret);
        }
        dangers
    }

    /// The dangers of fetching it.
    pub(super) fn dangers(&self) -> Vec<Danger> {
        let mut dangers = Vec::new();
        let blank = self.scheme == "about";
        if self.odd
            || (!WEB.contains(&self.scheme.as_str()) && !blank)
            || (!blank && host::is_inside(&self.host))
            || self.climbs()
        {
            dangers.push(Danger::Escape);
        }
        if let Some(user) = &self.user {
            dangers.push(if user.contains(':') { Danger::Secret } else { Danger::Escape });
            if user.contains('.') || user.contains('/') {
                dangers.push(Danger::Escape);
            }
        }
        if self.scheme == "file" && crate::paths::is_secret(&self.path) {
            dangers.push(Danger::Secret);
        }
        let credential = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            CREDENTIALS.contains(&name.to_ascii_lowercase().as_str()) && value.len() > 3
        };
        if self.query.split('&').any(credential) {
            dangers.push(Danger::Secret);
        }
        dangers
    }

    fn climbs(&self) -> bool {
        let lower = self.path.to_ascii_lowercase();
        lower.contains("%2e%2e") || lower.contains("%252e") || lower.contains("..%2f") || lower.contains("%2f..")
    }
}

/// True when what follows a colon is a port: `localhost:8080/x` has no scheme.
fn is_port(rest: &str) -> bool {
    let digits = rest.trim_start_matches(':');
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    end > 0 && digits.get(end..).is_some_and(|after| after.is_empty() || after.starts_with(['/', '?', '#']))
}

/// True for `example.com/x`, `localhost` and `127.1`: hosts without a scheme.
fn looks_like_host(text: &str) -> bool {
    let first = text.split(['/', ':']).next().unwrap_or_default();
    first.contains('.') && !first.starts_with('.')
        || first.eq_ignore_ascii_case("localhost")
        || text.starts_with('[')
        || text.contains("@")
}
