//! `cargo xtask fuzz`: runs each fuzz target for a while with `cargo-fuzz`. It begins with what `fuzz/seeds` holds and what earlier runs
//! found; `cargo xtask test` checks the seeds alone, without a fuzzer.

use std::fs;
use std::process::ExitCode;

use clap::Args;

use crate::run::{cargo, ensure, exists, root, say, succeeds};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Fuzz {
    /// One target; all if left out
    target: Option<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,
}

const TARGETS: &[&str] = &[
    "names",
    "snapshot",
    "canonical",
    "schema",
    "effects_sql",
    "effects_shell",
    "effects_graphql",
    "effects_http",
    "effects_mongo",
    "effects_redis",
    "effects_cypher",
    "effects_paths",
    "effects_kubernetes",
    "effects_code",
    "effects_calls",
    "mcp_wire",
];

impl Fuzz {
    pub(crate) fn run(&self) -> ExitCode {
        if !ensure("c++", "g++") || !cargo_fuzz() {
            return ExitCode::FAILURE;
        }
        let chosen = |target: &&&str| self.target.as_deref().is_none_or(|wanted| wanted == **target);
        let targets: Vec<&&str> = TARGETS.iter().filter(chosen).collect();
        if targets.is_empty() {
            say(&format!("there is no such target; use one of {}", TARGETS.join(", ")));
            return ExitCode::FAILURE;
        }
        let held = targets.into_iter().all(|target| self.fuzz(target));
        if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn fuzz(&self, target: &str) -> bool {
        let folder = root().join("fuzz");
        // What is found goes into the first; the seeds are only read.
        let (found, seeds) = (folder.join("corpus").join(target), folder.join("seeds").join(target));
        if let Err(error) = fs::create_dir_all(&found) {
            say(&format!("{}: {error}", found.display()));
            return false;
        }
        let mut command = cargo(&["fuzz", "run", target]);
        command.arg(found).arg(seeds).arg("--").arg(format!("-max_total_time={}", self.seconds));
        command.args(["-max_len=65536", "-timeout=10", "-rss_limit_mb=2048"]);
        // Sanitizers are behind an unstable flag of the compiler; this lets the stable one use it.
        command.env("RUSTC_BOOTSTRAP", "1").current_dir(root());
        succeeds(&format!("fuzzing `{target}` for {} s", self.seconds), &mut command)
    }
}

fn cargo_fuzz() -> bool {
    exists("cargo-fuzz")
        || succeeds("installing cargo-fuzz 0.13", &mut cargo(&["install", "--locked", "cargo-fuzz@^0.13"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fuzz_target_is_run_and_has_seeds() {
        let folder = root().join("fuzz");
        let mut found: Vec<String> = fs::read_dir(folder.join("fuzz_targets"))
            .expect("the targets")
            .map(|target| target.expect("a target").path().file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        found.sort();
        let mut known = TARGETS.to_vec();
        known.sort_unstable();
        assert_eq!(found, known);
        for target in known {
            let seeds = fs::read_dir(folder.join("seeds").join(target)).map_or(0, Iterator::count);
            assert!(seeds > 0, "`{target}` has no seeds");
        }
    }
}
