//! How does a pack say who it is to its server, where the configuration asks for OAuth, and whom does it believe? The same for the gateway
//! and for `toolmark login`.

use std::path::Path;

use secrecy::SecretString;
use toolmark_config::sections;
use toolmark_config::values::Grant as WrittenGrant;
use toolmark_config::{Connection, Http, UpstreamAuth};
use toolmark_core::names::PackName;
use toolmark_mcp::upstream::oauth::{Grant, OAuthSettings};
use toolmark_tls::{ReadTrustError, Trust};

/// Whose certificates are believed of a pack. A relative file starts from a directory.
///
/// # Errors
/// When the file that says so cannot be used.
pub fn trust(connection: &Connection, directory: &Path) -> Result<Trust, ReadTrustError> {
    match connection {
        Connection::Http(Http { ca: Some(file), .. }) => Trust::read(&directory.join(file.expose())),
        Connection::Http(_) | Connection::Stdio(_) => Ok(Trust::machine()),
    }
}

/// The same for a pack as it is written. Only its `ca` counts: a variable that is missing elsewhere keeps nobody from giving a token back.
///
/// # Errors
/// Why the file that says so cannot be used.
pub fn trust_of(name: &PackName, pack: Option<&sections::Pack>, directory: &Path) -> Result<Trust, String> {
    let Some(pack) = pack.filter(|pack| pack.ca.is_some()) else { return Ok(Trust::machine()) };
    let connection = pack.expand(name, &|variable: &str| std::env::var(variable).ok());
    let connection = connection.map_err(|error| error.to_string())?;
    trust(&connection, directory).map_err(|error| error.to_string())
}

/// What is configured about the tokens of a pack; nothing where it has none of its own.
///
/// # Errors
/// When its address is none.
pub fn oauth(name: &PackName, connection: &Connection, trust: Trust) -> Result<Option<OAuthSettings>, String> {
    let Connection::Http(http) = connection else { return Ok(None) };
    let Some(UpstreamAuth::OAuth { grant, client_id, client_secret, scopes, issuer, token_url, redirect_port }) =
        &http.auth
    else {
        return Ok(None);
    };
    let server = http.url.text.expose().parse().map_err(|error| format!("its `url` is no address: {error}"))?;
    let text = |secret: &Option<toolmark_config::values::Secret>| secret.as_ref().map(|text| text.expose().to_owned());
    Ok(Some(OAuthSettings {
        pack: name.to_string(),
        server,
        trust,
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
