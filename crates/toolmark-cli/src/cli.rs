//! The command line: what can be asked, in one place.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toolmark_core::exposure::{Mode, ProfileName};
use toolmark_core::gate::Preset;
use toolmark_core::severity::Severity;

use crate::commands::approvals::ApprovalsCommand;
use crate::commands::audit::Audit;
use crate::commands::audit::when::When;
use crate::commands::call::CallTool;
use crate::commands::config::Configuration;
use crate::commands::init::Init;
use crate::commands::login::{LoginArguments, LogoutArguments};
use crate::commands::pins::PinsCommand;
use crate::commands::replay::ReplayCalls;
use crate::commands::store::StoreCommand;
use crate::commands::token::TokenCommand;
use crate::commands::tools::ListTools;
use crate::commands::wrap::{Unwrap, Wrap};
use crate::exit;

const ABOUT: &str = "Which tool did the agent really call, and may it? Runs a gateway in front of MCP servers, and inspects, checks and explains \
their tools and calls.";

/// Which tool did the agent really call, and may it?
#[derive(Debug, Parser)]
#[command(name = "toolmark", version, about = ABOUT, after_help = exit::TABLE, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway: one pipeline in front of every configured MCP server
    Up(Up),
    /// Run the gateway for one client, over standard input and output
    Stdio(Stdio),
    /// List the tools of a running gateway
    Tools(ListTools),
    /// Call a tool through a running gateway
    Call(CallTool),
    /// Work with the tokens that let callers in
    #[command(subcommand)]
    Token(TokenCommand),
    /// Decide about calls that wait for a person, and see what was decided
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Work with what the gateway remembers: bring it up to date, take it along
    #[command(subcommand)]
    Store(StoreCommand),
    /// Show who called what and what became of it; verify, export and trim that record
    Audit(Box<Audit>),
    /// Judge recorded calls again under another policy, and show what would change
    Replay(Box<ReplayCalls>),
    /// Log in to the server of a pack that asks for OAuth
    Login(LoginArguments),
    /// Forget the login of a pack
    Logout(LogoutArguments),
    /// Show all tools as a table, or everything that identifies one of them
    Inspect(Inspect),
    /// Say which tool a name means, or which it could mean
    Resolve(Resolve),
    /// Find tools that can be confused, that hide something, or that a client will not take
    Lint(Lint),
    /// Write `toolmark.lock`: the marks of all tools as they are now
    Pin(Pin),
    /// Show which tools a gateway has pinned, what changed since, and accept it
    #[command(subcommand)]
    Pins(PinsCommand),
    /// Show what changed between two snapshots, or since the lock was written
    Diff(Diff),
    /// Say what would happen to one call, and why, without calling
    Explain(Explain),
    /// Work with rules and Cedar policies
    #[command(subcommand)]
    Policy(Policy),
    /// Record what approved runs of a task do, to hold later runs against
    #[command(subcommand)]
    Baseline(Baseline),
    /// Measure the classifier, the identities and the gate on labelled data
    Eval(Eval),
    /// Take over the servers of the MCP clients on this machine, and write `toolmark.toml` after showing it
    Init(Init),
    /// Work with the configuration
    #[command(subcommand)]
    Config(Configuration),
    /// Rewrite a client's file so that it reaches its servers through Toolmark
    Wrap(Wrap),
    /// Restore a client's file
    Unwrap(Unwrap),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal only, and not with NO_COLOR
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Who would declare what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suggest {
    /// Whoever runs Toolmark, in `toolmark.toml`
    Operator,
    /// Whoever publishes the tool, in its definition
    Publisher,
}

/// Where tools are read from.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// A `tools/list` result, a JSONL file, or a folder of them; may be repeated [default: the demo workspace]
    #[arg(id = "tools", long = "tools", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The configuration [default: toolmark.toml, if it is there; otherwise the demo workspace]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where to listen [default: as configured, or 127.0.0.1:7319]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<std::net::SocketAddr>,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

/// Which gateway, by its configuration and by where it remembers.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The configuration of the gateway [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

/// Where a gateway remembers.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreName {
    /// Where to remember: a file, `postgres://…`, or `sqlite::memory:` [default: as configured, or a file in the user's data folder]
    #[arg(id = "store", long = "store", value_name = "STORE")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Stdio {
    /// The configuration [default: toolmark.toml, if it is there; otherwise the demo workspace]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The task whose expectation holds for every call
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// The client that names are made for, or one of the configured profiles
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// One tool, by canonical name, unique short name or exposed name
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The client whose names are shown: claude-code, cursor, vscode, codex, openai, anthropic or generic
    #[arg(long, value_name = "CLIENT", default_value = "generic")]
    pub(crate) profile: ProfileName,

    /// The name under which the client knows Toolmark; its length counts
    #[arg(long, value_name = "NAME", default_value = "toolmark")]
    pub(crate) server: String,

    /// How exposed names are chosen: auto, prefixed or bare
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(crate) exposure: Mode,

    /// Show only the tools of this pack
    #[arg(long, value_name = "PACK")]
    pub(crate) pack: Option<String>,

    /// Leave out a pack; may be repeated
    #[arg(long, value_name = "PACK")]
    pub(crate) disable: Vec<String>,

    /// The lock file that decides whether a tool is pinned, changed or new [default: toolmark.lock, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// The configuration with what the operator says about tools [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// A canonical name `pack.tool`, or a short name `tool`
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Leave out a pack; may be repeated
    #[arg(long, value_name = "PACK")]
    pub(crate) disable: Vec<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// What to check: `tools/list` results, JSONL files, or folders of them [default: the demo workspace]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Exit with 1 when a finding is at least this severe: info, low, medium, high, critical, or never
    #[arg(long, value_name = "SEVERITY", default_value = "high")]
    pub(crate) fail_on: FailOn,

    /// Show only findings that are at least this severe
    #[arg(long, value_name = "SEVERITY", default_value = "low")]
    pub(crate) min_severity: Severity,

    /// Show only findings of this rule; may be repeated
    #[arg(long = "rule", value_name = "RULE")]
    pub(crate) rules: Vec<String>,

    /// List the rules and stop
    #[arg(long)]
    pub(crate) list_rules: bool,

    /// Print the declarations that would settle the findings: `toolmark.toml` for the operator, JSON for the publisher
    #[arg(long, value_name = "WHO", conflicts_with_all = ["json", "sarif"])]
    pub(crate) suggest: Option<Suggest>,

    /// The configuration with what the operator says about tools [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,

    /// Print SARIF 2.1.0, for code scanning
    #[arg(long)]
    pub(crate) sarif: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Pin {
    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Without --tools: pin the packs of a configuration, as its gateway last saw them
    #[command(flatten)]
    pub(crate) place: Place,

    /// The lock file to write [default: toolmark.lock, beside the configuration where one is pinned]
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Keep the definitions too, so that a gateway can list the tools before their servers are there [default: as in the lock
    /// file that is there]
    #[arg(long, overrides_with = "no_definitions")]
    pub(crate) definitions: bool,

    /// Keep no definitions
    #[arg(long, overrides_with = "definitions")]
    pub(crate) no_definitions: bool,

    /// Write nothing; exit with 1 when the lock file would change
    #[arg(long)]
    pub(crate) check: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// What was: a lock file, a snapshot or a folder [default: toolmark.lock]
    pub(crate) old: Option<PathBuf>,

    /// What is: a lock file, a snapshot or a folder [default: --tools]
    pub(crate) new: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Exit with 1 when a change is at least this severe: info, low, medium, high, critical, or never
    #[arg(long, value_name = "SEVERITY", default_value = "info")]
    pub(crate) fail_on: FailOn,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The call: a file with `{"name", "namespace"?, "arguments"}`
    #[arg(value_name = "CALL.json")]
    pub(crate) call: PathBuf,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The task that the call belongs to: one of the configuration, or the built-in read-only
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// The configuration with tasks, rules and behaviors [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The lock file that says what was approved [default: toolmark.lock, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Who calls, for rules that name callers [default: local]
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,

    /// How strict the gate is: observe, balanced, careful or read-only [default: as configured, or balanced]
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Check rules and policies against tools, and show what each applies to
    Check(PolicyCheck),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyCheck {
    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The configuration with the rules [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Baseline {
    /// Learn from the audit, or from a file of approved calls, one `{"name", "namespace"?, "arguments"}` a line
    Learn(BaselineLearn),
    /// Show what a baseline knows
    Show(BaselineShow),
    /// Show in what two baselines differ
    Diff(BaselineDiff),
}

#[derive(Debug, Args)]
pub(crate) struct BaselineLearn {
    /// The approved calls
    #[arg(value_name = "CALLS.jsonl", required_unless_present = "from_audit", conflicts_with = "from_audit")]
    pub(crate) calls: Option<PathBuf>,

    /// Learn from the audit: calls for the task that were allowed or approved, and succeeded
    #[arg(long)]
    pub(crate) from_audit: bool,

    /// From the audit: calls from then on, such as `7d` or `2026-11-01`
    #[arg(long, value_name = "TIME", value_parser = When::parse, requires = "from_audit")]
    pub(crate) since: Option<When>,

    /// From the audit: calls before then
    #[arg(long, value_name = "TIME", value_parser = When::parse, requires = "from_audit")]
    pub(crate) until: Option<When>,

    /// The task that they belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) task: String,

    /// The baseline to write; one that is there already is added to [default: the one of the task in the store]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The configuration with behaviors and languages [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineShow {
    /// The baseline: a file, or `store:TASK`
    pub(crate) file: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineDiff {
    /// What was: a file, or `store:TASK`
    pub(crate) old: String,

    /// What is: a file, or `store:TASK`
    pub(crate) new: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// A folder with `tools.jsonl` and any of `labels.jsonl`, `pairs.jsonl`, `calls.jsonl`, `decisions.jsonl`; or `paper`,
    /// for what the paper behind the identities reports, on the real definitions of its four servers
    pub(crate) dir: PathBuf,

    /// Definitions to use in place of the folder's `tools.jsonl`
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// From which severity on a command fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailOn(Option<Severity>);

impl FailOn {
    /// Whether the worst that was found is bad enough.
    pub(crate) fn is_reached_by(self, worst: Option<Severity>) -> bool {
        matches!((self.0, worst), (Some(limit), Some(worst)) if worst >= limit)
    }
}

impl std::str::FromStr for FailOn {
    type Err = <Severity as std::str::FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "never" { Ok(Self(None)) } else { text.parse().map(|severity| Self(Some(severity))) }
    }
}

impl Color {
    /// Makes the choice hold for the whole program.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => {}
            Self::Always => anstream::ColorChoice::Always.write_global(),
            Self::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

impl Cli {
    /// Whether errors are to be printed as JSON.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            Command::Up(_) | Command::Stdio(_) | Command::Login(_) | Command::Logout(_) => false,
            Command::Tools(arguments) => arguments.json,
            Command::Call(arguments) => arguments.json,
            Command::Token(command) => command.wants_json(),
            Command::Store(command) => command.wants_json(),
            Command::Inspect(arguments) => arguments.json,
            Command::Resolve(arguments) => arguments.json,
            Command::Lint(arguments) => arguments.json || arguments.sarif,
            Command::Pin(arguments) => arguments.json,
            Command::Pins(command) => command.wants_json(),
            Command::Diff(arguments) => arguments.json,
            Command::Explain(arguments) => arguments.json,
            Command::Policy(Policy::Check(arguments)) => arguments.json,
            Command::Approvals(command) => command.wants_json(),
            Command::Audit(arguments) => arguments.wants_json(),
            Command::Replay(arguments) => arguments.json,
            Command::Baseline(Baseline::Learn(arguments)) => arguments.json,
            Command::Baseline(Baseline::Show(arguments)) => arguments.json,
            Command::Baseline(Baseline::Diff(arguments)) => arguments.json,
            Command::Eval(arguments) => arguments.json,
            Command::Init(arguments) => arguments.json,
            Command::Config(command) => command.wants_json(),
            Command::Wrap(arguments) => arguments.json,
            Command::Unwrap(arguments) => arguments.json,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
