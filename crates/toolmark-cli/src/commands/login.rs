//! `toolmark login` and `toolmark logout`: a person gets the token that the server of a pack asks for, or gives it back.

use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};
use toolmark_config::values::Grant;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_gateway::credentials;
use toolmark_mcp::upstream::oauth::{Login, Logout, OAuthError, OAuthSettings, Revoked, Vault};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place;
use crate::place::Place;
use crate::workspace::Written;

/// How long a person may take in the browser.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Args)]
pub(crate) struct LoginArguments {
    /// The pack whose server to log in to
    pub(crate) pack: String,

    /// Only print the address; do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,

    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArguments {
    /// The pack whose login to forget
    pub(crate) pack: String,

    #[command(flatten)]
    pub(crate) place: Place,
}

/// A pack that nobody logs in to.
#[derive(Debug, thiserror::Error)]
enum NoLogin {
    #[error("there is no pack `{0}`")]
    Unknown(String),
    #[error("the pack `{0}` has no `auth.oauth`")]
    NotAsked(String),
    #[error("the pack `{0}` uses the client's own credentials")]
    OwnCredentials(String),
}

pub(crate) fn login(arguments: &LoginArguments) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let written = Written::find(arguments.place.config.as_deref())?;
        let settings = settings(&written, &arguments.pack)?;
        let vault = vault(&written, &arguments.place)?;
        let pack = settings.pack.clone();
        let begun = Login::begin(settings, vault).await.map_err(|error| refused(&error))?;
        output::line("Log in here:")?;
        output::line(format_args!("  {}", begun.url()))?;
        if !arguments.no_browser {
            browse(begun.url());
        }
        let late = || OAuthError::Redirect { why: "nobody finished it in time".into() };
        let finished = tokio::time::timeout(PATIENCE, begun.finish()).await;
        let kept = finished.map_err(|_| refused(&late()))?.map_err(|error| refused(&error))?;
        output::line(format_args!("logged in to `{pack}`; the token is in {kept}, for you only"))?;
        Ok(Exit::Success)
    })
}

pub(crate) fn forget(arguments: &LogoutArguments) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let written = Written::find(arguments.place.config.as_deref())?;
        let pack = named(&written, &arguments.pack)?;
        let vault = vault(&written, &arguments.place)?;
        let Some(ended) = Logout::begin(&vault, pack.as_str()).map_err(|error| refused(&error))? else {
            output::line(format_args!("nobody was logged in to `{pack}`"))?;
            return Ok(Exit::Success);
        };
        // Whatever is wrong with the configuration, the token is gone from here by now.
        let section = written.config.packs.get(&pack);
        let trust = credentials::trust_of(&pack, section, written.directory());
        let trust = trust.map_err(|why| refused(&ended.not_revoked(&why)))?;
        match ended.revoke(&trust).await.map_err(|error| refused(&error))? {
            Revoked::Taken => output::line(format_args!("logged out of `{pack}`"))?,
            Revoked::Nowhere => output::line(format_args!(
                "logged out of `{pack}` here; its authorization server takes no tokens back, so this one stays good until it ends"
            ))?,
        }
        Ok(Exit::Success)
    })
}

fn refused(error: &OAuthError) -> Failure {
    let exit = if matches!(error, OAuthError::LoginNeeded { .. }) { Exit::BadInput } else { Exit::Failed };
    Failure::refused(exit, error)
}

/// The pack of that name.
fn named(written: &Written, pack: &str) -> Result<PackName, Failure> {
    let found = written.config.packs.iter().find(|(name, _)| name.as_str() == pack);
    let missing = || Failure::refused(Exit::NotFound, &NoLogin::Unknown(visible(pack, 80)));
    found.map(|(name, _)| name.clone()).ok_or_else(missing)
}

fn settings(written: &Written, pack: &str) -> Result<OAuthSettings, Failure> {
    let name = named(written, pack)?;
    let refuse = |error: NoLogin| Failure::refused(Exit::BadInput, &error);
    let not_asked = || refuse(NoLogin::NotAsked(name.to_string()));
    let section = written.config.packs.get(&name).ok_or_else(not_asked)?;
    let oauth = section.auth.as_ref().and_then(|auth| auth.oauth.as_ref()).ok_or_else(not_asked)?;
    if oauth.grant == Grant::ClientCredentials {
        return Err(refuse(NoLogin::OwnCredentials(name.to_string())));
    }
    let connection = section.expand(&name, &|variable: &str| std::env::var(variable).ok());
    let connection = connection.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let trust = credentials::trust(&connection, written.directory())
        .map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    credentials::oauth(&name, &connection, trust).ok().flatten().ok_or_else(not_asked)
}

fn vault(written: &Written, place: &Place) -> Result<Vault, Failure> {
    let none = || {
        let why = "a store in memory has no place beside it".to_owned();
        refused(&OAuthError::Vault { path: "sqlite::memory:".into(), why })
    };
    place::logins(written, &place.location(written)?)?.ok_or_else(none)
}

/// Opens the address where a browser is; whoever has none opens it by hand.
fn browse(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = std::process::Stdio::null;
    let started = std::process::Command::new(program).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if let Ok(mut child) = started {
        // Waited for, so that it leaves nothing behind.
        std::thread::spawn(move || child.wait());
    }
}

impl Explain for NoLogin {
    fn code(&self) -> Code {
        Code::new("oauth-not-configured")
    }

    fn why(&self) -> String {
        "a token that no call would show helps nobody".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Unknown(_) => "use the name of a pack in the configuration".into(),
            Self::NotAsked(pack) => format!("add `auth.oauth = {{}}` to `[packs.{pack}]`, which must have a `url`"),
            Self::OwnCredentials(_) => "start the gateway: it gets its token by itself".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let (Self::Unknown(pack) | Self::NotAsked(pack) | Self::OwnCredentials(pack)) = self;
        facts([("pack", json!(pack))])
    }
}
