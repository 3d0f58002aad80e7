//! From a name to a model: which address, which key, which wire format. Nothing is sent yet.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_tls::{ReadTrustError, Trust};

use crate::chat::write::Dialect;
use crate::connection::{AddressError, Http, Options, Secrets, address, is_private};
use crate::model::Model;
use crate::name::{ModelName, Provider};
use crate::provider::{Format, Inner, Provided};
use crate::scripted::{ReadScriptError, ScriptedModel};

/// A model that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenModelError {
    /// The base URL cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// There is no key where it should be.
    #[error("the model `{model}` needs a key, and the variable `{variable}` is not set")]
    #[expect(missing_docs, reason = "the message says what they are")]
    KeyMissing { model: String, variable: String },
    /// The key cannot be sent.
    #[error("the key in the variable `{variable}` holds something that cannot be sent, such as a line break")]
    #[expect(missing_docs, reason = "the message says what it is")]
    KeyInvalid { variable: String },
    /// The key would travel in the clear.
    #[error("the key of the model `{model}` would travel to `{host}` without encryption")]
    #[expect(missing_docs, reason = "the message says what they are")]
    PlainHttp { model: String, host: String },
    /// A header cannot be sent.
    #[error("the header `{header}` cannot be sent")]
    #[expect(missing_docs, reason = "the message says what it is")]
    Header { header: String },
    /// There are no certificates to trust.
    #[error("no secure connection can be made: {reason}")]
    #[expect(missing_docs, reason = "the message says what it is")]
    Tls { reason: String },
    /// The certificates to trust cannot be used.
    #[error(transparent)]
    Ca(#[from] ReadTrustError),
    /// Certificates are named for an address that shows none.
    #[error("the model `{model}` has certificates to trust, and `{host}` is called without encryption")]
    #[expect(missing_docs, reason = "the message says what they are")]
    CaInVain { model: String, host: String },
    /// The script cannot be used.
    #[error(transparent)]
    Script(#[from] ReadScriptError),
}

/// The most bytes of an answer, if nothing else is said.
const LARGEST_ANSWER: usize = 32 * 1024 * 1024;

/// Opens a model. Variables come in as a function, so that nothing here reads the environment by itself:
/// `open(&name, &Options::default(), &|variable| std::env::var(variable).ok())`.
///
/// # Errors
/// [`OpenModelError`] when the address, the key, a header or the script cannot be used.
pub fn open(
    name: &ModelName,
    options: &Options,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Model>, OpenModelError> {
    let provider = name.provider();
    let format = match provider {
        Provider::OpenAi => Format::Responses,
        Provider::OpenAiChat if options.base_url.is_none() => Format::Chat(Dialect::OpenAi),
        Provider::OpenAiChat => Format::Chat(Dialect::Compatible),
        Provider::Anthropic => Format::Anthropic,
        Provider::Scripted => return Ok(Arc::new(ScriptedModel::read(name.model().as_ref())?)),
    };
    let address = address(provider, options.base_url.as_deref())?;
    let mut secrets = Secrets::default();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("toolmark/", env!("CARGO_PKG_VERSION"))));
    if provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    for (header, value) in &options.headers {
        let fail = || OpenModelError::Header { header: visible(header, 80) };
        let header: HeaderName = header.parse().map_err(|_| fail())?;
        let value = secret_value(value).ok_or_else(fail)?;
        headers.insert(header, value);
    }
    for (_, value) in &options.headers {
        secrets.add(value);
    }
    let shows_key =
        |headers: &HeaderMap| ["authorization", "x-api-key", "api-key"].iter().any(|name| headers.contains_key(*name));
    if let Some(key) = key(name, options, variable, shows_key(&headers))? {
        let (header, value) = match provider {
            Provider::Anthropic => (HeaderName::from_static("x-api-key"), secret_value(&key.value)),
            _ => {
                let bearer = SecretString::from(format!("Bearer {}", key.value.expose_secret()));
                (AUTHORIZATION, secret_value(&bearer))
            }
        };
        headers.insert(header, value.ok_or(OpenModelError::KeyInvalid { variable: key.variable })?);
        secrets.add(&key.value);
    }
    if shows_key(&headers) && !is_private(&address) && !options.allow_plain_http {
        let host = visible(address.host().unwrap_or_default(), 120);
        return Err(OpenModelError::PlainHttp { model: name.to_string(), host });
    }
    let trust = match &options.ca {
        Some(_) if address.scheme_str() != Some("https") => {
            let host = visible(address.host().unwrap_or_default(), 120);
            return Err(OpenModelError::CaInVain { model: name.to_string(), host });
        }
        Some(file) => Trust::read(file)?,
        None => Trust::machine(),
    };
    let largest = options.largest_answer.unwrap_or(LARGEST_ANSWER);
    let http = Http::new(address, &trust, headers, options.timeouts, largest)
        .map_err(|reason| OpenModelError::Tls { reason })?;
    Ok(Arc::new(Provided::new(Inner { name: name.clone(), format, http, retry: options.retry, secrets })))
}

struct Key {
    value: SecretString,
    variable: String,
}

/// The key. The provider's own variable is read only for the provider's own address.
fn key(
    name: &ModelName,
    options: &Options,
    variable: &dyn Fn(&str) -> Option<String>,
    has_other: bool,
) -> Result<Option<Key>, OpenModelError> {
    let own = match name.provider() {
        Provider::Anthropic => "ANTHROPIC_API_KEY",
        _ => "OPENAI_API_KEY",
    };
    let wanted = match &options.key_variable {
        Some(variable) => variable.as_str(),
        None if options.base_url.is_none() && !has_other => own,
        None => return Ok(None),
    };
    match variable(wanted).filter(|value| !value.is_empty()) {
        Some(value) => Ok(Some(Key { value: value.into(), variable: visible(wanted, 80) })),
        None => Err(OpenModelError::KeyMissing { model: name.to_string(), variable: visible(wanted, 80) }),
    }
}

fn secret_value(secret: &SecretString) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(secret.expose_secret()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Explain for OpenModelError {
    fn code(&self) -> Code {
        match self {
            Self::Address(error) => error.code(),
            Self::KeyMissing { .. } => Code::new("model-key-missing"),
            Self::KeyInvalid { .. } => Code::new("model-key-invalid"),
            Self::PlainHttp { .. } => Code::new("model-plain-http"),
            Self::Header { .. } => Code::new("model-header"),
            Self::Tls { .. } => Code::new("model-tls"),
            Self::Ca(error) => error.code(),
            Self::CaInVain { .. } => Code::new("ca-in-vain"),
            Self::Script(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Address(error) => return error.why(),
            Self::KeyMissing { .. } => "without a key every request would be refused",
            Self::KeyInvalid { .. } => "changing the key in silence could make it another one",
            Self::PlainHttp { .. } => "whoever is in between could read the key",
            Self::Header { .. } => "a header that is left out or changed is not the one that was asked for",
            Self::Tls { .. } => "without certificates to trust anybody could answer in the provider's name",
            Self::Ca(error) => return error.why(),
            Self::CaInVain { .. } => "whoever names certificates wants to know who answers, and nobody would look",
            Self::Script(error) => return error.why(),
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Address(error) => error.fix(),
            Self::KeyMissing { variable, .. } => format!("export {variable}=…"),
            Self::KeyInvalid { variable } => {
                format!("set {variable} again, without line breaks or spaces around the key")
            }
            Self::PlainHttp { .. } => {
                "use `https://`, or allow plain HTTP for this model if you trust the network".into()
            }
            Self::Header { .. } => "use a name of letters, digits and `-`, and a value without line breaks".into(),
            Self::Tls { .. } => "install the certificates of your system, such as the package `ca-certificates`".into(),
            Self::Ca(error) => error.fix(),
            Self::CaInVain { .. } => "write `https://` in the base URL, or remove the certificates".into(),
            Self::Script(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Address(error) => error.facts(),
            Self::KeyMissing { model, variable } => {
                facts([("model", model.as_str().into()), ("variable", variable.as_str().into())])
            }
            Self::KeyInvalid { variable } => facts([("variable", variable.as_str().into())]),
            Self::PlainHttp { model, host } | Self::CaInVain { model, host } => {
                facts([("model", model.as_str().into()), ("host", host.as_str().into())])
            }
            Self::Header { header } => facts([("header", header.as_str().into())]),
            Self::Tls { .. } => Map::new(),
            Self::Ca(error) => error.facts(),
            Self::Script(error) => error.facts(),
        }
    }
}

#[cfg(test)]
mod tests;
