//! Which models does a command ask? `--model NAME` of the configuration, or `--model PROVIDER:MODEL` with how it is reached behind commas.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use toolmark_config::sections::Price;
use toolmark_config::values::ModelText;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_gateway::models::ModelAt;
use toolmark_models::{Model, ModelName, Options, Provider};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;

/// The models that are asked.
#[derive(Debug, Args)]
pub(crate) struct ModelsToAsk {
    /// A model to ask: one of `[models]`, or `PROVIDER:MODEL[,base_url=URL][,key_variable=NAME]`; may be repeated
    #[arg(id = "model", long = "model", value_name = "MODEL", required = true)]
    pub(crate) names: Vec<String>,
}

/// A model that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// As it was named, for people.
    pub(crate) label: String,
    pub(crate) model: Arc<dyn Model>,
    /// Where it is, besides its name: two addresses may have models of one name.
    pub(crate) base_url: Option<String>,
    pub(crate) price: Option<Price>,
}

/// A model that is written wrongly.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is no model: {problem}")]
struct ModelSyntax {
    text: String,
    problem: String,
}

/// One model twice.
#[derive(Debug, thiserror::Error)]
#[error("the model `{0}` is named twice")]
struct ModelTwice(String);

impl ModelsToAsk {
    /// Opens all of them. Nothing is sent yet.
    pub(crate) fn open(&self, written: &Written) -> Result<Vec<Opened>, Failure> {
        let mut opened: Vec<Opened> = Vec::new();
        for name in &self.names {
            let at = find(name, written)?;
            let environment = |name: &str| std::env::var(name).ok();
            let model = at.open(&environment).map_err(|error| Failure::refused(Exit::BadInput, &error))?;
            let label = name.split(',').next().unwrap_or_default();
            let base_url = at.options.base_url.clone();
            if opened.iter().any(|other| other.model.name() == model.name() && other.base_url == base_url) {
                // An opinion that counts twice is no second opinion.
                return Err(Failure::refused(Exit::BadInput, &ModelTwice(visible(label, 120))));
            }
            opened.push(Opened { label: visible(label, 120), model, base_url, price: at.price });
        }
        Ok(opened)
    }
}

impl Opened {
    /// True when asking costs nothing and reaches nobody.
    pub(crate) fn is_scripted(&self) -> bool {
        self.model.name().provider() == Provider::Scripted
    }
}

/// The model that a text means: as a command line writes it.
pub(crate) fn find(text: &str, written: &Written) -> Result<ModelAt, Failure> {
    let wrong = |problem: &str| {
        Failure::refused(Exit::BadInput, &ModelSyntax { text: visible(text, 120), problem: problem.to_owned() })
    };
    let environment = |name: &str| std::env::var(name).ok();
    let mut parts = text.split(',');
    let spelled = parts.next().unwrap_or_default();
    if !spelled.contains(':') {
        if parts.next().is_some() {
            return Err(wrong("how one of `[models]` is reached stands in the configuration"));
        }
        let name =
            spelled.parse().map_err(|_| wrong("it is neither `PROVIDER:MODEL` nor the name of one of `[models]`"))?;
        let found = ModelAt::find(&written.config, &ModelText::Named(name), written.directory(), &environment);
        return found.map_err(|error| Failure::refused(Exit::BadInput, &error));
    }
    let name: ModelName = spelled.parse().map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let mut options = Options::default();
    for part in parts {
        match part.split_once('=') {
            Some(("base_url", url)) if !url.is_empty() => options.base_url = Some(url.to_owned()),
            Some(("key_variable", name)) if !name.is_empty() => options.key_variable = Some(name.to_owned()),
            Some(("base_url" | "key_variable", _)) => return Err(wrong("a value is empty")),
            _ => return Err(wrong("behind the model stand only `base_url=URL` and `key_variable=NAME`")),
        }
    }
    Ok(ModelAt { name, options, price: None })
}

/// The name of a file that a model's answers may be kept in.
pub(crate) fn file_name(opened: &Opened) -> String {
    use sha2::{Digest as _, Sha256};
    let place = format!("{}\0{}", opened.model.name(), opened.base_url.as_deref().unwrap_or_default());
    // What a script says may change with its file.
    let script = match opened.is_scripted() {
        true => std::fs::read(Path::new(opened.model.name().model())).unwrap_or_default(),
        false => Vec::new(),
    };
    let digest = Sha256::new_with_prefix(place).chain_update([0]).chain_update(script).finalize();
    let digits: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let legal = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    let shown: String = opened.model.name().to_string().chars().map(legal).take(60).collect();
    format!("{shown}-{digits}.jsonl")
}

impl Explain for ModelSyntax {
    fn code(&self) -> Code {
        Code::new("model-name-syntax")
    }

    fn why(&self) -> String {
        "where a request goes and which key is shown is never guessed".into()
    }

    fn fix(&self) -> String {
        "write `openai:MODEL`, `openai-chat:MODEL`, `anthropic:MODEL` or `scripted:FILE.json`, such as \
         `openai-chat:qwen3,base_url=http://127.0.0.1:8080/v1,key_variable=MY_KEY`"
            .into()
    }
}

impl Explain for ModelTwice {
    fn code(&self) -> Code {
        Code::new("model-twice")
    }

    fn why(&self) -> String {
        "an opinion that counts twice is no second opinion".into()
    }

    fn fix(&self) -> String {
        "name every model once".into()
    }
}
