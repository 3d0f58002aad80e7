//! A person logs in: an address for their browser, the code that comes back to this machine, and the token it is exchanged for. And
//! out again: the token is forgotten here, and given back.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use toolmark_core::text::visible;
use toolmark_tls::Trust;

use super::discovery::{self, Place};
use super::fetch::{self, encode};
use super::grant::Asker;
use super::vault::{Record, Vault};
use super::{OAuthError, OAuthSettings};

const CALLBACK: &str = "/callback";

/// A login that has begun.
pub struct Login {
    settings: OAuthSettings,
    vault: Vault,
    place: Place,
    client: Client,
    listener: TcpListener,
    redirect: String,
    state: String,
    verifier: String,
    url: String,
}

/// Who we are to the authorization server.
struct Client {
    id: String,
    secret: Option<String>,
    secret_in_form: bool,
}

impl Login {
    /// Finds out where to log in, and waits for the answer on a port of this machine.
    ///
    /// # Errors
    /// When there is nowhere to log in, or no port to come back to.
    pub async fn begin(settings: OAuthSettings, vault: Vault) -> Result<Self, OAuthError> {
        // An older login is replaced, also one that cannot be read.
        let before = vault.load(&settings.pack).ok().flatten();
        let place = discovery::find(&settings, true).await?;
        let port = settings.redirect_port.unwrap_or(0);
        let lost = |error: std::io::Error| OAuthError::Redirect { why: format!("port {port} cannot be had: {error}") };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(lost)?;
        let redirect = format!("http://{}{CALLBACK}", listener.local_addr().map_err(lost)?);
        let client = client(&settings, &place, before, &redirect).await?;
        let (state, verifier) = (random()?, random()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let authorize = place.authorize.as_ref().map(ToString::to_string).unwrap_or_default();
        let scopes = if settings.scopes.is_empty() { &place.scopes } else { &settings.scopes }.join(" ");
        let mut fields = vec![
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &redirect),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &place.resource),
        ];
        if !scopes.is_empty() {
            fields.push(("scope", &scopes));
        }
        let query =
            fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("&");
        let joint = if authorize.contains('?') { '&' } else { '?' };
        let url = format!("{authorize}{joint}{query}");
        Ok(Self { settings, vault, place, client, listener, redirect, state, verifier, url })
    }

    /// What to open in a browser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the person is back, and keeps what they brought. Says where.
    ///
    /// # Errors
    /// When they refused, or what came back is not good.
    pub async fn finish(self) -> Result<String, OAuthError> {
        let code = self.wait().await?;
        let asker = Asker {
            endpoint: &self.place.token,
            trust: self.settings.trust_at(&self.place.token),
            client_id: &self.client.id,
            client_secret: self.client.secret.as_deref(),
            secret_in_form: self.client.secret_in_form,
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", &self.redirect),
            ("code_verifier", &self.verifier),
            ("resource", &self.place.resource),
        ];
        let token = asker.ask(&fields).await?;
        let record = Record {
            version: Record::VERSION,
            server: self.settings.resource(),
            resource: self.place.resource,
            token_endpoint: self.place.token.to_string(),
            revocation_endpoint: self.place.revoke.as_ref().map(ToString::to_string),
            client_id: self.client.id,
            client_secret: self.client.secret,
            secret_in_form: self.client.secret_in_form,
            redirect: self.redirect,
            issuer: self.place.issuer,
            token,
        };
        self.vault.keep(&self.settings.pack, &record)?;
        Ok(self.vault.place(&self.settings.pack))
    }

    /// The code that comes back with our state. Whatever else comes is turned away, and does not end the login.
    async fn wait(&self) -> Result<String, OAuthError> {
        let (found, mut heard) = mpsc::channel::<Result<String, OAuthError>>(1);
        loop {
            let stream = tokio::select! {
                heard = heard.recv() => match heard {
                    Some(heard) => return heard,
                    None => return Err(OAuthError::Redirect { why: "nobody listens any more".into() }),
                },
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => return Err(OAuthError::Redirect { why: error.to_string() }),
                },
            };
            let expected = Expected {
                state: self.state.clone(),
                issuer: self.place.issuer.clone(),
                names_itself: self.place.names_itself,
            };
            let found = found.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let (page, outcome) = expected.read(request.uri());
                    let found = found.clone();
                    async move {
                        if let Some(outcome) = outcome {
                            let _ = found.try_send(outcome);
                        }
                        Ok::<_, Infallible>(page)
                    }
                });
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }
}

/// What an answer to this login looks like.
struct Expected {
    state: String,
    issuer: Option<String>,
    names_itself: bool,
}

impl Expected {
    /// The page for the person, and what came of it if it was an answer.
    fn read(&self, uri: &Uri) -> (Response<Full<Bytes>>, Option<Result<String, OAuthError>>) {
        if uri.path() != CALLBACK {
            return (page(StatusCode::NOT_FOUND, "There is nothing here."), None);
        }
        let fields = fetch::fields(uri.query().unwrap_or_default());
        let field = |name: &str| {
            let mut all = fields.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str());
            // Two of a kind are read differently by different programs.
            all.next().filter(|_| all.next().is_none())
        };
        if field("state") != Some(self.state.as_str()) {
            return (page(StatusCode::BAD_REQUEST, "This does not belong to the login that is under way."), None);
        }
        let lost = |why: String| {
            (
                page(StatusCode::BAD_REQUEST, "The login failed. See the terminal."),
                Some(Err(OAuthError::Redirect { why })),
            )
        };
        match (field("iss"), &self.issuer) {
            (Some(named), Some(issuer)) if named != issuer => {
                return lost("it comes from another authorization server".into());
            }
            (None, Some(_)) if self.names_itself => {
                return lost("it does not say from which authorization server it comes".into());
            }
            _ => {}
        }
        if let Some(error) = field("error") {
            let description = field("error_description").map(|text| visible(text, 200));
            let refused = OAuthError::Refused { error: visible(error, 60), description };
            return (page(StatusCode::OK, "The login was refused. You can close this page."), Some(Err(refused)));
        }
        match field("code").filter(|code| !code.is_empty()) {
            Some(code) => {
                (page(StatusCode::OK, "You are logged in. You can close this page."), Some(Ok(code.to_owned())))
            }
            None => lost("there is no code in it".into()),
        }
    }
}

fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let html = format!("<!doctype html><meta charset=\"utf-8\"><title>Toolmark</title><p>{text}</p>\n");
    let mut response = Response::new(Full::new(Bytes::from(html)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The address holds the code; nothing else is to learn it.
    response.headers_mut().insert("referrer-policy", HeaderValue::from_static("no-referrer"));
    response
}

/// Who we are: as configured, as registered before, or as registered now.
async fn client(
    settings: &OAuthSettings,
    place: &Place,
    before: Option<Record>,
    redirect: &str,
) -> Result<Client, OAuthError> {
    if let Some(id) = &settings.client_id {
        let secret = settings.client_secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        return Ok(Client { id: id.clone(), secret, secret_in_form: place.secret_in_form });
    }
    if let Some(before) = before.filter(|before| before.issuer == place.issuer && before.redirect == redirect) {
        return Ok(Client {
            id: before.client_id,
            secret: before.client_secret,
            secret_in_form: before.secret_in_form,
        });
    }
    let Some(url) = &place.register else {
        return Err(OAuthError::Registration { why: "it registers nobody by itself".into() });
    };
    let mut wanted = json!({
        "client_name": "Toolmark",
        "application_type": "native",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if let (Some(wanted), false) = (wanted.as_object_mut(), settings.scopes.is_empty()) {
        wanted.insert("scope".into(), json!(settings.scopes.join(" ")));
    }
    let answer = fetch::post_json(url, &settings.trust_at(url), &wanted).await?;
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |name: &str| said.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    match text("client_id") {
        Some(id) if answer.status.is_success() => Ok(Client {
            id: id.to_owned(),
            secret: text("client_secret").map(str::to_owned),
            secret_in_form: text("token_endpoint_auth_method") == Some("client_secret_post"),
        }),
        _ => {
            let said = text("error_description").or(text("error")).map(|text| visible(text, 200));
            let why = said.unwrap_or_else(|| format!("status {}", answer.status.as_u16()));
            Err(OAuthError::Registration { why })
        }
    }
}

/// 256 bits that nobody can guess, as text.
fn random() -> Result<String, OAuthError> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| OAuthError::Redirect { why: format!("there are no random numbers: {error}") })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A login that is forgotten here, and that its authorization server has yet to forget.
#[must_use = "until it is revoked, the token is good for whoever has it"]
pub struct Logout {
    pack: String,
    /// What was kept of it; why it cannot be read, otherwise.
    record: Result<Record, OAuthError>,
}

/// What became of the token of a login that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// The authorization server has taken it back.
    Taken,
    /// Its authorization server has no place where it could be told (RFC 7009): the token is good until it ends.
    Nowhere,
}

impl Logout {
    /// Forgets the login of a server on this machine; none where nobody was logged in. One that cannot be read is forgotten all the same.
    ///
    /// # Errors
    /// When it cannot be forgotten.
    pub fn begin(vault: &Vault, pack: &str) -> Result<Option<Self>, OAuthError> {
        let record = vault.load(pack);
        let forgotten = vault.forget(pack)?;
        // A file that is gone between the two was forgotten by somebody else, who tells the authorization server.
        let record = record.transpose().filter(|_| forgotten);
        Ok(record.map(|record| Self { pack: pack.to_owned(), record }))
    }

    /// Asks the authorization server to forget it too. `trust` is whom the server of the pack is believed by.
    ///
    /// # Errors
    /// [`OAuthError::NotRevoked`] when it could not be told, or would not.
    pub async fn revoke(self, trust: &Trust) -> Result<Revoked, OAuthError> {
        let record = match &self.record {
            Ok(record) => record,
            Err(error) => return Err(self.not_revoked(&error.to_string())),
        };
        let Some(url) = record.revocation_endpoint.as_deref() else { return Ok(Revoked::Nowhere) };
        let (Ok(url), Ok(server)) = (url.parse::<Uri>(), record.server.parse::<Uri>()) else {
            return Err(self.not_revoked("what was kept of it names no address"));
        };
        let asker = Asker {
            endpoint: &url,
            trust: super::trust_at(trust, &server, &url),
            client_id: &record.client_id,
            client_secret: record.client_secret.as_deref(),
            secret_in_form: record.secret_in_form,
        };
        // With the one that outlives the other, the other ends too.
        let (token, hint) = match &record.token.refresh {
            Some(refresh) => (refresh.as_str(), "refresh_token"),
            None => (record.token.access.as_str(), "access_token"),
        };
        let answer = asker.post(&url, &[("token", token), ("token_type_hint", hint)]).await;
        let answer = answer.map_err(|error| self.not_revoked(&error.to_string()))?;
        if answer.status.is_success() {
            return Ok(Revoked::Taken);
        }
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let said = said.get("error").and_then(Value::as_str).map(|error| format!(", `{}`", visible(error, 60)));
        let why = format!("it answers with status {}{}", answer.status.as_u16(), said.unwrap_or_default());
        Err(self.not_revoked(&why))
    }

    /// What to say when the authorization server is not told, for this reason.
    #[must_use]
    pub fn not_revoked(&self, why: &str) -> OAuthError {
        OAuthError::NotRevoked { pack: self.pack.clone(), why: why.to_owned() }
    }
}

/// Everything that was kept is secret, or may be.
impl std::fmt::Debug for Logout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Logout").field("pack", &self.pack).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("pack", &self.settings.pack).finish_non_exhaustive()
    }
}
