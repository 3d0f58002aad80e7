//! Who may look and decide? The bearer of an approver's token, or of the key that this gateway made when it started. Nobody else,
//! also not on loopback: an agent on this machine must not approve its own calls.

use std::net::SocketAddr;
use std::time::SystemTime;

use http::{HeaderMap, header};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use toolmark_core::approval::{Given, Way};
use toolmark_core::text::visible;
use toolmark_store::{Micros, Store, StoreError, TokenRefused, TokenSecret};

use crate::access::{KnownTokens, Why};

/// What a key begins with, so that people and scanners know what they found.
const PREFIX: &str = "tmc_";

/// Knows who may look and decide.
pub(crate) struct Keeper {
    store: Option<(Store, KnownTokens)>,
    /// The hash of the key; the key itself is with whoever prints it.
    key: Option<[u8; 32]>,
    /// Who started the gateway, and so holds the key.
    user: String,
}

/// The key of the console: good for as long as the gateway runs.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleKey(SecretString);

/// Somebody who may look and decide.
#[derive(Clone, Debug)]
pub(crate) struct Approver {
    /// The name of the token, or `console:` and who started the gateway.
    pub(crate) name: String,
    /// Whether it came with the key.
    pub(crate) by_key: bool,
}

/// Why somebody may not.
#[derive(Debug)]
pub(crate) enum NotKept {
    /// They show nothing that is known.
    Missing,
    /// They show a token that is for something else.
    NoApprover,
    /// Whether it is good cannot be found out.
    Store(StoreError),
}

impl ConsoleKey {
    /// A new one.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self(format!("{PREFIX}{text}").into()))
    }

    /// As it is printed, once.
    pub(crate) fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    fn hash(&self) -> [u8; 32] {
        hash(self.0.expose_secret())
    }
}

impl Keeper {
    /// Lets in the bearers of approvers' tokens of a store, and of a key.
    pub(crate) fn new(store: Option<Store>, key: Option<&ConsoleKey>) -> Self {
        let store = store.map(|store| (store.clone(), KnownTokens::new(store)));
        Self { store, key: key.map(ConsoleKey::hash), user: "local".into() }
    }

    /// With the name of who started the gateway.
    pub(crate) fn of(self, user: &str) -> Self {
        Self { user: visible(user, 100), ..self }
    }

    /// Who started the gateway.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Whether a request shows the key.
    pub(crate) fn has_key(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|shown| self.is_key(shown))
    }

    fn is_key(&self, shown: &str) -> bool {
        // Compared by hash: how far two texts agree cannot be measured by trying.
        shown.starts_with(PREFIX) && self.key.is_some_and(|key| key == hash(shown))
    }

    /// Who sends a request.
    pub(crate) async fn approver(&self, headers: &HeaderMap) -> Result<Approver, NotKept> {
        let shown = bearer(headers).ok_or(NotKept::Missing)?;
        if self.is_key(shown) {
            return Ok(Approver { name: format!("console:{}", self.user), by_key: true });
        }
        let secret = TokenSecret::parse(shown).map_err(|_| NotKept::Missing)?;
        let Some((store, known)) = &self.store else { return Err(NotKept::Missing) };
        // Whoever guesses does not make the store look for every guess.
        if matches!(known.find(shown).await, Err(Why::Invalid(..))) {
            return Err(NotKept::Missing);
        }
        match store.check_token(&secret).await {
            Ok(token) if token.approver => Ok(Approver { name: token.name, by_key: false }),
            Ok(_) => Err(NotKept::NoApprover),
            Err(TokenRefused::Store(error)) => Err(NotKept::Store(error)),
            Err(_) => Err(NotKept::Missing),
        }
    }
}

impl Approver {
    /// What is kept of their decision.
    pub(crate) fn given(&self, peer: SocketAddr) -> Given {
        let way = if self.by_key { Way::Console } else { Way::Http };
        Given { by: self.name.clone(), way, at: Micros::from(SystemTime::now()), from: Some(peer.to_string()) }
    }
}

/// The one bearer token of a request. Of several, none counts.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let text = all.next()?.to_str().ok()?;
    if all.next().is_some() {
        return None;
    }
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::new().chain_update(b"toolmark/console-key/v1\0").chain_update(text).finalize().into()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn showing(text: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {text}")).unwrap());
        headers
    }

    #[tokio::test]
    async fn the_key_opens_and_nothing_like_it_does() {
        let key = ConsoleKey::random().unwrap();
        let keeper = Keeper::new(None, Some(&key)).of("ann\u{202e}");
        let text = key.reveal();
        assert_eq!(text.len(), PREFIX.len() + 64);
        let approver = keeper.approver(&showing(text)).await.unwrap();
        assert_eq!(approver.name, "console:ann\\u{202e}");
        assert!(approver.by_key && keeper.has_key(&showing(text)));
        for wrong in [text.get(..67).unwrap(), &format!("{text}0"), &text.to_uppercase(), "tmc_", ""] {
            assert!(matches!(keeper.approver(&showing(wrong)).await, Err(NotKept::Missing)), "{wrong}");
        }
        assert!(keeper.approver(&HeaderMap::new()).await.is_err());
        let mut twice = showing(text);
        twice.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer x"));
        assert!(keeper.approver(&twice).await.is_err(), "two claims are none");
        assert!(Keeper::new(None, None).approver(&showing(text)).await.is_err(), "without a console there is no key");
    }

    #[test]
    fn two_keys_are_two_and_neither_is_written_by_accident() {
        let (one, other) = (ConsoleKey::random().unwrap(), ConsoleKey::random().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert!(!format!("{one:?}").contains(one.reveal()));
    }
}
