//! How is a server reached, and what is wanted of it? Everything that can be known to be wrong is found before it is started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use sha2::{Digest as _, Sha256};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_core::tool::Source;
use toolmark_runtime::tools::{Namespace, Strict};
use toolmark_tls::Trust;

use super::connection::Connection;
use super::{Inner, McpServer, McpServerError, Settings};
use crate::upstream::{ConnectOptions, Credentials, Target, UpstreamLimits, minimal_environment};

/// A server to be.
pub struct McpServerBuilder {
    pack: String,
    description: String,
    way: Way,
    credentials: Option<Arc<dyn Credentials>>,
    ca: Option<PathBuf>,
    limits: UpstreamLimits,
    settings: Settings,
}

enum Way {
    Program {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        inherited: Option<Vec<(OsString, OsString)>>,
        cwd: Option<PathBuf>,
    },
    Address {
        url: String,
        headers: Vec<(String, String)>,
    },
}

impl McpServerBuilder {
    fn new(pack: String, way: Way) -> Self {
        let limits = UpstreamLimits::default();
        let settings = Settings {
            timeout: limits.request,
            only: None,
            without: Vec::new(),
            strict: Strict::Never,
            structured: false,
        };
        Self { pack, description: String::new(), way, credentials: None, ca: None, limits, settings }
    }

    pub(super) fn program(pack: String, command: String) -> Self {
        let way = Way::Program { command, args: Vec::new(), env: BTreeMap::new(), inherited: None, cwd: None };
        Self::new(pack, way)
    }

    pub(super) fn at(pack: String, url: String) -> Self {
        Self::new(pack, Way::Address { url, headers: Vec::new() })
    }

    /// What models read about the pack.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// One more argument of the program.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        if let Way::Program { args, .. } = &mut self.way {
            args.push(argument.into());
        }
        self
    }

    /// More arguments of the program.
    #[must_use]
    pub fn args<A: Into<String>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// A variable that the program sees. Beside these it sees `PATH`, `HOME`, `USER`, `LANG`, `LC_ALL`, `TZ` and `TMPDIR`, and
    /// nothing else of this process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Way::Program { env, .. } = &mut self.way {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// What the program sees in place of those few variables of this process.
    #[must_use]
    pub fn inherit(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        if let Way::Program { inherited, .. } = &mut self.way {
            *inherited = Some(variables.into_iter().collect());
        }
        self
    }

    /// The folder that the program runs in.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Way::Program { cwd, .. } = &mut self.way {
            *cwd = Some(folder.into());
        }
        self
    }

    /// A header of every request to an address.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Way::Address { headers, .. } = &mut self.way {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// The token that an address is shown.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// What says who we are, where that changes while a connection lasts.
    #[must_use]
    pub fn credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// A PEM file with the certificates that the server's must lead to, in place of those that this machine believes.
    #[must_use]
    pub fn ca(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca = Some(file.into());
        self
    }

    /// How long a call may take: a minute, unless this says otherwise.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// What the server may cost beyond that.
    #[must_use]
    pub fn limits(mut self, limits: UpstreamLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Only these of its tools. One that it does not have is an error.
    #[must_use]
    pub fn only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.settings.only.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// All but these of its tools.
    #[must_use]
    pub fn without<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.settings.without.extend(names.into_iter().map(Into::into));
        self
    }

    /// Whether providers hold models to the schemas; they do not, unless this says so: a strict form demands optional arguments too.
    #[must_use]
    pub fn strict(mut self, strict: Strict) -> Self {
        self.settings.strict = strict;
        self
    }

    /// Gives models the structured content of results in place of their texts, where there is one.
    #[must_use]
    pub fn structured(mut self, structured: bool) -> Self {
        self.settings.structured = structured;
        self
    }

    /// Checks everything. Nothing is started yet.
    ///
    /// # Errors
    /// [`McpServerError`] when the name, the address, a header or the certificates cannot be used.
    pub fn build(self) -> Result<McpServer, McpServerError> {
        let name: PackName = self.pack.parse()?;
        let server = || visible(&self.pack, 200);
        let (target, source, inherited) = match self.way {
            Way::Program { command, .. } if command.trim().is_empty() => {
                return Err(McpServerError::Command { server: server() });
            }
            Way::Program { command, args, env, inherited, cwd } => {
                let source = of_program(&command, &args);
                let inherited = inherited.unwrap_or_else(|| minimal_environment(std::env::vars_os()));
                (Target::Stdio { command, args, env, cwd }, source, inherited)
            }
            Way::Address { url, headers } => {
                let refuse = |reason: &str| McpServerError::Address { server: server(), reason: reason.to_owned() };
                let url: Uri = url.parse().map_err(|_| refuse("it is no address"))?;
                if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none() {
                    return Err(refuse("it does not begin with `https://` and a host"));
                }
                if self.ca.is_some() && url.scheme_str() != Some("https") {
                    return Err(refuse("certificates are named for it, and it is called without encryption"));
                }
                let mut all = HeaderMap::new();
                for (name, value) in headers {
                    let shown = visible(&name, 100);
                    let refuse = || McpServerError::Header { server: server(), header: shown.clone() };
                    let name = HeaderName::try_from(name).map_err(|_| refuse())?;
                    let mut value = HeaderValue::try_from(value).map_err(|_| refuse())?;
                    value.set_sensitive(true);
                    all.append(name, value);
                }
                let source = of_address(&url);
                (Target::Http { url, headers: all }, source, Vec::new())
            }
        };
        let trust = match (&self.ca, &target) {
            (Some(file), Target::Http { .. }) => Trust::read(file)?,
            // A program shows no certificate, as it takes no header.
            _ => Trust::machine(),
        };
        // The pipeline gives up first, so that the call ends as one that took too long.
        let request = self.settings.timeout.saturating_add(Duration::from_secs(1));
        let options = ConnectOptions {
            inherited,
            credentials: self.credentials,
            trust,
            limits: UpstreamLimits { request, ..self.limits },
            ..ConnectOptions::default()
        };
        let namespace = Arc::new(Namespace::new(name, &self.description, source));
        Ok(McpServer(Arc::new(Inner {
            namespace,
            target,
            options,
            settings: self.settings,
            connection: tokio::sync::Mutex::new(Connection::default()),
            live: RwLock::new(None),
        })))
    }
}

/// Tells a program with its arguments from others. Arguments may hold secrets: only a digest of them is in the name.
fn of_program(command: &str, args: &[String]) -> Source {
    let program = command.rsplit('/').next().unwrap_or_default();
    let digest = Sha256::digest(args.join("\0").as_bytes());
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Source::new(&format!("stdio:{program}#{short}"))
}

/// An address without whoever logs in there and without its query.
fn of_address(url: &Uri) -> Source {
    let host = url.authority().map(|authority| authority.as_str().rsplit('@').next().unwrap_or_default());
    Source::new(&format!("{}://{}{}", url.scheme_str().unwrap_or("http"), host.unwrap_or_default(), url.path()))
}

impl fmt::Debug for McpServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerBuilder").field("pack", &self.pack).finish_non_exhaustive()
    }
}
