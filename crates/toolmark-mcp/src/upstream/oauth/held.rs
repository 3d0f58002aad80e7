//! The token that is shown now: kept in memory, renewed a little before its end or when it is refused, by one for all who wait.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

use super::discovery::{self, Place};
use super::fetch::Reach;
use super::grant::Asker;
use super::vault::{Record, Token, Vault};
use super::{Grant, OAuthError, OAuthSettings};
use crate::upstream::credentials::{Credentials, NoCredentials};

/// How soon somebody who gave no token is asked again.
const AGAIN: Duration = Duration::from_secs(2);

/// How often a server may refuse one token after another within [`WINDOW`] before nobody gets it new ones.
const REFUSALS: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);

/// The tokens for one server.
pub struct OAuth {
    settings: OAuthSettings,
    vault: Option<Vault>,
    held: RwLock<Option<Arc<Held>>>,
    /// Held while a token is got, with what became of the last try that failed.
    renewing: tokio::sync::Mutex<Renewing>,
}

struct Held {
    header: HeaderValue,
    renew_at: Option<SystemTime>,
}

#[derive(Default)]
struct Renewing {
    failed: Option<(Instant, OAuthError)>,
    /// When tokens were got because others were refused.
    refused: Vec<Instant>,
    place: Option<Place>,
}

impl OAuth {
    /// Tokens as configured. Those of a login are in the vault.
    ///
    /// # Errors
    /// When the server is at an address that must not see a token.
    pub fn new(settings: OAuthSettings, vault: Option<Vault>) -> Result<Self, OAuthError> {
        Reach::of(&settings.server).check(&settings.server.to_string())?;
        Ok(Self { settings, vault, held: RwLock::default(), renewing: tokio::sync::Mutex::default() })
    }

    fn held(&self, refused: Option<&HeaderValue>) -> Option<HeaderValue> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let held = held.as_ref().filter(|held| Some(&held.header) != refused)?;
        held.renew_at.is_none_or(|time| SystemTime::now() < time).then(|| held.header.clone())
    }

    fn hold(&self, token: &Token) -> Result<HeaderValue, OAuthError> {
        let header = HeaderValue::try_from(format!("Bearer {}", token.access));
        let mut header = header.map_err(|_| self.login_needed())?;
        header.set_sensitive(true);
        let held = Held { header: header.clone(), renew_at: token.renew_at() };
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(held));
        Ok(header)
    }

    fn login_needed(&self) -> OAuthError {
        OAuthError::LoginNeeded { pack: self.settings.pack.clone() }
    }

    /// A header other than the one that was refused; none when the server refuses whatever it is shown.
    async fn renew(&self, refused: Option<&HeaderValue>) -> Result<Option<HeaderValue>, OAuthError> {
        let mut renewing = self.renewing.lock().await;
        // Whoever waited takes what the one before got.
        if let Some(header) = self.held(refused) {
            return Ok(Some(header));
        }
        if refused.is_some() {
            renewing.refused.retain(|at| at.elapsed() < WINDOW);
            if renewing.refused.len() >= REFUSALS {
                return Ok(None);
            }
            renewing.refused.push(Instant::now());
        }
        if let Some((_, error)) = renewing.failed.as_ref().filter(|(at, _)| at.elapsed() < AGAIN) {
            return Err(error.clone());
        }
        let got = match self.settings.grant {
            Grant::ClientCredentials => self.by_own_name(&mut renewing).await,
            Grant::AuthorizationCode => self.by_login(refused).await,
        };
        // A login that is missing costs one look at a file; it is there as soon as somebody logs in.
        renewing.failed =
            got.as_ref().err().filter(|error| !matches!(error, OAuthError::LoginNeeded { .. })).map(|error| {
                tracing::warn!(pack = %self.settings.pack, %error, "there is no token for a server");
                (Instant::now(), error.clone())
            });
        self.hold(&got?).map(Some)
    }

    async fn by_own_name(&self, renewing: &mut Renewing) -> Result<Token, OAuthError> {
        let place = match &renewing.place {
            Some(place) => place.clone(),
            None => discovery::find(&self.settings, false).await?,
        };
        let asker = Asker {
            endpoint: &place.token,
            trust: self.settings.trust_at(&place.token),
            client_id: self.settings.client_id.as_deref().unwrap_or_default(),
            client_secret: self.settings.client_secret.as_ref().map(SecretString::expose_secret),
            secret_in_form: place.secret_in_form,
        };
        let scopes = if self.settings.scopes.is_empty() { &place.scopes } else { &self.settings.scopes }.join(" ");
        let mut fields = vec![("grant_type", "client_credentials"), ("resource", place.resource.as_str())];
        if !scopes.is_empty() {
            fields.push(("scope", &scopes));
        }
        let token = asker.ask(&fields).await;
        // After a refusal, where tokens are got is found out anew.
        renewing.place = token.is_ok().then_some(place);
        token
    }

    async fn by_login(&self, refused: Option<&HeaderValue>) -> Result<Token, OAuthError> {
        let record = self.record()?;
        let now = SystemTime::now();
        let shown = |record: &Record| {
            refused.is_some_and(|header| {
                header.as_bytes().strip_prefix(b"Bearer ") == Some(record.token.access.as_bytes())
            })
        };
        let is_fresh = |record: &Record| !shown(record) && record.token.renew_at().is_none_or(|time| now < time);
        if is_fresh(&record) {
            return Ok(record.token);
        }
        let Some(refresh) = &record.token.refresh else {
            let usable = !shown(&record) && !record.token.is_over(now);
            return if usable { Ok(record.token) } else { Err(self.login_needed()) };
        };
        let endpoint = record.token_endpoint.parse().map_err(|_| self.login_needed())?;
        let asker = Asker {
            endpoint: &endpoint,
            trust: self.settings.trust_at(&endpoint),
            client_id: &record.client_id,
            client_secret: record.client_secret.as_deref(),
            secret_in_form: record.secret_in_form,
        };
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("resource", &record.resource)];
        match asker.ask(&fields).await {
            Ok(mut token) => {
                token.refresh = token.refresh.or_else(|| record.token.refresh.clone());
                token.scope = token.scope.or_else(|| record.token.scope.clone());
                let renewed = Record { token, ..record.clone() };
                // Somebody may have logged in again, or out, meanwhile: that is what counts then.
                match self.record() {
                    Ok(current) if current == record => self.keep(&renewed)?,
                    Ok(current) => return Ok(current.token),
                    Err(error) => return Err(error),
                }
                Ok(renewed.token)
            }
            // Another process may have used the same token to get another, and kept that.
            Err(OAuthError::Refused { error, .. }) if error == "invalid_grant" => match self.record()? {
                current if current != record && !shown(&current) => Ok(current.token),
                _ => Err(self.login_needed()),
            },
            Err(_) if !shown(&record) && !record.token.is_over(now) => Ok(record.token),
            Err(error) => Err(error),
        }
    }

    /// The login for this server, as it is kept now.
    fn record(&self) -> Result<Record, OAuthError> {
        let record = self.vault.as_ref().map(|vault| vault.load(&self.settings.pack)).transpose()?.flatten();
        // Invariant: a token is shown to the server that it was got for, whatever the configuration says later.
        record.filter(|record| record.server == self.settings.resource()).ok_or_else(|| self.login_needed())
    }

    fn keep(&self, record: &Record) -> Result<(), OAuthError> {
        self.vault.as_ref().map_or(Ok(()), |vault| vault.keep(&self.settings.pack, record))
    }
}

impl Credentials for OAuth {
    fn current(&self) -> BoxFuture<'_, Result<HeaderValue, NoCredentials>> {
        if let Some(header) = self.held(None) {
            return std::future::ready(Ok(header)).boxed();
        }
        async {
            let renewed = self.renew(None).await?;
            renewed.ok_or_else(|| self.login_needed().into())
        }
        .boxed()
    }

    fn refused<'a>(&'a self, shown: &'a HeaderValue) -> BoxFuture<'a, Result<bool, NoCredentials>> {
        async {
            if self.held(Some(shown)).is_some() {
                return Ok(true);
            }
            Ok(self.renew(Some(shown)).await?.is_some())
        }
        .boxed()
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("pack", &self.settings.pack).finish_non_exhaustive()
    }
}
