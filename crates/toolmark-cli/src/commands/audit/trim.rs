//! `toolmark audit trim`: the end of old records, with the rest of each chain as verifiable as before.

use serde_json::json;

use super::{AuditTrim, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub(super) async fn run(arguments: &AuditTrim) -> Result<Exit, Failure> {
    let store = super::store(&arguments.place).await?;
    let before = arguments.before.time();
    let removed = match arguments.bodies {
        true => store.trim_bodies(before).await,
        false => store.trim_audit(before).await,
    };
    let removed = removed.map_err(failed)?;
    store.close().await.map_err(failed)?;
    if arguments.json {
        output::json(&json!({"removed": removed, "bodies_only": arguments.bodies, "before": before.to_string()}))?;
    } else {
        let what = if arguments.bodies { "the bodies of" } else { "removed" };
        let (count, ended) = (
            output::count(usize::try_from(removed).unwrap_or(usize::MAX), "row"),
            if arguments.bodies { " removed" } else { "" },
        );
        output::line(format_args!("{what} {count}{ended} from before {before}"))?;
    }
    Ok(Exit::Success)
}
