//! `toolmark token`: who may come in to a gateway with `[gateway.auth] tokens = true`. A secret is shown once and kept by nobody.

use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value, json};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::exposure::ProfileName;
use toolmark_core::text::visible;
use toolmark_store::{Micros, NewToken, Scope, Token, TokenSecret};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place::Place;
use crate::place::close;
use crate::workspace::Written;

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print its secret, this once
    Create(TokenCreate),
    /// Show all tokens, without their secrets
    List(TokenList),
    /// Take a token back; a running gateway refuses it within a second
    Revoke(TokenRevoke),
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreate {
    /// What to call it
    pub(crate) name: String,

    /// A task it may be used for; may be repeated [default: all, and `/mcp` itself]
    #[arg(long = "task", value_name = "TASK")]
    pub(crate) tasks: Vec<String>,

    /// A client profile it may be used with; may be repeated [default: all]
    #[arg(long = "profile", value_name = "PROFILE")]
    pub(crate) profiles: Vec<String>,

    /// How long it is good, such as `12h` or `30d` [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) expires: Option<Duration>,

    /// Let its bearer decide about approvals over HTTP, and nothing else: it calls no tools
    #[arg(long, conflicts_with_all = ["tasks", "profiles"])]
    pub(crate) approver: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenList {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevoke {
    /// Its name, or its id
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A token that cannot be made or found.
#[derive(Debug, thiserror::Error)]
enum TokenError {
    #[error("a store in memory keeps no token")]
    Volatile,
    #[error("there is no {kind} `{name}`")]
    Unknown { kind: &'static str, name: String, known: Vec<String> },
    #[error("there is no token `{0}` that could be revoked")]
    NotFound(String),
}

impl TokenCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Create(arguments) => arguments.json,
            Self::List(arguments) => arguments.json,
            Self::Revoke(arguments) => arguments.json,
        }
    }
}

pub(crate) fn run(command: &TokenCommand) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            TokenCommand::Create(arguments) => create(arguments).await,
            TokenCommand::List(arguments) => list(arguments).await,
            TokenCommand::Revoke(arguments) => revoke(arguments).await,
        }
    })
}

async fn create(arguments: &TokenCreate) -> Result<Exit, Failure> {
    let written = Written::find(arguments.place.config.as_deref())?;
    check(&written, arguments)?;
    let store = arguments.place.open(&written, &TokenError::Volatile).await?;
    let secret = TokenSecret::random().map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let scope = |names: &[String]| if names.is_empty() { Scope::All } else { Scope::only(names) };
    let new = NewToken {
        name: arguments.name.clone(),
        tasks: scope(&arguments.tasks),
        profiles: scope(&arguments.profiles),
        expires: arguments.expires.map(|span| Micros::from(SystemTime::now()).after(span)),
        approver: arguments.approver,
    };
    let token = store.create_token(&new, &secret).await.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    close(&store).await;
    let shown = secret.reveal();
    let shown = shown.expose_secret();
    if arguments.json {
        let mut all = described(&token);
        all.insert("token".into(), json!(shown));
        output::json(&Value::Object(all))?;
    } else {
        output::note(&format!("`{}` is {}; this is the only time its secret is shown", token.name, good_for(&token)));
        output::line(shown)?;
    }
    // Whoever decides says who it is, whether callers have to or not.
    if !written.config.gateway.auth.tokens && !token.approver {
        output::warn("no token is asked for: set `tokens = true` in `[gateway.auth]`");
    }
    Ok(Exit::Success)
}

async fn list(arguments: &TokenList) -> Result<Exit, Failure> {
    let written = Written::find(arguments.place.config.as_deref())?;
    let store = arguments.place.existing(&written, &TokenError::Volatile).await?;
    let rows = store.tokens().await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    close(&store).await;
    if arguments.json {
        let all: Vec<Value> = rows.iter().map(|row| Value::Object(described(&row.token))).collect();
        output::json(&json!({ "tokens": all }))?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        output::line("no tokens")?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["name", "id", "state", "tasks", "profiles", "created", "last used", "expires"]);
    for row in &rows {
        let token = &row.token;
        let time = |time: Option<Micros>| time.map_or_else(|| "-".to_owned(), minute);
        table.add_row([
            output::safe(&token.name),
            token.id.to_string(),
            state(token).to_owned(),
            if token.approver { "decides only".to_owned() } else { names(&token.tasks) },
            if token.approver { "-".to_owned() } else { names(&token.profiles) },
            minute(token.created),
            time(token.last_used),
            time(token.expires),
        ]);
    }
    output::line(table.trim_fmt())?;
    Ok(Exit::Success)
}

async fn revoke(arguments: &TokenRevoke) -> Result<Exit, Failure> {
    let written = Written::find(arguments.place.config.as_deref())?;
    let store = arguments.place.existing(&written, &TokenError::Volatile).await?;
    let failed = |error| Failure::refused(Exit::Failed, &error);
    let rows = store.tokens().await.map_err(failed)?;
    // Names are unique among those that can be revoked.
    let wanted = |token: &&Token| {
        token.revoked.is_none() && (token.name == arguments.name || token.id.as_str() == arguments.name)
    };
    let missing = || Failure::refused(Exit::NotFound, &TokenError::NotFound(visible(&arguments.name, 80)));
    let token = rows.iter().map(|row| &row.token).find(wanted).ok_or_else(missing)?;
    // Somebody else may have been faster.
    if !store.revoke_token(&token.id).await.map_err(failed)? {
        return Err(missing());
    }
    close(&store).await;
    if arguments.json {
        output::json(&json!({ "id": token.id.as_str(), "name": token.name, "state": "revoked" }))?;
    } else {
        output::line(format_args!("`{}` is revoked", output::safe(&token.name)))?;
    }
    Ok(Exit::Success)
}

/// A token for something that does not exist lets nobody in, and nobody knows why.
fn check(written: &Written, arguments: &TokenCreate) -> Result<(), Failure> {
    if written.path.is_none() {
        return Ok(());
    }
    let mut tasks: Vec<String> = written.config.tasks.iter().map(|(name, _)| name.to_string()).collect();
    tasks.push("read-only".to_owned());
    let profiles: Vec<String> = written.config.profiles.iter().map(|(name, _)| name.to_string()).collect();
    let refuse = |kind, name: &str, known: &[String]| {
        let error = TokenError::Unknown { kind, name: visible(name, 80), known: known.to_vec() };
        Failure::refused(Exit::BadInput, &error)
    };
    if let Some(name) = arguments.tasks.iter().find(|name| !tasks.contains(name)) {
        return Err(refuse("task", name, &tasks));
    }
    let unknown = |name: &&String| !profiles.contains(name) && name.parse::<ProfileName>().is_err();
    match arguments.profiles.iter().find(unknown) {
        Some(name) => Err(refuse("profile", name, &profiles)),
        None => Ok(()),
    }
}

/// A time such as `30d`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let seconds = match unit {
        "s" => 1,
        "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => 0,
    };
    let all = number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds));
    // Ten years are as good as for ever, and then nobody should have to say so.
    match all {
        Some(all @ 1..=315_360_000) => Ok(Duration::from_secs(all)),
        _ => Err("write a whole number and a unit, such as `12h` or `30d`, up to ten years".into()),
    }
}

fn good_for(token: &Token) -> String {
    let mut text = "good for ".to_owned();
    text.push_str(&match &token.tasks {
        _ if token.approver => "deciding about calls, and for making none,".to_owned(),
        Scope::All => "every task".to_owned(),
        Scope::Only(names) => format!("the {} {}", if names.len() == 1 { "task" } else { "tasks" }, listed(names)),
    });
    if let Scope::Only(names) = &token.profiles {
        text.push_str(&format!(" with {}", listed(names)));
    }
    text.push_str(
        &token.expires.map_or_else(|| " until it is revoked".to_owned(), |end| format!(" until {}", minute(end))),
    );
    text
}

fn listed<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    names.into_iter().map(|name| format!("`{}`", output::safe(name))).collect::<Vec<_>>().join(", ")
}

fn names(scope: &Scope) -> String {
    match scope {
        Scope::All => "all".to_owned(),
        Scope::Only(names) => names.iter().map(|name| output::safe(name)).collect::<Vec<_>>().join(", "),
    }
}

fn state(token: &Token) -> &'static str {
    if token.revoked.is_some() {
        "revoked"
    } else if token.check(Micros::from(SystemTime::now())).is_err() {
        "expired"
    } else {
        "good"
    }
}

/// A time as people read it, in UTC.
fn minute(time: Micros) -> String {
    let text = time.to_string();
    text.get(..16).map_or_else(|| text.clone(), |short| format!("{}Z", short.replace('T', " ")))
}

fn described(token: &Token) -> Map<String, Value> {
    let scope = |scope: &Scope| match scope {
        Scope::All => Value::Null,
        Scope::Only(names) => json!(names),
    };
    let time = |time: Option<Micros>| json!(time.map(|time| time.to_string()));
    facts([
        ("id", json!(token.id.as_str())),
        ("name", json!(token.name)),
        ("state", json!(state(token))),
        ("approver", json!(token.approver)),
        ("tasks", scope(&token.tasks)),
        ("profiles", scope(&token.profiles)),
        ("created", json!(token.created.to_string())),
        ("last_used", time(token.last_used)),
        ("expires", time(token.expires)),
        ("revoked", time(token.revoked)),
    ])
}

impl Explain for TokenError {
    fn code(&self) -> Code {
        match self {
            Self::Volatile => Code::new("token-store-volatile"),
            Self::Unknown { .. } => Code::new("token-scope-unknown"),
            Self::NotFound(_) => Code::new("token-not-found"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Volatile => "the token would be gone before a gateway could see it",
            Self::Unknown { .. } => "the token would let nobody in, and nobody would know why",
            Self::NotFound(_) => "whoever revokes a token believes it useless from then on",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Volatile => "name the file that the gateway uses with `--store`, or leave it out".into(),
            Self::Unknown { kind, known, .. } if known.is_empty() => format!("add the {kind} to the configuration"),
            Self::Unknown { kind, known, .. } => {
                format!("use one of {}, or add the {kind} to the configuration", listed(known))
            }
            Self::NotFound(_) => "see `toolmark token list`, and that it is the store of the gateway".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Volatile => Map::new(),
            Self::Unknown { kind, name, known } => {
                facts([("kind", json!(kind)), ("name", json!(name)), ("known", json!(known))])
            }
            Self::NotFound(name) => facts([("name", json!(name))]),
        }
    }
}
