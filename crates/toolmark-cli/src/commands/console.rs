//! `toolmark console`: an address that opens the console of a running gateway, for a while. It is a token of an approver in the store that
//! both share; it can be taken back like any other.

mod probe;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use clap::Args;
use secrecy::ExposeSecret as _;
use serde_json::json;
use toolmark_config::Config;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_store::{Micros, NewToken, Store, Token, TokenSecret};

use self::probe::Known;
use super::token::span;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{Place, close};
use crate::workspace::Written;
use crate::{output, who};

/// How long a key is good that is only shown to ask whether it is known.
const A_MOMENT: Duration = Duration::from_secs(10);

/// What such tokens are called.
const NAMED: &str = "console:";

#[derive(Debug, Args)]
pub(crate) struct OpenConsole {
    /// Open it in the browser of this machine instead of printing the address
    #[arg(long, conflicts_with_all = ["url", "json"])]
    pub(crate) open: bool,

    /// Print nothing but the address
    #[arg(long)]
    pub(crate) url: bool,

    /// Where the gateway is [default: as configured, or http://127.0.0.1:7319]
    #[arg(long, value_name = "URL")]
    pub(crate) at: Option<String>,

    /// How long the address is good
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = span)]
    pub(crate) expires: Duration,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A console that cannot be opened.
#[derive(Debug, thiserror::Error)]
enum ConsoleError {
    #[error("a store in memory is another for every process, so the gateway would not know the address")]
    Volatile,
    #[error("the console is switched off: `enabled = false` in `[console]`")]
    Off,
    #[error("`{0}` is no address of a gateway")]
    Address(String),
    #[error("no browser could be started: {0}")]
    Browser(String),
    #[error("the gateway at {0} has another store than this one, so it would not know the key")]
    Stranger(String),
}

pub(crate) fn run(arguments: &OpenConsole) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(make(arguments))
}

async fn make(arguments: &OpenConsole) -> Result<Exit, Failure> {
    let written = Written::find(arguments.place.config.as_deref())?;
    if !written.config.console.enabled {
        return Err(Failure::refused(Exit::BadInput, &ConsoleError::Off));
    }
    let base = match &arguments.at {
        Some(url) => given(url)?,
        None => base(&written.config, written.config.gateway.listen),
    };
    let store = arguments.place.open(&written, &ConsoleError::Volatile).await?;
    tidy(&store, Micros::from(SystemTime::now())).await?;
    match knows_the_store(&base, &store).await? {
        Known::Yes | Known::Unclear => {}
        Known::Nobody => output::warn(&format!(
            "no gateway answers at {base}: `toolmark up` starts one, and `--at` says where another one is"
        )),
        // It would open nothing, here or elsewhere.
        Known::No => {
            close(&store).await;
            return Err(Failure::refused(Exit::BadInput, &ConsoleError::Stranger(visible(&base, 200))));
        }
    }
    let (token, secret) = create(&store, arguments.expires).await?;
    close(&store).await;
    let shown = secret.reveal();
    let address = address(&base, shown.expose_secret());
    let until = token.expires.map(|end| end.to_string()).unwrap_or_default();
    if arguments.json {
        output::json(&json!({"url": address, "name": token.name, "id": token.id.as_str(), "expires": until}))?;
    } else if arguments.open {
        open(&address).map_err(|why| Failure::refused(Exit::Failed, &ConsoleError::Browser(why)))?;
        output::note(&format!("opened {base}/ as `{}`, good until {until}", output::safe(&token.name)));
    } else {
        if !arguments.url {
            output::note(&format!(
                "whoever has this address may look and decide, as `{}`, until {until}",
                output::safe(&token.name)
            ));
        }
        output::line(address)?;
    }
    Ok(Exit::Success)
}

/// A token that opens the console for so long.
async fn create(store: &Store, expires: Duration) -> Result<(Token, TokenSecret), Failure> {
    let secret = TokenSecret::random().map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let now = Micros::from(SystemTime::now());
    let new = NewToken {
        name: format!("{NAMED}{}:{:x}", who::name(None), now.get()),
        expires: Some(now.after(expires)),
        approver: true,
        ..NewToken::default()
    };
    let token = store.create_token(&new, &secret).await.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    Ok((token, secret))
}

/// Whether the gateway there has this store. It is shown a key that is worth nothing afterwards: anybody may listen at that address.
async fn knows_the_store(base: &str, store: &Store) -> Result<Known, Failure> {
    let (token, secret) = create(store, A_MOMENT).await?;
    let known = probe::knows(base, secret.reveal().expose_secret()).await;
    store.revoke_token(&token.id).await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    Ok(known)
}

/// Where a browser finds the console.
pub(crate) fn base(config: &Config, listen: SocketAddr) -> String {
    if let Some(url) = &config.gateway.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    near(listen)
}

/// An address that a program on this machine can open. Nobody can open one that stands for all of them.
pub(crate) fn near(listen: SocketAddr) -> String {
    let host = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(host, listen.port()))
}

/// The address with what opens it. What stands after `#` is sent to nobody.
pub(crate) fn address(base: &str, key: &str) -> String {
    format!("{base}/#key={key}")
}

fn given(url: &str) -> Result<String, Failure> {
    let wrong = || Failure::refused(Exit::BadInput, &ConsoleError::Address(visible(url, 200)));
    let url = url.strip_suffix("/mcp").unwrap_or(url).trim_end_matches('/');
    let parsed: http::Uri = url.parse().map_err(|_| wrong())?;
    let web = matches!(parsed.scheme_str(), Some("http" | "https"));
    let plain = matches!(parsed.path(), "" | "/") && parsed.query().is_none();
    if web && plain && parsed.authority().is_some() { Ok(url.to_owned()) } else { Err(wrong()) }
}

/// Takes back addresses whose time is over, so that lists of tokens stay short.
async fn tidy(store: &Store, now: Micros) -> Result<(), Failure> {
    let failed = |error| Failure::refused(Exit::Failed, &error);
    for row in store.tokens().await.map_err(failed)? {
        let token = row.token;
        let over = token.expires.is_some_and(|end| end <= now);
        if token.approver && token.revoked.is_none() && over && token.name.starts_with(NAMED) {
            store.revoke_token(&token.id).await.map_err(failed)?;
        }
    }
    Ok(())
}

fn open(address: &str) -> Result<(), String> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started =
        Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match started {
        // The one of Windows says 1 whatever happens.
        Ok(status) if status.success() || cfg!(windows) => Ok(()),
        Ok(status) => Err(format!("`{program}` ended with {status}")),
        Err(error) => Err(format!("`{program}`: {error}")),
    }
}

impl Explain for ConsoleError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("token-store-volatile"),
            Self::Off | Self::Address(_) | Self::Browser(_) | Self::Stranger(_) => Code::new("console-address"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "an address that the gateway does not know opens nothing".into(),
            Self::Off => "nothing is served at the address".into(),
            Self::Address(_) => "what opens the console must go to the gateway and nobody else".into(),
            Self::Stranger(_) => "an address that the gateway does not know opens nothing".into(),
            Self::Browser(_) => "the address holds a key, so it is not printed where it was to be opened".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile => "give gateway and command the same `--store`, a file or a database".into(),
            Self::Off => "set `enabled = true` in `[console]` and start the gateway again".into(),
            Self::Address(_) => "write it as `http://127.0.0.1:7319`".into(),
            Self::Stranger(_) => {
                "run this in the folder in which that gateway was started, or give both the same `--config` or `--store`".into()
            }
            Self::Browser(_) => "leave out `--open`, and open the address that is printed".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_can_be_opened_and_sends_its_key_to_nobody() {
        let base = |config: &str, listen: &str| base(&Config::read(config, "x").unwrap(), listen.parse().unwrap());
        assert_eq!(base("", "127.0.0.1:7319"), "http://127.0.0.1:7319");
        assert_eq!(base("", "0.0.0.0:80"), "http://127.0.0.1:80");
        assert_eq!(base("", "[::1]:7319"), "http://[::1]:7319");
        let public = "[gateway]\npublic_url = \"https://tools.example.com/\"\n";
        assert_eq!(base(public, "0.0.0.0:80"), "https://tools.example.com");
        assert_eq!(address("http://h", "k"), "http://h/#key=k");
    }

    #[test]
    fn only_addresses_of_a_gateway_are_taken() {
        for (given_url, taken) in [
            ("http://127.0.0.1:1", "http://127.0.0.1:1"),
            ("http://127.0.0.1:1/mcp", "http://127.0.0.1:1"),
            ("https://h/", "https://h"),
        ] {
            assert_eq!(given(given_url).ok().as_deref(), Some(taken));
        }
        for wrong in ["ftp://h", "127.0.0.1:7319", "http://h/x", "http://h/?a=b", "javascript:alert(1)", ""] {
            assert!(given(wrong).is_err(), "{wrong}");
        }
    }
}
