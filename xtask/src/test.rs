//! `cargo xtask test`: everything that must hold before a change lands.

use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use clap::Args;

use crate::agui;
use crate::conformance::{fixture_passes, gateway_passes};
use crate::console;
use crate::e2e;
use crate::live;
use crate::postgres;
use crate::run::{cargo, ensure, exists, say, succeeds};
use crate::vectors::Vectors;

/// The command and its options.
#[derive(Args)]
pub(crate) struct Test {
    /// Stop at the first step that fails
    #[arg(long)]
    fail_fast: bool,
    /// Ask a real model too; it is compiled first, which takes a while
    #[arg(long)]
    live: bool,
    /// Only the steps whose names hold this
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
}

/// One step: what it is, whether it held, and the program that it cannot do without and that is not installed for it.
struct Step {
    what: &'static str,
    held: fn() -> bool,
    needs: Option<&'static str>,
}

const fn step(what: &'static str, held: fn() -> bool) -> Step {
    Step { what, held, needs: None }
}

const STEPS: &[Step] = &[
    step("the code is formatted", formatted),
    step("clippy has nothing to say", linted),
    step("all tests pass", tested),
    step("all tests pass with PostgreSQL", postgres::tested),
    step("every crate builds alone", alone),
    step("the documentation builds", documented),
    step("the vectors hold", vectors),
    step("the fuzz targets build", fuzz_targets),
    Step { needs: Some("npm"), ..step("the fixture passes the conformance suite", fixture_passes) },
    Step { needs: Some("npm"), ..step("the fixture passes it behind the gateway too", gateway_passes) },
    Step { needs: Some("npm"), ..step("real servers and clients work through the gateway", e2e::holds) },
    Step { needs: Some("npm"), ..step("the console works in a browser", console::works) },
    Step { needs: Some("npm"), ..step("the AG-UI client accepts what agents send", agui::holds) },
];

/// How many tests of a program run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// The step that must be asked for.
const LIVE: Step = step("a real model answers", live::answers);

impl Test {
    pub(crate) fn run(&self) -> ExitCode {
        let start = Instant::now();
        let mut failed = Vec::new();
        let mut passed = 0;
        let mut left_out = 0;
        let mut times = Vec::new();
        for Step { what, held, needs } in STEPS.iter().chain(self.live.then_some(&LIVE)) {
            if !self.only.is_empty() && !self.only.iter().any(|text| what.contains(text.as_str())) {
                left_out += 1;
                continue;
            }
            if let Some(program) = needs.filter(|program| !exists(program)) {
                say(&format!("LEFT OUT: whether {what}, since `{program}` is not there"));
                left_out += 1;
                continue;
            }
            say(&format!("checking that {what}"));
            let began = Instant::now();
            let held = held();
            times.push((began.elapsed(), *what));
            if held {
                passed += 1;
                continue;
            }
            failed.push(*what);
            if self.fail_fast {
                break;
            }
        }
        for (time, what) in &times {
            say(&format!("{:>5.0?} {what}", time));
        }
        for what in &failed {
            say(&format!("FAILED: {what}"));
        }
        say(&format!("took {:.0?}", start.elapsed()));
        let unchecked = if left_out > 0 { format!(", {left_out} left out") } else { String::new() };
        let _ = writeln!(io::stdout(), "{passed} passed, {} failed{unchecked}", failed.len());
        if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn formatted() -> bool {
    succeeds("cargo fmt --check", &mut cargo(&["fmt", "--all", "--check"]))
}

fn linted() -> bool {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"];
    succeeds("cargo clippy", &mut cargo(&arguments))
}

fn tested() -> bool {
    // Plain `cargo test` kills gateways during a few hundred calls; here it is as many as the promise was made for.
    let mut command = cargo(&["test", "--workspace", "--locked", "--quiet", "--no-fail-fast"]);
    command.env("TOOLMARK_CRASH_CALLS", "10000");
    // Many of them wait for others most of the time.
    if std::env::var_os(THREADS).is_none() {
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        command.env(THREADS, (processors * 2).to_string());
    }
    succeeds("cargo test", &mut command)
}

/// Features that another crate switches on must not be what makes a crate compile.
fn alone() -> bool {
    let crates = [
        "toolmark-core",
        "toolmark-tls",
        "toolmark-effects",
        "toolmark-lint",
        "toolmark-policy",
        "toolmark-config",
        "toolmark-runtime",
        "toolmark-macros",
        "toolmark-models",
        "toolmark-agents",
        "toolmark-agui",
        "toolmark-mcp",
        "toolmark-store",
        "toolmark-gateway",
        "toolmark",
        "toolmark-testkit",
        "toolmark-fixture",
        "toolmark-bench",
        "toolmark-cli",
    ];
    crates.iter().all(|name| {
        succeeds(&format!("cargo check -p {name}"), &mut cargo(&["check", "--locked", "--quiet", "-p", name]))
    })
}

fn documented() -> bool {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    succeeds("cargo doc", command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn vectors() -> bool {
    Vectors::of_the_repository().succeeds()
}

fn fuzz_targets() -> bool {
    let arguments =
        ["check", "--locked", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"];
    ensure("c++", "g++") && succeeds("cargo check in fuzz/", &mut cargo(&arguments))
}
