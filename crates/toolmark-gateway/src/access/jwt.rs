//! Is this a token of the authorization server, made for us, and good now?

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;
use toolmark_config::sections::Jwt;
use toolmark_core::explain::Code;
use toolmark_store::Scope;

use super::fetch::{Fetcher, trusted};
use super::keys::{self, Key};
use super::{AccessError, Admitted, Allowed, Why};

/// How soon keys are asked for again because of a key that is not known. Tokens are free to make; requests are not.
const AGAIN: Duration = Duration::from_secs(30);
/// After how long keys are asked for again in any case, so that a withdrawn one is not trusted for ever.
const OLD: Duration = Duration::from_secs(15 * 60);
/// How far two clocks may differ, in seconds.
const LEEWAY: u64 = 30;
/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;

/// An authorization server.
pub(super) struct Issuer {
    settings: Jwt,
    fetcher: Fetcher,
    keys: ArcSwapOption<Keys>,
    /// When keys were last asked for, however that ended.
    asked: tokio::sync::Mutex<Option<Instant>>,
    pub(super) again: Duration,
}

struct Keys {
    all: Vec<Key>,
    since: Instant,
}

#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    client_id: Option<String>,
    scope: Option<Value>,
    scp: Option<Value>,
}

impl Issuer {
    pub(super) fn new(settings: &Jwt) -> Result<Self, AccessError> {
        let unusable = |why| AccessError::Issuer { issuer: settings.issuer.clone(), why };
        trusted(settings.jwks_url.as_deref().unwrap_or(&settings.issuer)).map_err(unusable)?;
        Ok(Self {
            settings: settings.clone(),
            fetcher: Fetcher::new().map_err(unusable)?,
            keys: ArcSwapOption::empty(),
            asked: tokio::sync::Mutex::new(None),
            again: AGAIN,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.issuer
    }

    /// All scopes that mean something here.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.settings.scopes.iter().map(|(scope, _)| scope.as_str())
    }

    /// The scopes of which each allows a task.
    pub(super) fn scopes_for(&self, task: Option<&str>) -> Option<String> {
        let task = task?;
        let allowing = self.settings.scopes.iter().filter(|(_, tasks)| tasks.iter().any(|own| own.as_str() == task));
        // Any of them is enough, and a client that is told of several would ask for all.
        allowing.map(|(scope, _)| scope.clone()).next()
    }

    /// Who shows this token.
    pub(super) async fn check(&self, shown: &str) -> Result<Admitted, Why> {
        if shown.len() > LONGEST {
            return Err(invalid("the token is too long"));
        }
        // Reads only what is signed about the key; `none` is no algorithm of the reader.
        let header = decode_header(shown).map_err(|_| invalid("this is no token that can be read"))?;
        if header.crit.is_some() {
            return Err(invalid("the token asks for an extension that is not known here"));
        }
        let keys = self.keys(header.kid.as_deref()).await?;
        let key = find(&keys.all, header.kid.as_deref()).ok_or_else(|| invalid("the key of the token is not known"))?;
        if !key.algorithms.contains(&header.alg) {
            return Err(invalid("the key of the token is not for that algorithm"));
        }
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let claims = decode::<Claims>(shown, &key.decoding, &validation).map_err(|error| invalid(said(&error)))?.claims;
        let name = claims.sub.as_deref().or(claims.client_id.as_deref()).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| invalid("the token does not say whose it is"))?;
        let scope = Allowed { tasks: self.tasks(&claims), profiles: Scope::All };
        Ok(Admitted::new(&format!("jwt:{name}"), scope))
    }

    fn tasks(&self, claims: &Claims) -> Scope {
        if self.settings.scopes.is_empty() {
            return Scope::All;
        }
        let mut granted = BTreeSet::new();
        for claim in [&claims.scope, &claims.scp].into_iter().flatten() {
            match claim {
                Value::String(text) => granted.extend(text.split(' ')),
                Value::Array(all) => granted.extend(all.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
        let tasks = self.settings.scopes.iter().filter(|(scope, _)| granted.contains(scope.as_str()));
        Scope::only(tasks.flat_map(|(_, tasks)| tasks.iter().map(|task| task.as_str())))
    }

    /// The keys, asked for when there are none, when they are old, or when the one that is wanted is not among them.
    async fn keys(&self, wanted: Option<&str>) -> Result<Arc<Keys>, Why> {
        let good = |keys: &Arc<Keys>| keys.since.elapsed() < OLD && find(&keys.all, wanted).is_some();
        if let Some(keys) = self.keys.load_full().filter(good) {
            return Ok(keys);
        }
        let mut asked = self.asked.lock().await;
        let old = self.keys.load_full();
        if let Some(keys) = old.clone().filter(good) {
            return Ok(keys);
        }
        if asked.is_some_and(|last| last.elapsed() < self.again) {
            return old.ok_or(Why::Unavailable);
        }
        *asked = Some(Instant::now());
        match self.fetch().await {
            Ok(all) => {
                let keys = Arc::new(Keys { all, since: Instant::now() });
                self.keys.store(Some(Arc::clone(&keys)));
                Ok(keys)
            }
            Err(error) => {
                tracing::warn!(issuer = %self.settings.issuer, %error, "the keys of the authorization server are not there");
                old.ok_or(Why::Unavailable)
            }
        }
    }

    async fn fetch(&self) -> Result<Vec<Key>, String> {
        let url = match &self.settings.jwks_url {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        keys::read(&self.fetcher.get(&url).await?)
    }

    /// Where the keys are, by the metadata of the issuer: RFC 8414 first, then OpenID Connect.
    async fn discover(&self) -> Result<String, String> {
        let issuer = self.settings.issuer.trim_end_matches('/');
        let start = issuer.find("://").map_or(0, |at| at + 3);
        let end = issuer.get(start..).and_then(|rest| rest.find('/')).map_or(issuer.len(), |at| start + at);
        let (host, path) = issuer.split_at_checked(end).unwrap_or((issuer, ""));
        let places = [
            format!("{host}/.well-known/oauth-authorization-server{path}"),
            format!("{issuer}/.well-known/openid-configuration"),
        ];
        let mut last = String::new();
        for place in places {
            match self.fetcher.get(&place).await {
                Ok(text) => {
                    let document: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
                    // Metadata of somebody else would bring the keys of somebody else.
                    if document.get("issuer").and_then(Value::as_str) != Some(&self.settings.issuer) {
                        return Err("its metadata names another issuer".to_owned());
                    }
                    let keys = document.get("jwks_uri").and_then(Value::as_str);
                    return keys.map(str::to_owned).ok_or_else(|| "its metadata has no `jwks_uri`".to_owned());
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// The key with this id; without one, the only key there is.
fn find<'a>(keys: &'a [Key], id: Option<&str>) -> Option<&'a Key> {
    match (id, keys) {
        (Some(id), _) => keys.iter().find(|key| key.id.as_deref() == Some(id)),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

fn invalid(text: &str) -> Why {
    Why::Invalid(Code::new("access-token-invalid"), text.to_owned())
}

/// What is wrong with a token, without a word of what is in it.
fn said(error: &jsonwebtoken::errors::Error) -> &'static str {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not good yet",
        ErrorKind::InvalidAudience => "the token was made for somebody else",
        ErrorKind::InvalidIssuer => "the token was made by somebody else",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks `exp`, `iss` or `aud`",
        ErrorKind::InvalidSignature => "the signature of the token is wrong",
        _ => "the token cannot be checked",
    }
}
