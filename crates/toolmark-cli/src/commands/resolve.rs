//! `toolmark resolve`: what a name means, by the same rule as a call.

use serde_json::json;
use toolmark_core::catalog::ResolveError;
use toolmark_core::explain::Explain as _;

use crate::cli::Resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, output};

pub(crate) fn run(arguments: &Resolve) -> Result<Exit, Failure> {
    let catalog = input::without(input::catalog(&arguments.tools.paths)?, &arguments.disable)?;
    if !arguments.json {
        input::show_problems(&catalog);
    }
    match catalog.find(&arguments.name, |_| true) {
        Ok(tool) => {
            if arguments.json {
                let mut found = json!({"resolution": "found", "lookup": arguments.name, "kind": tool.kind(), "source": tool.source()});
                if let Some(object) = found.as_object_mut() {
                    object.extend(tool.identity_json());
                }
                output::json(&found)?;
            } else {
                output::line(output::safe(tool.canonical().as_str()))?;
                output::line(output::painted(
                    output::DIM,
                    format_args!("  {} tool of {}", tool.kind(), tool.source()),
                ))?;
            }
            Ok(Exit::Success)
        }
        Err(error) => {
            let (exit, word) = outcome(&error);
            if arguments.json {
                output::json(
                    &json!({"resolution": word, "lookup": arguments.name, "error": error.report().to_json()}),
                )?;
            } else {
                output::error(&error.report().to_string());
                if let Some(pack) = input::disabled_owner(&catalog, &arguments.name) {
                    output::note(&format!("the pack `{pack}` has it, but is disabled"));
                }
            }
            Ok(exit)
        }
    }
}

/// A name that means no single tool, as the end of another command.
pub(crate) fn failure(error: &ResolveError) -> Failure {
    Failure::refused(outcome(error).0, error)
}

fn outcome(error: &ResolveError) -> (Exit, &'static str) {
    match error {
        ResolveError::Ambiguous { .. } => (Exit::Ambiguous, "ambiguous"),
        ResolveError::NotFound { .. } => (Exit::NotFound, "not_found"),
    }
}
