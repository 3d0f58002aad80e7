//! `cargo xtask index`: writes the list of error pages into `docs/errors/README.md`; the test of the pages fails when it is stale.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use crate::run::{root, say};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Index {}

const BEGIN: &str = "<!-- index: begin -->";
const END: &str = "<!-- index: end -->";

impl Index {
    pub(crate) fn run(&self) -> ExitCode {
        match write(&root().join("docs/errors")) {
            Ok(count) => {
                say(&format!("docs/errors/README.md lists {count} pages"));
                ExitCode::SUCCESS
            }
            Err(error) => {
                say(&format!("docs/errors: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}

fn write(folder: &Path) -> io::Result<usize> {
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if name == "README" || path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let summary = text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
        rows.push(format!("| [{name}]({name}.md) | {summary} |"));
    }
    rows.sort();
    let page = folder.join("README.md");
    let text = fs::read_to_string(&page)?;
    let missing = || io::Error::other(format!("README.md has no `{BEGIN}` … `{END}`"));
    let (before, rest) = text.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    let table = format!("| code | in one line |\n|---|---|\n{}", rows.join("\n"));
    fs::write(&page, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    Ok(rows.len())
}
