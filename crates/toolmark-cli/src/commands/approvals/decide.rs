//! A yes, a no, and an answer that is taken back: who decides, and what is said about it.

use std::time::SystemTime;

use serde_json::json;
use toolmark_core::approval::{ArgumentPattern, Ask, AskState, Given, GrantId, Ruling, Scope, Way};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_store::{Micros, Store};

use super::find::{find, pick};
use super::{ApprovalsApprove, ApprovalsReject, ApprovalsRevoke, Reach, Who, desk, failed, opened, refused};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::close;
use crate::{output, who};

pub(super) async fn approve(arguments: &ApprovalsApprove) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    arguments.reach.check()?;
    let ask = find(&store, &arguments.id).await?;
    if let Some(tool) = changed(&store, &ask).await {
        output::warn(&format!(
            "`{tool}` is not what it was when this was asked: the answer is for the tool as it was shown, and other calls are asked about anew"
        ));
    }
    let ruling = Ruling {
        edited: arguments.arguments.clone(),
        uses: arguments.uses,
        any_policy: arguments.any_policy,
        pin: arguments.pin,
        seen: Some(ask.digest),
        ..arguments.reach.ruling(&ask, true, arguments.who.given())
    };
    decide(&store, &ask, &ruling, arguments.who.json).await
}

pub(super) async fn reject(arguments: &ApprovalsReject) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    arguments.reach.check()?;
    let ask = find(&store, &arguments.id).await?;
    let ruling =
        Ruling { message: arguments.message.clone(), ..arguments.reach.ruling(&ask, false, arguments.who.given()) };
    decide(&store, &ask, &ruling, arguments.who.json).await
}

/// The tool of a question, if its pack lists it otherwise now.
async fn changed(store: &Store, ask: &Ask) -> Option<String> {
    let seen = store.seen_tools().await.ok()?;
    let tool = seen.tools().find(|tool| tool.canonical().as_str() == ask.canonical)?;
    (tool.mark() != ask.mark).then(|| output::safe(&ask.canonical))
}

async fn decide(store: &Store, ask: &Ask, ruling: &Ruling, as_json: bool) -> Result<Exit, Failure> {
    let decided = desk(store).decide(ask.id, ruling).await.map_err(refused)?;
    close(store).await;
    if as_json {
        output::json(&decided.to_json())?;
        return Ok(Exit::Success);
    }
    output::line(said(&decided))?;
    Ok(Exit::Success)
}

pub(super) async fn revoke(arguments: &ApprovalsRevoke) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    let all = store.grants(true).await.map_err(failed)?;
    let id = pick("grant", &arguments.id, all.iter().map(|grant| grant.id), GrantId::short)?;
    desk(&store).revoke(id, &arguments.who.given()).await.map_err(refused)?;
    close(&store).await;
    if arguments.who.json {
        output::json(&json!({"id": id, "state": "revoked"}))?;
    } else {
        output::line(format_args!("{} holds no more", id.short()))?;
    }
    Ok(Exit::Success)
}

/// What was decided, in one line.
pub(super) fn said(ask: &Ask) -> String {
    let AskState::Decided(decided) = &ask.state else { return "not decided".into() };
    let verb = if decided.allows { "approved" } else { "rejected" };
    let tool = output::safe(&ask.canonical);
    match decided.grant {
        Some(grant) => format!(
            "{verb} `{tool}` ({}); take it back with `toolmark approvals revoke {}`",
            decided.scope,
            grant.short()
        ),
        None => format!("{verb} `{tool}` ({})", decided.scope),
    }
}

/// Arguments that may differ, in an answer that says otherwise.
#[derive(Debug, thiserror::Error)]
#[error("`--vary` is for the scope `pattern`, not for `{0}`")]
struct VaryIdle(Scope);

impl Explain for VaryIdle {
    fn code(&self) -> Code {
        Code::new("approval-pattern")
    }

    fn why(&self) -> String {
        "an answer that reaches less far than was meant would have to be given again and again".into()
    }

    fn fix(&self) -> String {
        "leave out `--scope`, or write `--scope pattern`".into()
    }
}

impl Reach {
    /// Refuses what cannot all be meant.
    fn check(&self) -> Result<(), Failure> {
        match self.scope {
            Some(scope) if scope != Scope::Pattern && !self.vary.is_empty() => {
                Err(Failure::refused(Exit::BadInput, &VaryIdle(scope)))
            }
            _ => Ok(()),
        }
    }

    /// An answer that reaches so far.
    fn ruling(&self, ask: &Ask, allows: bool, given: Given) -> Ruling {
        let scope = self.scope.unwrap_or(if self.vary.is_empty() { Scope::Once } else { Scope::Pattern });
        Ruling {
            scope,
            pattern: ArgumentPattern::freeing(&ask.arguments(), &self.vary).filter(|_| scope == Scope::Pattern),
            expires: self.expires.map(|span| given.at.after(span)),
            ..Ruling::once(allows, given)
        }
    }
}

impl Who {
    /// Who decides now.
    pub(super) fn given(&self) -> Given {
        let host = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
        let from = host.map(|host| visible(host.trim(), 100)).filter(|host| !host.is_empty());
        Given { by: who::name(self.name.as_deref()), way: Way::Cli, at: Micros::from(SystemTime::now()), from }
    }
}
