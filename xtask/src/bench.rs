//! `cargo xtask bench`: measures the budgets and fails when one is exceeded. `cargo xtask bench gateway` measures the gateway at work,
//! `cargo xtask bench agents` runs beside those of `rig`.

mod agents;
mod gateway;

use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use crate::run::{cargo, root, say, succeeds, target};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// The gateway, beside a proxy that knows nothing of MCP
    Gateway(gateway::Gateway),
    /// Runs of agents, beside those of `rig`
    Agents(agents::Agents),
}

impl Bench {
    pub(crate) fn run(&self) -> ExitCode {
        match &self.what {
            Some(What::Gateway(gateway)) => gateway.run(),
            Some(What::Agents(agents)) => agents.run(),
            None => self.parts(),
        }
    }

    fn parts(&self) -> ExitCode {
        let catalog = succeeds(
            "cargo bench: the catalog",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-core", "--bench", "catalog"]),
        );
        let names = succeeds(
            "cargo bench: display names",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-core", "--bench", "names"]),
        );
        let policy = succeeds(
            "cargo bench: policies",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-policy", "--bench", "policy"]),
        );
        let hostile = succeeds(
            "cargo bench: hostile schemas and descriptions",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-core", "--bench", "hostile"]),
        );
        let effects = succeeds(
            "cargo bench: what arguments do",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-effects", "--bench", "analyze"]),
        );
        let gate = succeeds(
            "cargo bench: the gate",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-runtime", "--bench", "gate"]),
        );
        let audit = succeeds(
            "cargo bench: the audit",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-store", "--bench", "audit"]),
        );
        let approvals = succeeds(
            "cargo bench: approvals",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-store", "--bench", "approvals"]),
        );
        let live = succeeds(
            "cargo bench: pages that look on",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-gateway", "--bench", "live"]),
        );
        let replay = succeeds(
            "cargo bench: calls judged again",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-gateway", "--bench", "replay"]),
        );
        let agui = succeeds(
            "cargo bench: what AG-UI adds to a run",
            &mut cargo(&["bench", "--locked", "-p", "toolmark-agui", "--bench", "translate"]),
        );
        let program = program();
        let parts = [catalog, names, policy, hostile, effects, gate, audit, approvals, live, replay, agui, program];
        if parts.into_iter().all(|kept| kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The binary as people run it: `lint` over the corpus in under 1 s of CPU, `inspect` in under 30 ms.
fn program() -> bool {
    if !succeeds("cargo build --release", &mut cargo(&["build", "--release", "--locked", "-p", "toolmark-cli"])) {
        return false;
    }
    let toolmark = |arguments: &[&str]| {
        let mut command = Command::new(target().join("release/toolmark"));
        command.args(arguments).current_dir(root()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let lint = children_cpu(&mut toolmark(&["lint", "corpus/tools.jsonl", "--fail-on", "never"]));
    let inspect = (0..20).filter_map(|_| wall(&mut toolmark(&["inspect"]))).min();
    let lint = row("lint 3,354 tools, CPU", lint, Duration::from_secs(1));
    let inspect = row("inspect the demo workspace, from start to end", inspect, Duration::from_millis(30));
    lint && inspect
}

fn row(what: &str, measured: Option<Duration>, budget: Duration) -> bool {
    let Some(measured) = measured else {
        say(&format!("{what}: could not be measured"));
        return false;
    };
    let verdict = if measured <= budget { "ok" } else { "EXCEEDED" };
    let _ = writeln!(io::stdout(), "{what:<52} {measured:>12.1?} {:>12} {:>15.1?} {verdict}", "", budget);
    measured <= budget
}

fn wall(command: &mut Command) -> Option<Duration> {
    let start = Instant::now();
    command.status().ok()?.success().then(|| start.elapsed())
}

/// The processor time of a program that ran and ended: what the kernel adds to its parent's account.
fn children_cpu(command: &mut Command) -> Option<Duration> {
    let before = account()?;
    command.status().ok()?.success().then_some(())?;
    // The kernel counts in hundredths of a second.
    Some(Duration::from_millis(account()?.saturating_sub(before) * 10))
}

fn account() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}
