//! `toolmark approvals`: the calls that wait for a person, and what people said. Works on the store, so any terminal that can open it
//! may decide, whether a gateway runs or not.

mod decide;
mod find;
mod show;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use toolmark_core::approval::Scope;
use toolmark_core::explain::Explain as _;
use toolmark_runtime::approve::{DecideError, Desk, DeskSettings};
use toolmark_store::Store;
use toolmark_store::approvals::StoreLedger;

use crate::commands::token::span;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::workspace::Written;

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Show the calls that wait for a person
    List(ApprovalsList),
    /// Show one call whole: what it would do, why it is asked, how far an answer may reach
    Show(ApprovalsShow),
    /// Let a call run
    Approve(ApprovalsApprove),
    /// Do not let a call run, with a word to the model
    Reject(ApprovalsReject),
    /// Show calls as they come, and ask for a decision where this is a terminal
    Watch(ApprovalsWatch),
    /// Show the answers that hold for later calls
    Grants(ApprovalsGrants),
    /// Take back an answer that holds for later calls
    Revoke(ApprovalsRevoke),
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsList {
    /// Show those that were decided or ran out too
    #[arg(long)]
    pub(crate) all: bool,

    /// At most so many, the newest
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsShow {
    /// The id, or its last digits
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsApprove {
    /// The id, or its last digits
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) reach: Reach,

    /// Run it with these arguments instead, a JSON object; they are judged like any others
    #[arg(long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,

    /// For how many calls it holds, this one included
    #[arg(long, value_name = "N")]
    pub(crate) uses: Option<u32>,

    /// Keep it when the policy changes
    #[arg(long)]
    pub(crate) any_policy: bool,

    /// Pin the tool as it was shown: for everybody, it is the approved one from now on
    #[arg(long)]
    pub(crate) pin: bool,

    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsReject {
    /// The id, or its last digits
    pub(crate) id: String,

    /// What the model is told
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,

    #[command(flatten)]
    pub(crate) reach: Reach,

    #[command(flatten)]
    pub(crate) who: Who,
}

/// For which later calls an answer holds, and how long.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// How far it reaches: once, session, effect, pattern, always
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    pub(crate) scope: Option<Scope>,

    /// An argument that may be anything in later calls; may be repeated; the scope is then `pattern`
    #[arg(long, value_name = "ARGUMENT")]
    pub(crate) vary: Vec<String>,

    /// How long the answer holds for later calls, such as `12h` or `30d`
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) expires: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsWatch {
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsGrants {
    /// Show those that were taken back, too
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsRevoke {
    /// The id, or its last digits
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) who: Who,
}

/// Who decides, and where.
#[derive(Debug, Args)]
pub(crate) struct Who {
    /// Who decides [default: the name of the user]
    #[arg(long = "as", visible_alias = "by", value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl ApprovalsCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::List(arguments) => arguments.json,
            Self::Show(arguments) => arguments.json,
            Self::Approve(arguments) => arguments.who.json,
            Self::Reject(arguments) => arguments.who.json,
            Self::Watch(arguments) => arguments.who.json,
            Self::Grants(arguments) => arguments.json,
            Self::Revoke(arguments) => arguments.who.json,
        }
    }
}

pub(crate) fn run(command: &ApprovalsCommand) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let exit = runtime.block_on(async {
        match command {
            ApprovalsCommand::List(arguments) => show::list(arguments).await,
            ApprovalsCommand::Show(arguments) => show::show(arguments).await,
            ApprovalsCommand::Approve(arguments) => decide::approve(arguments).await,
            ApprovalsCommand::Reject(arguments) => decide::reject(arguments).await,
            ApprovalsCommand::Watch(arguments) => watch::run(arguments).await,
            ApprovalsCommand::Grants(arguments) => show::grants(arguments).await,
            ApprovalsCommand::Revoke(arguments) => decide::revoke(arguments).await,
        }
    });
    // Standard input is read by a thread that nothing wakes.
    runtime.shutdown_background();
    exit
}

async fn opened(place: &Place) -> Result<Store, Failure> {
    place.existing(&Written::find(place.config.as_deref())?, &find::FindError::Volatile).await
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn failed(error: toolmark_store::StoreError) -> Failure {
    Failure::refused(Exit::Failed, &error)
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn refused(error: DecideError) -> Failure {
    let exit = match &error {
        DecideError::Unknown => Exit::NotFound,
        DecideError::Ruling(_) => Exit::BadInput,
        _ => Exit::Failed,
    };
    Failure::refused(exit, &error)
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse::<Scope>().map_err(|error| format!("{error}; {}", error.fix()))
}

/// The desk of this store, which nobody waits at.
fn desk(store: &Store) -> Desk {
    Desk::new(Arc::new(StoreLedger::beside(store.clone())), DeskSettings::default(), Vec::new())
}
