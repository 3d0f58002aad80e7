//! `toolmark classify`: a second opinion from models that see what a tool takes and not what it is called.

mod kept;
mod opinion;
mod print;
mod question;
mod tally;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use serde_json::{Map, Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::tool::Tool;
use toolmark_lint::Suggestion;

use crate::asking::{Asking, Counted, Question, Told};
use crate::commands::lint::Suggest;
use crate::commands::resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::models::{ModelsToAsk, Opened};
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{input, output, place};
use kept::Kept;
use opinion::Opinion;
use tally::{Declared, Said, Standing, Tally};

#[derive(Debug, Args)]
pub(crate) struct Classify {
    /// Tools to ask about, by canonical or unique short name [default: all]
    #[arg(value_name = "TOOL")]
    names: Vec<String>,

    #[command(flatten)]
    models: ModelsToAsk,

    #[command(flatten)]
    tools: Tools,

    /// Show models the descriptions too, without the tool's name; the paper shows the schema alone
    #[arg(long)]
    descriptions: bool,

    #[command(flatten)]
    asking: Asking,

    /// Where answers are kept, so that nothing is asked twice [default: toolmark/opinions in the user's cache folder]
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,

    /// Ask anew and keep nothing
    #[arg(long)]
    no_cache: bool,

    /// Print the declarations that the models suggest: `toolmark.toml` for the operator, JSON for the publisher
    #[arg(long, value_name = "WHO", conflicts_with = "json")]
    suggest: Option<Suggest>,

    /// The configuration with models and with what the operator says about tools [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    store: StoreName,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Everything that was found out.
struct Classified<'c> {
    models: Vec<Opened>,
    tools: Vec<(&'c Tool, Tally)>,
    counted: Vec<Counted>,
}

pub(crate) fn run(arguments: &Classify) -> Result<Exit, Failure> {
    let written = Written::find(arguments.config.as_deref())?;
    let models = arguments.models.open(&written)?;
    let catalog = place::tools(&written, &arguments.tools.paths, arguments.store.name.as_deref())?;
    let tools = chosen(&catalog, &arguments.names)?;
    let classified = classify(arguments, &written, models, tools)?;
    match arguments.suggest {
        Some(Suggest::Operator) => classified.suggest_toml()?,
        Some(Suggest::Publisher) => output::json(&classified.suggest_json())?,
        None if arguments.json => output::json(&classified.to_json(&catalog))?,
        None => print::all(&classified)?,
    }
    for (model, counted) in classified.models.iter().zip(&classified.counted) {
        if let Some(failure) = counted.failure.as_ref().filter(|_| !arguments.json) {
            output::warn(&format!(
                "{}: {} of its answers are missing",
                model.label,
                counted.failed + counted.not_asked
            ));
            output::error(&failure.to_string());
        }
    }
    let left_out = if arguments.json { input::exit_of(&catalog) } else { input::show_problems(&catalog) };
    Ok(match left_out {
        Exit::Success if classified.counted.iter().any(|own| own.failure.is_some()) => Exit::Failed,
        Exit::Success if classified.standing(Standing::Disputed) > 0 => Exit::Findings,
        exit => exit,
    })
}

fn chosen<'c>(catalog: &'c Catalog, names: &[String]) -> Result<Vec<&'c Tool>, Failure> {
    if names.is_empty() {
        let mut all: Vec<&Tool> = catalog.tools().collect();
        all.sort_by(|one, other| one.canonical().cmp(other.canonical()));
        return Ok(all);
    }
    names.iter().map(|name| catalog.find(name, |_| true).map_err(|error| resolve::failure(&error))).collect()
}

/// Takes what was answered before, asks for the rest, and counts.
fn classify<'c>(
    arguments: &Classify,
    written: &Written,
    models: Vec<Opened>,
    tools: Vec<&'c Tool>,
) -> Result<Classified<'c>, Failure> {
    let usual = kept::usual();
    let folder = if arguments.no_cache { None } else { arguments.cache.as_deref().or(usual.as_deref()) };
    let kept: Vec<Kept> = models.iter().map(|model| Kept::open(folder, model)).collect::<Result<_, _>>()?;
    let mut said: Vec<Vec<Option<Said>>> = Vec::with_capacity(tools.len());
    let mut questions = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let request = question::question(tool, arguments.descriptions);
        let mut known = Vec::with_capacity(models.len());
        for (model, kept) in kept.iter().enumerate() {
            let answer = kept.get(&tool.digest(), &request).cloned();
            if answer.is_none() {
                questions.push(Question { key: at, model, request: request.clone() });
            }
            known.push(answer.map(|opinion| Said::Opinion { opinion, kept: true }));
        }
        said.push(known);
    }
    let answered = tools.len() * models.len() - questions.len();
    arguments.asking.confirm(&models, &questions, answered)?;
    let said = Mutex::new(said);
    let unkept = Mutex::new(None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let counted = runtime.block_on(arguments.asking.ask(&models, &questions, |question, told, last| {
        let (answer, again) = match told {
            Told::Answer(response) => match Opinion::of(&response) {
                Ok(opinion) => {
                    let place = tools.get(question.key).zip(kept.get(question.model));
                    let written = place.map(|(tool, kept)| kept.keep(&tool.digest(), &question.request, &opinion));
                    if let Some(Err(error)) = written {
                        unkept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                    (Said::Opinion { opinion, kept: false }, false)
                }
                Err(problem) => (Said::Nonsense(problem), !last),
            },
            Told::Failed(report) => (Said::Silent(report.what().to_owned()), false),
            Told::NotAsked => (Said::Silent("it was not asked any more".into()), false),
        };
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = said.get_mut(question.key).and_then(|own| own.get_mut(question.model)) {
            *place = Some(answer);
        }
        again
    }));
    if let Some(error) = unkept.into_inner().unwrap_or_else(PoisonError::into_inner) {
        output::warn(&format!("answers are not kept: {error}"));
    }
    let said = said.into_inner().unwrap_or_else(PoisonError::into_inner);
    let tools = tools.into_iter().zip(said).map(|(tool, said)| {
        let silent = || Said::Silent("it was not asked".into());
        let said = said.into_iter().map(|one| one.unwrap_or_else(silent)).collect();
        (tool, Tally { said, declared: Declared::of(tool, written.said(tool)) })
    });
    Ok(Classified { tools: tools.collect(), models, counted })
}

impl Classified<'_> {
    fn standing(&self, standing: Standing) -> usize {
        self.tools.iter().filter(|(_, tally)| tally.standing() == standing).count()
    }

    fn labels(&self) -> Vec<String> {
        self.models.iter().map(|model| model.label.clone()).collect()
    }

    /// How often a model said something that is no opinion.
    fn nonsense(&self, model: usize) -> usize {
        self.tools.iter().filter(|(_, tally)| matches!(tally.said.get(model), Some(Said::Nonsense(_)))).count()
    }

    /// How many answers were there before.
    fn kept(&self, model: usize) -> usize {
        let kept = |tally: &Tally| matches!(tally.said.get(model), Some(Said::Opinion { kept: true, .. }));
        self.tools.iter().filter(|(_, tally)| kept(tally)).count()
    }

    fn suggestions(&self) -> impl Iterator<Item = (&Tally, Suggestion)> {
        self.tools.iter().filter_map(|(tool, tally)| {
            let (behavior, otherwise) = tally.suggestion()?;
            Some((tally, Suggestion::of(tool, behavior, otherwise)))
        })
    }

    fn suggest_toml(&self) -> Result<(), Failure> {
        let mut any = false;
        for (tally, suggestion) in self.suggestions() {
            let Some(toml) = suggestion.toml() else { continue };
            if any {
                output::line("")?;
            }
            any = true;
            let votes = if tally.is_strict() { "all models" } else { "most models" };
            output::line(format_args!("# {votes}; {}", tally.standing().as_str()))?;
            output::line(toml.trim_end())?;
        }
        if !any {
            output::note("there is nothing to declare");
        }
        Ok(())
    }

    fn suggest_json(&self) -> Value {
        let all = self.suggestions().map(|(_, suggestion)| (suggestion.tool().to_string(), suggestion.definition()));
        Value::Object(all.collect())
    }

    fn to_json(&self, catalog: &Catalog) -> Value {
        let labels = self.labels();
        let tools = self.tools.iter().map(|(tool, tally)| {
            let mut all = Map::new();
            all.insert("tool".into(), json!(tool.canonical()));
            all.insert("definition".into(), json!(tool.digest()));
            if let Value::Object(tally) = tally.to_json(&labels) {
                all.extend(tally);
            }
            Value::Object(all)
        });
        let models = self.models.iter().zip(&self.counted).enumerate().map(|(at, (model, counted))| {
            let mut all = counted.to_json();
            all.insert("model".into(), model.label.as_str().into());
            all.insert("kept".into(), self.kept(at).into());
            all.insert("nonsense".into(), self.nonsense(at).into());
            let cost =
                model.price.as_ref().map(|price| price.of(counted.usage.input_tokens, counted.usage.output_tokens));
            all.insert("cost".into(), json!(cost));
            Value::Object(all)
        });
        let standings = Standing::ALL.map(|standing| (standing.as_str().to_owned(), json!(self.standing(standing))));
        json!({
            "models": models.collect::<Vec<_>>(),
            "agreement": {
                "tools": self.tools.len(),
                "strict": self.tools.iter().filter(|(_, tally)| tally.is_strict()).count(),
                "majority": self.tools.iter().filter(|(_, tally)| tally.majority().is_some()).count(),
            },
            "standing": Value::Object(standings.into_iter().collect()),
            "tools": tools.collect::<Vec<_>>(),
            "problems": input::problems_json(catalog),
        })
    }
}
