//! From a model as an operator writes it to one that can be asked: which of `[models]`, at which address, with which key.

use std::path::Path;

use secrecy::SecretString;
use serde_json::{Map, Value};
use std::sync::Arc;
use toolmark_config::Config;
use toolmark_config::sections::{ModelSection, Price};
use toolmark_config::values::{ModelText, Template};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::{Model, ModelName, OpenModelError, Options, ParseModelNameError, Provider, Retry, Timeouts};

/// A model and how it is reached. Nothing is opened yet.
#[derive(Clone, Debug)]
pub struct ModelAt {
    /// Which.
    pub name: ModelName,
    /// How it is reached.
    pub options: Options,
    /// What it costs, where the operator says so.
    pub price: Option<Price>,
}

/// A model that is not there, or cannot be reached as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindModelError {
    /// There is none of that name.
    #[error("there is no model `{name}`")]
    #[expect(missing_docs, reason = "the message says what it is")]
    Unknown { name: String, known: Vec<String> },
    /// It is no model of a provider.
    #[error(transparent)]
    Name(#[from] ParseModelNameError),
    /// A variable is not set.
    #[error("the variable `{variable}` in `{key}` is not set")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Variable { key: String, variable: String },
}

impl ModelAt {
    /// The model that a configuration means. Files of scripts and certificates are relative to its directory.
    ///
    /// # Errors
    /// [`FindModelError`] when there is none of that name, or a variable is not set.
    pub fn find(
        config: &Config,
        text: &ModelText,
        directory: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, FindModelError> {
        let Some(name) = text.named() else {
            let options = Options::default();
            return Ok(Self { name: named(&text.to_string(), directory)?, options, price: None });
        };
        let Some(written) = config.models.get(name) else {
            let known = config.models.iter().map(|(name, _)| name.to_string()).collect();
            return Err(FindModelError::Unknown { name: name.to_string(), known });
        };
        let spelled = written.model.as_ref().map(ToString::to_string).unwrap_or_default();
        let options = options(written, &format!("models.{name}"), directory, environment)?;
        Ok(Self { name: named(&spelled, directory)?, options, price: written.price.clone() })
    }

    /// Opens it. Tools in namespaces are understood, whatever it speaks.
    ///
    /// # Errors
    /// [`OpenModelError`] when the address, the key, a header or the script cannot be used.
    pub fn open(&self, environment: &dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn Model>, OpenModelError> {
        toolmark_models::open(&self.name, &self.options, environment).map(toolmark_models::flat)
    }
}

fn named(text: &str, directory: &Path) -> Result<ModelName, ParseModelNameError> {
    let name: ModelName = text.parse()?;
    match name.provider() {
        Provider::Scripted => ModelName::new(Provider::Scripted, &directory.join(name.model()).to_string_lossy()),
        _ => Ok(name),
    }
}

fn options(
    written: &ModelSection,
    key: &str,
    directory: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Options, FindModelError> {
    let expand = |own: &str, template: &Template| {
        template.expand(&environment).map_err(|missing| FindModelError::Variable {
            key: format!("{key}.{own}"),
            variable: missing.into_iter().next().unwrap_or_default(),
        })
    };
    let mut headers = Vec::new();
    for (name, value) in &written.headers {
        headers.push((name.clone(), SecretString::from(expand("headers", value)?.expose().to_owned())));
    }
    let base_url = written.base_url.as_ref().map(|url| expand("base_url", url)).transpose()?;
    let ca = written.ca.as_ref().map(|file| expand("ca", file)).transpose()?;
    let (timeouts, retry) = (Timeouts::default(), Retry::default());
    Ok(Options {
        base_url: base_url.map(|url| url.expose().to_owned()),
        key_variable: written.key_variable.clone(),
        headers,
        ca: ca.map(|file| directory.join(file.expose())),
        timeouts: Timeouts { whole: written.timeout.unwrap_or(timeouts.whole), ..timeouts },
        retry: Retry { attempts: written.attempts.unwrap_or(retry.attempts), ..retry },
        largest_answer: None,
        allow_plain_http: written.allow_plain_http,
    })
}

impl Explain for FindModelError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::new("model-unknown"),
            Self::Name(error) => error.code(),
            Self::Variable { .. } => Code::new("config-variable-missing"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Unknown { .. } => {
                "another model than the one that was meant costs something else and says something else".into()
            }
            Self::Name(error) => error.why(),
            Self::Variable { .. } => {
                "without it, the request would go somewhere else, or without what lets it in".into()
            }
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Unknown { name, known } if known.is_empty() => {
                format!(
                    "write `PROVIDER:MODEL`, such as `openai:gpt-5`, or add a table `[models.{}]`",
                    visible(name, 60)
                )
            }
            Self::Unknown { known, .. } => format!("use one of {}, or write `PROVIDER:MODEL`", known.join(", ")),
            Self::Name(error) => error.fix(),
            Self::Variable { variable, .. } => format!("set `{variable}`, or give it a default: `${{{variable}:-…}}`"),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unknown { name, known } => {
                facts([("model", name.as_str().into()), ("known", known.as_slice().into())])
            }
            Self::Name(error) => error.facts(),
            Self::Variable { key, variable } => {
                facts([("key", key.as_str().into()), ("variable", variable.as_str().into())])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use toolmark_config::values::PROVIDERS;

    use super::*;

    #[test]
    fn a_configuration_knows_the_providers_that_can_be_opened() {
        for provider in PROVIDERS {
            assert!(format!("{provider}:x").parse::<ModelName>().is_ok(), "{provider}");
        }
        for provider in [Provider::OpenAi, Provider::OpenAiChat, Provider::Anthropic, Provider::Scripted] {
            assert!(PROVIDERS.contains(&provider.as_str()), "{provider}");
        }
    }

    #[test]
    fn a_name_leads_to_what_the_configuration_says_and_a_missing_variable_is_an_error() {
        let text = "[models.m]\nmodel = \"openai-chat:q\"\nbase_url = \"https://${HOST}/v1\"\nkey_variable = \"K\"\nattempts = 1\n";
        let config = Config::read(text, "toolmark.toml").unwrap();
        let written = ModelText::Named("m".parse().unwrap());
        let host = |name: &str| (name == "HOST").then(|| "example.com".to_owned());
        let at = ModelAt::find(&config, &written, Path::new(""), &host).unwrap();
        assert_eq!(at.options.base_url.as_deref(), Some("https://example.com/v1"));
        assert_eq!((at.options.key_variable.as_deref(), at.options.retry.attempts), (Some("K"), 1));
        let missing = ModelAt::find(&config, &written, Path::new(""), &|_| None).unwrap_err();
        assert_eq!(missing.to_string(), "the variable `HOST` in `models.m.base_url` is not set");
        let other = ModelText::Named("n".parse().unwrap());
        let unknown = ModelAt::find(&config, &other, Path::new(""), &host).unwrap_err();
        assert_eq!(unknown.fix(), "use one of m, or write `PROVIDER:MODEL`");
    }
}
