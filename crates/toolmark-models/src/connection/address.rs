//! Where does a request go? A base URL and the path of the wire format, without anything that should not be in an address.

use http::Uri;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::name::Provider;

/// A base URL that cannot be used. The message shows no query and no user name, since both may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the base URL `{shown}` cannot be used: {problem}")]
pub struct AddressError {
    shown: String,
    problem: &'static str,
}

/// The address that requests go to.
pub(crate) fn address(provider: Provider, base: Option<&str>) -> Result<Uri, AddressError> {
    let base = base.unwrap_or_else(|| own_base(provider));
    let fail = |problem| AddressError { shown: shown(base), problem };
    let (plain, query) = base.split_once('?').map_or((base, None), |(plain, query)| (plain, Some(query)));
    if base.contains('#') {
        return Err(fail("it has a fragment"));
    }
    let plain = plain.trim_end_matches('/');
    let path = match provider {
        Provider::OpenAi => "/responses",
        Provider::OpenAiChat => "/chat/completions",
        Provider::Anthropic if plain.ends_with("/v1") => "/messages",
        Provider::Anthropic => "/v1/messages",
        Provider::Scripted => return Err(fail("a script has no address")),
    };
    let whole = match query {
        Some(query) => format!("{plain}{path}?{query}"),
        None => format!("{plain}{path}"),
    };
    let uri: Uri = whole.parse().map_err(|_| fail("it is no URL"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => {}
        _ => return Err(fail("it is neither `http://…` nor `https://…`")),
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(fail("it holds a user name or a password"));
    }
    Ok(uri)
}

/// The address of the provider itself.
pub(crate) fn own_base(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi | Provider::OpenAiChat => "https://api.openai.com/v1",
        Provider::Anthropic => "https://api.anthropic.com",
        Provider::Scripted => "",
    }
}

/// True when nobody else can listen: the connection is encrypted, or does not leave this machine.
pub(crate) fn is_private(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    uri.scheme_str() == Some("https") || is_loopback || host == "localhost" || host.ends_with(".localhost")
}

fn shown(base: &str) -> String {
    let plain = base.split(['?', '#']).next().unwrap_or_default();
    let scheme_end = plain.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = plain.split_at(scheme_end);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    visible(&format!("{scheme}{rest}"), 120)
}

impl Explain for AddressError {
    fn code(&self) -> Code {
        Code::new("model-address")
    }

    fn why(&self) -> String {
        "the key goes where this address says, so that it must be plain what it says".into()
    }

    fn fix(&self) -> String {
        "give a base URL such as `https://api.openai.com/v1` or `http://127.0.0.1:8080/v1`, and the key in a variable"
            .into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("base_url", self.shown.as_str().into()), ("problem", self.problem.into())])
    }
}

#[cfg(test)]
mod tests;
