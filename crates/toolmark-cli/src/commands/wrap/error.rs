//! Why a client's file on this machine is left alone.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toolmark_config::clients::{Client, Location};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::output;

/// Servers that only the client knows.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.what())]
pub(super) struct NotConfigured {
    client: Client,
    config: String,
    /// Whether it is there.
    configured: bool,
    lost: Lost,
}

/// What a client would not have any more, by its own names.
#[derive(Debug, Default)]
pub(super) struct Lost {
    /// Servers that the configuration does not have.
    pub(super) missing: Vec<String>,
    /// Servers that no configuration can have: their names cannot become those of packs, or they cannot be used.
    pub(super) unusable: Vec<String>,
    /// Servers in whose place the configuration has something else.
    pub(super) different: Vec<String>,
    /// Servers that the configuration has, but does not use.
    pub(super) off: Vec<String>,
}

/// An address that no client can call.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no address of a gateway")]
pub(super) struct NoAddress(String);

/// A client without a file.
#[derive(Debug, thiserror::Error)]
#[error("{} has no file here", client.title())]
pub(super) struct NoFile {
    client: Client,
    places: Vec<String>,
}

/// A file of which nothing was kept.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.what())]
pub(super) struct NotWrapped {
    client: Client,
    backups: Vec<String>,
}

impl NotWrapped {
    fn what(&self) -> String {
        let client = self.client.title();
        match self.backups.is_empty() {
            true => format!("nothing of {client} was wrapped: it keeps no file there"),
            false => format!("there is no {}: nothing of {client} was wrapped there", listed(&self.backups)),
        }
    }

    pub(super) fn new(client: Client, backups: &[PathBuf]) -> Self {
        Self { client, backups: backups.iter().map(|path| output::safe(&path.display().to_string())).collect() }
    }
}

impl Lost {
    pub(super) fn is_empty(&self) -> bool {
        self.off.is_empty() && self.different.is_empty() && self.absent().is_empty()
    }

    fn absent(&self) -> Vec<String> {
        self.missing.iter().chain(&self.unusable).cloned().collect()
    }
}

impl NoAddress {
    pub(super) fn new(url: &str) -> Self {
        Self(visible(url, 200))
    }
}

impl NotConfigured {
    /// Without servers to name, it is the configuration itself that is not there.
    fn what(&self) -> String {
        let (config, client) = (&self.config, self.client.title());
        let absent = self.lost.absent();
        let all = [
            ("lacks", &absent),
            ("has something else under the name of", &self.lost.different),
            ("has switched off", &self.lost.off),
        ];
        let mut told = all.into_iter().filter(|(_, servers)| !servers.is_empty());
        let Some((verb, servers)) = told.next() else {
            return format!("there is no `{config}`, from which {client} would start Toolmark");
        };
        let count = output::count(servers.len(), "server");
        if !self.configured && !self.lost.missing.is_empty() {
            return format!("there is no `{config}`, and {client} has {count}: {}", listed(servers));
        }
        let first = format!("`{config}` {verb} {count} of {client}: {}", listed(servers));
        told.fold(first, |before, (verb, servers)| format!("{before}; it {verb} {}", listed(servers)))
    }

    pub(super) fn new(client: Client, config: &Path, configured: bool, lost: Lost) -> Self {
        Self { client, config: output::safe(&config.display().to_string()), configured, lost }
    }
}

impl NoFile {
    pub(super) fn new(client: Client, all: &[Location]) -> Self {
        Self { client, places: all.iter().map(|location| output::safe(&location.path.display().to_string())).collect() }
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", visible(name, 300))).collect::<Vec<_>>().join(", ")
}

impl Explain for NotConfigured {
    fn code(&self) -> Code {
        Code::new("wrap-not-configured")
    }

    fn why(&self) -> String {
        match self.lost.is_empty() {
            true => "the client would start something that ends at once",
            false => "the client would lose them without a word",
        }
        .into()
    }

    fn fix(&self) -> String {
        let Lost { missing, unusable, different, off } = &self.lost;
        let mut all: Vec<String> = Vec::new();
        match (missing.is_empty(), off.is_empty()) {
            (true, true) => {}
            (false, true) => {
                all.push("take them over first with `toolmark init`, or write them into the configuration".into());
            }
            (true, false) => all.push(
                "remove `enabled = false` there, or switch them off or remove them in the client first".into(),
            ),
            (false, false) => all.push(
                "take them over first with `toolmark init`, or write them into the configuration, without `enabled = false`"
                    .into(),
            ),
        }
        if !different.is_empty() {
            all.push(format!(
                "make {} the same in both files, or write what the client has into the configuration as `NAME-{}`",
                listed(different),
                self.client
            ));
        }
        if !unusable.is_empty() {
            all.push(format!(
                "rename, repair or remove {} in the client, which no pack can be made of",
                listed(unusable)
            ));
        }
        if all.is_empty() {
            all.push(
                "write a configuration first, name it with `--config`, or the address of a gateway with `--url`".into(),
            );
        }
        all.join("; ")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("client", self.client.as_str().into()),
            ("servers", self.lost.absent().into()),
            ("different", self.lost.different.as_slice().into()),
            ("off", self.lost.off.as_slice().into()),
        ])
    }
}

impl Explain for NoAddress {
    fn code(&self) -> Code {
        Code::new("gateway-url")
    }

    fn why(&self) -> String {
        "the client would have no servers at all".into()
    }

    fn fix(&self) -> String {
        "write it as `http://127.0.0.1:7319/mcp`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("url", self.0.as_str().into())])
    }
}

impl Explain for NotWrapped {
    fn code(&self) -> Code {
        Code::new("unwrap-record")
    }

    fn why(&self) -> String {
        "without it nobody knows what a file was; no file was changed".into()
    }

    fn fix(&self) -> String {
        "say what was wrapped with `--file`, `--project` or `--home`; an entry `toolmark` that was written by hand is removed by hand".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("client", self.client.as_str().into()), ("backups", self.backups.as_slice().into())])
    }
}

impl Explain for NoFile {
    fn code(&self) -> Code {
        Code::new("wrap-no-file")
    }

    fn why(&self) -> String {
        match self.places.as_slice() {
            [] => format!("{} keeps no servers for one project", self.client.title()),
            places => format!("it is looked for at {}", places.join(", ")),
        }
    }

    fn fix(&self) -> String {
        "start the client once, name its file with `--file`, or the directory with `--project` or `--home`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("client", self.client.as_str().into()), ("places", self.places.as_slice().into())])
    }
}
