//! Why a client's file on this machine is left alone.

use std::path::Path;

use serde_json::{Map, Value};
use toolmark_config::clients::{Client, Location};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::output;

/// Servers that only the client knows.
#[derive(Debug, thiserror::Error)]
#[error("`{config}` lacks {} of {}: {}", output::count(servers.len(), "server"), client.title(), listed(servers))]
pub(super) struct NotConfigured {
    client: Client,
    config: String,
    servers: Vec<String>,
}

/// A client without a file.
#[derive(Debug, thiserror::Error)]
#[error("{} has no file here", client.title())]
pub(super) struct NoFile {
    client: Client,
    places: Vec<String>,
}

impl NotConfigured {
    pub(super) fn new(client: Client, config: &Path, servers: Vec<String>) -> Self {
        Self { client, config: output::safe(&config.display().to_string()), servers }
    }
}

impl NoFile {
    pub(super) fn new(client: Client, all: &[Location]) -> Self {
        Self { client, places: all.iter().map(|location| output::safe(&location.path.display().to_string())).collect() }
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", visible(name, 80))).collect::<Vec<_>>().join(", ")
}

impl Explain for NotConfigured {
    fn code(&self) -> Code {
        Code::new("wrap-not-configured")
    }

    fn why(&self) -> String {
        "the client would lose them without a word".into()
    }

    fn fix(&self) -> String {
        "take them over first with `toolmark init`, or write them into the configuration".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("client", self.client.as_str().into()), ("servers", self.servers.as_slice().into())])
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
