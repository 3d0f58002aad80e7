//! `toolmark names export`: every text in every language, with where it comes from.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use toolmark_config::locale::{LocaleFormat, Subject, edit};
use toolmark_core::display::{Kind, LanguageTag, Languages};

use super::{Format, Whose, Workspace, csv, field, is_translated, own, word};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{file, output};

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(super) whose: Whose,

    /// How the file is written
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    pub(super) format: Format,

    /// A language; may be repeated, and may be one that has no texts yet [default: all that the workspace uses]
    #[arg(long = "lang", value_name = "TAG")]
    pub(super) languages: Vec<LanguageTag>,

    /// Only what is missing
    #[arg(long)]
    pub(super) missing: bool,

    /// Where to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// One text in one language.
struct Row<'w> {
    subject: &'w Subject,
    kind: Kind,
    language: &'w LanguageTag,
    /// What is to be translated: the text in the default language.
    source: String,
    text: Option<&'w str>,
    layer: Option<&'static str>,
}

/// The columns of a table.
pub(super) const COLUMNS: [&str; 7] = ["kind", "key", "field", "language", "source", "text", "layer"];

pub(super) fn run(arguments: &Export) -> Result<Exit, Failure> {
    let workspace = Workspace::find(&arguments.whose)?;
    let languages = if arguments.languages.is_empty() { workspace.languages() } else { arguments.languages.clone() };
    let rows = rows(&workspace, &languages, arguments.missing);
    let text = if arguments.json {
        let all: Vec<Value> = rows.iter().map(to_json).collect();
        let languages: Vec<&str> = languages.iter().map(LanguageTag::as_str).collect();
        let whole = json!({"default": workspace.labels.default_language(), "languages": languages, "texts": all});
        format!("{whole:#}\n")
    } else {
        match arguments.format {
            Format::Csv => table(&rows),
            Format::Ftl => languages.iter().map(|language| fluent(language, &rows)).collect::<Vec<_>>().join("\n"),
        }
    };
    match &arguments.output {
        Some(path) => {
            file::write(path, &text)?;
            output::note(&format!(
                "{} written to {}",
                output::count(rows.len(), "text"),
                output::safe(&path.display().to_string())
            ));
        }
        None => output::line(text.trim_end_matches(['\r', '\n']))?,
    }
    Ok(Exit::Success)
}

fn rows<'w>(workspace: &'w Workspace, languages: &'w [LanguageTag], missing: bool) -> Vec<Row<'w>> {
    let default = workspace.labels.default_language();
    let mut all = Vec::new();
    for (subject, names) in workspace.things.iter().filter(|(subject, names)| is_translated(subject, names)) {
        let shown = names.shown(&Languages::of([default.clone()]), default);
        for kind in [Kind::Name, Kind::Spoken, Kind::Category] {
            let source = match kind {
                Kind::Name => Some(shown.name.to_string()),
                Kind::Spoken => shown.spoken.as_ref().map(|spoken| spoken.text.to_string()),
                Kind::Category => shown.category.as_ref().map(ToString::to_string),
            };
            // What nobody says in any language is not to be translated.
            let Some(source) = source.or_else(|| names.texts(kind).next().map(|(_, _, text)| text.to_owned())) else {
                continue;
            };
            for language in languages {
                let own = own(names, kind, language, default);
                if missing && own.is_some() {
                    continue;
                }
                let (layer, text) = own.map_or((None, None), |(layer, text)| (Some(layer.as_str()), Some(text)));
                all.push(Row { subject, kind, language, source: source.clone(), text, layer });
            }
        }
    }
    all
}

fn to_json(row: &Row<'_>) -> Value {
    json!({
        "kind": word(row.subject), "key": row.subject.as_str(), "field": field(row.kind), "language": row.language,
        "source": row.source, "text": row.text, "layer": row.layer,
    })
}

fn table(rows: &[Row<'_>]) -> String {
    let mut out = String::new();
    csv::row(&mut out, &COLUMNS);
    for row in rows {
        let (kind, key, field) = (word(row.subject), row.subject.as_str(), field(row.kind));
        let (text, layer) = (row.text.unwrap_or_default(), row.layer.unwrap_or_default());
        csv::row(&mut out, &[kind, key, field, row.language.as_str(), &row.source, text, layer]);
    }
    out
}

/// One language as a file of translations; what is missing stands there as a comment, with the text to translate.
fn fluent(language: &LanguageTag, rows: &[Row<'_>]) -> String {
    let own = || rows.iter().filter(|row| row.language == language);
    let write = |wanted: &dyn Fn(&&Row<'_>) -> bool, text: &dyn Fn(&Row<'_>) -> String| {
        let texts = own().filter(wanted).map(|row| ((row.subject.clone(), row.kind), text(row))).collect();
        // A new file cannot be one that cannot be read.
        edit("", LocaleFormat::Fluent, None, &texts).unwrap_or_default()
    };
    let there = write(&|row| row.text.is_some(), &|row| row.text.unwrap_or_default().to_owned());
    let missing = write(&|row| row.text.is_none(), &|row| row.source.clone());
    let missing: String = missing.lines().map(|line| format!("# {line}\n")).collect();
    let missing = if missing.is_empty() { missing } else { format!("\n## Missing\n\n{missing}") };
    format!("### {language}\n\n{there}{missing}")
}
