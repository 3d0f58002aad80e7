//! Who gives tokens for this server, and where? By what the server says of itself (RFC 9728) and what the authorization server says of
//! itself (RFC 8414, OpenID Connect); neither may speak for somebody else.

use http::header::WWW_AUTHENTICATE;
use http::{StatusCode, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolmark_core::text::visible;

use super::fetch::{self, Reach, shown};
use super::{OAuthError, OAuthSettings};

/// Where tokens are got.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) issuer: Option<String>,
    pub(super) authorize: Option<Uri>,
    pub(super) token: Uri,
    pub(super) register: Option<Uri>,
    pub(super) revoke: Option<Uri>,
    /// For which server they are.
    pub(super) resource: String,
    /// What the server asks for.
    pub(super) scopes: Vec<String>,
    /// Whether the client's secret goes into the form, not into a header.
    pub(super) secret_in_form: bool,
    /// Whether a login that comes back says who it comes from (RFC 9207).
    pub(super) names_itself: bool,
}

/// What a server says of itself.
#[derive(Default, Deserialize)]
struct Resource {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// What an authorization server says of itself.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Finds it. `login` asks for everything that a login needs.
pub(super) async fn find(settings: &OAuthSettings, login: bool) -> Result<Place, OAuthError> {
    let server = settings.resource();
    let lost = |why: String| OAuthError::Discovery { server: shown(&server), why };
    let reach = Reach::of(&settings.server);
    reach.check(&server)?;
    let configured = settings.token_url.as_deref().map(|url| Reach::ALL.check(url)).transpose()?;
    if let (Some(token), false) = (&configured, login) {
        return Ok(Place {
            issuer: settings.issuer.clone(),
            authorize: None,
            token: token.clone(),
            register: None,
            revoke: None,
            resource: server,
            scopes: Vec::new(),
            secret_in_form: false,
            names_itself: false,
        });
    }
    let (said, scopes) = resource(settings, reach, &server).await.map_err(lost)?;
    let resource = said.resource.unwrap_or_else(|| server.clone());
    let (issuer, reach) = match &settings.issuer {
        Some(issuer) => (issuer.clone(), Reach::of(&Reach::ALL.check(issuer)?)),
        None => match said.authorization_servers.first() {
            Some(issuer) => (issuer.clone(), reach),
            // As it was before servers said so: the server gives its tokens itself.
            None => (origin(&settings.server), reach),
        },
    };
    let metadata = metadata(settings, &issuer, reach).await?.map_err(lost)?;
    let methods = metadata.token_endpoint_auth_methods_supported.unwrap_or_default();
    let has = |method: &str| methods.iter().any(|own| own == method);
    let mut token = configured;
    if token.is_none() {
        token = admitted(reach, metadata.token_endpoint.as_deref()).await?;
    }
    let place = Place {
        authorize: metadata.authorization_endpoint.as_deref().map(|url| reach.check(url)).transpose()?,
        token: token.ok_or_else(|| lost(format!("`{}` has no `token_endpoint`", visible(&issuer, 100))))?,
        register: admitted(reach, metadata.registration_endpoint.as_deref()).await?,
        revoke: admitted(reach, metadata.revocation_endpoint.as_deref()).await?,
        resource,
        scopes: if scopes.is_empty() { said.scopes_supported } else { scopes },
        secret_in_form: has("client_secret_post") && !has("client_secret_basic"),
        names_itself: metadata.authorization_response_iss_parameter_supported,
        issuer: Some(metadata.issuer),
    };
    if login {
        let safe = metadata.code_challenge_methods_supported.is_some_and(|all| all.iter().any(|one| one == "S256"));
        if place.authorize.is_none() || !safe {
            return Err(lost(
                "its authorization server has no login that is safe from interception (PKCE, `S256`)".into(),
            ));
        }
    }
    Ok(place)
}

/// What the server says of itself, and the scopes it asks for. Nothing, where it says nothing.
async fn resource(settings: &OAuthSettings, reach: Reach, server: &str) -> Result<(Resource, Vec<String>), String> {
    let (mut places, mut scopes) = (Vec::new(), Vec::new());
    if let Ok(answer) = fetch::knock(&settings.server, &settings.trust).await
        && answer.status == StatusCode::UNAUTHORIZED
    {
        let challenges = answer.headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        for challenge in challenges {
            places.extend(parameter(challenge, "resource_metadata"));
            scopes.extend(parameter(challenge, "scope").iter().flat_map(|all| all.split(' ')).map(str::to_owned));
        }
    }
    let origin = origin(&settings.server);
    let path = Some(settings.server.path()).filter(|path| *path != "/").unwrap_or_default();
    places.push(format!("{origin}/.well-known/oauth-protected-resource{path}"));
    places.push(format!("{origin}/.well-known/oauth-protected-resource"));
    for place in places {
        let place = reach.admit(&place).await.map_err(|error| error.to_string())?;
        let Some(said) = document::<Resource>(settings, &place).await.map_err(|error| error.to_string())? else {
            continue;
        };
        // Invariant: a server describes itself, or a part of the place that it is at; never another one.
        let own = said.resource.as_deref().is_none_or(|own| covers(own, server));
        return if own { Ok((said, scopes)) } else { Err("its metadata is about another server".into()) };
    }
    Ok((Resource::default(), scopes))
}

/// The metadata of an authorization server.
async fn metadata(
    settings: &OAuthSettings,
    issuer: &str,
    reach: Reach,
) -> Result<Result<Metadata, String>, OAuthError> {
    let checked = reach.check(issuer)?;
    let origin = origin(&checked);
    let path = checked.path().trim_end_matches('/');
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    for place in places {
        let Some(said) = document::<Metadata>(settings, &reach.admit(&place).await?).await? else { continue };
        // Metadata of somebody else would lead the login to somebody else.
        let same = said.issuer.trim_end_matches('/') == issuer.trim_end_matches('/');
        return Ok(if same {
            Ok(said)
        } else {
            Err("the metadata of its authorization server names another issuer".into())
        });
    }
    Ok(Err(format!("`{}` has no metadata", visible(issuer, 100))))
}

async fn admitted(reach: Reach, url: Option<&str>) -> Result<Option<Uri>, OAuthError> {
    match url {
        Some(url) => reach.admit(url).await.map(Some),
        None => Ok(None),
    }
}

/// A document, if there is one.
async fn document<T: DeserializeOwned>(settings: &OAuthSettings, place: &Uri) -> Result<Option<T>, OAuthError> {
    let answer = fetch::get(place, &settings.trust_at(place)).await?;
    if answer.status != StatusCode::OK {
        return Ok(None);
    }
    // Some servers answer every path with a page.
    Ok(serde_json::from_slice(&answer.body).ok())
}

fn origin(url: &Uri) -> String {
    let authority = url.authority().map(|authority| authority.as_str().to_ascii_lowercase()).unwrap_or_default();
    format!("{}://{authority}", url.scheme_str().unwrap_or("https"))
}

/// Whether a described place is the server or holds it.
fn covers(described: &str, server: &str) -> bool {
    let (Ok(described), Ok(server)) = (described.parse::<Uri>(), server.parse::<Uri>()) else { return false };
    let (Some(place), Some(own)) = (described.authority(), server.authority()) else { return false };
    let path = described.path().trim_end_matches('/');
    let rest = server.path().strip_prefix(path);
    described.scheme() == server.scheme()
        // Names of hosts are the same in capitals; this comparison knows that.
        && place == own
        && described.query().is_none()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A parameter of a challenge.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut from = 0;
    loop {
        let at = from + challenge.get(from..)?.find(name)?;
        let after = at + name.len();
        from = after;
        let begins = challenge.get(..at).is_none_or(|before| before.is_empty() || before.ends_with([' ', ',']));
        let Some(value) = challenge.get(after..)?.strip_prefix('=').filter(|_| begins) else { continue };
        return match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().map(str::to_owned),
            None => value.split([',', ' ']).next().map(str::to_owned),
        };
    }
}

#[cfg(test)]
mod tests;
