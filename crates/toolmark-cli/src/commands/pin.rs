//! `toolmark pin`: writes the marks of all tools, and says what that approves.

use serde_json::json;
use toolmark_core::drift::{Drift, Side};
use toolmark_core::lock::Lock;

use crate::cli::Pin;
use crate::commands::diff;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{file, input, output};

pub(crate) fn run(arguments: &Pin) -> Result<Exit, Failure> {
    input::require_tools(&arguments.tools.paths)?;
    let catalog = input::catalog(&arguments.tools.paths)?;
    // A lock of half the tools would make the other half look new, not broken.
    if !catalog.problems().is_empty() {
        return Err(Failure::Problems(catalog.problems().to_vec()));
    }
    let new = Lock::of(&catalog);
    let old = if arguments.lock.exists() { Some(input::lock(&arguments.lock)?) } else { None };
    let drift = old.as_ref().map(|old| Drift::between(Side::Lock(old), Side::Catalog(&catalog)));
    let same = old.as_ref() == Some(&new);
    if !same && !arguments.check {
        file::write(&arguments.lock, &new.to_string())?;
    }
    if arguments.json {
        let path = arguments.lock.display().to_string();
        output::json(&json!({
            "lock": path,
            "tools": new.len(),
            "written": !same && !arguments.check,
            "drift": drift.as_ref().map(Drift::to_json),
        }))?;
    } else {
        tell(arguments, &new, drift.as_ref(), same)?;
    }
    Ok(if arguments.check && !same { Exit::Findings } else { Exit::Success })
}

fn tell(arguments: &Pin, new: &Lock, drift: Option<&Drift>, same: bool) -> Result<(), Failure> {
    let path = arguments.lock.display();
    if let Some(drift) = drift.filter(|drift| !drift.is_empty()) {
        diff::print(drift)?;
        output::line("")?;
    }
    let tools = output::count(new.len(), "tool");
    output::line(match (same, arguments.check) {
        (true, _) => format!("{path} is up to date: {tools}"),
        (false, true) => format!("{path} would change: {tools}"),
        (false, false) => format!("wrote {path}: {tools}"),
    })?;
    Ok(())
}
