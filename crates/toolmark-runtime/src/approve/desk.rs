//! The desk where questions are asked and answered: grants first, then people, on every way at once, and the first answer counts.

mod decide;
mod runs;
mod watch;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{broadcast, watch as channel};
use toolmark_core::approval::{Ask, AskId, AskKey, AskState, Asked, Given, Ruling, RunState, Way};
use toolmark_core::explain::Explain;
use toolmark_core::text::visible;
use toolmark_core::time::Micros;
use toolmark_core::verdict::{Decision as Verdict, Reason};

pub use decide::DecideError;
use runs::WaitingRun;

use super::book::Book;
use super::client::{ClientAnswer, Reach};
use super::ledger::{Ledger, LedgerError};
use super::{Approval, Approvals, Asking, Ending, Handed, Later, Pass};

/// How long a call that waits for a person also waits for a ledger that is away, and how often it looks.
const AWAY: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);

/// How long an approved run may wait for its caller to come back.
const CLAIM: Duration = Duration::from_secs(3600);

/// How questions are asked.
#[derive(Clone, Debug)]
pub struct DeskSettings {
    /// How long a question is open.
    pub timeout: Duration,
    /// Whether it stays open after that, for [`keep`](Self::keep); the caller is told to come back.
    pub keep_pending: bool,
    /// How long a question stays open that outlives its timeout.
    pub keep: Duration,
    /// How long a caller waits whose user cannot be asked, before it is told to call again.
    pub wait: Duration,
    /// Whether the user of the client that calls may answer.
    pub ask_client: bool,
    /// How callers are told where to go with a question; `{id}` stands for its id.
    pub instructions: String,
    /// How long questions are remembered after they ended.
    pub remember: Duration,
}

/// Somebody who is asked besides the client: a webhook, a callback.
pub trait Asker: Send + Sync {
    /// Asks about a call; dropped when somebody else was faster. Nothing where no answer comes this way.
    fn ask<'a>(&'a self, ask: &'a Ask) -> Later<'a, Option<Ruling>>;
}

/// What happens to questions, for those who watch.
#[derive(Clone, Debug)]
pub enum DeskEvent {
    /// A question was asked.
    Asked(Arc<Ask>),
    /// A question was answered, or its time ran out.
    Settled(Arc<Ask>),
}

/// Where questions are asked and answered. Cheap to clone; all clones are one desk.
#[derive(Clone)]
pub struct Desk {
    shared: Arc<Shared>,
}

struct Shared {
    ledger: Arc<dyn Ledger>,
    settings: arc_swap::ArcSwap<DeskSettings>,
    askers: Vec<Arc<dyn Asker>>,
    book: Book,
    /// Questions that were answered, and until when that holds. Such an answer beats any grant as long as the ledger has it for a call:
    /// what is here only says that looking there is worth it.
    answered: Mutex<HashMap<AskKey, Micros>>,
    /// Grows whenever a question may have been answered.
    ticks: channel::Sender<u64>,
    events: broadcast::Sender<DeskEvent>,
    /// Questions of which those who watch know that they are open.
    open: Mutex<BTreeSet<AskId>>,
}

/// How long a question is open, and what then.
struct Patience {
    timeout: Duration,
    keeps: bool,
}

impl Default for DeskSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(600),
            keep_pending: false,
            keep: Duration::from_secs(7 * 24 * 3600),
            wait: Duration::ZERO,
            ask_client: true,
            instructions: "approve it with `toolmark approvals approve {id}`".into(),
            remember: Duration::from_secs(30 * 24 * 3600),
        }
    }
}

impl Desk {
    /// A desk over a ledger.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>, settings: DeskSettings, askers: Vec<Arc<dyn Asker>>) -> Self {
        let shared = Shared {
            ledger,
            settings: arc_swap::ArcSwap::from_pointee(settings),
            askers,
            book: Book::default(),
            answered: Mutex::default(),
            ticks: channel::Sender::new(0),
            events: broadcast::Sender::new(256),
            open: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Takes other settings; questions that are open keep theirs.
    pub fn configure(&self, settings: DeskSettings) {
        self.shared.settings.store(Arc::new(settings));
    }

    /// What happens to questions from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<DeskEvent> {
        self.shared.events.subscribe()
    }

    /// What keeps the questions.
    #[must_use]
    pub fn ledger(&self) -> &Arc<dyn Ledger> {
        &self.shared.ledger
    }

    async fn consider(&self, asking: Asking<'_>) -> Result<Approval, LedgerError> {
        let now = self.shared.ledger.now();
        let request = &asking.arrived.request;
        let principal = request.caller.name();
        let (key, digest) = asking.key();
        if let Some(returned) = asking.client.returned() {
            return self.resume(&key, returned).await;
        }
        let asked = Asked {
            principal,
            session: request.caller.session(),
            mark: &asking.identity.mark,
            arguments: request.arguments,
            digest: &digest,
            facts: asking.examination.facts(),
            policy: asking.policy,
            now,
        };
        // An answer for exactly this call beats a standing one, both ways.
        let own = self.answered().get(&key).is_some_and(|until| now < *until);
        if own && let Some(approval) = self.own_answer(&key).await? {
            return Ok(approval);
        }
        if let Some(approval) = self.standing(&asked).await? {
            return Ok(approval);
        }
        let patience = self.patience(asking.examination.verdict().reasons());
        let ask = self.question(&asking, now, &patience);
        self.put(&asking, ask, &patience).await
    }

    /// What was said about exactly this call, where that is not used up.
    async fn own_answer(&self, key: &AskKey) -> Result<Option<Approval>, LedgerError> {
        let Some(joined) = self.shared.ledger.take_answer(key).await? else {
            // All calls that it was for have come.
            self.answered().remove(key);
            return Ok(None);
        };
        let Some(run) = joined.run.map(|run| run.id) else { return Ok(Some(rejected(&joined.ask))) };
        let mut waiting = WaitingRun { desk: self, run, settled: false };
        let approval = self.begin(run, &joined.ask).await?;
        waiting.settled = true;
        Ok(Some(approval))
    }

    /// What a standing answer says about a call.
    async fn standing(&self, asked: &Asked<'_>) -> Result<Option<Approval>, LedgerError> {
        for grant in self.shared.book.find(asked) {
            if !grant.allows {
                return Ok(Some(Approval::Rejected(grant.message.clone())));
            }
            // A use is counted where all nodes see it; without a number there is nothing to count.
            if grant.uses.is_none() || self.shared.ledger.use_grant(grant.id).await? {
                let by = Some(grant.given.by.clone());
                return Ok(Some(Approval::Granted(Pass { grant: Some(grant.id), by, ..Pass::default() })));
            }
        }
        Ok(None)
    }

    fn question(&self, asking: &Asking<'_>, now: Micros, patience: &Patience) -> Ask {
        let settings = self.shared.settings.load();
        let open = if patience.keeps { settings.keep.max(patience.timeout) } else { patience.timeout };
        asking.question(now, now.after(open))
    }

    /// Puts a question to people.
    async fn put(&self, asking: &Asking<'_>, new: Ask, patience: &Patience) -> Result<Approval, LedgerError> {
        let joined = self.shared.ledger.join(&new).await?;
        let Some(run) = joined.run.map(|run| run.id) else { return Ok(rejected(&joined.ask)) };
        // Whoever waits and goes away leaves a run that the same call takes up again.
        let mut waiting = WaitingRun { desk: self, run, settled: false };
        if joined.fresh {
            self.announce(&joined.ask);
        }
        if joined.ask.state != AskState::Pending {
            let approval = self.begin(run, &joined.ask).await?;
            waiting.settled = true;
            return Ok(approval);
        }
        let settings = self.shared.settings.load_full();
        let reach = if settings.ask_client { asking.client.reach() } else { Reach::Nowhere };
        let (prompt, offered) = (joined.ask.prompt(), joined.ask.offered());
        let answer = match reach {
            Reach::HandingOver => {
                waiting.settled = true;
                self.shared.ledger.shift(run, &[RunState::Waiting], RunState::Held).await?;
                return Ok(Approval::Handed(Box::new(Handed { run, ask: joined.ask.id, prompt, offered })));
            }
            Reach::Waiting => {
                let client = asking.client.ask(&prompt, &offered);
                tokio::select! {
                    answer = client => Some(answer.unwrap_or(ClientAnswer::Dismissed)),
                    decided = patiently(|| self.decided(joined.ask.id)) => { decided?; None }
                    () = tokio::time::sleep(patience.timeout) => None,
                }
            }
            Reach::Nowhere => {
                let wait = settings.wait.min(patience.timeout);
                if !wait.is_zero() {
                    tokio::select! {
                        decided = patiently(|| self.decided(joined.ask.id)) => { decided?; }
                        () = tokio::time::sleep(wait) => {}
                    }
                }
                None
            }
        };
        if let Some(answer) = answer {
            self.answer_of_client(&joined.ask, answer).await?;
        }
        let now = self.shared.ledger.now();
        let ask = patiently(|| self.shared.ledger.ask(joined.ask.id)).await?.unwrap_or(joined.ask);
        match &ask.state {
            AskState::Decided(_) => {
                // A run begins once, however often it is tried.
                let approval = patiently(|| self.begin(run, &ask)).await?;
                waiting.settled = true;
                Ok(approval)
            }
            AskState::Pending if now < ask.expires => {
                // Before the caller hears of it: whoever calls again at once takes up this run and does not ask for another.
                self.shared.ledger.shift(run, &[RunState::Waiting], RunState::Parked).await?;
                waiting.settled = true;
                Ok(Approval::Pending(self.instructions(&ask)))
            }
            AskState::Pending | AskState::Expired => {
                self.sweep().await;
                Ok(Approval::Rejected(Some("Nobody answered in time.".into())))
            }
        }
    }

    async fn answer_of_client(&self, ask: &Ask, answer: ClientAnswer) -> Result<(), LedgerError> {
        let given = Given {
            by: ask.principal.clone(),
            way: Way::Client,
            at: self.shared.ledger.now(),
            from: ask.session.as_ref().map(|session| format!("session {}", visible(session, 60))),
        };
        let ruling = match answer {
            ClientAnswer::Dismissed => return Ok(()),
            ClientAnswer::Yes(scope) => Ruling { scope, ..Ruling::once(true, given) },
            ClientAnswer::Edited(text) => Ruling { edited: Some(text), ..Ruling::once(true, given) },
            ClientAnswer::No(message) => Ruling { message, ..Ruling::once(false, given) },
        };
        match self.decide(ask.id, &ruling).await {
            // Somebody was faster: what they said counts, and is read afterwards.
            Ok(_) | Err(DecideError::Decided(_) | DecideError::Expired | DecideError::Unknown) => Ok(()),
            Err(DecideError::Ledger(error)) => Err(error),
            Err(error) => {
                tracing::warn!(ask = %ask.id, %error, "an answer of a client cannot be used");
                Ok(())
            }
        }
    }

    /// Who hears of a new question besides the client.
    fn announce(&self, ask: &Ask) {
        let ask = Arc::new(ask.clone());
        self.tell_asked(&ask);
        for asker in &self.shared.askers {
            let (desk, asker, ask) = (self.clone(), Arc::clone(asker), Arc::clone(&ask));
            tokio::spawn(async move {
                let ruling = tokio::select! {
                    ruling = asker.ask(&ask) => ruling,
                    _ = desk.decided(ask.id) => None,
                };
                if let Some(ruling) = ruling
                    && let Err(error) = desk.decide(ask.id, &ruling).await
                {
                    tracing::warn!(ask = %ask.id, %error, "an answer cannot be used");
                }
            });
        }
    }

    fn instructions(&self, ask: &Ask) -> String {
        let how = self.shared.settings.load().instructions.replace("{id}", &ask.id.to_string());
        format!(
            "It waits for a person ({}). To go on: {how}, then call again with the same arguments. It has not run.",
            ask.id
        )
    }

    /// The strictest of what the rules that ask say about waiting.
    fn patience(&self, reasons: &[Reason]) -> Patience {
        let settings = self.shared.settings.load();
        let asking = || reasons.iter().filter(|reason| reason.decision == Verdict::Ask);
        let timeout = asking().filter_map(|reason| reason.facts.get("timeout_s").and_then(Value::as_u64)).min();
        let mut said = asking().filter_map(|reason| reason.facts.get("on_timeout").and_then(Value::as_str)).peekable();
        let keeps = if said.peek().is_some() { said.all(|word| word == "keep") } else { settings.keep_pending };
        Patience { timeout: timeout.map_or(settings.timeout, Duration::from_secs), keeps }
    }

    fn answered(&self) -> std::sync::MutexGuard<'_, HashMap<AskKey, Micros>> {
        self.shared.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries again for a while: nobody who can wait has to hear that the ledger was away for a moment. Only for what may be tried twice.
async fn patiently<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, LedgerError>
where
    F: Future<Output = Result<T, LedgerError>>,
{
    let ends = tokio::time::Instant::now() + AWAY;
    loop {
        match attempt().await {
            Err(_) if tokio::time::Instant::now() < ends => tokio::time::sleep(PAUSE).await,
            result => return result,
        }
    }
}

fn rejected(ask: &Ask) -> Approval {
    let AskState::Decided(decided) = &ask.state else { return Approval::Rejected(None) };
    let by = visible(&decided.given.by, 100);
    let text = match &decided.message {
        Some(message) => format!("{by} said no: {}", visible(message, 1000)),
        None => format!("{by} said no."),
    };
    Approval::Rejected(Some(text))
}

impl Approvals for Desk {
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Later<'a, Approval> {
        Box::pin(async move {
            self.consider(asking).await.unwrap_or_else(|error| {
                tracing::error!(%error, "nobody can be asked");
                Approval::Failed(Box::new(error.for_callers().report()))
            })
        })
    }

    fn ended(&self, pass: &Pass, ending: Ending) {
        let Some((run, round)) = pass.run else { return };
        match ending {
            // What was approved and did not run stays approved. A later round is begun once: its tool was reached before.
            Ending::NotBegun if round == 0 => self.shift_later(run, &[RunState::Running], RunState::Parked),
            Ending::NotBegun | Ending::Over => self.shift_later(run, &[RunState::Running], RunState::Done),
            Ending::Unknown => self.shift_later(run, &[RunState::Running], RunState::Lost),
            Ending::Unfinished => {}
        }
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}
