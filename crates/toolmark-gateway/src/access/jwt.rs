//! Is this a token of the authorization server, made for us, and good now?

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;
use toolmark_config::sections::Jwt;
use toolmark_config::values::{Name, Tasks};
use toolmark_core::explain::Code;
use toolmark_store::Scope;

use super::key_source::KeySource;
use super::{AccessError, Admitted, Allowed, Why};

/// How far two clocks may differ, in seconds.
const LEEWAY: u64 = 30;
/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;

/// An authorization server.
pub(super) struct Issuer {
    settings: Jwt,
    source: Arc<KeySource>,
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
        Ok(Self { settings: settings.clone(), source: KeySource::new(settings).map_err(unusable)? })
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.issuer
    }

    /// All scopes that mean something here.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.settings.scopes.iter().map(|(scope, _)| scope.as_str())
    }

    /// A scope that allows a task, or what belongs to none: the narrowest there is. Any is enough, and a client that is told of several would
    /// ask for all.
    pub(super) fn scope_for(&self, task: Option<&str>) -> Option<&str> {
        let named = |tasks: &Tasks| task.is_some_and(|task| tasks.named().iter().any(|own| own.as_str() == task));
        let scopes = || self.settings.scopes.iter();
        let narrow = scopes().filter(|(_, tasks)| named(tasks)).min_by_key(|(_, tasks)| tasks.named().len());
        let any = narrow.or_else(|| scopes().find(|(_, tasks)| *tasks == Tasks::All));
        any.map(|(scope, _)| scope.as_str())
    }

    /// What a client asks a token for to come to an address: what the authorization server knows us by, where that is this address or one
    /// above it, else the address.
    pub(super) fn resource(&self, address: &str) -> String {
        let above = |audience: &&String| {
            let rest = address.strip_prefix(audience.trim_end_matches('/'));
            audience.contains("://") && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let audience = self.settings.audience.0.iter().filter(above).max_by_key(|audience| audience.len());
        audience.map_or_else(|| address.to_owned(), Clone::clone)
    }

    /// Who shows this token, at the resource that the operator gave a name to, if any.
    pub(super) async fn check(&self, shown: &str, resource: Option<String>) -> Result<Admitted, Why> {
        if shown.len() > LONGEST {
            return Err(invalid("the token is too long"));
        }
        // Reads only what is signed about the key; `none` is no algorithm of the reader.
        let header = decode_header(shown).map_err(|_| invalid("this is no token that can be read"))?;
        if header.crit.is_some() {
            return Err(invalid("the token asks for an extension that is not known here"));
        }
        let keys = self.source.keys(header.kid.as_deref()).await?;
        let key = keys.find(header.kid.as_deref()).ok_or_else(|| invalid("the key of the token is not known"))?;
        if !key.algorithms.contains(&header.alg) {
            return Err(invalid("the key of the token is not for that algorithm"));
        }
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.settings.issuer]);
        let accepted: Vec<&String> = self.settings.audience.0.iter().chain(&resource).collect();
        validation.set_audience(&accepted);
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
        let tasks = || self.settings.scopes.iter().filter(|(scope, _)| granted.contains(scope.as_str()));
        if tasks().any(|(_, tasks)| *tasks == Tasks::All) {
            return Scope::All;
        }
        Scope::only(tasks().flat_map(|(_, tasks)| tasks.named().iter().map(Name::as_str)))
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
