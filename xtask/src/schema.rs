//! `cargo xtask schema`: writes the JSON schemas to `docs/schema/`, that of `toolmark.toml`, that of what AG-UI says of a tool and those of what
//! stands in `_meta`; tests of their crates fail when one is stale.

use std::fs;
use std::process::ExitCode;

use clap::Args;

use crate::run::{cargo, root, say};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(&self) -> ExitCode {
        let meta = ["identity", "behavior", "names", "pack", "pin", "call", "list", "task"];
        let mut written = vec![
            write("toolmark-config", None, "toolmark.schema.json"),
            write("toolmark-agui", None, "agui-tool.schema.json"),
        ];
        written.extend(meta.map(|key| write("toolmark-gateway", Some(key), &format!("meta-{key}.schema.json"))));
        if written.iter().all(|held| *held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn write(package: &str, which: Option<&str>, name: &str) -> bool {
    let mut command = vec!["run", "--quiet", "--package", package, "--example", "schema"];
    command.extend(which.into_iter().flat_map(|which| ["--", which]));
    let printed = cargo(&command).output();
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
