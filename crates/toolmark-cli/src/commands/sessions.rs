//! `toolmark sessions`: the conversations of agents that the store keeps, those of `toolmark run --session` and the threads of user
//! interfaces alike. What was said in them was said by models, servers and users: it is shown, never acted on.

mod show;

use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_runtime::sessions::SessionKeeper as _;
use toolmark_store::{KeptSession, Location, Micros, Store};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place::{Place, close, look};
use crate::workspace::Written;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Show all sessions, the one that changed last first
    List(SessionsList),
    /// Show what was said in a session
    Show(SessionsShow),
    /// Forget a session with everything in it
    Delete(SessionsDelete),
}

#[derive(Debug, Args)]
pub(crate) struct SessionsList {
    /// How many to show; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsShow {
    /// Its name, or the id of a thread of a user interface
    pub(crate) name: String,

    /// Show only the last so many items
    #[arg(long, value_name = "NUMBER")]
    pub(crate) last: Option<u64>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON, with every item whole
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsDelete {
    /// Its name, or the id of a thread of a user interface
    pub(crate) name: String,

    /// Also if a run has it, or something waits in it for an answer
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A session that is not there, or is not to go.
#[derive(Debug, thiserror::Error)]
enum SessionsError {
    #[error("a store in memory keeps no session for anybody else")]
    Volatile,
    #[error("there is no store at `{0}`")]
    NoStore(String),
    #[error("there is no session `{0}`")]
    Unknown(String),
    #[error("`{thread}` is the id of {} threads", names.len())]
    Ambiguous { thread: String, names: Vec<String> },
    #[error("{}", match .waits {
        true => format!("something in the session `{name}` waits for an answer"),
        false => format!("a run has the session `{name}`"),
    })]
    InUse { name: String, waits: bool },
}

/// Where a session comes from: the threads of user interfaces have names of three parts.
struct Origin {
    agent: String,
    caller: String,
    thread: String,
}

impl SessionsCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::List(arguments) => arguments.json,
            Self::Show(arguments) => arguments.json,
            Self::Delete(arguments) => arguments.json,
        }
    }
}

pub(crate) fn run(command: &SessionsCommand) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let place = match command {
            SessionsCommand::List(arguments) => &arguments.place,
            SessionsCommand::Show(arguments) => &arguments.place,
            SessionsCommand::Delete(arguments) => &arguments.place,
        };
        let store = existing(place).await?;
        let done = match command {
            SessionsCommand::List(arguments) => list(&store, arguments).await,
            SessionsCommand::Show(arguments) => show(&store, arguments).await,
            SessionsCommand::Delete(arguments) => delete(&store, arguments).await,
        };
        close(&store).await;
        done
    })
}

/// The store of a gateway, which may be running. One that is not there is not made: it would have nothing to show.
async fn existing(place: &Place) -> Result<Store, Failure> {
    let written = Written::find(place.config.as_deref())?;
    match place.location(&written)? {
        Location::Memory => Err(Failure::refused(Exit::BadInput, &SessionsError::Volatile)),
        Location::File(path) if !path.exists() => {
            let error = SessionsError::NoStore(visible(&path.display().to_string(), 300));
            Err(Failure::refused(Exit::NotFound, &error))
        }
        location => look(&location, 1).await,
    }
}

async fn list(store: &Store, arguments: &SessionsList) -> Result<Exit, Failure> {
    // One more says whether there are more.
    let most = Some(arguments.limit).filter(|limit| *limit > 0);
    let mut all = store.sessions(most.map(|most| most.saturating_add(1))).await.map_err(failed)?;
    let shown = most.map_or(all.len(), |most| usize::try_from(most).unwrap_or(usize::MAX).min(all.len()));
    let more = !all.split_off(shown).is_empty();
    let now = Micros::from(SystemTime::now());
    if arguments.json {
        let rows: Vec<Value> = all.iter().map(|one| Value::Object(described(one, now))).collect();
        output::json(&json!({ "sessions": rows, "more": more }))?;
        return Ok(Exit::Success);
    }
    if all.is_empty() {
        output::line("no sessions")?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["name", "agent", "caller", "items", "changed", "state"]);
    for one in &all {
        let origin = Origin::of(&one.name);
        let part = |part: fn(&Origin) -> &String| {
            origin.as_ref().map_or_else(|| "-".to_owned(), |origin| output::safe(part(origin)))
        };
        table.add_row([
            origin.as_ref().map_or_else(|| output::safe(&one.name), |origin| output::safe(&origin.thread)),
            part(|origin| &origin.agent),
            part(|origin| &origin.caller),
            one.items.to_string(),
            minute(one.changed),
            state(one, now).to_owned(),
        ]);
    }
    output::line(table.trim_fmt())?;
    if more {
        output::note(&format!("only the last {} of them; `--limit 0` shows all", all.len()));
    }
    Ok(Exit::Success)
}

async fn show(store: &Store, arguments: &SessionsShow) -> Result<Exit, Failure> {
    let one = find(store, &arguments.name).await?;
    let items = store.items(&one.name, arguments.last).await.map_err(failed)?;
    let now = Micros::from(SystemTime::now());
    if arguments.json {
        let mut all = described(&one, now);
        all.insert("said".into(), items.iter().map(|text| show::value(text)).collect());
        output::json(&Value::Object(all))?;
        return Ok(Exit::Success);
    }
    let left_out = one.items.saturating_sub(u64::try_from(items.len()).unwrap_or(u64::MAX));
    if left_out > 0 {
        output::note(&format!(
            "{} before these",
            output::count(usize::try_from(left_out).unwrap_or(usize::MAX), "item")
        ));
    }
    for text in &items {
        output::line(show::line(text))?;
    }
    match state(&one, now) {
        "idle" => {}
        "waits" => output::note("something in it waits for an answer"),
        _ => output::note("a run has it; what that run says is added when it is over"),
    }
    Ok(Exit::Success)
}

async fn delete(store: &Store, arguments: &SessionsDelete) -> Result<Exit, Failure> {
    let one = find(store, &arguments.name).await?;
    let unknown = || Failure::refused(Exit::NotFound, &SessionsError::Unknown(output::safe(&arguments.name)));
    let gone = match arguments.force {
        true => store.forget_session(&one.name).await.map_err(failed)?,
        false => store.forget_idle_session(&one.name).await.map_err(failed)?,
    };
    if !gone {
        // Somebody else may have been faster, or has it.
        let still = store.session(&one.name).await.map_err(failed)?.filter(|_| !arguments.force).ok_or_else(unknown)?;
        let error = SessionsError::InUse { name: output::safe(&arguments.name), waits: still.waits };
        return Err(Failure::refused(Exit::Failed, &error));
    }
    if arguments.json {
        output::json(&json!({ "name": one.name, "items": one.items, "state": "deleted" }))?;
    } else {
        let items = output::count(usize::try_from(one.items).unwrap_or(usize::MAX), "item");
        output::line(format_args!("`{}` is gone, with {items}", output::safe(&arguments.name)))?;
    }
    Ok(Exit::Success)
}

/// The session of a name, or of the only thread of that id.
async fn find(store: &Store, name: &str) -> Result<KeptSession, Failure> {
    if let Some(one) = store.session(name).await.map_err(failed)? {
        return Ok(one);
    }
    let all = store.sessions(None).await.map_err(failed)?;
    let mut threads: Vec<KeptSession> =
        all.into_iter().filter(|one| Origin::of(&one.name).is_some_and(|origin| origin.thread == name)).collect();
    match (threads.pop(), threads.is_empty()) {
        (None, _) => Err(Failure::refused(Exit::NotFound, &SessionsError::Unknown(output::safe(name)))),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            let names = threads.iter().chain([&last]).map(|one| one.name.clone()).collect();
            Err(Failure::refused(Exit::Ambiguous, &SessionsError::Ambiguous { thread: output::safe(name), names }))
        }
    }
}

impl Origin {
    fn of(name: &str) -> Option<Self> {
        let (agent, caller, thread) = serde_json::from_str(name.strip_prefix("agui:")?).ok()?;
        Some(Self { agent, caller, thread })
    }
}

fn state(one: &KeptSession, now: Micros) -> &'static str {
    match (one.is_held(now), one.waits) {
        (true, _) => "held",
        (false, true) => "waits",
        (false, false) => "idle",
    }
}

fn described(one: &KeptSession, now: Micros) -> Map<String, Value> {
    let origin = Origin::of(&one.name);
    let held = one.held.as_ref().filter(|_| one.is_held(now)).map(|held| {
        let time = |time: Option<Micros>| time.map(|time| time.to_string());
        json!({ "run": held.run, "since": time(held.since), "until": time(held.until) })
    });
    facts([
        ("name", json!(one.name)),
        ("agent", json!(origin.as_ref().map(|origin| &origin.agent))),
        ("caller", json!(origin.as_ref().map(|origin| &origin.caller))),
        ("thread", json!(origin.as_ref().map(|origin| &origin.thread))),
        ("items", json!(one.items)),
        ("changed", json!(one.changed.to_string())),
        ("state", json!(state(one, now))),
        ("held", json!(held)),
        ("waits", json!(one.waits)),
    ])
}

/// A time as people read it, in UTC.
fn minute(time: Micros) -> String {
    let text = time.to_string();
    text.get(..16).map_or_else(|| text.clone(), |short| format!("{}Z", short.replace('T', " ")))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn failed(error: impl Explain) -> Failure {
    Failure::refused(Exit::Failed, &error)
}

impl Explain for SessionsError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("stored-session-volatile"),
            Self::NoStore(_) => Code::new("stored-session-no-store"),
            Self::Unknown(_) => Code::new("stored-session-unknown"),
            Self::Ambiguous { .. } => Code::new("stored-session-ambiguous"),
            Self::InUse { .. } => Code::new("stored-session-in-use"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "what another process has in its memory cannot be seen from here",
            Self::NoStore(_) => "an empty list would look as if nobody had said anything",
            Self::Unknown(_) => "another conversation is not the one that was meant",
            Self::Ambiguous { .. } => "agents and callers have threads of their own, and ids are theirs to choose",
            Self::InUse { waits: true, .. } => "whoever was asked would answer a question that nobody knows any more",
            Self::InUse { waits: false, .. } => "the run would have nowhere to put what it says",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile => "name the store that the gateway uses with `--store`, or leave it out".into(),
            Self::NoStore(_) => {
                "name the store of the gateway with `--store`, or its configuration with `--config`".into()
            }
            Self::Unknown(_) => {
                "see `toolmark sessions list --limit 0`, and that it is the store of the gateway".into()
            }
            Self::Ambiguous { names, .. } => {
                let all: Vec<String> = names.iter().take(10).map(|name| format!("`{}`", output::safe(name))).collect();
                format!("use the whole name of one of them: {}", all.join(", "))
            }
            Self::InUse { waits: true, .. } => {
                "answer it first, see `toolmark approvals list`; or repeat this with `--force`".into()
            }
            Self::InUse { waits: false, .. } => {
                "wait until the run is over, or repeat this with `--force` if it will not come back".into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Volatile => Map::new(),
            Self::NoStore(store) => facts([("store", json!(store))]),
            Self::Unknown(name) => facts([("session", json!(name))]),
            Self::Ambiguous { thread, names } => facts([("thread", json!(thread)), ("sessions", json!(names))]),
            Self::InUse { name, waits } => facts([("session", json!(name)), ("waits", json!(waits))]),
        }
    }
}
