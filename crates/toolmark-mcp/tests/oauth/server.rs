//! A protected MCP server and the authorization server that it trusts, on one port of this machine. It keeps to the letter: exact
//! redirects, PKCE with `S256`, the resource in every request, codes and refresh tokens that are good once.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use toolmark_fixture::{Fixture, Listening, Options, serve_http};

type Body = BoxBody<Bytes, hyper::Error>;

/// The client that is known without registering, and its secret.
pub(crate) const KNOWN: (&str, &str) = ("robot", "s3cret/with:signs");

/// What the two servers know.
#[derive(Default)]
pub(crate) struct State {
    /// Registered clients, with their redirects.
    pub(crate) clients: BTreeMap<String, Vec<String>>,
    /// Codes that are not used yet: client, redirect, challenge.
    codes: BTreeMap<String, (String, String, String)>,
    /// Access tokens that are good.
    pub(crate) access: BTreeSet<String>,
    /// Refresh tokens that are good, with their clients.
    pub(crate) refresh: BTreeMap<String, String>,
    /// How tokens were asked for, in order.
    pub(crate) grants: Vec<String>,
    /// Every header of a request to the MCP server that says who asks.
    pub(crate) shown: Vec<String>,
    pub(crate) revoked: Vec<String>,
    /// What is said otherwise than it should be.
    pub(crate) lies: BTreeMap<&'static str, Value>,
    /// How long tokens last, in seconds.
    pub(crate) lasts: Option<u64>,
    /// The MCP server refuses every token.
    pub(crate) deaf: bool,
    count: u64,
}

#[derive(Clone)]
pub(crate) struct Servers {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    fixture: Arc<Listening>,
}

impl Servers {
    pub(crate) async fn start() -> Self {
        let fixture = Fixture::new(Options::default()).expect("a fixture");
        let fixture = serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = State { lasts: Some(3600), ..State::default() };
        let servers = Self { address, state: Arc::new(Mutex::new(state)), fixture: Arc::new(fixture) };
        let own = servers.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                let service = service_fn(move |request| {
                    let own = own.clone();
                    async move { Ok::<_, Infallible>(own.answer(request).await) }
                });
                tokio::spawn(async move {
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        servers
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with it")
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn issuer(&self) -> String {
        format!("http://{}/tenant", self.address)
    }

    /// How often tokens were asked for in this way.
    pub(crate) fn granted(&self, grant: &str) -> usize {
        self.state().grants.iter().filter(|one| *one == grant).count()
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let base = format!("http://{}", self.address);
        let lie = |name: &'static str, truth: Value| self.state().lies.get(name).cloned().unwrap_or(truth);
        match (&head.method, head.uri.path()) {
            (_, "/mcp") => self.protected(head, body).await,
            (&Method::GET, "/.well-known/oauth-protected-resource/mcp") => say(&json!({
                "resource": lie("resource", json!(self.url())),
                "authorization_servers": lie("authorization_servers", json!([self.issuer()])),
                "scopes_supported": ["tools"],
            })),
            (&Method::GET, "/.well-known/oauth-authorization-server/tenant") => say(&json!({
                "issuer": lie("issuer", json!(self.issuer())),
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": lie("token_endpoint", json!(format!("{base}/token"))),
                "registration_endpoint": lie("registration_endpoint", json!(format!("{base}/register"))),
                "revocation_endpoint": format!("{base}/revoke"),
                "code_challenge_methods_supported": lie("methods", json!(["S256"])),
                "authorization_response_iss_parameter_supported": true,
            })),
            (&Method::POST, "/register") => self.register(&body),
            (&Method::GET, "/authorize") => self.authorize(&head.uri),
            (&Method::POST, "/token") => self.token(&head.headers, &form(&body)),
            (&Method::POST, "/revoke") => {
                let token = form(&body).remove("token").unwrap_or_default();
                let mut state = self.state();
                state.refresh.remove(&token);
                state.access.remove(&token);
                state.revoked.push(token);
                say(&json!({}))
            }
            _ => status(StatusCode::NOT_FOUND),
        }
    }

    async fn protected(&self, mut head: http::request::Parts, body: Bytes) -> Response<Body> {
        let shown = head.headers.remove(AUTHORIZATION);
        let shown = shown.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let good = {
            let mut state = self.state();
            state.shown.push(shown.clone());
            shown.strip_prefix("Bearer ").is_some_and(|token| !state.deaf && state.access.contains(token))
        };
        if !good {
            let mut refused = status(StatusCode::UNAUTHORIZED);
            let place = format!("http://{}/.well-known/oauth-protected-resource/mcp", self.address);
            let challenge = format!("Bearer resource_metadata=\"{place}\", scope=\"tools\"");
            refused.headers_mut().insert(WWW_AUTHENTICATE, challenge.parse().expect("a header"));
            return refused;
        }
        head.uri = self.fixture.url().parse().expect("an address");
        head.headers.remove(HOST);
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        client
            .request(Request::from_parts(head, Full::new(body)))
            .await
            .expect("the fixture answers")
            .map(BodyExt::boxed)
    }

    fn register(&self, body: &[u8]) -> Response<Body> {
        let wanted: Value = serde_json::from_slice(body).expect("JSON");
        let redirects: Vec<String> = serde_json::from_value(wanted["redirect_uris"].clone()).expect("redirects");
        assert!(redirects.iter().all(|redirect| redirect.starts_with("http://127.0.0.1:")), "{redirects:?}");
        let mut state = self.state();
        let id = format!("client-{}", state.next());
        state.clients.insert(id.clone(), redirects);
        say(&json!({ "client_id": id, "token_endpoint_auth_method": "none" }))
    }

    fn authorize(&self, uri: &Uri) -> Response<Body> {
        let fields = form(uri.query().unwrap_or_default().as_bytes());
        let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
        let mut state = self.state();
        let redirects = state.clients.get(field("client_id")).cloned().unwrap_or_default();
        let redirect = field("redirect_uri").to_owned();
        let right = field("response_type") == "code"
            && redirects.contains(&redirect)
            && field("code_challenge_method") == "S256"
            && field("code_challenge").len() == 43
            && field("state").len() >= 32
            && field("scope") == "tools"
            && field("resource") == self.url();
        if !right {
            return status(StatusCode::BAD_REQUEST);
        }
        let code = format!("code-{}", state.next());
        let kept = (field("client_id").to_owned(), redirect.clone(), field("code_challenge").to_owned());
        state.codes.insert(code.clone(), kept);
        let issuer = state.lies.get("iss").and_then(Value::as_str).map_or_else(|| self.issuer(), str::to_owned);
        let mut response = status(StatusCode::FOUND);
        let place = format!("{redirect}?code={code}&state={}&iss={}", field("state"), issuer.replace(':', "%3A"));
        response.headers_mut().insert(LOCATION, place.parse().expect("a header"));
        response
    }

    fn token(&self, headers: &HeaderMap, fields: &BTreeMap<String, String>) -> Response<Body> {
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let grant = field("grant_type");
        let mut state = self.state();
        state.grants.push(grant.clone());
        let refuse = |error: &str| {
            let mut refused = say(&json!({ "error": error, "error_description": "no" }));
            *refused.status_mut() = StatusCode::BAD_REQUEST;
            refused
        };
        if field("resource") != self.url() {
            return refuse("invalid_target");
        }
        let client = match grant.as_str() {
            "authorization_code" => {
                let Some((client, redirect, challenge)) = state.codes.remove(&field("code")) else {
                    return refuse("invalid_grant");
                };
                let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier").as_bytes()));
                if (field("client_id"), field("redirect_uri"), proof) != (client.clone(), redirect, challenge) {
                    return refuse("invalid_grant");
                }
                client
            }
            "refresh_token" => match state.refresh.remove(&field("refresh_token")) {
                Some(client) if client == field("client_id") => client,
                _ => return refuse("invalid_grant"),
            },
            "client_credentials" => {
                let encoded = |text: &str| text.replace('/', "%2F").replace(':', "%3A");
                let wanted = format!("Basic {}", STANDARD.encode(format!("{}:{}", KNOWN.0, encoded(KNOWN.1))));
                if headers.get(AUTHORIZATION).is_none_or(|shown| shown.as_bytes() != wanted.as_bytes()) {
                    return refuse("invalid_client");
                }
                KNOWN.0.to_owned()
            }
            _ => return refuse("unsupported_grant_type"),
        };
        let (access, refresh) = (format!("access-{}", state.next()), format!("refresh-{}", state.next()));
        state.access.insert(access.clone());
        let mut answer = json!({ "access_token": access, "token_type": "Bearer", "scope": "tools" });
        if let Some(lasts) = state.lasts {
            answer["expires_in"] = json!(lasts);
        }
        if grant != "client_credentials" {
            state.refresh.insert(refresh.clone(), client);
            answer["refresh_token"] = json!(refresh);
        }
        say(&answer)
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}

/// What a person's browser does: asks for the page, is sent on, and asks for that. Where it was sent, and how that went.
pub(crate) async fn browse(url: &str) -> (String, StatusCode) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let first = client.get(url.parse().expect("an address")).await.expect("an answer");
    assert_eq!(first.status(), StatusCode::FOUND, "the authorization server takes the login: {url}");
    let place = first.headers()[LOCATION].to_str().expect("text").to_owned();
    let second = client.get(place.parse().expect("an address")).await.expect("an answer");
    (place, second.status())
}

fn form(body: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(body).into_owned();
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            match byte {
                b'%' => {
                    let digits = [rest.next().expect("a digit"), rest.next().expect("a digit")];
                    let digits = std::str::from_utf8(&digits).expect("text").to_owned();
                    bytes.push(u8::from_str_radix(&digits, 16).expect("a number"));
                }
                other => bytes.push(other),
            }
        }
        String::from_utf8(bytes).expect("text")
    };
    text.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (decode(name), decode(value))).collect()
}

fn say(value: &Value) -> Response<Body> {
    let body = Full::new(Bytes::from(value.to_string())).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, "application/json".parse().expect("a header"));
    response
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = say(&Value::Null);
    *response.status_mut() = status;
    response
}
