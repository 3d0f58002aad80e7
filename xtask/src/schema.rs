//! `cargo xtask schema`: writes the JSON schema of `toolmark.toml` to `docs/schema/`; a test of `toolmark-config` fails when it is stale.

use std::fs;
use std::process::ExitCode;

use clap::Args;

use crate::run::{cargo, root, say};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(&self) -> ExitCode {
        let printed = cargo(&["run", "--quiet", "--package", "toolmark-config", "--example", "schema"]).output();
        let page = root().join("docs/schema/toolmark.schema.json");
        match printed {
            Ok(output) if output.status.success() => match fs::write(&page, output.stdout) {
                Ok(()) => {
                    say("wrote docs/schema/toolmark.schema.json");
                    ExitCode::SUCCESS
                }
                Err(error) => failed(&error.to_string()),
            },
            Ok(output) => failed(&String::from_utf8_lossy(&output.stderr)),
            Err(error) => failed(&error.to_string()),
        }
    }
}

fn failed(why: &str) -> ExitCode {
    say(&format!("docs/schema/toolmark.schema.json: {why}"));
    ExitCode::FAILURE
}
