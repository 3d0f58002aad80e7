//! Who may connect: bearer tokens, kept as hashes.
//!
//! A secret has 256 random bits, so one pass of SHA-256 is enough: there is nothing to guess, and neither salt nor a slow hash
//! would add anything but a cost per request. The hash has a domain in front, so that it is no digest of anything else.

mod secret;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

pub use secret::{NoEntropyError, ParseTokenError, TokenHash, TokenId, TokenSecret};

use crate::backend::TokenRow;
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// What a token is limited to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// No limit.
    #[default]
    All,
    /// Only these names. An empty set is nothing at all.
    Only(BTreeSet<String>),
}

/// A token that is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewToken {
    /// What people call it; unique among tokens that are not revoked.
    pub name: String,
    /// The tasks it may be used for.
    pub tasks: Scope,
    /// The client profiles it may be used with.
    pub profiles: Scope,
    /// When it ends.
    pub expires: Option<Micros>,
    /// Whether its bearer may decide about approvals.
    pub approver: bool,
}

/// Everything about a token but its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is revoked by; tells nothing about the secret.
    pub id: TokenId,
    /// What people call it.
    pub name: String,
    /// The tasks it may be used for.
    pub tasks: Scope,
    /// The client profiles it may be used with.
    pub profiles: Scope,
    /// When it was made.
    pub created: Micros,
    /// When it was last used, as far as that was noted.
    pub last_used: Option<Micros>,
    /// When it ends.
    pub expires: Option<Micros>,
    /// When it was revoked.
    pub revoked: Option<Micros>,
    /// Whether its bearer may decide about approvals.
    pub approver: bool,
}

/// A token that was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateTokenError {
    /// Its name is empty, too long or has characters that cannot be seen.
    Name(String),
    /// Another token has that name.
    Taken(String),
    /// The store failed.
    Store(StoreError),
}

/// A token that does not let anybody in. Says nothing about the secret that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenRefused {
    /// No token has this secret.
    Unknown,
    /// Its time is over.
    Expired(Box<Token>),
    /// Somebody revoked it.
    Revoked(Box<Token>),
    /// Whether it is good cannot be found out.
    Store(StoreError),
}

impl Scope {
    /// Only these names.
    pub fn only<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        Self::Only(names.into_iter().map(Into::into).collect())
    }

    /// Whether a name lies within the scope.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

impl Token {
    /// Whether it lets somebody in at this time.
    ///
    /// # Errors
    /// [`TokenRefused::Revoked`] or [`TokenRefused::Expired`].
    pub fn check(&self, now: Micros) -> Result<(), TokenRefused> {
        if self.revoked.is_some() {
            return Err(TokenRefused::Revoked(Box::new(self.clone())));
        }
        match self.expires {
            Some(end) if now >= end => Err(TokenRefused::Expired(Box::new(self.clone()))),
            _ => Ok(()),
        }
    }
}

impl Store {
    /// Keeps a token under the hash of a secret. The secret itself is shown by the caller, once, and kept by nobody.
    ///
    /// # Errors
    /// [`CreateTokenError`]; then no token was made.
    pub async fn create_token(&self, new: &NewToken, secret: &TokenSecret) -> Result<Token, CreateTokenError> {
        if new.name.trim().is_empty() || new.name.len() > 200 || visible(&new.name, 200) != new.name {
            return Err(CreateTokenError::Name(visible(&new.name, 80)));
        }
        let hash = secret.hash();
        let token = Token {
            id: hash.id(),
            name: new.name.clone(),
            tasks: new.tasks.clone(),
            profiles: new.profiles.clone(),
            created: self.now(),
            last_used: None,
            expires: new.expires,
            revoked: None,
            approver: new.approver,
        };
        let row = TokenRow { token, hash };
        match self.backend().add_token(&row).await {
            Ok(true) => Ok(row.token),
            Ok(false) => Err(CreateTokenError::Taken(visible(&new.name, 80))),
            Err(error) => Err(CreateTokenError::Store(error)),
        }
    }

    /// The token that a secret belongs to, if it lets somebody in now.
    ///
    /// # Errors
    /// [`TokenRefused`]; a store that fails lets nobody in.
    pub async fn check_token(&self, secret: &TokenSecret) -> Result<Token, TokenRefused> {
        let hash = secret.hash();
        let row = self.backend().token_by_hash(&hash).await.map_err(TokenRefused::Store)?;
        // The index found it by its hash; this comparison takes the same time wherever the two differ.
        let row = row.filter(|row| row.hash == hash).ok_or(TokenRefused::Unknown)?;
        row.token.check(self.now())?;
        Ok(row.token)
    }

    /// All tokens with their hashes, oldest first: what a caller keeps in memory until [`Store::tokens_version`] grows.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        self.backend().tokens().await
    }

    /// Revokes a token; says whether there was one that was not revoked yet.
    ///
    /// # Errors
    /// [`StoreError`]; then the token is as it was.
    pub async fn revoke_token(&self, id: &TokenId) -> Result<bool, StoreError> {
        self.backend().revoke_token(id, self.now()).await
    }

    /// Notes when tokens were used. Callers collect uses and note them now and then, not on every request.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was noted.
    pub async fn tokens_used(&self, used: &[(TokenId, Micros)]) -> Result<(), StoreError> {
        if used.is_empty() { Ok(()) } else { self.backend().tokens_used(used).await }
    }

    /// A number that grows whenever a token is made or revoked, by whatever process shares the store.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn tokens_version(&self) -> Result<u64, StoreError> {
        self.backend().tokens_version().await
    }
}

impl fmt::Display for CreateTokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}` cannot be the name of a token"),
            Self::Taken(name) => write!(f, "there is a token named `{name}` already"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CreateTokenError {}

impl Explain for CreateTokenError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) => Code::new("token-name-syntax"),
            Self::Taken(_) => Code::new("token-name-taken"),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Name(_) => "people tell tokens apart by their names, so each must have one that can be read".into(),
            Self::Taken(_) => "of two tokens with one name, the wrong one would be revoked".into(),
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Name(_) => "use up to 200 visible characters on one line, such as `laptop`".into(),
            Self::Taken(_) => "choose another name, or revoke the old token first".into(),
            Self::Store(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Name(name) | Self::Taken(name) => facts([("name", name.as_str().into())]),
            Self::Store(error) => error.facts(),
        }
    }
}

impl fmt::Display for TokenRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the token is not known"),
            Self::Expired(token) => write!(f, "the token `{}` has expired", token.name),
            Self::Revoked(token) => write!(f, "the token `{}` was revoked", token.name),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TokenRefused {}

impl Explain for TokenRefused {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::new("token-unknown"),
            Self::Expired(_) => Code::new("token-expired"),
            Self::Revoked(_) => Code::new("token-revoked"),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Unknown => "only tokens that were made on this store let somebody in".into(),
            Self::Expired(_) => "whoever made it said when it ends".into(),
            Self::Revoked(_) => "somebody took it back; it stays so".into(),
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Unknown | Self::Expired(_) | Self::Revoked(_) => {
                "make a new token and give it to the client as `Authorization: Bearer tmk_…`".into()
            }
            Self::Store(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unknown => Map::new(),
            Self::Expired(token) | Self::Revoked(token) => {
                facts([("id", token.id.as_str().into()), ("name", token.name.as_str().into())])
            }
            Self::Store(error) => error.facts(),
        }
    }
}

#[cfg(test)]
mod tests;
