//! `toolmark resolve`: what a name means, by the same rule as a call.

use clap::Args;
use serde_json::json;
use toolmark_core::catalog::ResolveError;
use toolmark_core::explain::Explain as _;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::Place;
use crate::workspace::Written;
use crate::{input, output, place};

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// A canonical name `pack.tool`, or a short name `tool`
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Leave out a pack; may be repeated
    #[arg(long, value_name = "PACK")]
    pub(crate) disable: Vec<String>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &Resolve) -> Result<Exit, Failure> {
    let written = Written::find(arguments.place.config.as_deref())?;
    let catalog = place::tools(&written, &arguments.tools.paths, arguments.place.store.name.as_deref())?;
    let catalog = input::without(catalog, &arguments.disable)?;
    let exit = if arguments.json { input::exit_of(&catalog) } else { input::show_problems(&catalog) };
    match catalog.find(&arguments.name, |_| true) {
        Ok(tool) => {
            if arguments.json {
                let mut found = json!({"resolution": "found", "lookup": arguments.name, "kind": tool.kind(), "source": tool.source()});
                if let Some(object) = found.as_object_mut() {
                    object.extend(tool.identity_json());
                    object.insert("problems".into(), input::problems_json(&catalog));
                }
                output::json(&found)?;
            } else {
                output::line(output::safe(tool.canonical().as_str()))?;
                output::line(output::painted(
                    output::DIM,
                    format_args!("  {} tool of {}", tool.kind(), tool.source()),
                ))?;
            }
            Ok(exit)
        }
        Err(error) => {
            let (exit, word) = outcome(&error);
            if arguments.json {
                output::json(
                    &json!({"resolution": word, "lookup": arguments.name, "error": error.report().to_json(), "problems": input::problems_json(&catalog)}),
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
