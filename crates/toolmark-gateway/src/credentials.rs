//! How does a pack say who it is to its server, where the configuration asks for OAuth? The same for the gateway and for `toolmark login`.

use secrecy::SecretString;
use toolmark_config::values::Grant as WrittenGrant;
use toolmark_config::{Connection, UpstreamAuth};
use toolmark_core::names::PackName;
use toolmark_mcp::upstream::oauth::{Grant, OAuthSettings};

/// What is configured about the tokens of a pack; nothing where it has none of its own.
///
/// # Errors
/// When its address is none.
pub fn oauth(name: &PackName, connection: &Connection) -> Result<Option<OAuthSettings>, String> {
    let Connection::Http(http) = connection else { return Ok(None) };
    let Some(UpstreamAuth::OAuth { grant, client_id, client_secret, scopes, issuer, token_url, redirect_port }) =
        &http.auth
    else {
        return Ok(None);
    };
    let server = http.url.expose().parse().map_err(|error| format!("its `url` is no address: {error}"))?;
    let text = |secret: &Option<toolmark_config::values::Secret>| secret.as_ref().map(|text| text.expose().to_owned());
    Ok(Some(OAuthSettings {
        pack: name.to_string(),
        server,
        grant: match grant {
            WrittenGrant::AuthorizationCode => Grant::AuthorizationCode,
            WrittenGrant::ClientCredentials => Grant::ClientCredentials,
        },
        client_id: text(client_id),
        client_secret: text(client_secret).map(SecretString::from),
        scopes: scopes.clone(),
        issuer: text(issuer),
        token_url: text(token_url),
        redirect_port: *redirect_port,
    }))
}
