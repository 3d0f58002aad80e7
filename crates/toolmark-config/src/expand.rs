//! Variables replaced: the settings with which servers are really reached. A variable that is not set is an error, with its owner.

use std::fmt;

use serde_json::{Map, Value, json};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::names::PackName;

use crate::config::Config;
use crate::sections::{Pack, PackAuth};
use crate::values::{Entries, Filled, Grant, Secret, Template, Transport};

/// A configuration with its variables replaced.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// How each enabled pack is reached, in the order of the file.
    pub connections: Vec<(PackName, Connection)>,
    /// Where Toolmark remembers, if the file says so.
    pub store: Option<Secret>,
    /// Where traces are sent, and with which headers.
    pub otlp: Option<(Secret, Vec<(String, Secret)>)>,
    /// Where questions are sent, and what they are signed with.
    pub webhook: Option<(Secret, Secret)>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A program is started.
    Stdio(Stdio),
    /// An address is called.
    Http(Http),
}

/// A program that is started. Its arguments and variables may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: Secret,
    /// Its arguments.
    pub args: Vec<Secret>,
    /// Variables that it is given.
    pub env: Vec<(String, Secret)>,
    /// A file with more variables.
    pub env_file: Option<Secret>,
    /// Variables of Toolmark's own environment that it is given.
    pub inherit_env: Vec<String>,
    /// The directory in which it is started.
    pub cwd: Option<Secret>,
    /// The directories that path arguments may name.
    pub roots: Vec<String>,
}

/// An address that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// The address, in which variables may stand for what is secret.
    pub url: Filled,
    /// How it is spoken to.
    pub transport: Transport,
    /// Headers that are sent with every request.
    pub headers: Vec<(String, Secret)>,
    /// How Toolmark says who it is.
    pub auth: Option<UpstreamAuth>,
    /// A file with the certificates that the server's must lead to.
    pub ca: Option<Secret>,
    /// The directories that path arguments may name.
    pub roots: Vec<String>,
}

/// How Toolmark says who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamAuth {
    /// With this token.
    Bearer(Secret),
    /// With a token of an authorization server.
    OAuth {
        /// How the token is got.
        grant: Grant,
        /// Who Toolmark is.
        client_id: Option<Secret>,
        /// Its secret.
        client_secret: Option<Secret>,
        /// What is asked for.
        scopes: Vec<String>,
        /// The authorization server.
        issuer: Option<Secret>,
        /// Where tokens are got.
        token_url: Option<Secret>,
        /// The port to which a login returns.
        redirect_port: Option<u16>,
    },
}

/// A variable that is not set, and where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The variable.
    pub variable: String,
    /// The pack, unless the gateway itself uses it.
    pub pack: Option<PackName>,
    /// The key, such as `env.TOKEN`.
    pub key: String,
}

/// Variables that are not set and have no default. All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandConfigError {
    missing: Vec<Missing>,
}

impl Config {
    /// Replaces variables by what the environment says. Packs that are not enabled need nothing.
    ///
    /// # Errors
    /// [`ExpandConfigError`] with every variable that is not set, or set to nothing, and has no default.
    pub fn expand(&self, environment: &impl Fn(&str) -> Option<String>) -> Result<Expanded, ExpandConfigError> {
        let mut connections = Vec::new();
        let mut missing = Vec::new();
        for (name, pack) in self.packs.iter().filter(|(_, pack)| pack.enabled) {
            match pack.expand(name, environment) {
                Ok(connection) => connections.push((name.clone(), connection)),
                Err(error) => missing.extend(error.missing),
            }
        }
        self.expand_with(connections, missing, environment)
    }

    /// Replaces the variables of everything but packs, whose [`connections`](Expanded::connections) are left out. For whoever wants to go
    /// on when a pack lacks a variable.
    ///
    /// # Errors
    /// [`ExpandConfigError`] with every variable of those that is not set.
    pub fn expand_itself(&self, environment: &impl Fn(&str) -> Option<String>) -> Result<Expanded, ExpandConfigError> {
        self.expand_with(Vec::new(), Vec::new(), environment)
    }

    fn expand_with(
        &self,
        connections: Vec<(PackName, Connection)>,
        missing: Vec<Missing>,
        environment: &impl Fn(&str) -> Option<String>,
    ) -> Result<Expanded, ExpandConfigError> {
        let mut scope = Scope { environment, pack: None, missing };
        let store = scope.option("gateway.store", self.gateway.store.as_ref());
        let otlp = self.telemetry.otlp.as_ref().map(|otlp| {
            let endpoint = scope.option("telemetry.otlp.endpoint", otlp.endpoint.as_ref()).unwrap_or_default();
            (endpoint, scope.entries("telemetry.otlp.headers", &otlp.headers))
        });
        let webhook = self.approvals.webhook.as_ref().map(|webhook| {
            let url = scope.option("approvals.webhook.url", webhook.url.as_ref()).unwrap_or_default();
            (url, scope.option("approvals.webhook.secret", webhook.secret.as_ref()).unwrap_or_default())
        });
        scope.finish(Expanded { connections, store, otlp, webhook })
    }
}

impl Pack {
    /// How this pack is reached. For whoever wants the others to go on when one lacks a variable.
    ///
    /// # Errors
    /// [`ExpandConfigError`] with every variable that is not set.
    pub fn expand(
        &self,
        name: &PackName,
        environment: &impl Fn(&str) -> Option<String>,
    ) -> Result<Connection, ExpandConfigError> {
        let mut scope = Scope { environment, pack: Some(name), missing: Vec::new() };
        let roots = scope.list("roots", &self.roots).iter().map(|root| root.expose().to_owned()).collect();
        let connection = match &self.url {
            Some(url) => Connection::Http(Http {
                url: scope.filled("url", url),
                transport: self.transport.unwrap_or_default(),
                headers: scope.entries("headers", &self.headers),
                auth: self.auth.as_ref().and_then(|auth| scope.auth(auth)),
                ca: scope.option("ca", self.ca.as_ref()),
                roots,
            }),
            None => Connection::Stdio(Stdio {
                command: scope.option("command", self.command.as_ref()).unwrap_or_default(),
                args: scope.list("args", &self.args),
                env: scope.entries("env", &self.env),
                env_file: scope.option("env_file", self.env_file.as_ref()),
                inherit_env: self.inherit_env.clone(),
                cwd: scope.option("cwd", self.cwd.as_ref()),
                roots,
            }),
        };
        scope.finish(connection)
    }
}

/// What is being expanded, for whom, and what was missing so far.
struct Scope<'s, E> {
    environment: &'s E,
    pack: Option<&'s PackName>,
    missing: Vec<Missing>,
}

impl<E: Fn(&str) -> Option<String>> Scope<'_, E> {
    /// Text with missing variables stands for nothing; [`finish`](Self::finish) turns it into an error.
    fn filled(&mut self, key: &str, template: &Template) -> Filled {
        template.fill(self.environment).unwrap_or_else(|variables| {
            let pack = self.pack.cloned();
            let missing = |variable| Missing { variable, pack: pack.clone(), key: key.to_owned() };
            self.missing.extend(variables.into_iter().map(missing));
            Filled::default()
        })
    }

    fn text(&mut self, key: &str, template: &Template) -> Secret {
        self.filled(key, template).text
    }

    fn option(&mut self, key: &str, template: Option<&Template>) -> Option<Secret> {
        template.map(|template| self.text(key, template))
    }

    fn list(&mut self, key: &str, templates: &[Template]) -> Vec<Secret> {
        templates.iter().enumerate().map(|(at, template)| self.text(&format!("{key}[{at}]"), template)).collect()
    }

    fn entries(&mut self, key: &str, entries: &Entries<String, Template>) -> Vec<(String, Secret)> {
        entries.iter().map(|(name, text)| (name.clone(), self.text(&format!("{key}.{name}"), text))).collect()
    }

    fn auth(&mut self, auth: &PackAuth) -> Option<UpstreamAuth> {
        if let Some(oauth) = &auth.oauth {
            return Some(UpstreamAuth::OAuth {
                grant: oauth.grant,
                client_id: self.option("auth.oauth.client_id", oauth.client_id.as_ref()),
                client_secret: self.option("auth.oauth.client_secret", oauth.client_secret.as_ref()),
                scopes: oauth.scopes.clone(),
                issuer: self.option("auth.oauth.issuer", oauth.issuer.as_ref()),
                token_url: self.option("auth.oauth.token_url", oauth.token_url.as_ref()),
                redirect_port: oauth.redirect_port,
            });
        }
        self.option("auth.bearer", auth.bearer.as_ref()).map(UpstreamAuth::Bearer)
    }

    fn finish<T>(self, expanded: T) -> Result<T, ExpandConfigError> {
        if self.missing.is_empty() { Ok(expanded) } else { Err(ExpandConfigError { missing: self.missing }) }
    }
}

impl ExpandConfigError {
    /// Every variable that is missing.
    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pack {
            Some(pack) => write!(f, "`{}` of the pack `{pack}` is not set (`{}`)", self.variable, self.key),
            None => write!(f, "`{}` is not set (`{}`)", self.variable, self.key),
        }
    }
}

impl fmt::Display for ExpandConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.missing.iter().map(|missing| format!("the variable {missing}")).collect();
        f.write_str(&all.join("; "))
    }
}

impl std::error::Error for ExpandConfigError {}

impl Explain for ExpandConfigError {
    fn code(&self) -> Code {
        Code::new("config-variable-missing")
    }

    fn why(&self) -> String {
        "an empty text in its place would be sent as a token or a path, and fail far from here, or worse, succeed"
            .into()
    }

    fn fix(&self) -> String {
        let mut names: Vec<&str> = self.missing.iter().map(|missing| missing.variable.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let name = names.first().copied().unwrap_or("NAME");
        format!("set {} before Toolmark starts, or give a default: `${{{name}:-…}}`", names.join(", "))
    }

    fn facts(&self) -> Map<String, Value> {
        let shown = |missing: &Missing| {
            let pack = missing.pack.as_ref().map(PackName::as_str);
            json!({"variable": missing.variable, "pack": pack, "key": missing.key})
        };
        facts([("missing", self.missing.iter().map(shown).collect())])
    }
}
