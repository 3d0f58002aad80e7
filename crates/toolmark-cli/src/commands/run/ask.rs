//! Who decides about the calls that wait? Whoever decided in the store, then whoever sits at the terminal; otherwise they keep waiting.

use std::io::{BufRead as _, Write as _};

use toolmark_agents::{Pending, RunState};
use toolmark_core::approval::{Ask, AskState, Given, Ruling, Scope, Way};
use toolmark_gateway::Gateway;
use toolmark_runtime::approve::DecideError;

use super::show::Show;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, who};

/// The ways to an answer.
pub(super) struct Answers<'g> {
    pub(super) gateway: &'g Gateway,
    /// Whether somebody sits there.
    pub(super) attended: bool,
}

/// What somebody typed.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Yes(Scope),
    No(Option<String>),
    Later,
    Unclear,
}

impl Answers<'_> {
    /// Finds an answer for every call that waits. False when one is left without.
    pub(super) async fn settle(&self, state: &mut RunState, show: &mut Show<'_>, fresh: bool) -> Result<bool, Failure> {
        let mut all = true;
        for pending in state.pending() {
            let ask = self.question(&pending).await?;
            match ask.as_ref().map(|ask| &ask.state) {
                // Somebody decided elsewhere: the store has it, and the run takes it from there.
                Some(AskState::Decided(_)) => continue,
                Some(AskState::Expired) if !fresh => {
                    output::warn(&format!("the time to decide about `{}` is over", output::safe(pending.tool())));
                    continue;
                }
                _ => {}
            }
            if !self.attended || !self.decide(state, &pending, ask.as_ref(), show).await? {
                all = false;
            }
        }
        Ok(all)
    }

    /// The question that is kept for a call, where one is.
    pub(super) async fn question(&self, pending: &Pending) -> Result<Option<Ask>, Failure> {
        let Some(desk) = self.gateway.desk() else { return Ok(None) };
        let found = desk.ledger().run(pending.run()).await;
        Ok(found.map_err(|error| Failure::refused(Exit::Failed, &error))?.map(|(_, ask)| ask))
    }

    /// Puts one question to whoever sits there. False for one that they leave open.
    async fn decide(
        &self,
        state: &mut RunState,
        pending: &Pending,
        ask: Option<&Ask>,
        show: &mut Show<'_>,
    ) -> Result<bool, Failure> {
        show.end_of_text()?;
        let offered: Vec<Scope> = match ask {
            // A pattern has to be written, for which there is `toolmark approvals approve`.
            Some(ask) => ask.offered().into_iter().filter(|scope| *scope != Scope::Pattern).collect(),
            None => vec![Scope::Once, Scope::Always],
        };
        let refuse = |error| Failure::refused(Exit::Failed, &error);
        output::note("");
        for line in pending.prompt().lines() {
            output::note(line);
        }
        loop {
            let said = match line(&label(&offered)).await? {
                Some(line) => read(&line, &offered),
                None => Said::Later,
            };
            match said {
                Said::Unclear => output::note("that is none of them"),
                Said::Later => return Ok(false),
                Said::No(message) => {
                    state.reject(pending, message.as_deref()).map_err(refuse)?;
                    return Ok(true);
                }
                Said::Yes(scope) => {
                    match ask.filter(|_| scope.is_sticky()) {
                        Some(ask) => self.grant(ask, scope).await?,
                        None if scope.is_sticky() => {
                            state.approve_always(pending).map_err(refuse)?;
                            return Ok(true);
                        }
                        None => {}
                    }
                    state.approve(pending).map_err(refuse)?;
                    return Ok(true);
                }
            }
        }
    }

    /// Keeps an answer that is meant for more than this call.
    async fn grant(&self, ask: &Ask, scope: Scope) -> Result<(), Failure> {
        let Some(desk) = self.gateway.desk() else { return Ok(()) };
        let given =
            Given { by: who::name(None), way: Way::Client, at: desk.ledger().now(), from: Some("toolmark run".into()) };
        match desk.decide(ask.id, &Ruling { scope, ..Ruling::once(true, given) }).await {
            Ok(_) => Ok(()),
            // What somebody else said before counts, and the run hears it.
            Err(DecideError::Decided(_)) => Ok(()),
            Err(error) => Err(Failure::refused(Exit::Failed, &error)),
        }
    }
}

fn label(offered: &[Scope]) -> String {
    let sticky: Vec<&str> = offered.iter().filter(|scope| scope.is_sticky()).map(|scope| scope.as_str()).collect();
    let sticky = if sticky.is_empty() { String::new() } else { format!(" / {}", sticky.join(" / ")) };
    format!("approve? yes{sticky} / no [message] / later: ")
}

fn read(line: &str, offered: &[Scope]) -> Said {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let message = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    match word.to_lowercase().as_str() {
        "n" | "no" => Said::No(message),
        // A yes with more behind it may mean anything.
        _ if message.is_some() => Said::Unclear,
        "y" | "yes" | "once" => Said::Yes(Scope::Once),
        "l" | "later" => Said::Later,
        word => match offered.iter().find(|scope| scope.as_str() == word) {
            Some(scope) => Said::Yes(*scope),
            None => Said::Unclear,
        },
    }
}

/// One line of standard input; none at its end.
async fn line(label: &str) -> Result<Option<String>, Failure> {
    // Listened to before the question is there to be seen: whoever ends it at once is heard.
    let mut ended = std::pin::pin!(tokio::signal::ctrl_c());
    if futures_util::poll!(&mut ended).is_ready() {
        return Ok(None);
    }
    write!(std::io::stderr(), "{label}")?;
    std::io::stderr().flush()?;
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|read| (read > 0).then_some(line))
    });
    tokio::select! {
        read = reading => Ok(read.unwrap_or(Ok(None))?),
        // Whoever ends the question leaves it open.
        _ = ended => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_approves_and_a_no_may_say_why() {
        let offered = [Scope::Once, Scope::Effect, Scope::Always];
        assert_eq!(read(" Y \n", &offered), Said::Yes(Scope::Once));
        assert_eq!(read("always", &offered), Said::Yes(Scope::Always));
        assert_eq!(read("session", &offered), Said::Unclear, "what is not offered is none");
        assert_eq!(read("no not these rows", &offered), Said::No(Some("not these rows".into())));
        assert_eq!(read("n", &offered), Said::No(None));
        assert_eq!(read("later", &offered), Said::Later);
        for unclear in ["", "yes but only the first", "yess", "always please"] {
            assert_eq!(read(unclear, &offered), Said::Unclear, "{unclear}");
        }
        assert_eq!(label(&offered), "approve? yes / effect / always / no [message] / later: ");
    }
}
