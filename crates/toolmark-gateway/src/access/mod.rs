//! Who may come in? Everybody on this machine, or whoever shows a token of the store or of an authorization server.
//!
//! A token is read from the `Authorization` header only, is kept nowhere, and goes no further than this module.

mod fetch;
mod jwt;
mod key_source;
mod keys;
mod limits;
mod refusal;
mod tokens;

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, Uri};
use toolmark_config::sections::GatewayAuth;
use toolmark_mcp::downstream::{Binding, Caller};
use toolmark_store::{Scope, Store};

pub use limits::{Alone, Limiter, Permit, TooMuch};
pub use refusal::{Refusal, Why};
pub(crate) use refusal::{WELL_KNOWN, refused};

use jwt::Issuer;
pub(crate) use tokens::KnownTokens;

/// Who may come in.
pub struct Access {
    tokens: Option<KnownTokens>,
    issuer: Option<Issuer>,
    public_url: Option<String>,
    local: Arc<Admitted>,
}

/// Somebody who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The verified name: `local`, `token:` and the name of a token, or `jwt:` and the subject of one.
    pub principal: Arc<str>,
    /// What they may use.
    pub scope: Allowed,
    /// Whether they may decide about approvals, and nothing else.
    pub approver: bool,
    /// The same, as the endpoint knows callers; made once.
    pub(crate) caller: Caller,
}

/// What somebody may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// The tasks.
    pub tasks: Scope,
    /// The client profiles.
    pub profiles: Scope,
}

/// Access that cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// Tokens are asked for, and there is no store that holds any.
    #[error("callers need a token, but there is no store that holds any")]
    NoStore,
    /// The keys of the authorization server cannot be asked for.
    #[error("the keys of `{issuer}` cannot be fetched: {why}")]
    Issuer {
        /// Who signs.
        issuer: String,
        /// What is wrong.
        why: String,
    },
}

impl Access {
    /// Lets in whom the configuration says.
    ///
    /// # Errors
    /// [`AccessError`] when nobody could ever be let in.
    pub fn of(auth: &GatewayAuth, store: Option<Store>, public_url: Option<&str>) -> Result<Self, AccessError> {
        let tokens = match (auth.tokens, store) {
            (false, _) => None,
            (true, Some(store)) => Some(KnownTokens::new(store)),
            (true, None) => return Err(AccessError::NoStore),
        };
        let issuer = auth.jwt.as_ref().map(Issuer::new).transpose()?;
        let local = Arc::new(Admitted::new("local", Allowed::default()));
        let public_url = public_url.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Self { tokens, issuer, public_url, local })
    }

    /// Whether callers have to say who they are.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.tokens.is_some() || self.issuer.is_some()
    }

    /// Lets a request in to an address, or says why not.
    ///
    /// # Errors
    /// [`Refusal`], which knows how it is answered.
    pub async fn admit(&self, uri: &Uri, headers: &HeaderMap, binding: &Binding) -> Result<Arc<Admitted>, Refusal> {
        let task = binding.task.as_deref();
        let admitted = self.identify(uri, headers).await.map_err(|why| self.refuse(uri, headers, why, task))?;
        // Whoever decides about calls makes none: a token that could do both would end up with an agent.
        if admitted.scope.covers(binding) && !admitted.approver {
            return Ok(admitted);
        }
        Err(self.refuse(uri, headers, Why::Scope, task))
    }

    /// Lets a request in to what shows everything, such as the figures of all packs.
    ///
    /// # Errors
    /// [`Refusal`]; also for somebody who is limited to some tasks or profiles.
    pub async fn admit_to_all(&self, uri: &Uri, headers: &HeaderMap) -> Result<Arc<Admitted>, Refusal> {
        let admitted = self.identify(uri, headers).await.map_err(|why| self.refuse(uri, headers, why, None))?;
        // Whoever decides about calls does nothing else.
        if admitted.scope == Allowed::default() && !admitted.approver {
            return Ok(admitted);
        }
        Err(self.refuse(uri, headers, Why::Scope, None))
    }

    async fn identify(&self, uri: &Uri, headers: &HeaderMap) -> Result<Arc<Admitted>, Why> {
        if !self.is_required() {
            return Ok(Arc::clone(&self.local));
        }
        // Addresses end up in logs and histories: a token in one counts as lost, whatever else is shown.
        if uri.query().is_some_and(has_token) {
            return Err(Why::InQuery);
        }
        let shown = bearer(headers)?;
        match (&self.tokens, &self.issuer) {
            (Some(tokens), _) if shown.starts_with("tmk_") => tokens.find(shown).await,
            (_, Some(issuer)) => issuer.check(shown, self.resource(uri)).await.map(Arc::new),
            (Some(tokens), None) => tokens.find(shown).await,
            (None, None) => Ok(Arc::clone(&self.local)),
        }
    }

    /// Writes down when tokens were last used.
    pub async fn note_uses(&self) {
        if let Some(tokens) = &self.tokens {
            tokens.note_uses().await;
        }
    }
}

impl Admitted {
    fn new(principal: &str, scope: Allowed) -> Self {
        Self { principal: principal.into(), scope, approver: false, caller: Caller::new(principal) }
    }
}

impl Allowed {
    /// Whether an address lies within it. One that is bound to no task gives access to all of them.
    #[must_use]
    pub fn covers(&self, binding: &Binding) -> bool {
        let within = |scope: &Scope, name: Option<&str>| match name {
            Some(name) => scope.covers(name),
            None => *scope == Scope::All,
        };
        within(&self.tasks, binding.task.as_deref()) && within(&self.profiles, binding.profile.as_deref())
    }
}

/// The one bearer token of a request.
fn bearer(headers: &HeaderMap) -> Result<&str, Why> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(only) = all.next() else { return Err(Why::Missing) };
    if all.next().is_some() {
        return Err(Why::Malformed("there is more than one `Authorization` header"));
    }
    let text = only.to_str().map_err(|_| Why::Malformed("the `Authorization` header is not text"))?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            let token = token.trim_matches(' ');
            if token.is_empty() { Err(Why::Missing) } else { Ok(token) }
        }
        // Another scheme is no token; the answer says which one is wanted.
        _ => Err(Why::Missing),
    }
}

fn has_token(query: &str) -> bool {
    query.split('&').any(|pair| pair.split('=').next() == Some("access_token"))
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access")
            .field("tokens", &self.tokens.is_some())
            .field("jwt", &self.issuer.is_some())
            .finish_non_exhaustive()
    }
}

impl toolmark_core::explain::Explain for AccessError {
    fn code(&self) -> toolmark_core::explain::Code {
        toolmark_core::explain::Code::new("access-unusable")
    }

    fn why(&self) -> String {
        "nobody could ever be let in, or everybody would have to be".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::NoStore => "set `gateway.store` to a file that can be written".into(),
            Self::Issuer { .. } => "set `gateway.auth.jwt.jwks_url` to an `https://` address".into(),
        }
    }
}

#[cfg(test)]
mod tests;
