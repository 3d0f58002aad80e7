//! `toolmark approvals`: the calls that wait for a person, and what people said. Works on the store, so any terminal that can open it
//! may decide, whether a gateway runs or not.

mod watch;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolmark_core::approval::{
    ArgumentPattern, Ask, AskId, AskState, Given, Grant, GrantId, Proposal, Ruling, RunState, Scope, Way,
};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_runtime::approve::{DecideError, Desk, DeskSettings};
use toolmark_store::approvals::{AskFilter, StoreLedger};
use toolmark_store::{Micros, Store};

use crate::cli::Place;
use crate::commands::token::span;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place::close;
use crate::who;
use crate::workspace::Written;

/// At most so many questions are looked through for a short id.
const LOOKED_THROUGH: u32 = 1000;
/// Fewer characters of an id mean nothing.
const SHORTEST: usize = 4;

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

    /// How far it reaches: once, session, effect, pattern, always
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    pub(crate) scope: Option<Scope>,

    /// An argument that may be anything in later calls; may be repeated; the scope is then `pattern`
    #[arg(long, value_name = "ARGUMENT")]
    pub(crate) vary: Vec<String>,

    /// Run it with these arguments instead, a JSON object; they are judged like any others
    #[arg(long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,

    /// How long the answer holds for later calls, such as `12h` or `30d`
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) expires: Option<Duration>,

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

    /// How far it reaches: once, session, effect, pattern, always
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    pub(crate) scope: Option<Scope>,

    /// An argument that may be anything in later calls; may be repeated; the scope is then `pattern`
    #[arg(long, value_name = "ARGUMENT")]
    pub(crate) vary: Vec<String>,

    /// How long the answer holds for later calls, such as `12h` or `30d`
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) expires: Option<Duration>,

    #[command(flatten)]
    pub(crate) who: Who,
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

/// A question or grant that is not found by what was typed.
#[derive(Debug, thiserror::Error)]
enum FindError {
    #[error("a store in memory keeps no questions")]
    Volatile,
    #[error("`{0}` means several: {1}")]
    Several(String, String),
    #[error("there is no {0} `{1}`")]
    None(&'static str, String),
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
            ApprovalsCommand::List(arguments) => list(arguments).await,
            ApprovalsCommand::Show(arguments) => show(arguments).await,
            ApprovalsCommand::Approve(arguments) => approve(arguments).await,
            ApprovalsCommand::Reject(arguments) => reject(arguments).await,
            ApprovalsCommand::Watch(arguments) => watch::run(arguments).await,
            ApprovalsCommand::Grants(arguments) => grants(arguments).await,
            ApprovalsCommand::Revoke(arguments) => revoke(arguments).await,
        }
    });
    // Standard input is read by a thread that nothing wakes.
    runtime.shutdown_background();
    exit
}

async fn list(arguments: &ApprovalsList) -> Result<Exit, Failure> {
    let store = opened(&arguments.place).await?;
    let state = (!arguments.all).then(|| "pending".to_owned());
    let filter = AskFilter { state, ..AskFilter::default() };
    let asks = store.asks(&filter, None, arguments.limit).await.map_err(failed)?;
    let pending = store.pending_asks().await.map_err(failed)?;
    close(&store).await;
    if arguments.json {
        let asks: Vec<Value> = asks.iter().map(Ask::to_json).collect();
        output::json(&json!({"approvals": asks, "pending": pending}))?;
        return Ok(Exit::Success);
    }
    if asks.is_empty() {
        output::line("nothing waits for a person")?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["id", "asked", "caller", "tool", "arguments", "state"]);
    for ask in &asks {
        table.add_row([
            ask.id.short(),
            minute(ask.created),
            output::safe(&ask.principal),
            output::safe(&ask.canonical),
            visible(&ask.arguments, 60),
            ask.state.as_str().to_owned(),
        ]);
    }
    output::line(table.trim_fmt())?;
    let shown = asks.iter().filter(|ask| ask.state == AskState::Pending).count() as u64;
    if pending > shown {
        output::note(&format!("{} more wait", pending - shown));
    }
    Ok(Exit::Success)
}

async fn show(arguments: &ApprovalsShow) -> Result<Exit, Failure> {
    let store = opened(&arguments.place).await?;
    let ask = find(&store, &arguments.id).await?;
    let proposals = desk(&store).proposals(&ask).await.map_err(refused)?;
    let runs = store.runs_of(ask.id).await.map_err(failed)?;
    close(&store).await;
    if arguments.json {
        let mut shown = ask.to_json();
        if let Some(members) = shown.as_object_mut() {
            members.insert("proposals".into(), proposals.iter().take(3).map(proposal_json).collect());
            let runs = runs.iter().map(|run| json!({"id": run.id, "state": run.state.as_str(), "node": run.node}));
            members.insert("runs".into(), runs.collect());
        }
        output::json(&shown)?;
        return Ok(Exit::Success);
    }
    output::line(ask.prompt().text().trim_end())?;
    output::line("")?;
    output::line(format_args!("id: {}", ask.id))?;
    output::line(format_args!("mark: {}", ask.mark))?;
    output::line(format_args!("arguments digest: {}", ask.digest))?;
    output::line(format_args!("asked: {}, open until {}", ask.created, ask.expires))?;
    let waiting = runs.iter().filter(|run| matches!(run.state, RunState::Waiting | RunState::Parked | RunState::Held));
    let waiting = waiting.count();
    output::line(format_args!(
        "{} for it",
        if waiting == 1 { "1 call waits".to_owned() } else { format!("{waiting} calls wait") }
    ))?;
    match &ask.state {
        AskState::Pending => {
            let offered: Vec<&str> = ask.offered().into_iter().map(Scope::as_str).collect();
            output::line(format_args!("an answer may reach: {}", offered.join(", ")))?;
            for proposal in proposals.iter().take(3) {
                let vary: Vec<String> =
                    proposal.differ.iter().map(|name| format!("--vary {}", visible(name, 80))).collect();
                output::line(format_args!(
                    "{proposal}: toolmark approvals approve {} {}",
                    ask.id.short(),
                    vary.join(" ")
                ))?;
            }
        }
        AskState::Decided(decided) => {
            let verb = if decided.allows { "approved" } else { "rejected" };
            output::line(format_args!(
                "{verb} ({}) by {} at {}, {}{}",
                decided.scope,
                output::safe(&decided.given.by),
                decided.given.at,
                decided.given.way,
                decided.message.as_deref().map(|text| format!(": {}", output::safe(text))).unwrap_or_default()
            ))?;
        }
        AskState::Expired => output::line("nobody answered in time")?,
    }
    Ok(Exit::Success)
}

async fn approve(arguments: &ApprovalsApprove) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    let ask = find(&store, &arguments.id).await?;
    let given = arguments.who.given();
    let scope = arguments.scope.unwrap_or(if arguments.vary.is_empty() { Scope::Once } else { Scope::Pattern });
    let ruling = Ruling {
        scope,
        pattern: ArgumentPattern::freeing(&ask.arguments(), &arguments.vary).filter(|_| scope == Scope::Pattern),
        edited: arguments.arguments.clone(),
        expires: arguments.expires.map(|span| given.at.after(span)),
        uses: arguments.uses,
        any_policy: arguments.any_policy,
        pin: arguments.pin,
        seen: Some(ask.digest),
        ..Ruling::once(true, given)
    };
    decide(&store, &ask, &ruling, arguments.who.json).await
}

async fn reject(arguments: &ApprovalsReject) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    let ask = find(&store, &arguments.id).await?;
    let given = arguments.who.given();
    let scope = arguments.scope.unwrap_or(if arguments.vary.is_empty() { Scope::Once } else { Scope::Pattern });
    let ruling = Ruling {
        scope,
        pattern: ArgumentPattern::freeing(&ask.arguments(), &arguments.vary).filter(|_| scope == Scope::Pattern),
        message: arguments.message.clone(),
        expires: arguments.expires.map(|span| given.at.after(span)),
        ..Ruling::once(false, given)
    };
    decide(&store, &ask, &ruling, arguments.who.json).await
}

async fn decide(store: &Store, ask: &Ask, ruling: &Ruling, as_json: bool) -> Result<Exit, Failure> {
    let decided = desk(store).decide(ask.id, ruling).await.map_err(refused)?;
    close(store).await;
    if as_json {
        output::json(&decided.to_json())?;
        return Ok(Exit::Success);
    }
    output::line(said(&decided))?;
    Ok(Exit::Success)
}

/// What was decided, in one line.
fn said(ask: &Ask) -> String {
    let AskState::Decided(decided) = &ask.state else { return "not decided".into() };
    let verb = if decided.allows { "approved" } else { "rejected" };
    let tool = output::safe(&ask.canonical);
    match decided.grant {
        Some(grant) => format!(
            "{verb} `{tool}` ({}); take it back with `toolmark approvals revoke {}`",
            decided.scope,
            grant.short()
        ),
        None => format!("{verb} `{tool}` ({})", decided.scope),
    }
}

async fn grants(arguments: &ApprovalsGrants) -> Result<Exit, Failure> {
    let store = opened(&arguments.place).await?;
    let grants = store.grants(arguments.all).await.map_err(failed)?;
    close(&store).await;
    if arguments.json {
        let grants: Vec<Value> = grants.iter().map(Grant::to_json).collect();
        output::json(&json!({ "grants": grants }))?;
        return Ok(Exit::Success);
    }
    if grants.is_empty() {
        output::line("no answer holds for later calls")?;
        return Ok(Exit::Success);
    }
    let now = Micros::from(SystemTime::now());
    let mut table = output::table(&["id", "answer", "scope", "caller", "tool", "limit", "given by", "state"]);
    for grant in &grants {
        use toolmark_core::approval::Covers;
        let limit = match &grant.covers {
            Covers::Pattern(pattern) => visible(&pattern.to_string(), 60),
            Covers::Effect(bound) => visible(&bound.to_string(), 60),
            Covers::Arguments(digest) => digest.short(),
            Covers::Anything => "-".to_owned(),
        };
        let state = match (&grant.revoked, grant.is_alive(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "holds",
            (None, false) => "over",
        };
        table.add_row([
            grant.id.short(),
            if grant.allows { "yes" } else { "no" }.to_owned(),
            grant.scope().to_string(),
            output::safe(&grant.principal),
            output::safe(&grant.canonical),
            limit,
            format!("{} ({}, {})", output::safe(&grant.given.by), grant.given.way, minute(grant.given.at)),
            state.to_owned(),
        ]);
    }
    output::line(table.trim_fmt())?;
    Ok(Exit::Success)
}

async fn revoke(arguments: &ApprovalsRevoke) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    let all = store.grants(true).await.map_err(failed)?;
    let id = pick("grant", &arguments.id, all.iter().map(|grant| grant.id), GrantId::short)?;
    desk(&store).revoke(id, &arguments.who.given()).await.map_err(refused)?;
    close(&store).await;
    if arguments.who.json {
        output::json(&json!({"id": id, "state": "revoked"}))?;
    } else {
        output::line(format_args!("{} holds no more", id.short()))?;
    }
    Ok(Exit::Success)
}

/// A question by its id or the end of it.
async fn find(store: &Store, typed: &str) -> Result<Ask, Failure> {
    let none = || Failure::refused(Exit::NotFound, &FindError::None("question", visible(typed, 60)));
    if let Ok(id) = typed.parse::<AskId>() {
        return store.ask(id).await.map_err(failed)?.ok_or_else(none);
    }
    let asks = store.asks(&AskFilter::default(), None, LOOKED_THROUGH).await.map_err(failed)?;
    let id = pick("question", typed, asks.iter().map(|ask| ask.id), AskId::short)?;
    asks.into_iter().find(|ask| ask.id == id).ok_or_else(none)
}

/// The one id that ends like this.
fn pick<I: Copy + ToString>(
    kind: &'static str,
    typed: &str,
    all: impl Iterator<Item = I>,
    short: impl Fn(I) -> String,
) -> Result<I, Failure> {
    let digits: String = typed.chars().filter(|character| *character != '-').collect();
    let ends =
        |id: &I| digits.len() >= SHORTEST && id.to_string().replace('-', "").ends_with(&digits.to_ascii_lowercase());
    let found: Vec<I> = all.filter(ends).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(Failure::refused(Exit::NotFound, &FindError::None(kind, visible(typed, 60)))),
        several => {
            let several: Vec<String> = several.iter().take(5).map(|id| short(*id)).collect();
            Err(Failure::refused(Exit::BadInput, &FindError::Several(visible(typed, 60), several.join(", "))))
        }
    }
}

/// The desk of this store, which nobody waits at.
fn desk(store: &Store) -> Desk {
    Desk::new(Arc::new(StoreLedger::beside(store.clone())), DeskSettings::default(), Vec::new())
}

fn proposal_json(proposal: &Proposal) -> Value {
    json!({"vary": proposal.differ, "calls": proposal.calls, "text": proposal.to_string()})
}

impl Who {
    /// Who decides now.
    fn given(&self) -> Given {
        let host = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
        let from = host.map(|host| visible(host.trim(), 100)).filter(|host| !host.is_empty());
        Given { by: who::name(self.name.as_deref()), way: Way::Cli, at: Micros::from(SystemTime::now()), from }
    }
}

async fn opened(place: &Place) -> Result<Store, Failure> {
    place.open(&Written::find(place.config.as_deref())?, &FindError::Volatile).await
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

/// A time as people read it in a table.
fn minute(time: Micros) -> String {
    time.to_string().get(..16).map_or_else(|| time.to_string(), |text| text.replace('T', " "))
}

impl Explain for FindError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("approval-store"),
            Self::Several(..) | Self::None(..) => Code::new("approval-unknown"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "what is forgotten with the process cannot be decided from another one".into(),
            Self::Several(..) => "a decision about the wrong call cannot be taken back".into(),
            Self::None(..) => "a decision without a question decides nothing".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile => "name the store of the gateway with `--store`".into(),
            Self::Several(..) => "type more of the id".into(),
            Self::None(..) => {
                "list what is there with `toolmark approvals list --all` or `toolmark approvals grants --all`".into()
            }
        }
    }
}
