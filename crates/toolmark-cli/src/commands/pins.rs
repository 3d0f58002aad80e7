//! `toolmark pins`: which definition of a tool counts as the approved one, what changed since, and accepting that.
//!
//! A running gateway need not be told: it sees what is written here within a second.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::digest::Mark;
use toolmark_core::drift::{Drift, PartChange, PartTexts, exactly};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::lock::{Lock, Pinned};
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_store::{HowPinned, Pin, Store};

use crate::commands::{diff, resolve};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::who;
use crate::workspace::Written;
use crate::{input, output};

#[derive(Debug, Subcommand)]
pub(crate) enum PinsCommand {
    /// Show every pinned tool and how it stands
    List(PinsList),
    /// Show what changed in tools since they were pinned, old and new, part by part
    Diff(PinsDiff),
    /// Make tools as they are now the pinned ones
    Accept(PinsAccept),
    /// Forget the pin of a tool: its next definition is taken as `first_use` says
    Forget(PinsForget),
}

#[derive(Debug, Args)]
pub(crate) struct PinsList {
    /// Show only tools that are not as they were pinned
    #[arg(long)]
    pub(crate) changed: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PinsDiff {
    /// One tool, by canonical or unique short name [default: all that changed]
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PinsAccept {
    /// The tools, by canonical or unique short name
    #[arg(required_unless_present = "pack")]
    pub(crate) tools: Vec<String>,

    /// Accept every tool of this pack that changed
    #[arg(long, value_name = "PACK")]
    pub(crate) pack: Option<String>,

    /// Accept only if the tool has this mark, as `toolmark pins diff` shows it; for one tool
    #[arg(long, value_name = "MARK")]
    pub(crate) mark: Option<Mark>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PinsForget {
    /// The tool, by canonical name
    pub(crate) tool: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Pins that cannot be shown or changed.
#[derive(Debug, thiserror::Error)]
enum PinsError {
    #[error("a store in memory keeps no pins")]
    Volatile,
    #[error("no pin of `{0}` is kept")]
    Unknown(String),
    #[error("`toolmark.lock` names `{0}`, and comes before what is accepted here")]
    InLock(String),
    #[error("`{tool}` has the mark {is}, not {wanted}")]
    Mark { tool: String, is: Box<Mark>, wanted: Box<Mark> },
    #[error("one mark cannot be that of several tools")]
    OneMark,
}

/// Everything that is known of pins.
struct Known {
    store: Store,
    pins: Vec<Pin>,
    lock: Option<Lock>,
    /// The tools as their packs last listed them.
    seen: Catalog,
}

/// A tool that is pinned, or could be.
struct Row<'k> {
    name: &'k str,
    pinned: Option<&'k Pinned>,
    pin: Option<&'k Pin>,
    tool: Option<&'k Tool>,
}

impl PinsCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::List(arguments) => arguments.json,
            Self::Diff(arguments) => arguments.json,
            Self::Accept(arguments) => arguments.json,
            Self::Forget(arguments) => arguments.json,
        }
    }
}

pub(crate) fn run(command: &PinsCommand) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let place = match command {
            PinsCommand::List(arguments) => &arguments.place,
            PinsCommand::Diff(arguments) => &arguments.place,
            PinsCommand::Accept(arguments) => &arguments.place,
            PinsCommand::Forget(arguments) => &arguments.place,
        };
        let known = Known::read(place).await?;
        let done = match command {
            PinsCommand::List(arguments) => list(arguments, &known),
            PinsCommand::Diff(arguments) => show(arguments, &known),
            PinsCommand::Accept(arguments) => accept(arguments, &known).await,
            PinsCommand::Forget(arguments) => forget(arguments, &known).await,
        };
        // What was asked for is written; a store that ends a moment later does not change that.
        if let Err(error) = known.store.close().await {
            output::warn(&format!("the store: {error}"));
        }
        done
    })
}

fn list(arguments: &PinsList, known: &Known) -> Result<Exit, Failure> {
    let mut rows = known.rows();
    rows.retain(|row| !arguments.changed || row.state() == "changed");
    if arguments.json {
        output::json(&json!({ "pins": rows.iter().map(Row::to_json).collect::<Vec<_>>() }))?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        output::line(if arguments.changed { "no tool has changed" } else { "no pins" })?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["tool", "state", "mark", "pinned", "by", "since"]);
    for row in &rows {
        let (how, by, since) = row.origin();
        let mark = row.pinned.map_or_else(|| "–".to_owned(), |pinned| pinned.mark().short());
        let state = row.state();
        // No colour: it would count as width, and only the last column can bear that.
        table.add_row([output::safe(row.name), state.to_owned(), mark, how, by, since]);
    }
    output::line(table.trim_fmt())?;
    let changed = rows.iter().filter(|row| row.state() == "changed").count();
    if changed > 0 {
        output::note(&format!("{} changed; see `toolmark pins diff`", output::count(changed, "tool")));
    }
    Ok(Exit::Success)
}

fn show(arguments: &PinsDiff, known: &Known) -> Result<Exit, Failure> {
    let mut rows = known.rows();
    match &arguments.tool {
        Some(name) => {
            let tool = known.tool(name)?.canonical().as_str();
            rows.retain(|row| row.name == tool);
        }
        None => rows.retain(|row| row.state() == "changed"),
    }
    if arguments.json {
        output::json(&json!({ "tools": rows.iter().map(Row::diff_json).collect::<Vec<_>>() }))?;
    } else {
        for row in &rows {
            row.print_diff()?;
        }
        if rows.is_empty() {
            output::line("no tool has changed")?;
        }
    }
    let changed = rows.iter().any(|row| row.state() == "changed");
    Ok(if changed { Exit::Findings } else { Exit::Success })
}

async fn accept(arguments: &PinsAccept, known: &Known) -> Result<Exit, Failure> {
    let mut tools = Vec::new();
    for name in &arguments.tools {
        tools.push(known.tool(name)?);
    }
    if let Some(pack) = &arguments.pack {
        input::require_pack(&known.seen, pack)?;
        let rows = known.rows();
        let changed = rows.iter().filter(|row| row.state() == "changed").filter_map(|row| row.tool);
        tools.extend(changed.filter(|tool| tool.pack() == Some(pack.as_str())));
    }
    let mut accepted: Vec<(String, Pinned)> = Vec::new();
    for tool in &tools {
        let shown = || visible(tool.canonical().as_str(), 200);
        if known.lock.as_ref().is_some_and(|lock| lock.get(tool.canonical().as_str()).is_some()) {
            return Err(Failure::refused(Exit::BadInput, &PinsError::InLock(shown())));
        }
        match arguments.mark {
            Some(_) if tools.len() > 1 => return Err(Failure::refused(Exit::BadInput, &PinsError::OneMark)),
            Some(wanted) if wanted != tool.mark() => {
                let error = PinsError::Mark { tool: shown(), is: Box::new(tool.mark()), wanted: Box::new(wanted) };
                return Err(Failure::refused(Exit::BadInput, &error));
            }
            Some(_) | None => accepted.push((tool.canonical().to_string(), Pinned::whole(tool))),
        }
    }
    let who = who::name(None);
    let done = known.store.accept_pins(&accepted, HowPinned::Accepted, &who).await;
    done.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    if arguments.json {
        let tools: Vec<Value> =
            accepted.iter().map(|(tool, pinned)| json!({"tool": tool, "mark": pinned.mark()})).collect();
        output::json(&json!({ "accepted": tools }))?;
        return Ok(Exit::Success);
    }
    if accepted.is_empty() {
        output::line("no tool has changed")?;
    }
    for (tool, pinned) in &accepted {
        output::line(format_args!("`{}` is pinned as it is now: {}", output::safe(tool), pinned.mark()))?;
    }
    Ok(Exit::Success)
}

async fn forget(arguments: &PinsForget, known: &Known) -> Result<Exit, Failure> {
    let gone = known.store.forget_pin(&arguments.tool).await;
    if !gone.map_err(|error| Failure::refused(Exit::Failed, &error))? {
        return Err(Failure::refused(Exit::NotFound, &PinsError::Unknown(visible(&arguments.tool, 200))));
    }
    if arguments.json {
        output::json(&json!({ "forgotten": arguments.tool }))?;
    } else {
        output::line(format_args!("the pin of `{}` is forgotten", output::safe(&arguments.tool)))?;
    }
    Ok(Exit::Success)
}

impl Known {
    async fn read(place: &Place) -> Result<Self, Failure> {
        let written = Written::find(place.config.as_deref())?;
        let store = place.existing(&written, &PinsError::Volatile).await?;
        let failed = |error| Failure::refused(Exit::Failed, &error);
        let (pins, seen) = (store.pins().await.map_err(failed)?, store.seen_tools().await.map_err(failed)?);
        Ok(Self { store, pins, lock: written.lock()?, seen })
    }

    /// A tool that was seen, by a name that means it alone.
    fn tool(&self, name: &str) -> Result<&Tool, Failure> {
        self.seen.find(name, |_| true).map_err(|error| resolve::failure(&error))
    }

    /// Every tool that is pinned or was seen, by name. The lock comes first where it names a tool.
    fn rows(&self) -> Vec<Row<'_>> {
        let mut names: Vec<&str> = self.pins.iter().map(|pin| pin.tool.as_str()).collect();
        names.extend(self.lock.iter().flat_map(|lock| lock.tools().map(|(name, _)| name)));
        names.extend(self.seen.tools().map(|tool| tool.canonical().as_str()));
        names.sort_unstable();
        names.dedup();
        let row = |name| {
            let locked = self.lock.as_ref().and_then(|lock| lock.get(name));
            let pin = self.pins.iter().find(|pin| pin.tool == name).filter(|_| locked.is_none());
            let tool = self.seen.tools().find(|tool| tool.canonical().as_str() == name);
            Row { name, pinned: locked.or(pin.map(|pin| &pin.pinned)), pin, tool }
        };
        names.into_iter().map(row).collect()
    }
}

impl Row<'_> {
    fn state(&self) -> &'static str {
        match (self.pinned, self.tool) {
            (Some(pinned), Some(tool)) if pinned.mark() == tool.mark() => "pinned",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "gone",
            (None, _) => "new",
        }
    }

    /// How it came to be pinned, by whom and when.
    fn origin(&self) -> (String, String, String) {
        let none = || "–".to_owned();
        match (self.pin, self.pinned) {
            (Some(pin), _) => (pin.how.as_str().to_owned(), output::safe(&pin.by), pin.at.to_string()),
            (None, Some(_)) => ("toolmark.lock".to_owned(), none(), none()),
            (None, None) => (none(), none(), none()),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "tool": self.name,
            "state": self.state(),
            "pinned": self.pinned.map(Pinned::mark),
            "mark": self.tool.map(Tool::mark),
            "source": self.pinned.map(Pinned::source),
            "how": match (self.pin, self.pinned) {
                (Some(pin), _) => json!(pin.how.as_str()),
                (None, Some(_)) => json!("lock"),
                (None, None) => Value::Null,
            },
            "by": self.pin.map(|pin| pin.by.as_str()),
            "since": self.pin.map(|pin| pin.at.to_string()),
        })
    }

    fn diff_json(&self) -> Value {
        let mut json = self.to_json();
        let (Some(pinned), Some(tool)) = (self.pinned, self.tool) else { return json };
        let meaning = Drift::since(pinned, tool);
        let part = |texts: &PartTexts| {
            let known = meaning.iter().find(|known| known.part() == texts.part());
            json!({
                "part": texts.part(),
                "severity": known.map(PartChange::severity),
                "summary": known.map(PartChange::summary),
                "was": texts.was().to_string(),
                "is": texts.is().to_string(),
            })
        };
        let parts: Vec<Value> = exactly(Some(pinned), tool).iter().map(part).collect();
        if let Some(members) = json.as_object_mut() {
            members.insert("parts".into(), parts.into());
        }
        json
    }

    fn print_diff(&self) -> Result<(), Failure> {
        let name = output::painted(output::BOLD, output::safe(self.name));
        let (Some(pinned), Some(tool)) = (self.pinned, self.tool) else {
            return Ok(output::line(format_args!("{name} is {}", self.state()))?);
        };
        if pinned.mark() == tool.mark() {
            return Ok(output::line(format_args!("{name} is as it was pinned"))?);
        }
        let (how, by, since) = self.origin();
        output::line(format_args!("{name}"))?;
        output::line(format_args!("  was {} ({how}, {by}, {since})", pinned.mark()))?;
        output::line(format_args!("  is  {}", tool.mark()))?;
        diff::print_texts(&Drift::since(pinned, tool), &exactly(Some(pinned), tool))
    }
}

impl Explain for PinsError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("pins-store-volatile"),
            Self::Unknown(_) => Code::new("pin-not-found"),
            Self::InLock(_) => Code::new("pin-in-lock"),
            Self::Mark { .. } | Self::OneMark => Code::new("pin-mark"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "the pins would be gone before a gateway could see them",
            Self::Unknown(_) => "whoever forgets a pin believes that there is none from then on",
            Self::InLock(_) => "what is accepted here would change nothing, and nobody would notice",
            Self::Mark { .. } | Self::OneMark => "what is accepted must be what was looked at",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile => "name the store that the gateway uses with `--store`, or leave it out",
            Self::Unknown(_) => "see `toolmark pins list`, and that it is the store of the gateway",
            Self::InLock(_) => "review the change and write the lock again with `toolmark pin`",
            Self::Mark { .. } => "look at the tool again with `toolmark pins diff`",
            Self::OneMark => "accept one tool at a time, or leave out `--mark`",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unknown(tool) | Self::InLock(tool) => facts([("tool", json!(tool))]),
            Self::Mark { tool, is, .. } => facts([("tool", json!(tool)), ("mark", json!(is))]),
            Self::Volatile | Self::OneMark => Map::new(),
        }
    }
}
