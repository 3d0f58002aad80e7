//! Which keys does the authorization server sign with now? Kept, asked for again in time, and not believed for ever.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use serde_json::Value;
use toolmark_config::sections::Jwt;

use super::Why;
use super::fetch::{Fetcher, trusted};
use super::keys::{self, Key};

/// After how long keys are asked for again, so that a withdrawn one does not stay good.
const OLD: Duration = Duration::from_secs(15 * 60);
/// How long keys are believed while nobody answers who could take them back.
const BELIEVED: Duration = Duration::from_secs(60 * 60);
/// How often keys are asked for within [`WINDOW`] at most. Tokens with an invented key are free to make; requests are not.
const ASKS: usize = 5;
const WINDOW: Duration = Duration::from_secs(2 * 60);

/// Where keys come from, and those that came.
pub(super) struct KeySource {
    settings: Jwt,
    fetcher: Fetcher,
    keys: ArcSwapOption<Keys>,
    asked: tokio::sync::Mutex<Asked>,
}

/// The keys of one answer.
pub(super) struct Keys {
    all: Vec<Key>,
    since: Instant,
}

#[derive(Default)]
struct Asked {
    /// When, the latest last.
    at: VecDeque<Instant>,
    failed: bool,
}

impl KeySource {
    pub(super) fn new(settings: &Jwt) -> Result<Arc<Self>, String> {
        trusted(settings.jwks_url.as_deref().unwrap_or(&settings.issuer))?;
        let (settings, fetcher) = (settings.clone(), Fetcher::new()?);
        Ok(Arc::new(Self { settings, fetcher, keys: ArcSwapOption::empty(), asked: tokio::sync::Mutex::default() }))
    }

    /// The keys, with the one that is wanted if there is any way to get it.
    pub(super) async fn keys(self: &Arc<Self>, wanted: Option<&str>) -> Result<Arc<Keys>, Why> {
        self.keys_at(wanted, Instant::now()).await
    }

    async fn keys_at(self: &Arc<Self>, wanted: Option<&str>, now: Instant) -> Result<Arc<Keys>, Why> {
        if let Some(keys) = self.believed(now).filter(|keys| keys.find(wanted).is_some()) {
            if keys.age(now) >= OLD {
                self.refresh_aside(now);
            }
            return Ok(keys);
        }
        let mut asked = self.asked.lock().await;
        // Somebody else may have brought it meanwhile.
        if let Some(keys) = self.believed(now).filter(|keys| keys.find(wanted).is_some()) {
            return Ok(keys);
        }
        Box::pin(self.refresh(&mut asked, now)).await;
        match self.believed(now) {
            // Nobody could say whether there is such a key.
            Some(keys) if asked.failed && keys.find(wanted).is_none() => Err(Why::Unavailable),
            keys => keys.ok_or(Why::Unavailable),
        }
    }

    fn believed(&self, now: Instant) -> Option<Arc<Keys>> {
        self.keys.load_full().filter(|keys| keys.age(now) < BELIEVED)
    }

    /// Asks for the keys while the old ones are still used: no request waits for that.
    fn refresh_aside(self: &Arc<Self>, now: Instant) {
        let own = Arc::clone(self);
        let Ok(free) = self.asked.try_lock() else { return };
        if free.may_not(now) {
            return;
        }
        drop(free);
        tokio::spawn(async move {
            let Ok(mut asked) = own.asked.try_lock() else { return };
            own.refresh(&mut asked, now).await;
        });
    }

    async fn refresh(&self, asked: &mut Asked, now: Instant) {
        if asked.may_not(now) {
            return;
        }
        asked.at.retain(|at| now.saturating_duration_since(*at) < WINDOW);
        asked.at.push_back(now);
        let answer = self.fetch().await;
        asked.failed = answer.is_err();
        match answer {
            // A withdrawn key is trusted from when it was last seen, not from when the answer was read.
            Ok(all) => self.keys.store(Some(Arc::new(Keys { all, since: now }))),
            Err(error) => {
                tracing::warn!(issuer = %self.settings.issuer, %error, "the keys of the authorization server are not there");
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
                    // Some issuers answer every path with a page; the metadata is elsewhere then.
                    let document: Value = match serde_json::from_slice(&text) {
                        Ok(document) => document,
                        Err(error) => {
                            last = error.to_string();
                            continue;
                        }
                    };
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

impl Asked {
    fn may_not(&self, now: Instant) -> bool {
        self.at.iter().filter(|at| now.saturating_duration_since(**at) < WINDOW).count() >= ASKS
    }
}

impl Keys {
    fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    /// The key with this id; without one, the only key there is.
    pub(super) fn find(&self, id: Option<&str>) -> Option<&Key> {
        match (id, self.all.as_slice()) {
            (Some(id), all) => all.iter().find(|key| key.id.as_deref() == Some(id)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

#[cfg(test)]
mod tests;
