//! Asking models many questions: what that will cost is said before, several are asked at once, and what cannot be answered is counted,
//! never filled in.

use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_models::{ModelRequest, ModelResponse, Usage};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::models::Opened;
use crate::output;

/// How many tokens a short answer in a given shape has, at a guess. Thinking comes on top.
const ANSWER_TOKENS: u64 = 80;
/// How many bytes of JSON and English make a token, at a guess.
const BYTES_PER_TOKEN: u64 = 4;

/// How questions are asked.
#[derive(Debug, Args)]
pub(crate) struct Asking {
    /// Ask without asking whether to
    #[arg(long)]
    pub(crate) yes: bool,

    /// How many questions are under way at once
    #[arg(long, value_name = "NUMBER", default_value = "4")]
    pub(crate) parallel: NonZeroUsize,
}

/// Nobody agreed to what it costs.
#[derive(Debug, thiserror::Error)]
#[error("{questions} would be put to models, and nobody agreed to that")]
pub(crate) struct NotConfirmed {
    questions: String,
}

/// One question to one model.
pub(crate) struct Question<K> {
    /// Whose answer it is.
    pub(crate) key: K,
    /// Which model.
    pub(crate) model: usize,
    pub(crate) request: ModelRequest,
}

/// What became of a question.
#[derive(Debug)]
pub(crate) enum Told {
    /// The model answered.
    Answer(Box<ModelResponse>),
    /// It did not.
    Failed(Report),
    /// It was not asked any more: it had failed for good.
    NotAsked,
}

/// What was asked of one model, and what it used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) asked: usize,
    pub(crate) failed: usize,
    pub(crate) not_asked: usize,
    pub(crate) usage: Usage,
    /// Why it was not asked any more, or the first failure.
    pub(crate) failure: Option<Report>,
}

impl Asking {
    /// Says what it will cost and asks whether to go on. Where nobody can be asked, only `--yes` is a yes.
    pub(crate) fn confirm<K>(&self, models: &[Opened], questions: &[Question<K>], known: usize) -> Result<(), Failure> {
        let count = output::count(questions.len(), "question");
        if questions.is_empty() || models.iter().all(Opened::is_scripted) {
            return Ok(());
        }
        let before =
            if known > 0 { format!("; {} answered before", output::count(known, "question")) } else { String::new() };
        output::note(&format!("{count} to {}{before}", output::count(models.len(), "model")));
        for (at, model) in models.iter().enumerate() {
            let own: Vec<_> = questions.iter().filter(|question| question.model == at).collect();
            let input: u64 = own.iter().map(|question| tokens(&question.request)).sum();
            let produced = own.len() as u64 * ANSWER_TOKENS;
            let cost = match &model.price {
                Some(price) => format!("about {:.2}", price.of(input, produced)),
                None => "price not known; `price` of `[models]` says it".to_owned(),
            };
            output::note(&format!(
                "  {}: about {input} tokens to read and {produced} to write, without thinking; {cost}",
                model.label
            ));
        }
        if self.yes {
            return Ok(());
        }
        let refused = || Failure::refused(Exit::BadInput, &NotConfirmed { questions: count.clone() });
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(refused());
        }
        write!(std::io::stderr(), "ask them? [y/N] ")?;
        std::io::stderr().flush()?;
        let mut said = String::new();
        std::io::stdin().read_line(&mut said)?;
        if matches!(said.trim().to_lowercase().as_str(), "y" | "yes") { Ok(()) } else { Err(refused()) }
    }

    /// Asks everything. `told` hears every answer as it comes, so that it can be kept at once; true from it means that the answer is no
    /// use and the question is asked once more.
    pub(crate) async fn ask<K: Sync>(
        &self,
        models: &[Opened],
        questions: &[Question<K>],
        told: impl Fn(&Question<K>, Told, bool) -> bool + Sync,
    ) -> Vec<Counted> {
        let counted: Vec<Mutex<Counted>> = models.iter().map(|_| Mutex::default()).collect();
        let gone: Vec<AtomicBool> = models.iter().map(|_| AtomicBool::new(false)).collect();
        let bar = progress(questions.len());
        let asked = questions.iter().map(|question| {
            let (counted, gone, bar, told) = (&counted, &gone, &bar, &told);
            async move {
                let at = question.model;
                let (Some(model), Some(counted), Some(gone)) = (models.get(at), counted.get(at), gone.get(at)) else {
                    return;
                };
                let count =
                    |change: &dyn Fn(&mut Counted)| change(&mut counted.lock().unwrap_or_else(PoisonError::into_inner));
                for last in [false, true] {
                    if gone.load(Ordering::Relaxed) {
                        count(&|own| own.not_asked += 1);
                        told(question, Told::NotAsked, true);
                        break;
                    }
                    let again = match model.model.respond(&question.request).await {
                        Ok(response) => {
                            let usage = response.usage;
                            count(&|own| {
                                own.asked += 1;
                                own.usage += usage;
                            });
                            told(question, Told::Answer(Box::new(response)), last)
                        }
                        Err(error) => {
                            // What will fail for every question is said once.
                            if !error.is_temporary() {
                                gone.store(true, Ordering::Relaxed);
                            }
                            let report = error.report();
                            count(&|own| {
                                own.asked += 1;
                                own.failed += 1;
                                own.failure.get_or_insert_with(|| report.clone());
                            });
                            told(question, Told::Failed(report), true);
                            false
                        }
                    };
                    if !again {
                        break;
                    }
                }
                bar.inc(1);
            }
        });
        futures_util::stream::iter(asked).buffer_unordered(self.parallel.get()).collect::<Vec<()>>().await;
        bar.finish_and_clear();
        counted.into_iter().map(|own| own.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}

impl Counted {
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        facts([
            ("asked", self.asked.into()),
            ("failed", self.failed.into()),
            ("not_asked", self.not_asked.into()),
            ("input_tokens", self.usage.input_tokens.into()),
            ("output_tokens", self.usage.output_tokens.into()),
            ("failure", self.failure.as_ref().map_or(json!(null), Report::to_json)),
        ])
    }
}

/// How many tokens a question has, at a guess.
fn tokens(request: &ModelRequest) -> u64 {
    let bytes = serde_json::to_string(request).map_or(0, |text| text.len() as u64);
    bytes.div_ceil(BYTES_PER_TOKEN)
}

fn progress(steps: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("asking {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

impl Explain for NotConfirmed {
    fn code(&self) -> Code {
        Code::new("asking-not-confirmed")
    }

    fn why(&self) -> String {
        "questions to models cost money, and definitions of tools leave this machine with them".into()
    }

    fn fix(&self) -> String {
        "add `--yes`".into()
    }
}
