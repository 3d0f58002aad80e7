//! `cargo xtask schema`: writes the JSON schemas to `docs/schema/`, that of `toolmark.toml` and that of what AG-UI says of a tool; tests of their
//! crates fail when one is stale.

use std::fs;
use std::process::ExitCode;

use clap::Args;

use crate::run::{cargo, root, say};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(&self) -> ExitCode {
        let all = [("toolmark-config", "toolmark.schema.json"), ("toolmark-agui", "agui-tool.schema.json")];
        let written = all.map(|(package, page)| write(package, page));
        if written.iter().all(|held| *held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn write(package: &str, name: &str) -> bool {
    let printed = cargo(&["run", "--quiet", "--package", package, "--example", "schema"]).output();
    let written = match printed {
        Ok(output) if output.status.success() => {
            fs::write(root().join("docs/schema").join(name), output.stdout).map_err(|error| error.to_string())
        }
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    };
    match &written {
        Ok(()) => say(&format!("wrote docs/schema/{name}")),
        Err(why) => say(&format!("docs/schema/{name}: {why}")),
    }
    written.is_ok()
}
