//! How do we get a token for a server that asks for one? OAuth 2.1: with the client's own credentials, or after a person logged in once.
//!
//! What is not configured is found through the server's metadata (RFC 9728, RFC 8414, OpenID Connect) and by dynamic registration
//! (RFC 7591). Every token is asked for with the server it is for (RFC 8707), and is shown to that server only. Nothing here logs a
//! token, a secret or a code.

mod discovery;
mod error;
mod fetch;
mod grant;
mod held;
mod login;
mod vault;

use http::Uri;
use secrecy::SecretString;
use toolmark_tls::Trust;

pub use error::OAuthError;
pub use held::OAuth;
pub use login::{Login, Logout, Revoked};
pub use vault::Vault;

/// What is configured for one server.
#[derive(Clone, Debug)]
pub struct OAuthSettings {
    /// What people call the server.
    pub pack: String,
    /// Where it is.
    pub server: Uri,
    /// Whose certificates are believed at the server's own address; anywhere else also whoever this machine believes.
    pub trust: Trust,
    /// How a token is got.
    pub grant: Grant,
    /// Who we are; without it, we register.
    pub client_id: Option<String>,
    /// Our secret.
    pub client_secret: Option<SecretString>,
    /// What is asked for; without any, what the server asks for.
    pub scopes: Vec<String>,
    /// The authorization server; without it, the one that the server names.
    pub issuer: Option<String>,
    /// Where tokens are got; without it, where the authorization server says.
    pub token_url: Option<String>,
    /// The port to which a login returns; without it, a free one.
    pub redirect_port: Option<u16>,
}

/// How a token is got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person logs in once.
    #[default]
    AuthorizationCode,
    /// With the client's own credentials.
    ClientCredentials,
}

impl OAuthSettings {
    /// Whom to believe at an address.
    fn trust_at(&self, url: &Uri) -> Trust {
        trust_at(&self.trust, &self.server, url)
    }

    /// The server as others name it (RFC 8707): no query, no fragment, no slash that means nothing.
    fn resource(&self) -> String {
        let scheme = self.server.scheme_str().unwrap_or("https").to_ascii_lowercase();
        let authority = self.server.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        let path = Some(self.server.path()).filter(|path| *path != "/").unwrap_or_default();
        format!("{scheme}://{}{path}", authority.unwrap_or_default())
    }
}

/// Whom to believe at an address, for a server of whom this is believed. An authorization server elsewhere may be one of the operator's own
/// or one that everybody knows: whoever signs for the first could pass for the server itself, so that believing both gives nothing away.
fn trust_at(trust: &Trust, server: &Uri, url: &Uri) -> Trust {
    let own = (url.scheme(), url.authority()) == (server.scheme(), server.authority());
    if own { trust.clone() } else { trust.and_machine() }
}
