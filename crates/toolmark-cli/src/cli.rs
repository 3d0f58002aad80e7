//! The command line: which commands there are. What one of them can be asked stands with it.

use clap::{Parser, Subcommand, ValueEnum};

use crate::commands::approvals::ApprovalsCommand;
use crate::commands::audit::Audit;
use crate::commands::baseline::arguments::BaselineCommand;
use crate::commands::call::CallTool;
use crate::commands::classify::Classify;
use crate::commands::config::Configuration;
use crate::commands::console::OpenConsole;
use crate::commands::diff::Diff;
use crate::commands::eval::Eval;
use crate::commands::explain::ExplainCall;
use crate::commands::init::Init;
use crate::commands::inspect::Inspect;
use crate::commands::lint::Lint;
use crate::commands::login::{LoginArguments, LogoutArguments};
use crate::commands::names::NamesCommand;
use crate::commands::pin::Pin;
use crate::commands::pins::PinsCommand;
use crate::commands::policy::Policy;
use crate::commands::replay::ReplayCalls;
use crate::commands::resolve::Resolve;
use crate::commands::run::Run;
use crate::commands::sessions::SessionsCommand;
use crate::commands::stdio::Stdio;
use crate::commands::store::StoreCommand;
use crate::commands::token::TokenCommand;
use crate::commands::tools::ListTools;
use crate::commands::up::Up;
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
    /// Make an address that opens the console of a running gateway
    Console(OpenConsole),
    /// List the tools of a running gateway
    Tools(ListTools),
    /// Call a tool through a running gateway
    Call(CallTool),
    /// Run an agent of the configuration in this terminal
    Run(Box<Run>),
    /// Work with the conversations of agents that the store keeps
    #[command(subcommand)]
    Sessions(SessionsCommand),
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
    /// Work with what people call tools: for translators, and back
    #[command(subcommand)]
    Names(NamesCommand),
    /// Write `toolmark.lock`: the marks of all tools as they are now
    Pin(Pin),
    /// Show which tools a gateway has pinned, what changed since, and accept it
    #[command(subcommand)]
    Pins(PinsCommand),
    /// Show what changed between two snapshots, or since the lock was written
    Diff(Diff),
    /// Say what would happen to one call, and why, without calling
    Explain(ExplainCall),
    /// Work with rules and Cedar policies
    #[command(subcommand)]
    Policy(Policy),
    /// Record what approved runs of a task do, to hold later runs against
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Measure the classifier, the identities and the gate on labelled data
    Eval(Eval),
    /// Ask models what tools do, from what they take and not from what they are called, and hold that against declarations
    Classify(Box<Classify>),
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
            Command::Console(arguments) => arguments.json,
            Command::Tools(arguments) => arguments.json,
            Command::Call(arguments) => arguments.json,
            Command::Run(arguments) => arguments.json,
            Command::Sessions(command) => command.wants_json(),
            Command::Token(command) => command.wants_json(),
            Command::Store(command) => command.wants_json(),
            Command::Inspect(arguments) => arguments.json,
            Command::Resolve(arguments) => arguments.json,
            Command::Lint(arguments) => arguments.json || arguments.sarif,
            Command::Names(command) => command.wants_json(),
            Command::Pin(arguments) => arguments.json,
            Command::Pins(command) => command.wants_json(),
            Command::Diff(arguments) => arguments.json,
            Command::Explain(arguments) => arguments.json,
            Command::Policy(Policy::Check(arguments)) => arguments.json,
            Command::Approvals(command) => command.wants_json(),
            Command::Audit(arguments) => arguments.wants_json(),
            Command::Replay(arguments) => arguments.json,
            Command::Baseline(command) => command.wants_json(),
            Command::Eval(arguments) => arguments.wants_json(),
            Command::Classify(arguments) => arguments.json,
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
