//! `toolmark wrap` and `toolmark unwrap`: a client's file, rewritten so that it goes through Toolmark, and restored.

mod error;
mod same;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use http::Uri;
use serde_json::json;
use toolmark_config::Config;
use toolmark_config::clients::{Client, Location, ParseClientError, Scope};
use toolmark_config::import::{Surroundings, import};
use toolmark_config::sections::Pack;
use toolmark_config::wrap::{self, Reach, Record, UnwrapError};
use toolmark_core::gate::Expectation;
use toolmark_core::names::PackName;
use toolmark_runtime::{ParseTaskNameError, Task, Tasks};

use crate::clients::{Places, absolute};
use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::file::{replace, write_private};
use crate::workspace::CONFIG;
use crate::{input, output};
use error::{Lost, NoAddress, NoFile, NotConfigured, NotWrapped};
use same::{is_named, is_same};

#[derive(Debug, Args)]
pub(crate) struct Wrap {
    /// The client: claude-desktop, claude-code, cursor, vscode, codex, gemini-cli or windsurf
    pub(crate) client: String,

    #[command(flatten)]
    pub(crate) places: Places,

    /// The client's file, where it is none of the usual ones
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The configuration that Toolmark is to use
    #[arg(long, value_name = "FILE", default_value = CONFIG)]
    pub(crate) config: PathBuf,

    /// The task that calls of this client belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// The address of a running gateway, in place of a program that the client starts
    #[arg(long, value_name = "URL", conflicts_with = "task")]
    pub(crate) url: Option<String>,

    /// The program that the client starts [default: this one]
    #[arg(long, value_name = "PROGRAM", conflicts_with = "url", value_parser = program)]
    pub(crate) command: Option<String>,

    /// Change nothing; say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unwrap {
    /// The client: claude-desktop, claude-code, cursor, vscode, codex, gemini-cli or windsurf
    pub(crate) client: String,

    #[command(flatten)]
    pub(crate) places: Places,

    /// The client's file, where it is none of the usual ones
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Restore the old file even when changes would be lost, or when it was removed
    #[arg(long)]
    pub(crate) force: bool,

    /// Change nothing; say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The ending of the file that keeps the old text.
const BACKUP: &str = "toolmark-backup";

pub(crate) fn run(arguments: &Wrap) -> Result<Exit, Failure> {
    let client = client(&arguments.client)?;
    let Chosen { path, scope, others } = choose(client, &arguments.places, arguments.file.as_deref())?;
    let document = input::document(&path)?;
    let shown = output::safe(document.label());
    let surroundings = arguments.places.surroundings(scope);
    let refuse = |error: &wrap::WrapError| Failure::refused(Exit::BadInput, error);
    let reach = reach(arguments, client)?;
    let wrapped = wrap::wrap(client, document.text(), &shown, &reach, &surroundings).map_err(|error| refuse(&error))?;
    let Reached { servers, more, configured } =
        require_configured(arguments, client, document.text(), &shown, &surroundings, &wrapped.servers)?;
    let backup = backup_of(&path);
    if !arguments.dry_run {
        set_aside(&backup)?;
        write_private(&backup, &wrapped.record.to_text())?;
        if let Err(failure) = replace(&path, &wrapped.text) {
            // The file is as it was, so nothing has to be restored.
            let _ = fs::remove_file(&backup);
            return Err(failure);
        }
    }
    let others: Vec<String> = others.iter().map(|path| output::safe(&path.display().to_string())).collect();
    if arguments.json {
        output::json(&json!({
            "client": client.as_str(),
            "file": shown,
            "servers": servers,
            "more": more,
            "past": others,
            "backup": backup.display().to_string(),
            "written": !arguments.dry_run,
        }))?;
        return Ok(Exit::Success);
    }
    if !configured {
        output::note("there is no configuration here, so nobody knows whether the gateway has these servers");
    }
    let verb = if arguments.dry_run { "would now reach" } else { "now reaches" };
    let names: Vec<String> = servers.iter().map(|name| output::safe(name)).collect();
    let servers = output::count(names.len(), "server");
    let listed = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    output::line(format_args!("{} {verb} {servers}{listed} through Toolmark: {shown}", client.title()))?;
    if !more.is_empty() {
        let (count, config) = (output::count(more.len(), "other"), arguments.config.display().to_string());
        output::note(&format!(
            "it reaches {count} of {} as well ({}); `packs` in `[profiles.{}]` says which it should reach",
            output::safe(&config),
            more.join(", "),
            client.profile()
        ));
    }
    if !arguments.dry_run {
        let option = |name: &str, path: Option<&PathBuf>| {
            path.map(|path| format!(" {name} {}", output::safe(&path.display().to_string()))).unwrap_or_default()
        };
        let places = &arguments.places;
        let project = option("--project", places.project.as_ref());
        let options = option("--home", places.home.as_ref()) + &project + &option("--file", arguments.file.as_ref());
        output::line(format_args!("restart it; `toolmark unwrap {client}{options}` restores the file"))?;
    }
    for other in &others {
        output::warn(&format!(
            "{} also keeps servers in {other}, and they still go past Toolmark: `toolmark wrap {client} --file {other}`, or move them",
            client.title()
        ));
    }
    Ok(Exit::Success)
}

pub(crate) fn undo(arguments: &Unwrap) -> Result<Exit, Failure> {
    let client = client(&arguments.client)?;
    let refuse = |error: UnwrapError| Failure::refused(Exit::BadInput, &error);
    let (path, others) = match &arguments.file {
        Some(file) => (file.clone(), Vec::new()),
        None => {
            let places: Vec<PathBuf> =
                arguments.places.chosen(client).into_iter().map(|location| location.path).collect();
            let mut found = places.iter().filter(|path| backup_of(path).is_file()).cloned();
            (found.next().ok_or_else(|| not_wrapped(client, &places))?, found.collect())
        }
    };
    let backup = backup_of(&path);
    if !backup.is_file() {
        return Err(not_wrapped(client, std::slice::from_ref(&path)));
    }
    let record = Record::from_text(input::document(&backup)?.text()).map_err(refuse)?;
    if record.client() != client {
        return Err(refuse(UnwrapError::Record));
    }
    let gone = matches!(path.try_exists(), Ok(false));
    let (shown, restored) = if gone {
        (output::safe(&path.display().to_string()), Err(UnwrapError::Gone))
    } else {
        let document = input::document(&path)?;
        (output::safe(document.label()), wrap::unwrap(document.text(), &record))
    };
    let (text, exact) = match restored {
        Ok(unwrapped) => (unwrapped.text, unwrapped.exact),
        Err(UnwrapError::Changed | UnwrapError::Gone) if arguments.force => (record.original().to_owned(), true),
        Err(error) => return Err(refuse(error)),
    };
    if !arguments.dry_run {
        // Which permissions the file had is not known any more, and it may hold secrets.
        let written = if gone { write_private(&path, &text) } else { replace(&path, &text) };
        written?;
        fs::remove_file(&backup)
            .map_err(|error| Failure::refused(Exit::Failed, &FileError::writing(&backup, &error)))?;
    }
    if arguments.json {
        output::json(
            &json!({"client": client.as_str(), "file": shown, "exact": exact, "written": !arguments.dry_run}),
        )?;
        return Ok(Exit::Success);
    }
    let verb = if arguments.dry_run { "would restore" } else { "restored" };
    let how = if exact { "byte for byte" } else { "with the changes that were made since" };
    output::line(format_args!("{verb} {shown}, {how}"))?;
    for other in others {
        let other = output::safe(&other.display().to_string());
        output::note(&format!("{other} goes through Toolmark too: `toolmark unwrap {client} --file {other}`"));
    }
    Ok(Exit::Success)
}

/// Nothing was kept of any of these files.
fn not_wrapped(client: Client, files: &[PathBuf]) -> Failure {
    let backups: Vec<PathBuf> = files.iter().map(|file| backup_of(file)).collect();
    Failure::refused(Exit::BadInput, &NotWrapped::new(client, &backups))
}

fn client(word: &str) -> Result<Client, Failure> {
    word.parse().map_err(|error: ParseClientError| Failure::refused(Exit::BadInput, &error))
}

/// The file that is about to be wrapped.
struct Chosen {
    path: PathBuf,
    scope: Scope,
    /// Files of the same client that hold servers of their own.
    others: Vec<PathBuf>,
}

/// The file that was named, or the first of the usual ones that holds servers, or that is there at all.
fn choose(client: Client, places: &Places, file: Option<&Path>) -> Result<Chosen, Failure> {
    if let Some(file) = file {
        let scope = if places.project.is_some() { Scope::Project } else { Scope::User };
        return Ok(Chosen { path: file.to_owned(), scope, others: Vec::new() });
    }
    let all = places.chosen(client);
    let there: Vec<&Location> = all.iter().filter(|location| location.path.is_file()).collect();
    let has_servers = |location: &&&Location| {
        let surroundings = places.surroundings(location.scope);
        let text = input::document(&location.path).ok();
        text.and_then(|text| import(client, text.text(), "", &surroundings).ok()).is_some_and(|found| {
            found.packs.iter().any(|found| !wrap::is_toolmark(&found.key, &found.pack)) || !found.problems.is_empty()
        })
    };
    // The settings of an editor are not the place for a first server.
    let plain = |location: &&&Location| !(client == Client::Vscode && location.path.ends_with("settings.json"));
    let holding: Vec<&&Location> = there.iter().filter(has_servers).collect();
    let wrapped = |location: &&&Location| backup_of(&location.path).is_file();
    let chosen = holding.first().copied().or_else(|| there.iter().find(wrapped)).or_else(|| there.iter().find(plain));
    match chosen {
        Some(location) => {
            let others = holding.iter().filter(|other| other.path != location.path);
            let others = others.map(|other| other.path.clone()).collect();
            Ok(Chosen { path: location.path.clone(), scope: location.scope, others })
        }
        None => Err(Failure::refused(Exit::BadInput, &NoFile::new(client, &all))),
    }
}

/// A program that can be started.
fn program(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("a program has a name".into()) } else { Ok(text.to_owned()) }
}

fn reach(arguments: &Wrap, client: Client) -> Result<Reach, Failure> {
    if let Some(url) = &arguments.url {
        let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = |uri: &Uri| uri.host().is_some_and(|host| !host.is_empty());
        return match url.parse::<Uri>() {
            Ok(uri) if is_web(&uri) && has_host(&uri) => Ok(Reach::Url(url.clone())),
            _ => Err(Failure::refused(Exit::BadInput, &NoAddress::new(url))),
        };
    }
    let program = || std::env::current_exe().ok().map(|path| path.display().to_string());
    let command = arguments.command.clone().or_else(program).unwrap_or_else(|| "toolmark".to_owned());
    let mut args = vec!["stdio".to_owned(), "--config".into(), absolute(&arguments.config)];
    args.extend(["--profile".to_owned(), client.profile().to_string()]);
    args.extend(arguments.task.iter().flat_map(|task| ["--task".to_owned(), task.clone()]));
    Ok(Reach::Command { command, args })
}

/// Refuses a task that `toolmark stdio` would refuse, which the client would only show as a server that does not start.
fn require_task(name: &str, config: &Config) -> Result<(), Failure> {
    let mut tasks = Tasks::default();
    for (name, task) in &config.tasks {
        let parsed = name.as_str().parse();
        let parsed = parsed.map_err(|error: ParseTaskNameError| Failure::refused(Exit::BadInput, &error))?;
        tasks.insert(Task::new(parsed, Expectation::new(name.as_str(), task.expect.clone(), task.on_mismatch)));
    }
    tasks.find(name).map(|_| ()).map_err(|error| Failure::refused(Exit::BadInput, &error))
}

/// What a client gets back through Toolmark.
struct Reached {
    /// Its servers, by its own names.
    servers: Vec<String>,
    /// What else there is in the configuration, which it reaches too.
    more: Vec<String>,
    /// False when there is no configuration to compare with.
    configured: bool,
}

/// Refuses to take servers from a client that Toolmark would not give back. `taken` are all that stand in the file.
fn require_configured(
    arguments: &Wrap,
    client: Client,
    text: &str,
    shown: &str,
    surroundings: &Surroundings,
    taken: &[String],
) -> Result<Reached, Failure> {
    let imported =
        import(client, text, shown, surroundings).map_err(|error| Failure::Problems(error.problems().to_vec()))?;
    let configured = arguments.config.is_file();
    let config = if configured {
        let document = input::document(&arguments.config)?;
        let label = output::safe(document.label());
        Config::read(document.text(), &label).map_err(|error| Failure::Problems(error.problems().to_vec()))?
    } else {
        Config::default()
    };
    // A gateway elsewhere may have what nothing here describes.
    let comparable = configured || arguments.url.is_none();
    let mut lost = Lost::default();
    for found in imported.packs.iter().filter(|_| comparable) {
        let named = || config.packs.iter().filter(|(name, _)| is_named(name, &found.name, client));
        let mut same = named().filter(|(_, pack)| is_same(&found.pack, pack)).peekable();
        let key = found.key.clone();
        if named().next().is_none() {
            lost.missing.push(key);
        } else if same.peek().is_none() {
            lost.different.push(key);
        } else if found.pack.enabled && same.all(|(_, pack)| !pack.enabled) {
            // What the client does not use either is no loss.
            lost.off.push(key);
        }
    }
    // A server that cannot be used is in no configuration; the client may still start it.
    let refused = imported.problems.iter().filter_map(|problem| problem.report().facts().get("server")?.as_str());
    let servers: Vec<String> = imported.packs.iter().map(|found| found.key.clone()).collect();
    for key in taken.iter().filter(|key| !servers.contains(key)).map(String::as_str).chain(refused) {
        if !lost.unusable.iter().any(|known| known == key) {
            lost.unusable.push(key.to_owned());
        }
    }
    // A client that had no server yet would be left with one that cannot start.
    if !lost.is_empty() || (!configured && arguments.url.is_none()) {
        return Err(Failure::refused(Exit::BadInput, &NotConfigured::new(client, &arguments.config, configured, lost)));
    }
    if let Some(task) = &arguments.task {
        require_task(task, &config)?;
    }
    if imported.elsewhere > 0 && configured {
        let servers = output::count(imported.elsewhere, "server");
        output::warn(&format!(
            "{servers} of single projects in {shown} still go past Toolmark: `--file FILE --project DIR`"
        ));
    }
    let is_theirs = |name: &PackName, pack: &Pack| {
        imported.packs.iter().any(|found| is_named(name, &found.name, client) && is_same(&found.pack, pack))
    };
    let address = client.profile();
    let profile = config.profiles.iter().find(|(name, _)| name.as_str() == address.as_str());
    let seen = profile.and_then(|(_, profile)| profile.packs.as_ref());
    let is_seen = |name: &PackName| seen.is_none_or(|packs| packs.contains(name));
    let more = config.packs.iter().filter(|(name, pack)| pack.enabled && is_seen(name) && !is_theirs(name, pack));
    let more = more.map(|(name, _)| name.to_string()).collect();
    Ok(Reached { servers, more, configured })
}

fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{BACKUP}"));
    path.with_file_name(name)
}

/// A record of an earlier time, whose file was restored by hand, is kept under another name.
fn set_aside(backup: &Path) -> Result<(), Failure> {
    if !backup.exists() {
        return Ok(());
    }
    let numbered = |number: u32| {
        let mut name = backup.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{number}"));
        backup.with_file_name(name)
    };
    let free = (1..).map(numbered).find(|path| !path.exists());
    let moved = free.map_or(Ok(()), |free| fs::rename(backup, free));
    moved.map_err(|error| Failure::refused(Exit::Failed, &FileError::writing(backup, &error)))
}
