//! Tokens for servers that ask for one, against a real authorization server that enforces what it should.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolmark_core::explain::Explain as _;
use toolmark_mcp::upstream::oauth::{Grant, Login, Logout, OAuth, OAuthError, OAuthSettings, Revoked, Vault};
use toolmark_mcp::upstream::{
    ConnectError, ConnectOptions, EventSender, Reply, Target, Upstream, UpstreamError, UpstreamErrorKind,
    UpstreamRequest,
};
use toolmark_mcp::wire::{Limits, RawObject};
use toolmark_testkit::tls::{Authority, Door, Ends, Valid};
use toolmark_tls::Trust;

use server::{KNOWN, Servers, browse};

/// A person's machine: a folder, and the servers that it reaches.
struct Machine {
    servers: Servers,
    folder: TempDir,
}

impl Machine {
    async fn new() -> Self {
        Self { servers: Servers::start().await, folder: TempDir::new().expect("a folder") }
    }

    fn vault(&self) -> Vault {
        Vault::beside(&self.folder.path().join("store.db"))
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("store.db.oauth").join("tracker.json")
    }

    fn record(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.file()).expect("a file")).expect("JSON")
    }

    /// Changes what is kept, as time would.
    fn rewrite(&self, change: impl FnOnce(&mut Value)) {
        let mut record = self.record();
        change(&mut record);
        std::fs::write(self.file(), record.to_string()).expect("written");
    }

    fn settings(&self) -> OAuthSettings {
        OAuthSettings {
            pack: "tracker".to_owned(),
            server: self.servers.url().parse().expect("an address"),
            trust: Trust::machine(),
            grant: Grant::AuthorizationCode,
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
            issuer: None,
            token_url: None,
            redirect_port: None,
        }
    }

    fn robot(&self) -> OAuthSettings {
        OAuthSettings {
            grant: Grant::ClientCredentials,
            client_id: Some(KNOWN.0.to_owned()),
            client_secret: Some(KNOWN.1.to_owned().into()),
            ..self.settings()
        }
    }

    async fn login(&self) -> Result<String, OAuthError> {
        let login = Login::begin(self.settings(), self.vault()).await?;
        let url = login.url().to_owned();
        let (kept, _) = tokio::join!(login.finish(), browse(&url));
        kept
    }

    /// Logs out; whatever is said of it, the token is gone from here.
    async fn logout(&self, trust: &Trust) -> Result<Revoked, OAuthError> {
        let ended = Logout::begin(&self.vault(), "tracker").expect("forgotten").expect("a login");
        assert!(!self.file().exists());
        ended.revoke(trust).await
    }

    async fn connect(&self, settings: OAuthSettings) -> Result<Upstream, ConnectError> {
        let target = Target::Http { url: settings.server.clone(), headers: http::HeaderMap::new() };
        let credentials = OAuth::new(settings, Some(self.vault())).expect("credentials");
        let options = ConnectOptions { credentials: Some(Arc::new(credentials)), ..ConnectOptions::default() };
        Upstream::connect(target, options, EventSender::channel(8).0).await
    }
}

async fn echo(upstream: &Upstream) -> Result<String, UpstreamError> {
    let params = Bytes::from_static(br#"{"name":"echo","arguments":{"text":"hello"}}"#);
    let params = RawObject::read(params, Limits::default()).expect("an object");
    match upstream.request(UpstreamRequest { name: Some("echo"), ..UpstreamRequest::new("tools/call", params) }).await?
    {
        Reply::Result(result) => Ok(String::from_utf8_lossy(result.raw()).into_owned()),
        Reply::Error(error) => panic!("{error:?}"),
    }
}

fn refusal(connected: Result<Upstream, ConnectError>) -> (String, bool) {
    match connected {
        Err(ConnectError::Request(error)) => match error.kind() {
            UpstreamErrorKind::Credentials(missing) => (missing.to_string(), missing.needs_login),
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn after_a_login_the_server_is_reached_and_the_token_is_for_its_owner_only() {
    let machine = Machine::new().await;
    assert_eq!(refusal(machine.connect(machine.settings()).await), ("needs `toolmark login tracker`".into(), true));
    let kept = machine.login().await.expect("a login");
    assert_eq!(Path::new(&kept), machine.file());
    let upstream = machine.connect(machine.settings()).await.expect("it is let in");
    assert!(echo(&upstream).await.expect("a result").contains("hello"));
    assert_eq!(machine.servers.granted("authorization_code"), 1);
    assert_eq!(machine.servers.granted("refresh_token"), 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&machine.file()), 0o600);
        assert_eq!(mode(machine.file().parent().expect("a folder")), 0o700);
        std::fs::set_permissions(machine.file(), std::fs::Permissions::from_mode(0o644)).expect("changed");
        let (said, needs_login) = refusal(machine.connect(machine.settings()).await);
        assert!(said.contains("others can read it (mode 644)") && !needs_login, "{said}");
        machine.login().await.expect("a login");
        assert_eq!(mode(&machine.file()), 0o600);
    }
}

#[tokio::test]
async fn only_the_answer_to_this_login_ends_it() {
    let machine = Machine::new().await;
    let login = Login::begin(machine.settings(), machine.vault()).await.expect("it begins");
    let url = login.url().to_owned();
    let redirect = url.split("redirect_uri=").nth(1).and_then(|rest| rest.split('&').next()).expect("a redirect");
    let redirect = redirect.replace("%3A", ":").replace("%2F", "/");
    let state = url.split("state=").nth(1).and_then(|rest| rest.split('&').next()).expect("a state");
    let visit = async |query: &str| {
        let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
            .build_http::<http_body_util::Full<Bytes>>();
        client.get(format!("{redirect}{query}").parse().expect("an address")).await.expect("an answer").status()
    };
    let meanwhile = async {
        assert_eq!(visit("?code=stolen&state=guessed").await, StatusCode::BAD_REQUEST);
        assert_eq!(visit("?code=stolen").await, StatusCode::BAD_REQUEST);
        assert_eq!(visit("?error=access_denied").await, StatusCode::BAD_REQUEST);
        assert_eq!(visit(&format!("?code=stolen&state={state}&state=other")).await, StatusCode::BAD_REQUEST);
        assert_eq!(visit("/more").await, StatusCode::NOT_FOUND);
        browse(&url).await.1
    };
    let (kept, last) = tokio::join!(login.finish(), meanwhile);
    kept.expect("the right answer counts");
    assert_eq!(last, StatusCode::OK);
}

#[tokio::test]
async fn a_login_that_was_refused_or_comes_from_elsewhere_brings_nothing() {
    let machine = Machine::new().await;
    machine.servers.state().lies.insert("iss", json!("https://evil.example"));
    let error = machine.login().await.expect_err("another issuer");
    assert_eq!(error.code().as_str(), "oauth-login-lost", "{error}");
    assert_eq!(machine.servers.granted("authorization_code"), 0, "the code is not shown to anybody");

    let login = Login::begin(machine.settings(), machine.vault()).await.expect("it begins");
    let state = login.url().split("state=").nth(1).and_then(|rest| rest.split('&').next()).expect("a state").to_owned();
    let redirect = machine.servers.state().clients.values().last().expect("a client")[0].clone();
    let issuer = machine.servers.issuer();
    let visit = async {
        let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
            .build_http::<http_body_util::Full<Bytes>>();
        let place = format!("{redirect}?error=access_denied&state={state}&iss={issuer}");
        client.get(place.parse().expect("an address")).await.expect("an answer").status()
    };
    let (finished, _) = tokio::join!(login.finish(), visit);
    assert!(matches!(finished, Err(OAuthError::Refused { error, .. }) if error == "access_denied"));
    assert!(!machine.file().exists());
}

#[tokio::test]
async fn a_code_is_worth_nothing_to_whoever_did_not_begin_the_login() {
    let machine = Machine::new().await;
    let one = Login::begin(machine.settings(), machine.vault()).await.expect("it begins");
    let other = Login::begin(machine.settings(), machine.vault()).await.expect("it begins");
    // The code of one login, brought to the other with the other's state: the proof of the other does not fit.
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build_http::<http_body_util::Full<Bytes>>();
    let first = client.get(one.url().parse().expect("an address")).await.expect("an answer");
    let place = first.headers()["location"].to_str().expect("text").to_owned();
    let code = place.split("code=").nth(1).and_then(|rest| rest.split('&').next()).expect("a code").to_owned();
    let url = other.url().to_owned();
    let field = |name: &str| {
        let value = url.split(&format!("{name}=")).nth(1).and_then(|rest| rest.split('&').next()).expect("a field");
        value.replace("%3A", ":").replace("%2F", "/")
    };
    let forged =
        format!("{}?code={code}&state={}&iss={}", field("redirect_uri"), field("state"), machine.servers.issuer());
    let visit = async { client.get(forged.parse().expect("an address")).await.expect("an answer").status() };
    let (finished, _) = tokio::join!(other.finish(), visit);
    assert!(matches!(finished, Err(OAuthError::Refused { error, .. }) if error == "invalid_grant"));
}

#[tokio::test]
async fn a_token_is_renewed_before_its_end_and_what_is_new_is_kept() {
    let machine = Machine::new().await;
    machine.login().await.expect("a login");
    let before = machine.record();
    machine.rewrite(|record| record["token"]["expires"] = json!(1));
    let upstream = machine.connect(machine.settings()).await.expect("it is let in");
    echo(&upstream).await.expect("a result");
    assert_eq!(machine.servers.granted("refresh_token"), 1);
    let after = machine.record();
    assert_ne!(before["token"]["access"], after["token"]["access"]);
    assert_ne!(before["token"]["refresh"], after["token"]["refresh"]);
    // Another process finds the new one.
    let other = machine.connect(machine.settings()).await.expect("it is let in");
    echo(&other).await.expect("a result");
    assert_eq!(machine.servers.granted("refresh_token"), 1);
}

#[tokio::test]
async fn a_token_that_is_refused_is_renewed_once_for_all_who_wait() {
    let machine = Machine::new().await;
    machine.login().await.expect("a login");
    let upstream = machine.connect(machine.settings()).await.expect("it is let in");
    machine.servers.state().access.clear();
    let calls = futures_util::future::join_all((0..20).map(|_| echo(&upstream))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(machine.servers.granted("refresh_token"), 1);
}

#[tokio::test]
async fn a_login_that_is_not_good_any_more_asks_for_another_and_the_next_one_counts() {
    let machine = Machine::new().await;
    machine.login().await.expect("a login");
    let upstream = machine.connect(machine.settings()).await.expect("it is let in");
    {
        let mut state = machine.servers.state();
        state.access.clear();
        state.refresh.clear();
    }
    let error = echo(&upstream).await.expect_err("nothing is left");
    assert_eq!(error.to_string(), "needs `toolmark login tracker`");
    assert_eq!(error.code().as_str(), "upstream-credentials");
    machine.login().await.expect("a login");
    echo(&upstream).await.expect("the same connection goes on");
}

#[tokio::test]
async fn without_a_refresh_token_a_login_lasts_as_long_as_its_token() {
    let machine = Machine::new().await;
    machine.login().await.expect("a login");
    machine.rewrite(|record| record["token"]["refresh"] = Value::Null);
    echo(&machine.connect(machine.settings()).await.expect("it is let in")).await.expect("a result");
    machine.rewrite(|record| record["token"]["expires"] = json!(1));
    assert!(refusal(machine.connect(machine.settings()).await).1);
}

#[tokio::test]
async fn a_token_is_shown_to_no_server_but_the_one_it_was_got_for() {
    let (machine, other) = (Machine::new().await, Servers::start().await);
    machine.login().await.expect("a login");
    let moved = OAuthSettings { server: other.url().parse().expect("an address"), ..machine.settings() };
    assert!(refusal(machine.connect(moved).await).1);
    assert!(other.state().shown.iter().all(String::is_empty));
}

#[tokio::test]
async fn a_client_with_its_own_credentials_needs_no_login() {
    let machine = Machine::new().await;
    let upstream = machine.connect(machine.robot()).await.expect("it is let in");
    let calls = futures_util::future::join_all((0..20).map(|_| echo(&upstream))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(machine.servers.granted("client_credentials"), 1);
    machine.servers.state().access.clear();
    let calls = futures_util::future::join_all((0..20).map(|_| echo(&upstream))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(machine.servers.granted("client_credentials"), 2);
    assert!(!machine.file().exists(), "nothing of it is kept");

    let named =
        OAuthSettings { token_url: Some(format!("http://{}/token", machine.servers.address)), ..machine.robot() };
    echo(&machine.connect(named).await.expect("it is let in")).await.expect("a result");
    let wrong = OAuthSettings { client_secret: Some("guessed".to_owned().into()), ..machine.robot() };
    let (said, needs_login) = refusal(machine.connect(wrong).await);
    assert_eq!((said.as_str(), needs_login), ("the authorization server refuses: invalid_client (no)", false));
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_not_brought_new_ones_for_ever() {
    let machine = Machine::new().await;
    let upstream = machine.connect(machine.robot()).await.expect("it is let in");
    machine.servers.state().deaf = true;
    for _ in 0..20 {
        let error = echo(&upstream).await.expect_err("it is refused");
        assert!(matches!(error.kind(), UpstreamErrorKind::Status { status: 401, .. }), "{error}");
    }
    assert_eq!(machine.servers.granted("client_credentials"), 1 + 5);
}

#[tokio::test]
async fn tokens_that_end_soon_are_renewed_in_time() {
    let machine = Machine::new().await;
    machine.servers.state().lasts = Some(0);
    let upstream = machine.connect(machine.robot()).await.expect("it is let in");
    let before = machine.servers.granted("client_credentials");
    echo(&upstream).await.expect("a result");
    assert!(machine.servers.granted("client_credentials") > before, "one that is over is not shown");
    machine.servers.state().lasts = None;
    echo(&upstream).await.expect("a result");
    let before = machine.servers.granted("client_credentials");
    echo(&upstream).await.expect("a result");
    assert_eq!(machine.servers.granted("client_credentials"), before, "one without an end is kept");
}

#[tokio::test]
async fn metadata_that_speaks_for_somebody_else_is_not_believed() {
    for (what, lie, code) in [
        ("resource", json!("https://other.example/mcp"), "oauth-discovery"),
        ("issuer", json!("https://evil.example"), "oauth-discovery"),
        ("methods", json!(["plain"]), "oauth-discovery"),
        ("methods", Value::Null, "oauth-discovery"),
        ("token_endpoint", json!("http://evil.example/token"), "oauth-address-untrusted"),
        ("authorization_servers", json!(["http://evil.example"]), "oauth-address-untrusted"),
        ("registration_endpoint", Value::Null, "oauth-registration"),
    ] {
        let machine = Machine::new().await;
        machine.servers.state().lies.insert(what, lie.clone());
        let error = Login::begin(machine.settings(), machine.vault()).await.expect_err(what);
        assert_eq!(error.code().as_str(), code, "{what} {lie}: {error}");
    }
    let machine = Machine::new().await;
    let plain =
        OAuthSettings { server: "http://mcp.example.com/mcp".parse().expect("an address"), ..machine.settings() };
    let error = OAuth::new(plain, None).expect_err("a token would be read on its way");
    assert_eq!(error.code().as_str(), "oauth-address-untrusted");
}

#[tokio::test]
async fn a_client_that_is_configured_does_not_register() {
    let machine = Machine::new().await;
    let port = {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        free.local_addr().expect("an address").port()
    };
    let redirect = format!("http://127.0.0.1:{port}/callback");
    machine.servers.state().clients.insert("desk".into(), vec![redirect]);
    let settings =
        OAuthSettings { client_id: Some("desk".to_owned()), redirect_port: Some(port), ..machine.settings() };
    let login = Login::begin(settings, machine.vault()).await.expect("it begins");
    let url = login.url().to_owned();
    let (kept, _) = tokio::join!(login.finish(), browse(&url));
    kept.expect("a login");
    assert_eq!(machine.servers.state().clients.len(), 1);
}

#[tokio::test]
async fn whoever_logs_out_is_forgotten_here_and_there() {
    let machine = Machine::new().await;
    assert!(Logout::begin(&machine.vault(), "tracker").expect("nothing to forget").is_none());
    machine.login().await.expect("a login");
    let refresh = machine.record()["token"]["refresh"].as_str().expect("a token").to_owned();
    assert_eq!(machine.logout(&Trust::machine()).await, Ok(Revoked::Taken));
    assert!(!machine.file().exists());
    assert_eq!(machine.servers.state().revoked, [refresh]);
    assert!(refusal(machine.connect(machine.settings()).await).1);
}

#[tokio::test]
async fn whoever_logs_out_is_told_when_the_authorization_server_was_not() {
    let machine = Machine::new().await;
    let trust = Trust::machine();
    // Where nobody listens: a port that was free a moment ago.
    let free =
        tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port").local_addr().expect("its address");
    for (place, says) in [
        (json!(format!("http://{free}/revoke")), "gives no usable answer"),
        (json!(format!("http://{}/nowhere", machine.servers.address)), "it answers with status 404"),
        (json!("no address at all"), "names no address"),
    ] {
        machine.login().await.expect("a login");
        machine.rewrite(|record| record["revocation_endpoint"] = place);
        let error = machine.logout(&trust).await.expect_err("nobody took it");
        assert_eq!(error.code().as_str(), "oauth-not-revoked");
        assert!(
            error.to_string().contains("the token of `tracker` is forgotten here") && error.to_string().contains(says),
            "{error}"
        );
    }
    machine.login().await.expect("a login");
    machine.rewrite(|record| record["revocation_endpoint"] = Value::Null);
    assert_eq!(machine.logout(&trust).await, Ok(Revoked::Nowhere));
    machine.login().await.expect("a login");
    machine.rewrite(|record| *record = json!({ "version": 1 }));
    let error = machine.logout(&trust).await.expect_err("nobody knows what to give back");
    assert_eq!(error.code().as_str(), "oauth-not-revoked");
    assert!(machine.servers.state().revoked.is_empty());
}

#[tokio::test]
async fn the_authorities_of_a_pack_are_believed_of_its_authorization_server_too() {
    let (machine, authority) = (Machine::new().await, Authority::new());
    let door = Door::open(machine.servers.address, authority.server("127.0.0.1", Valid::Now), Ends::Well).await;
    let file = machine.folder.path().join("ca.pem");
    authority.write(&file);
    let own = Trust::read(&file).expect("certificates");
    machine.login().await.expect("a login");
    let refresh = machine.record()["token"]["refresh"].as_str().expect("a token").to_owned();
    let elsewhere = json!(format!("https://{}/revoke", door.address()));
    let kept = machine.record();
    machine.rewrite(|record| record["revocation_endpoint"] = elsewhere.clone());
    let error = machine.logout(&Trust::machine()).await.expect_err("nobody here believes it");
    assert!(error.to_string().contains("certificate is not accepted"), "{error}");
    assert!(machine.servers.state().revoked.is_empty());
    std::fs::write(machine.file(), kept.to_string()).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(machine.file(), mode).expect("for its owner only");
    machine.rewrite(|record| record["revocation_endpoint"] = elsewhere);
    assert_eq!(machine.logout(&own).await, Ok(Revoked::Taken));
    assert_eq!(machine.servers.state().revoked, [refresh]);

    // Tokens are got from it in the same way.
    let token_url = Some(format!("https://{}/token", door.address()));
    let robot = OAuthSettings { token_url, ..machine.robot() };
    let (refused, _) = refusal(machine.connect(robot.clone()).await);
    assert!(refused.contains("certificate is not accepted"), "{refused}");
    // The server itself is called without TLS here, so whoever a file names is no matter of its own.
    let robot = OAuthSettings { trust: own, ..robot };
    machine.connect(robot).await.expect("it is let in");
}

#[tokio::test]
async fn nothing_that_is_printed_holds_a_secret() {
    let machine = Machine::new().await;
    machine.login().await.expect("a login");
    let settings = machine.robot();
    let credentials = OAuth::new(settings.clone(), Some(machine.vault())).expect("credentials");
    let login = Login::begin(machine.settings(), machine.vault()).await.expect("it begins");
    let printed = format!("{settings:?} {credentials:?} {login:?} {:?}", machine.vault());
    for secret in [KNOWN.1, machine.record()["token"]["access"].as_str().expect("a token")] {
        assert!(!printed.contains(secret), "{printed}");
    }
}
