//! `toolmark approvals watch`: questions as they come, answered where this is a terminal, one after the other.

use std::collections::{BTreeSet, VecDeque};
use std::io::IsTerminal as _;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use toolmark_core::approval::{Ask, AskId, AskState, Ruling, Scope};
use toolmark_runtime::approve::{DecideError, Desk};
use toolmark_store::Store;
use toolmark_store::approvals::AskFilter;

use super::decide::said;
use super::{ApprovalsWatch, desk, failed, opened, refused};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place::close;

/// What somebody typed.
enum Typed {
    Answer(Box<Ruling>),
    Skip,
    Quit,
    Unclear,
}

pub(super) async fn run(arguments: &ApprovalsWatch) -> Result<Exit, Failure> {
    let store = opened(&arguments.who.place).await?;
    let asks = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !arguments.who.json;
    let mut watch = Watch {
        arguments,
        desk: desk(&store),
        store: store.clone(),
        open: VecDeque::new(),
        known: BTreeSet::new(),
        asks,
    };
    let mut changes = store.watch().await.map_err(failed)?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    if !arguments.who.json {
        output::note("waiting for calls that need a person; Ctrl-C ends it");
    }
    watch.look().await?;
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => break,
            change = changes.next() => match change {
                Some(_) => watch.look().await?,
                None => break,
            },
            line = lines.next_line(), if watch.asks => match line? {
                Some(line) if watch.answer(&line).await? => {}
                _ => break,
            },
        }
    }
    close(&store).await;
    Ok(Exit::Success)
}

struct Watch<'a> {
    arguments: &'a ApprovalsWatch,
    desk: Desk,
    store: Store,
    open: VecDeque<Ask>,
    known: BTreeSet<AskId>,
    asks: bool,
}

impl Watch<'_> {
    /// Shows what is new, and lets go of what somebody else decided.
    async fn look(&mut self) -> Result<(), Failure> {
        let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
        let pending = self.store.asks(&filter, None, 1000).await.map_err(failed)?;
        let current = self.open.front().map(|ask| ask.id);
        let gone: Vec<Ask> =
            self.open.iter().filter(|ask| pending.iter().all(|other| other.id != ask.id)).cloned().collect();
        self.open.retain(|ask| pending.iter().any(|other| other.id == ask.id));
        for ask in gone {
            if let Some(ask) = self.store.ask(ask.id).await.map_err(failed)? {
                self.settled(&ask)?;
            }
        }
        for ask in pending.into_iter().rev() {
            if self.known.insert(ask.id) {
                if self.arguments.who.json {
                    output::line(ask.to_json())?;
                } else if !self.asks {
                    self.print(&ask)?;
                }
                self.open.push_back(ask);
            }
        }
        if self.asks && self.open.front().map(|ask| ask.id) != current {
            self.ask()?;
        }
        Ok(())
    }

    fn settled(&self, ask: &Ask) -> Result<(), Failure> {
        if self.arguments.who.json {
            output::line(ask.to_json())?;
        } else if let AskState::Decided(decided) = &ask.state {
            output::line(format_args!("{} by {}", said(ask), output::safe(&decided.given.by)))?;
        } else {
            output::line(format_args!("nobody answered in time: {}", ask.id.short()))?;
        }
        Ok(())
    }

    fn print(&self, ask: &Ask) -> Result<(), Failure> {
        output::line(format_args!(
            "\n{} {}",
            output::painted(output::BOLD, ask.id.short()),
            ask.prompt().text().trim_end()
        ))?;
        Ok(())
    }

    /// Puts the next question.
    fn ask(&self) -> Result<(), Failure> {
        let Some(ask) = self.open.front() else { return Ok(()) };
        self.print(ask)?;
        let choices: Vec<String> = ask.offered().into_iter().filter_map(choice).map(str::to_owned).collect();
        output::line(format_args!("{}, [r]eject TEXT, [n]ext, [q]uit", choices.join(", ")))?;
        Ok(())
    }

    /// Takes a line for an answer. False to end.
    async fn answer(&mut self, line: &str) -> Result<bool, Failure> {
        let Some(ask) = self.open.front().cloned() else { return Ok(line.trim() != "q") };
        match self.read(&ask, line.trim()) {
            Typed::Quit => return Ok(false),
            Typed::Unclear => output::warn("not understood; nothing was decided"),
            Typed::Skip => {
                self.open.pop_front();
            }
            Typed::Answer(ruling) => {
                match self.desk.decide(ask.id, &ruling).await {
                    Ok(ask) => output::line(said(&ask))?,
                    Err(error @ (DecideError::Decided(_) | DecideError::Expired)) => output::warn(&error.to_string()),
                    Err(error) => return Err(refused(error)),
                }
                self.open.pop_front();
            }
        }
        self.ask()?;
        Ok(true)
    }

    fn read(&self, ask: &Ask, line: &str) -> Typed {
        let given = self.arguments.who.given();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let scope = match word {
            "a" | "approve" | "once" => Scope::Once,
            "s" | "session" => Scope::Session,
            "e" | "effect" => Scope::Effect,
            "always" => Scope::Always,
            "r" | "reject" | "no" => {
                let message = Some(rest.trim().to_owned()).filter(|text| !text.is_empty());
                return Typed::Answer(Box::new(Ruling { message, ..Ruling::once(false, given) }));
            }
            "n" | "next" => return Typed::Skip,
            "q" | "quit" => return Typed::Quit,
            _ => return Typed::Unclear,
        };
        Typed::Answer(Box::new(Ruling { scope, seen: Some(ask.digest), ..Ruling::once(true, given) }))
    }
}

const fn choice(scope: Scope) -> Option<&'static str> {
    match scope {
        Scope::Once => Some("[a]pprove once"),
        Scope::Session => Some("[s]ession"),
        Scope::Effect => Some("[e]ffect"),
        Scope::Always => Some("[always]"),
        Scope::Pattern => None,
    }
}
