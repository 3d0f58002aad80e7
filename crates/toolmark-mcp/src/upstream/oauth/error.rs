//! Why is there no token? Says who would not give one, and never what was shown to them.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::upstream::credentials::NoCredentials;

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// Nobody logged in, or what they got is not good any more.
    #[error("needs `toolmark login {pack}`")]
    LoginNeeded {
        /// The server.
        pack: String,
    },
    /// An address cannot be trusted with a secret.
    #[error("`{url}` is not used for tokens: {why}")]
    Untrusted {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The metadata says nothing that can be used.
    #[error("it cannot be found out where `{server}` gets its tokens: {why}")]
    Discovery {
        /// The server.
        server: String,
        /// What is missing or wrong.
        why: String,
    },
    /// We could not register.
    #[error("the authorization server does not register us: {why}")]
    Registration {
        /// What it says.
        why: String,
    },
    /// The authorization server refuses.
    #[error("the authorization server refuses: {error}{}", with(.description.as_deref()))]
    Refused {
        /// Its code.
        error: String,
        /// What it says.
        description: Option<String>,
    },
    /// The authorization server gives no answer that can be read.
    #[error("the authorization server at `{host}` gives no usable answer: {why}")]
    Unreachable {
        /// Where.
        host: String,
        /// What happened.
        why: String,
    },
    /// Tokens cannot be kept.
    #[error("tokens cannot be kept in `{path}`: {why}")]
    Vault {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A token is forgotten here, and its authorization server does not know.
    #[error("the token of `{pack}` is forgotten here, but its authorization server did not take it back: {why}")]
    NotRevoked {
        /// The server.
        pack: String,
        /// What happened.
        why: String,
    },
    /// The login did not come back.
    #[error("the login did not come back: {why}")]
    Redirect {
        /// What happened.
        why: String,
    },
}

fn with(description: Option<&str>) -> String {
    description.map(|text| format!(" ({})", visible(text, 200))).unwrap_or_default()
}

impl From<OAuthError> for NoCredentials {
    fn from(error: OAuthError) -> Self {
        Self { needs_login: matches!(error, OAuthError::LoginNeeded { .. }), reason: error.to_string() }
    }
}

impl Explain for OAuthError {
    fn code(&self) -> Code {
        match self {
            Self::LoginNeeded { .. } => Code::new("oauth-login-needed"),
            Self::Untrusted { .. } => Code::new("oauth-address-untrusted"),
            Self::Discovery { .. } => Code::new("oauth-discovery"),
            Self::Registration { .. } => Code::new("oauth-registration"),
            Self::Refused { .. } => Code::new("oauth-refused"),
            Self::Unreachable { .. } => Code::new("oauth-unreachable"),
            Self::Vault { .. } => Code::new("oauth-tokens-unkept"),
            Self::NotRevoked { .. } => Code::new("oauth-not-revoked"),
            Self::Redirect { .. } => Code::new("oauth-login-lost"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::LoginNeeded { .. } => "the server answers only to those who show a token",
            Self::Untrusted { .. } => "whoever is between here and there could read the token, or send it on",
            Self::Discovery { .. } | Self::Registration { .. } => {
                "a token that is asked for in the wrong place would end up with the wrong people"
            }
            Self::Refused { .. } | Self::Unreachable { .. } => "without a token the server would refuse every call",
            Self::Vault { .. } => {
                "a token that others can read is theirs too, and one that is lost asks for a new login"
            }
            Self::NotRevoked { .. } => "whoever has a copy of the token can use it until it ends",
            Self::Redirect { .. } => "an answer that does not belong to this login may be somebody else's",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::LoginNeeded { pack } => format!("run `toolmark login {pack}`"),
            Self::Untrusted { .. } => "use `https://` addresses".into(),
            Self::Discovery { .. } => "set `issuer` in the pack's `auth.oauth`".into(),
            Self::Registration { .. } => "register by hand, and set `client_id` in the pack's `auth.oauth`".into(),
            Self::Refused { .. } => "check `client_id`, `client_secret` and `scopes` in the pack's `auth.oauth`".into(),
            Self::Unreachable { .. } => "see that it runs and can be reached from here".into(),
            Self::Vault { .. } => "make the file and its folder yours alone: `chmod 600` and `chmod 700`".into(),
            Self::NotRevoked { .. } => {
                "if a copy may be about, end the access of Toolmark in your account at the authorization server".into()
            }
            Self::Redirect { .. } => "run `toolmark login` again, and finish it in the browser".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::LoginNeeded { pack } | Self::NotRevoked { pack, .. } => facts([("pack", pack.as_str().into())]),
            Self::Refused { error, .. } => facts([("error", error.as_str().into())]),
            Self::Vault { path, .. } => facts([("path", path.as_str().into())]),
            _ => Map::new(),
        }
    }
}
