//! `toolmark run`: an agent of the configuration, in the terminal. Its calls go the way of every other call: judged, asked about, recorded.

mod ask;
mod show;

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use toolmark_agents::{Agent, RunOutcome, RunState, RunStream, Runner, Session as _, StoredSession};
use toolmark_config::Config;
use toolmark_config::sections::Log;
use toolmark_config::values::ModelText;
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::text::visible;
use toolmark_gateway::agents::{self, AgentUnknown, MAX_TURNS};
use toolmark_gateway::models::ModelAt;
use toolmark_gateway::{AgentSpans, Gateway, PackState, demo};
use toolmark_models::Model;
use toolmark_runtime::tools::RunContext;
use toolmark_store::Store;

use crate::commands::up;
use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{file, input, logs, output};
use ask::Answers;
use show::Show;

/// How long a run waits for servers that are starting.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The agent: one of `[agents]`, or `demo` in the demo workspace
    #[arg(value_name = "AGENT")]
    name: String,

    /// What to say to it; `-` reads standard input
    #[arg(value_name = "TEXT", required_unless_present = "resume", conflicts_with = "resume")]
    text: Option<String>,

    /// Go on with a run that was saved because it waits for a person
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Where to save a run that waits for a person [default: a new file AGENT-….run.json in this folder]
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// With --resume: approve a call that waits, by its id, or `all`; may be repeated
    #[arg(long, value_name = "CALL", requires = "resume")]
    approve: Vec<String>,

    /// With --resume: reject a call that waits, by its id, or `all`; may be repeated
    #[arg(long, value_name = "CALL", requires = "resume")]
    reject: Vec<String>,

    /// What the model reads about a rejected call
    #[arg(long, value_name = "TEXT", requires = "reject")]
    message: Option<String>,

    /// Ask about calls on standard input, although it is no terminal
    #[arg(long, conflicts_with = "json")]
    ask: bool,

    /// The conversation that this belongs to, kept in the store; the same name goes on with it
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    session: Option<String>,

    /// With --session: take the conversation over from a run that has it and will not come back
    #[arg(long, requires = "session")]
    take_over: bool,

    /// How often a model is asked at most [default: as configured, or 10]
    #[arg(long, value_name = "NUMBER")]
    max_turns: Option<std::num::NonZeroU32>,

    /// The configuration [default: toolmark.toml, if it is there; otherwise the demo workspace]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    store: StoreName,

    /// Print one JSON object for everything that happens, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

/// A call that does not wait.
#[derive(Debug, thiserror::Error)]
#[error("no call `{call}` waits in this run")]
struct NotPending {
    call: String,
    pending: Vec<String>,
}

/// How a run ended that did not fail.
enum Ended {
    Finished,
    /// Somebody has to decide; the run is in a file.
    Saved,
    /// Somebody did not want to wait any longer.
    Cancelled,
}

pub(crate) fn run(arguments: &Run) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(begin(arguments));
    // Standard input is read by a thread that nothing wakes.
    runtime.shutdown_background();
    match exit {
        Err(failure) if arguments.json => Ok(failure.show_as_event()),
        exit => exit,
    }
}

async fn begin(arguments: &Run) -> Result<Exit, Failure> {
    let written = Written::find(arguments.config.as_deref())?;
    let spans = AgentSpans::new();
    logs::start_with(&quiet(&written.config.telemetry.log), spans.clone())?;
    let demo = written.path.is_none();
    let config = if demo { demo::config() } else { written.config.clone() };
    // What can be said without a server is said before one is started.
    let (_, agent) =
        AgentUnknown::find(&config, &arguments.name).map_err(|error| Failure::refused(Exit::NotFound, &error))?;
    let turns = arguments.max_turns.map(std::num::NonZeroU32::get).or(agent.max_turns).unwrap_or(MAX_TURNS);
    let begins = begins(arguments)?;
    let directory = written.directory().to_owned();
    let (store, sink) = up::remember(&written, arguments.store.name.as_deref()).await?;
    let vault = up::logins(&written, arguments.store.name.as_deref());
    let options = up::found_with(arguments.config.as_deref(), arguments.store.name.as_deref());
    let started = up::start(written, &store, &sink, vault, options, None).await;
    let ended = match started {
        Ok(gateway) => {
            spans.connect(&gateway);
            let session = session(arguments, &begins, &store);
            let ended = with(arguments, &gateway, &config, &directory, demo, turns, (begins, session)).await;
            gateway.stop().await;
            ended
        }
        Err(failure) => Err(failure),
    };
    up::forget(&store, sink).await;
    Ok(match ended? {
        Ended::Finished => Exit::Success,
        Ended::Saved | Ended::Cancelled => Exit::Findings,
    })
}

/// What a gateway says in passing would stand between what the agent says; what somebody asked for is logged.
fn quiet(log: &Log) -> Log {
    match *log == Log::default() {
        true => Log { filter: "warn".to_owned(), ..Log::default() },
        false => log.clone(),
    }
}

/// What a run begins with.
enum Begins {
    Text(String),
    State(Box<RunState>),
}

fn begins(arguments: &Run) -> Result<Begins, Failure> {
    if let Some(path) = &arguments.resume {
        let document = input::document(path)?;
        let state = RunState::from_json(document.text()).map_err(|error| Failure::refused(Exit::BadInput, &error))?;
        return Ok(Begins::State(Box::new(state)));
    }
    match arguments.text.as_deref() {
        Some("-") => {
            let mut text = String::new();
            let refuse = |error| Failure::refused(Exit::BadInput, &FileError::reading(Path::new("-"), &error));
            std::io::stdin().lock().read_to_string(&mut text).map_err(refuse)?;
            Ok(Begins::Text(text))
        }
        text => Ok(Begins::Text(text.unwrap_or_default().to_owned())),
    }
}

async fn with(
    arguments: &Run,
    gateway: &Arc<Gateway>,
    config: &Config,
    directory: &Path,
    demo: bool,
    turns: u32,
    (begins, session): (Begins, Option<StoredSession>),
) -> Result<Ended, Failure> {
    let _ = tokio::time::timeout(PATIENCE, gateway.settled()).await;
    for pack in gateway.packs() {
        if let PackState::Unavailable(why) = pack.state() {
            output::warn(&format!("the server of `{}` is not there: {}", pack.name(), visible(&why, 300)));
        }
    }
    let (name, _) =
        AgentUnknown::find(config, &arguments.name).map_err(|error| Failure::refused(Exit::NotFound, &error))?;
    let open = |text: &ModelText| opened(config, text, directory, demo);
    let agent =
        agents::build(gateway, config, name, &open).map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let mut runner = Runner::new().max_turns(turns).caller("local").take_over(arguments.take_over);
    if let Some(session) = &session {
        runner = runner.session(Arc::new(session.clone()));
    }
    let attended =
        arguments.ask || (!arguments.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal());
    let answers = Answers { gateway, attended };
    let mut show = Show::new(gateway, arguments.json);
    let mut stream = match begins {
        Begins::Text(text) => runner.run_stream(&agent, text.as_str(), RunContext::new()),
        Begins::State(mut state) => {
            decide(arguments, &mut state)?;
            if answers.settle(&mut state, &mut show, false).await? {
                runner.resume_stream(&agent, *state, RunContext::new())
            } else {
                return save(arguments, &agent, &state, gateway, &mut show).await;
            }
        }
    };
    loop {
        let outcome = match watch(&mut stream, &mut show).await? {
            true => stream.outcome().await,
            false => {
                // The run is gone, and nobody else has its conversation.
                drop(stream);
                if let Some(session) = &session {
                    let refuse = |error| Failure::refused(Exit::Failed, &error);
                    let nobody = uuid::Uuid::now_v7();
                    session.begin(nobody, Some(0), true).await.map_err(refuse)?;
                    session.release(nobody).await.map_err(refuse)?;
                }
                show.cancelled()?;
                return Ok(Ended::Cancelled);
            }
        };
        let mut state = match outcome {
            Ok(RunOutcome::Finished(result)) => {
                show.finished(&result)?;
                return Ok(Ended::Finished);
            }
            Ok(RunOutcome::Interrupted(state)) => state,
            Err(error) => {
                show.end_of_text()?;
                // What was done is not lost: a model that is away for a moment can be asked again.
                if let Some(state) = error.state() {
                    let path = saved(arguments, state)?;
                    output::note(&again(arguments, &path, "what was done so far is kept"));
                }
                return Err(Failure::refused(Exit::Failed, &error));
            }
        };
        if !answers.settle(&mut state, &mut show, true).await? {
            return save(arguments, &agent, &state, gateway, &mut show).await;
        }
        stream = runner.resume_stream(&agent, *state, RunContext::new());
    }
}

/// The conversation that a run belongs to: the one that is named, or the one that a saved run began in.
fn session(arguments: &Run, begins: &Begins, store: &Store) -> Option<StoredSession> {
    let kept = match begins {
        Begins::State(state) => state.session(),
        Begins::Text(_) => None,
    };
    let name = arguments.session.as_deref().or(kept)?;
    Some(StoredSession::new(Arc::new(store.clone()), name))
}

fn opened(config: &Config, text: &ModelText, directory: &Path, demo: bool) -> Result<Arc<dyn Model>, Box<Report>> {
    if demo {
        return demo::model().map_err(|error| Box::new(error.report()));
    }
    let environment = |name: &str| std::env::var(name).ok();
    let at = ModelAt::find(config, text, directory, &environment).map_err(|error| Box::new(error.report()))?;
    at.open(&environment).map_err(|error| Box::new(error.report()))
}

/// Shows everything that happens until the run ends; false when somebody wants it to end earlier.
async fn watch(stream: &mut RunStream, show: &mut Show<'_>) -> Result<bool, Failure> {
    // One for all events: what is typed while one is shown is heard too.
    let mut ended = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            event = stream.next() => match event {
                Some(event) => show.event(&event)?,
                None => return Ok(true),
            },
            _ = &mut ended => return Ok(false),
        }
    }
}

/// Takes over what the command line says about calls that wait.
fn decide(arguments: &Run, state: &mut RunState) -> Result<(), Failure> {
    let waiting = state.pending();
    let named = |call: &str| -> Result<Vec<_>, Failure> {
        let found: Vec<_> =
            waiting.iter().filter(|own| call == "all" || own.call_id().as_str() == call).cloned().collect();
        if found.is_empty() {
            let pending = waiting.iter().map(|own| output::safe(own.call_id().as_str())).collect();
            return Err(Failure::refused(Exit::NotFound, &NotPending { call: visible(call, 120), pending }));
        }
        Ok(found)
    };
    let refuse = |error| Failure::refused(Exit::BadInput, &error);
    for call in &arguments.reject {
        for pending in named(call)? {
            state.reject(&pending, arguments.message.as_deref()).map_err(refuse)?;
        }
    }
    for call in &arguments.approve {
        for pending in named(call)? {
            // `all` is all that nothing was said about.
            let open = state.pending().iter().any(|own| own.call_id() == pending.call_id());
            if open || call != "all" {
                state.approve(&pending).map_err(refuse)?;
            }
        }
    }
    Ok(())
}

/// Keeps a run that waits, and says how to go on.
async fn save(
    arguments: &Run,
    agent: &Agent,
    state: &RunState,
    gateway: &Gateway,
    show: &mut Show<'_>,
) -> Result<Ended, Failure> {
    let path = saved(arguments, state)?;
    show.waiting(agent.name(), state, &path, gateway).await?;
    output::note(&again(arguments, &path, "the run waits for a person"));
    Ok(Ended::Saved)
}

fn saved(arguments: &Run, state: &RunState) -> Result<PathBuf, Failure> {
    let path = match (&arguments.save, &arguments.resume) {
        (Some(path), _) | (None, Some(path)) => path.clone(),
        (None, None) => PathBuf::from(format!("{}-{}.run.json", arguments.name, uuid::Uuid::now_v7().simple())),
    };
    let text = state.to_json();
    // The conversation is in it: nobody else should read it.
    if path.exists() {
        file::replace(&path, &text)?;
    } else {
        file::write_private(&path, &text)?;
    }
    Ok(path)
}

fn again(arguments: &Run, path: &Path, why: &str) -> String {
    let path = output::safe(&path.display().to_string());
    format!("{why}; go on with `toolmark run {} --resume {path}`", arguments.name)
}

impl Explain for NotPending {
    fn code(&self) -> Code {
        Code::new("run-call-not-pending")
    }

    fn why(&self) -> String {
        "what a person was shown must be what runs, and only once".into()
    }

    fn fix(&self) -> String {
        match self.pending.as_slice() {
            [] => "no call waits; resume the run without `--approve` and `--reject`".into(),
            some => format!("use {}, or `all`", some.join(" or ")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("call", self.call.as_str().into()), ("pending", self.pending.as_slice().into())])
    }
}
