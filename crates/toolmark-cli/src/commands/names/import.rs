//! `toolmark names import`: translations into the files of the workspace. Everything is checked before anything is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};
use toolmark_config::locale::{LocaleFile, LocaleFormat, Offered, Subject, edit, unsafe_text};
use toolmark_core::display::{self, Kind, LanguageTag, Layer};
use toolmark_core::document::Place;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

use super::{Whose, Workspace, csv, export::COLUMNS, field, own};
use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::{file, input, output};

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// What a translator sent back: `.csv`, `.ftl` or `.toml`
    #[arg(value_name = "FILE")]
    pub(super) path: PathBuf,

    #[command(flatten)]
    pub(super) whose: Whose,

    /// The language of a file that holds one [default: the last part of its name]
    #[arg(long = "lang", value_name = "TAG")]
    pub(super) language: Option<LanguageTag>,

    /// Check and say what would change, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("the table cannot be read: {0}")]
    Table(String),
    #[error("`{0}` is no text that can be translated: {1}")]
    Row(String, String),
    #[error("`{0}` is not in this workspace")]
    Dead(String),
    #[error("`{0}` has two texts in `{1}`")]
    Twice(String, LanguageTag),
    #[error("nothing says where translations are kept")]
    Nowhere,
}

/// One text that was read.
struct Text {
    subject: Subject,
    kind: Kind,
    language: LanguageTag,
    text: String,
    place: Place,
}

/// A file that is about to change.
struct Change {
    path: PathBuf,
    before: Option<String>,
    after: String,
}

type Texts = BTreeMap<(Subject, Kind), String>;

pub(super) fn run(arguments: &Import) -> Result<Exit, Failure> {
    let workspace = Workspace::find(&arguments.whose)?;
    let read = read(arguments)?;
    let (texts, shadowed) = wanted(&workspace, read)?;
    let changes = changes(&workspace, &texts)?;
    if !arguments.dry_run {
        write(&changes)?;
    }
    let count: usize = texts.values().map(BTreeMap::len).sum();
    if arguments.json {
        let files: Vec<String> = changes.iter().map(|change| change.path.display().to_string()).collect();
        let shadowed: Vec<Value> =
            shadowed.iter().map(|(key, language)| json!({"key": key, "language": language})).collect();
        output::json(&json!({"texts": count, "files": files, "shadowed": shadowed, "written": !arguments.dry_run}))?;
        return Ok(Exit::Success);
    }
    for (key, language) in &shadowed {
        output::warn(&format!(
            "`{}` in `{language}` will not be shown: the configuration goes before it",
            output::safe(key)
        ));
    }
    if changes.is_empty() {
        output::line("nothing to change")?;
    }
    for change in &changes {
        let what = match (arguments.dry_run, &change.before) {
            (true, Some(_)) => "would change",
            (true, None) => "would write",
            (false, Some(_)) => "changed",
            (false, None) => "wrote",
        };
        output::line(format_args!("{what} {}", output::safe(&change.path.display().to_string())))?;
    }
    output::note(&output::count(count, "text"));
    Ok(Exit::Success)
}

fn read(arguments: &Import) -> Result<Vec<Text>, Failure> {
    let document = input::document(&arguments.path)?;
    let label = document.label().to_owned();
    if let Some(format) = LocaleFormat::of(&arguments.path) {
        let language = match &arguments.language {
            Some(language) => language.clone(),
            None => {
                LocaleFile::language_of(&arguments.path).map_err(|error| Failure::refused(Exit::BadInput, &error))?
            }
        };
        let file = LocaleFile::read(document.text(), &label, language.clone(), format).map_err(Failure::Problems)?;
        let text = |entry: &toolmark_config::locale::LocaleEntry| Text {
            subject: entry.of.clone(),
            kind: entry.kind,
            language: language.clone(),
            text: entry.text.clone(),
            place: entry.place.clone(),
        };
        return Ok(file.entries().iter().map(text).collect());
    }
    let at = |line: usize| Place { file: label.clone(), line, column: 1 };
    let refused = |line: usize, error: Refused| Problem::refused(error.report(), Some(at(line)));
    let rows = csv::read(document.text());
    let rows = rows.map_err(|(line, why)| Failure::Problems(vec![refused(line, Refused::Table(why.to_owned()))]))?;
    let mut rows = rows.into_iter();
    let header: Vec<String> = rows.next().map(|(_, cells)| cells).unwrap_or_default();
    let column = |name: &str| header.iter().position(|own| own.trim().eq_ignore_ascii_case(name));
    let needed = ["kind", "key", "field", "language", "text"];
    if let Some(missing) = needed.iter().find(|name| column(name).is_none()) {
        let error = Refused::Table(format!("it has no column `{missing}`; the columns are {}", COLUMNS.join(", ")));
        return Err(Failure::Problems(vec![refused(1, error)]));
    }
    let (mut texts, mut problems) = (Vec::new(), Vec::new());
    for (line, cells) in rows {
        let cell = |name: &str| column(name).and_then(|at| cells.get(at)).map_or("", |cell| cell.trim());
        if cell("text").is_empty() {
            continue;
        }
        let language = cell("language").parse::<LanguageTag>().and_then(LanguageTag::known);
        let key = cell("key").to_owned();
        let subject = match cell("kind") {
            "tool" => Some(Subject::Tool(key.clone())),
            "pack" => Some(Subject::Pack(key.clone())),
            "agent" => Some(Subject::Agent(key.clone())),
            "handoff" => Some(Subject::Handoff(key.clone())),
            word => {
                let kind = Offered::ALL.into_iter().find(|kind| kind.as_str() == word);
                kind.map(|kind| Subject::Offer(kind, key.clone()))
            }
        };
        let kind = [Kind::Name, Kind::Spoken, Kind::Category].into_iter().find(|kind| field(*kind) == cell("field"));
        let text = display::composed(cell("text"));
        match (subject, kind, language) {
            (_, _, Err(error)) => problems.push(Problem::refused(error.report(), Some(at(line)))),
            (None, ..) => {
                problems.push(refused(line, Refused::Row(key, format!("`{}` is no kind", visible(cell("kind"), 40)))));
            }
            (_, None, _) => {
                problems
                    .push(refused(line, Refused::Row(key, format!("`{}` is no field", visible(cell("field"), 40)))));
            }
            (Some(subject), Some(kind), Ok(language)) => match unsafe_text(&text, kind) {
                Some(why) => problems.push(refused(line, Refused::Row(key, why.to_owned()))),
                None => texts.push(Text { subject, kind, language, text, place: at(line) }),
            },
        }
    }
    if problems.is_empty() { Ok(texts) } else { Err(Failure::Problems(problems)) }
}

/// What is to be written, by language, and what nobody would see because the configuration says otherwise.
#[expect(clippy::type_complexity, reason = "two lists, used once")]
fn wanted(
    workspace: &Workspace,
    read: Vec<Text>,
) -> Result<(BTreeMap<LanguageTag, Texts>, Vec<(String, LanguageTag)>), Failure> {
    let (mut texts, mut shadowed, mut problems) = (BTreeMap::<LanguageTag, Texts>::new(), Vec::new(), Vec::new());
    for Text { subject, kind, language, text, place } in read {
        let Some(known) = workspace.subject(&subject) else {
            let error = Refused::Dead(visible(subject.as_str(), 120));
            problems.push(Problem::refused(error.report(), Some(place)));
            continue;
        };
        let names = workspace.things.get(&known);
        let now = names.and_then(|names| own(names, kind, &language, workspace.labels.default_language()));
        if now.is_some_and(|(_, now)| now == text) {
            continue;
        }
        let everybody = names.is_some_and(|names| {
            names.texts(kind).any(|(layer, language, _)| layer == Layer::Config && language.is_none())
        });
        if everybody || now.is_some_and(|(layer, _)| layer == Layer::Config) {
            shadowed.push((known.as_str().to_owned(), language.clone()));
        }
        let own = texts.entry(language.clone()).or_default();
        if own.get(&(known.clone(), kind)).is_some_and(|other| *other != text) {
            let error = Refused::Twice(visible(known.as_str(), 120), language);
            problems.push(Problem::refused(error.report(), Some(place)));
            continue;
        }
        own.insert((known, kind), text);
    }
    if problems.is_empty() { Ok((texts, shadowed)) } else { Err(Failure::Problems(problems)) }
}

/// The files as they would be. Each is read again before it counts.
fn changes(workspace: &Workspace, texts: &BTreeMap<LanguageTag, Texts>) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for (language, texts) in texts {
        let files: Vec<_> = workspace.labels.files().iter().filter(|file| file.file.language() == language).collect();
        // What a file has already stays in it; what is new goes to the first.
        let mut by_file: BTreeMap<usize, Texts> = BTreeMap::new();
        for ((subject, kind), text) in texts {
            let has = |known: &Subject| workspace.subject(known).as_ref() == Some(subject);
            let at = files
                .iter()
                .position(|file| file.file.entries().iter().any(|entry| has(&entry.of) && entry.kind == *kind));
            by_file.entry(at.unwrap_or(0)).or_default().insert((subject.clone(), *kind), text.clone());
        }
        for (at, texts) in by_file {
            let (path, before, known) = match files.get(at) {
                Some(file) => (file.path.clone(), Some(file.text.clone()), Some(&file.file)),
                None => (new_file(workspace, language)?, None, None),
            };
            let format = LocaleFormat::of(&path).unwrap_or(LocaleFormat::Fluent);
            let unwritable =
                |error: &dyn std::fmt::Display| Failure::refused(Exit::Failed, &FileError::writing(&path, error));
            let after = edit(before.as_deref().unwrap_or_default(), format, known, &texts)
                .map_err(|error| unwritable(&error))?;
            let label = path.display().to_string();
            let again = LocaleFile::read(&after, &label, language.clone(), format).map_err(Failure::Problems)?;
            let kept = known.map_or(0, |known| known.entries().len());
            if again.entries().len() < kept.max(texts.len()) {
                return Err(unwritable(&"a text would get lost"));
            }
            changes.push(Change { path, before, after });
        }
    }
    Ok(changes)
}

/// Where the first file of a language is put: beside the others.
fn new_file(workspace: &Workspace, language: &LanguageTag) -> Result<PathBuf, Failure> {
    let patterns = &workspace.written.config.names.locales;
    let fluent = patterns.iter().find(|pattern| pattern.ends_with("*.ftl"));
    let pattern = fluent.or_else(|| patterns.iter().find(|pattern| pattern.ends_with("*.toml")));
    let pattern = pattern.ok_or_else(|| Failure::refused(Exit::BadInput, &Refused::Nowhere))?;
    Ok(workspace.written.directory().join(pattern.replace('*', language.as_str())))
}

/// Writes all files; when one cannot be written, those before it are put back.
fn write(changes: &[Change]) -> Result<(), Failure> {
    for (at, change) in changes.iter().enumerate() {
        let folder = change.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = std::fs::create_dir_all(folder);
        let made = made.map_err(|error| Failure::refused(Exit::Failed, &FileError::writing(&change.path, &error)));
        if let Err(failure) = made.and_then(|()| file::write(&change.path, &change.after)) {
            for done in changes.iter().take(at) {
                // What matters is the first error; whoever reads it looks at these files anyway.
                let _ = match &done.before {
                    Some(before) => file::write(&done.path, before).is_ok(),
                    None => std::fs::remove_file(&done.path).is_ok(),
                };
            }
            return Err(failure);
        }
    }
    Ok(())
}

impl Explain for Refused {
    fn code(&self) -> Code {
        match self {
            Self::Table(_) | Self::Row(..) | Self::Twice(..) => Code::new("names-table"),
            Self::Dead(_) => Code::new("names-dead-key"),
            Self::Nowhere => Code::new("names-nowhere"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Table(_) | Self::Row(..) => "a table that is half understood would be half taken over",
            Self::Dead(_) => {
                "a name for a tool that is not there is shown to nobody; the tool that it was meant for goes without"
            }
            Self::Twice(..) => "which of the two is meant nobody can say",
            Self::Nowhere => "a file that no configuration names would be read by nobody",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Table(_) | Self::Row(..) => "correct that line, or begin with a fresh `toolmark names export`",
            Self::Dead(_) => "remove the line, or correct its key; `toolmark names export` lists all of them",
            Self::Twice(..) => "keep one of the two lines",
            Self::Nowhere => "add to `toolmark.toml`: `[names]`, `locales = [\"locales/*.ftl\"]`",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Dead(key) | Self::Row(key, _) | Self::Twice(key, _) => facts([("key", key.as_str().into())]),
            Self::Table(_) | Self::Nowhere => Map::new(),
        }
    }
}
