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
    servers: Vec<String>,
    /// Those that the configuration has, but does not use.
    off: Vec<String>,
}

/// A client without a file.
#[derive(Debug, thiserror::Error)]
#[error("{} has no file here", client.title())]
pub(super) struct NoFile {
    client: Client,
    places: Vec<String>,
}

/// A file of which nothing was kept.
#[derive(Debug, thiserror::Error)]
#[error("there is no {}: nothing of {} was wrapped there", listed(backups), client.title())]
pub(super) struct NotWrapped {
    client: Client,
    backups: Vec<String>,
}

impl NotWrapped {
    pub(super) fn new(client: Client, backups: &[PathBuf]) -> Self {
        Self { client, backups: backups.iter().map(|path| output::safe(&path.display().to_string())).collect() }
    }
}

impl NotConfigured {
    /// Without servers to name, it is the configuration itself that is not there.
    fn what(&self) -> String {
        let (config, client) = (&self.config, self.client.title());
        let of =
            |servers: &[String]| format!("{} of {client}: {}", output::count(servers.len(), "server"), listed(servers));
        match (self.servers.as_slice(), self.off.as_slice()) {
            ([], []) => format!("there is no `{config}`, from which {client} would start Toolmark"),
            (servers, []) => format!("`{config}` lacks {}", of(servers)),
            ([], off) => format!("`{config}` has switched off {}", of(off)),
            (servers, off) => format!("`{config}` lacks {}; it has switched off {}", of(servers), listed(off)),
        }
    }

    pub(super) fn new(client: Client, config: &Path, servers: Vec<String>, off: Vec<String>) -> Self {
        Self { client, config: output::safe(&config.display().to_string()), servers, off }
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
        match self.servers.is_empty() && self.off.is_empty() {
            true => "the client would start something that ends at once",
            false => "the client would lose them without a word",
        }
        .into()
    }

    fn fix(&self) -> String {
        let fix = match (self.servers.is_empty(), self.off.is_empty()) {
            (true, true) => {
                "write a configuration first, name it with `--config`, or the address of a gateway with `--url`"
            }
            (false, true) => "take them over first with `toolmark init`, or write them into the configuration",
            (true, false) => "remove `enabled = false` there, or switch them off or remove them in the client first",
            (false, false) => {
                "take them over first with `toolmark init`, or write them into the configuration, without `enabled = false`"
            }
        };
        fix.into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("client", self.client.as_str().into()),
            ("servers", self.servers.as_slice().into()),
            ("off", self.off.as_slice().into()),
        ])
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
