//! `toolmark audit`: who called what, what was decided and what became of it; and whether the record was tampered with.

mod columns;
mod export;
mod list;
mod parquet;
mod show;
mod trim;
mod verify;
pub(crate) mod when;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_core::verdict::Decision;
use toolmark_store::audit::{AuditFilter, Outcome};
use toolmark_store::{DefinitionKind, Location, Store};

use self::when::When;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::place::look;
use crate::workspace::Written;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,

    #[command(flatten)]
    pub(crate) query: AuditQuery,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show everything that is known of one call
    Show(AuditShow),
    /// Follow the chain of every node, and say where it breaks
    Verify(AuditVerify),
    /// Write records to a file, as JSON Lines or Parquet
    Export(AuditExport),
    /// Remove records, or only their bodies, from before a time
    Trim(AuditTrim),
}

/// Which records.
#[derive(Debug, Default, Args)]
pub(crate) struct Which {
    /// From then on: `1h`, `7d`, `2026-11-01`, `2026-11-01T08:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    pub(crate) since: Option<When>,

    /// Before then
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    pub(crate) until: Option<When>,

    /// Calls of this tool, or of all tools of a pack: `github.*`
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,

    /// Calls by this caller
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,

    /// Calls for this task
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// Calls with this verdict
    #[arg(long, value_name = "VERDICT", value_parser = verdict)]
    pub(crate) verdict: Option<Decision>,

    /// Calls that ended like this, such as `denied` or `interrupted`
    #[arg(long, value_name = "OUTCOME", value_parser = outcome)]
    pub(crate) outcome: Option<Outcome>,

    /// Calls that this node recorded
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditQuery {
    #[command(flatten)]
    pub(crate) which: Which,

    /// At most so many, the newest; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u64,

    /// Go on showing calls as they are recorded
    #[arg(long)]
    pub(crate) follow: bool,

    /// Show every row: what was intended, and what became of it
    #[arg(long)]
    pub(crate) rows: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON, one record a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditShow {
    /// The id of the call
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// A head that was noted elsewhere, as this command prints it: `NODE:ROW:HASH`; may be repeated
    #[arg(long = "noted", value_name = "HEAD")]
    pub(crate) noted: Vec<String>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditExport {
    /// Where to write; `-` for standard output
    pub(crate) file: PathBuf,

    /// In which format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) which: Which,

    /// With arguments and results, where they were kept
    #[arg(long)]
    pub(crate) bodies: bool,

    /// Every row: what was intended, and what became of it
    #[arg(long)]
    pub(crate) rows: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line
    Jsonl,
    /// Typed columns
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct AuditTrim {
    /// Remove what was recorded before then: `90d` ago, `2026-11-01`
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    pub(crate) before: When,

    /// Remove arguments and results only, and keep the records
    #[arg(long)]
    pub(crate) bodies: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A question that the audit cannot answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditError {
    #[error("a store in memory has no audit that anybody could read")]
    Volatile,
    #[error("there is no store at `{0}`")]
    NoStore(String),
    #[error("there is no call `{0}` in the audit")]
    NotFound(String),
    #[error("`{0}` is not the id of a call")]
    NotAnId(String),
    #[error("`{name}` means several tools: {}", .candidates.join(", "))]
    Ambiguous { name: String, candidates: Vec<String> },
    #[error("`{0}` is no head of a chain")]
    NotAHead(String),
}

impl Audit {
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            None => self.query.json,
            Some(AuditCommand::Show(arguments)) => arguments.json,
            Some(AuditCommand::Verify(arguments)) => arguments.json,
            Some(AuditCommand::Export(arguments)) => arguments.json,
            Some(AuditCommand::Trim(arguments)) => arguments.json,
        }
    }
}

pub(crate) fn run(arguments: &Audit) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &arguments.command {
            None => list::run(&arguments.query).await,
            Some(AuditCommand::Show(arguments)) => show::run(arguments).await,
            Some(AuditCommand::Verify(arguments)) => verify::run(arguments).await,
            Some(AuditCommand::Export(arguments)) => export::run(arguments).await,
            Some(AuditCommand::Trim(arguments)) => trim::run(arguments).await,
        }
    })
}

impl Which {
    /// What is asked for, with the name of a tool settled.
    pub(crate) async fn filter(&self, store: &Store) -> Result<AuditFilter, Failure> {
        let mut filter = AuditFilter {
            since: self.since.map(When::time),
            until: self.until.map(When::time),
            node: self.node.clone(),
            caller: self.caller.clone(),
            task: self.task.clone(),
            verdict: self.verdict,
            outcome: self.outcome,
            ..AuditFilter::default()
        };
        match self.tool.as_deref() {
            None => {}
            Some(pattern) if pattern.ends_with(".*") => filter.pack = pattern.strip_suffix(".*").map(str::to_owned),
            Some(canonical) if canonical.contains('.') => filter.tool = Some(canonical.to_owned()),
            Some(short) => filter.tool = Some(canonical(store, short).await?),
        }
        Ok(filter)
    }
}

/// The tool with this short name, as far as the store knows the tools of its packs; the name itself where none has it.
async fn canonical(store: &Store, short: &str) -> Result<String, Failure> {
    let mut candidates = Vec::new();
    for pack in store.packs().await.map_err(failed)? {
        let known = store.definitions(&pack.pack).await.map_err(failed)?;
        let definitions = known.into_iter().flat_map(|(_, definitions)| definitions);
        let named = |one: &toolmark_store::KnownDefinition| one.kind == DefinitionKind::Tool && one.name == short;
        candidates.extend(definitions.filter(named).map(|one| format!("{}.{}", pack.pack, one.name)));
    }
    match candidates.as_slice() {
        [] => Ok(short.to_owned()),
        [one] => Ok(one.clone()),
        _ => {
            let error = AuditError::Ambiguous { name: visible(short, 80), candidates };
            Err(Failure::refused(Exit::Ambiguous, &error))
        }
    }
}

/// The store of a gateway, which may be running. One that is not there is not made: an empty audit would be taken for a quiet one.
pub(crate) async fn existing(place: &Place, written: &Written, readers: u32) -> Result<Store, Failure> {
    match place.location(written)? {
        Location::Memory => Err(Failure::refused(Exit::BadInput, &AuditError::Volatile)),
        Location::File(path) if !path.exists() => {
            let error = AuditError::NoStore(visible(&path.display().to_string(), 300));
            Err(Failure::refused(Exit::NotFound, &error))
        }
        place => look(&place, readers).await,
    }
}

/// As [`existing`], by what was written on the command line.
async fn store(place: &Place) -> Result<Store, Failure> {
    existing(place, &Written::find(place.config.as_deref())?, 1).await
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
pub(crate) fn failed(error: impl Explain) -> Failure {
    Failure::refused(Exit::Failed, &error)
}

fn verdict(text: &str) -> Result<Decision, String> {
    let all = [Decision::Allow, Decision::Ask, Decision::Deny];
    all.into_iter().find(|one| one.as_str() == text).ok_or_else(|| "use one of allow, ask, deny".to_owned())
}

fn outcome(text: &str) -> Result<Outcome, String> {
    let all = || Outcome::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ");
    Outcome::parse(text).ok_or_else(|| format!("use one of {}", all()))
}

impl Explain for AuditError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("audit-store-volatile"),
            Self::NoStore(_) => Code::new("audit-no-store"),
            Self::NotFound(_) | Self::NotAnId(_) => Code::new("audit-not-found"),
            Self::Ambiguous { .. } => Code::new("audit-tool-ambiguous"),
            Self::NotAHead(_) => Code::new("audit-head"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "it is gone with the process that made it",
            Self::NoStore(_) => "an empty audit would be taken for one in which nothing happened",
            Self::NotFound(_) | Self::NotAnId(_) => "another call must not be shown in its place",
            Self::Ambiguous { .. } => "the calls of one must not be taken for those of the other",
            Self::NotAHead(_) => "a chain that is compared with nothing would pass for unchanged",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile | Self::NoStore(_) => {
                "name the store of the gateway with `--store`, or its configuration with `--config`".into()
            }
            Self::NotFound(_) | Self::NotAnId(_) => "see `toolmark audit` for the ids of calls".into(),
            Self::Ambiguous { candidates, .. } => {
                format!("write the whole name: `--tool {}`", candidates.first().map_or("pack.tool", String::as_str))
            }
            Self::NotAHead(_) => "write it as `toolmark audit verify` printed it: `NODE:ROW:HASH`".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Volatile => Map::new(),
            Self::NoStore(path) => facts([("store", json!(path))]),
            Self::NotFound(id) | Self::NotAnId(id) => facts([("id", json!(id))]),
            Self::Ambiguous { name, candidates } => facts([("name", json!(name)), ("candidates", json!(candidates))]),
            Self::NotAHead(text) => facts([("head", json!(text))]),
        }
    }
}
