//! What a database must be able to do for us: plain data in, plain data out, each request whole or not at all.
//!
//! Rules that every back end shares stand elsewhere: how names differ, what a token is, how records are chained. The contract
//! in `tests/contract.rs` is run on each.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use tokio::sync::mpsc;
use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId, RunState,
};
use toolmark_core::exposure::Published;

use crate::approvals::AskFilter;
use crate::audit::{AuditCall, AuditCursor, AuditEntry, AuditFilter, AuditRecord, Chain, ChainRow, Head, Order};
use crate::definitions::{History, KnownDefinition, KnownPack};
use crate::error::StoreError;
use crate::names::{KnownNames, NameScope};
use crate::pins;
use crate::sessions::KeptSession;
use crate::threads::{TakenThread, ThreadClaim, TrimmedThreads};
use crate::time::Micros;
use crate::tokens::{Token, TokenHash, TokenId};
use crate::transfer::{Part, Row, Table, Taken};
use crate::watch::Change;

/// What a back end answers with.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Numbers that grow when something changes, by what it is: `tokens`, `names` and whatever else is counted.
pub type Counters = BTreeMap<String, u64>;

/// What holds a claim, for as long as it is kept.
pub type Held = Box<dyn std::any::Any + Send + Sync>;

/// Whose a chain is.
pub enum Claim {
    /// This process's, for as long as this is kept.
    Ours(Held),
    /// Another process's.
    Others,
    /// Nobody's just now; but whoever had it may live, and only have lost its connection. Worth another try in a moment.
    Unclear,
}

/// The changes that turn one set of published names into another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesChange {
    /// Exposed names that are no longer kept.
    pub forgotten: Vec<String>,
    /// Exposed name, canonical name of its tool, and whether it is a former name.
    pub kept: Vec<(String, String, bool)>,
}

/// What replaces the last known definitions of a pack.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionsChange<'a> {
    /// The pack, where it comes from, and what it says about itself.
    pub pack: &'a KnownPack,
    /// Everything it lists, in its order.
    pub definitions: &'a [KnownDefinition],
    /// How many digests are remembered for one name.
    pub history_per_name: u32,
    /// How many replaced digests are remembered for the whole pack.
    pub history_per_pack: u32,
}

/// A token with what it is recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// Everything but the secret.
    pub token: Token,
    /// The hash of the secret.
    pub hash: TokenHash,
}

/// One database.
///
/// Every method that changes something does so in one transaction. Cancelling a call leaves either all of its change or none.
pub trait Backend: Send + Sync {
    /// The names that were published in a scope, and the version of that set.
    fn names<'a>(&'a self, scope: &'a NameScope) -> Answer<'a, KnownNames>;

    /// Applies a change if the scope still has version `expected`, and says whether it did.
    fn change_names<'a>(
        &'a self,
        scope: &'a NameScope,
        expected: u64,
        change: &'a NamesChange,
        at: Micros,
    ) -> Answer<'a, bool>;

    /// The scopes that have names, in order.
    fn name_scopes(&self) -> Answer<'_, Vec<NameScope>>;

    /// The last known state of a pack with its definitions.
    fn definitions<'a>(&'a self, pack: &'a str) -> Answer<'a, Option<(KnownPack, Vec<KnownDefinition>)>>;

    /// Every pack that is known, by name.
    fn packs(&self) -> Answer<'_, Vec<KnownPack>>;

    /// Replaces what is known of a pack.
    fn replace_definitions<'a>(&'a self, change: DefinitionsChange<'a>) -> Answer<'a, ()>;

    /// Forgets a pack with its history; says whether it was known.
    fn forget_pack<'a>(&'a self, pack: &'a str) -> Answer<'a, bool>;

    /// The digests that a pack's definitions had, newest first.
    fn history<'a>(&'a self, pack: &'a str) -> Answer<'a, Vec<History>>;

    /// Adds a token unless another that is not revoked has its name; says whether it did.
    fn add_token<'a>(&'a self, row: &'a TokenRow) -> Answer<'a, bool>;

    /// All tokens, oldest first.
    fn tokens(&self) -> Answer<'_, Vec<TokenRow>>;

    /// The token whose secret has this hash.
    fn token_by_hash<'a>(&'a self, hash: &'a TokenHash) -> Answer<'a, Option<TokenRow>>;

    /// Revokes a token; says whether there was one to revoke.
    fn revoke_token<'a>(&'a self, id: &'a TokenId, at: Micros) -> Answer<'a, bool>;

    /// Notes that tokens were used. An earlier time never replaces a later one.
    fn tokens_used<'a>(&'a self, used: &'a [(TokenId, Micros)]) -> Answer<'a, ()>;

    /// A number that grows whenever a token is added or revoked, by whatever process.
    fn tokens_version(&self) -> Answer<'_, u64>;

    /// Appends records to the chain of a node, all or none, and returns the new head. With `strict`, it returns only once
    /// they would survive a loss of power.
    fn append<'a>(&'a self, node: &'a str, records: &'a [&'a AuditRecord], strict: bool) -> Answer<'a, Head>;

    /// Up to `limit` records that match, from `after` on.
    fn audit_page<'a>(
        &'a self,
        filter: &'a AuditFilter,
        order: Order,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Answer<'a, Vec<(AuditCursor, AuditEntry)>>;

    /// Up to `limit` calls that match, oldest first, from `after` on, with their arguments if `filter.bodies` asks for them. What a back
    /// end does not do better is done with pages of whole records.
    fn calls_page<'a>(
        &'a self,
        filter: &'a AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Answer<'a, Vec<(AuditCursor, AuditCall)>> {
        Box::pin(async move {
            let page = self.audit_page(filter, Order::Oldest, after, limit).await?;
            Ok(page.into_iter().map(|(cursor, entry)| (cursor, entry.into())).collect())
        })
    }

    /// The chains that exist, by node.
    fn chains(&self) -> Answer<'_, Vec<Chain>>;

    /// Up to `limit` rows of a node's chain with a higher number than `after`.
    fn chain_page<'a>(&'a self, node: &'a str, after: u64, limit: u32) -> Answer<'a, Vec<ChainRow>>;

    /// The intents of a node of which nobody knows what became, oldest first, with their bodies.
    fn open_intents<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<AuditEntry>>;

    /// Takes the chain of a node for this process alone, until what is returned is dropped or the process ends, however it ends.
    /// A process that lives keeps it, also while its connection is broken: whoever tries again and again is told within seconds
    /// whether it is gone.
    fn claim<'a>(&'a self, node: &'a str) -> Answer<'a, Claim>;

    /// Removes up to `limit` of the oldest records of a node, none of them younger than `before`, and moves the checkpoint to
    /// the last one removed. Returns how many went.
    fn trim<'a>(&'a self, node: &'a str, before: Micros, limit: u32, at: Micros) -> Answer<'a, u64>;

    /// Removes bodies of records older than `before`, up to `limit`. The chain stays verifiable.
    fn trim_bodies(&self, before: Micros, limit: u32) -> Answer<'_, u64>;

    /// The numbers that grow when something changes, by whatever process.
    fn counters(&self) -> Answer<'_, Counters>;

    /// Changes as they are called out, where the database does that. The channel ends with the store.
    fn notices(&self) -> Answer<'_, Option<mpsc::Receiver<Change>>>;

    /// Makes a call part of the question that is the same and stands, or of this new one. In one step: a parked run of it is taken up,
    /// or `run` is added, waiting on `node`; a question that was answered with no gets none.
    fn join_ask<'a>(&'a self, new: &'a Ask, run: RunId, node: &'a str) -> Answer<'a, Joined>;

    /// Makes a call part of a question of this key that was answered and whose time is not over at `at`: a parked run of one that was
    /// answered with yes is taken up, waiting on `node`; one that was answered with no gets none. In one step.
    fn take_answer<'a>(&'a self, key: &'a AskKey, node: &'a str, at: Micros) -> Answer<'a, Option<Joined>>;

    /// One question.
    fn ask(&self, id: AskId) -> Answer<'_, Option<Ask>>;

    /// Questions, newest first, with a lower id than `before`.
    fn asks<'a>(&'a self, filter: &'a AskFilter, before: Option<AskId>, limit: u32) -> Answer<'a, Vec<Ask>>;

    /// How many questions can be answered at this time.
    fn pending_asks(&self, now: Micros) -> Answer<'_, u64>;

    /// Answers a question that is open at the time of the decision, and adds the grant, in one step. A yes makes it last until `until`;
    /// a no withdraws the runs that nobody waits for.
    fn decide_ask<'a>(
        &'a self,
        id: AskId,
        decided: &'a Decided,
        grant: Option<&'a Grant>,
        until: Micros,
    ) -> Answer<'a, Outcome>;

    /// Questions that were answered with no, or with yes while a run of theirs has not begun, and whose time is not over; at most ten
    /// thousand.
    fn answered_asks(&self, now: Micros) -> Answer<'_, Vec<(AskKey, Micros)>>;

    /// Marks open questions whose time is over, and withdraws the runs that nobody waits for.
    fn expire_asks(&self, now: Micros) -> Answer<'_, u64>;

    /// Removes up to `limit` questions that ended before, with their runs, unless one waits or runs.
    fn trim_asks(&self, before: Micros, limit: u32) -> Answer<'_, u64>;

    /// A run with its question.
    fn run(&self, id: RunId) -> Answer<'_, Option<(Run, Ask)>>;

    /// The runs of a question, oldest first, at most a thousand.
    fn runs_of(&self, ask: AskId) -> Answer<'_, Vec<Run>>;

    /// Moves a run from waiting, parked or held to running if its question was answered with yes and its time is not over.
    fn start_run<'a>(&'a self, id: RunId, node: &'a str, at: Micros) -> Answer<'a, bool>;

    /// Counts a round of a running run if it stands at `round`.
    fn continue_run<'a>(&'a self, id: RunId, round: u32, node: &'a str, at: Micros) -> Answer<'a, bool>;

    /// Moves a run on if it is in one of these states.
    fn move_run<'a>(&'a self, id: RunId, from: &'a [RunState], to: RunState, at: Micros) -> Answer<'a, bool>;

    /// Parks what waits on a node and marks as lost what runs there. Returns how many of each.
    fn leave_behind<'a>(&'a self, node: &'a str, at: Micros) -> Answer<'a, (u64, u64)>;

    /// The nodes that have runs which wait or run.
    fn busy_nodes(&self) -> Answer<'_, Vec<String>>;

    /// Grants, oldest first.
    fn grants(&self, revoked: bool) -> Answer<'_, Vec<Grant>>;

    /// Adds a grant.
    fn add_grant<'a>(&'a self, grant: &'a Grant) -> Answer<'a, ()>;

    /// Counts a use of a grant that has one left.
    fn use_grant(&self, id: GrantId) -> Answer<'_, bool>;

    /// Takes back a grant that holds, and withdraws the runs that were approved with it and have not begun.
    fn revoke_grant<'a>(&'a self, id: GrantId, by: &'a Given) -> Answer<'a, bool>;

    /// Numbers that grow whenever a question or a grant changes, by whatever process.
    fn approvals_version(&self) -> Answer<'_, ApprovalsVersion>;

    /// The secret of this name; `fresh` becomes it where there is none.
    fn shared_key<'a>(&'a self, name: &'a str, fresh: [u8; 32]) -> Answer<'a, [u8; 32]>;

    /// All pins, by tool.
    fn pins(&self) -> Answer<'_, Vec<pins::Pin>>;

    /// Adds the pins of tools that have none, and returns those that the others have.
    fn add_pins<'a>(&'a self, pins: &'a [pins::Pin]) -> Answer<'a, Vec<pins::Pin>>;

    /// Adds pins, in place of whatever the tools had.
    fn replace_pins<'a>(&'a self, pins: &'a [pins::Pin]) -> Answer<'a, ()>;

    /// Forgets the pin of a tool; says whether there was one.
    fn forget_pin<'a>(&'a self, tool: &'a str) -> Answer<'a, bool>;

    /// The version of what is kept: grows when tables or columns come.
    fn version(&self) -> u64;

    /// Sends every row of every table, table after table, as of one moment. Ends early, without an error, when nobody takes them.
    fn export(&self, out: mpsc::Sender<(&'static Table, Row)>) -> Answer<'_, ()>;

    /// Takes rows until it is told that these were all, and keeps all or none. The store must be empty.
    fn import(&self, parts: mpsc::Receiver<Part>) -> Answer<'_, Taken>;

    /// A failure that is not the database's own, at this place.
    fn failure(&self, detail: &str) -> StoreError;

    /// What approved runs of a task did, as text.
    fn baseline<'a>(&'a self, task: &'a str) -> Answer<'a, Option<String>>;

    /// The tasks of which that is kept, by name, and since when it is as it is.
    fn baselines(&self) -> Answer<'_, Vec<(String, Micros)>>;

    /// Keeps it in place of what was kept, if that is still `before`, and says whether it did.
    fn change_baseline<'a>(
        &'a self,
        task: &'a str,
        before: Option<&'a str>,
        text: &'a str,
        at: Micros,
    ) -> Answer<'a, bool>;

    /// The sessions that there are, or the one of a name, the one that changed last first; with a number, only so many.
    fn sessions<'a>(&'a self, named: Option<&'a str>, most: Option<u64>) -> Answer<'a, Vec<KeptSession>>;

    /// What was said in a session, oldest first; with a number, only the last so many.
    fn session_items<'a>(&'a self, session: &'a str, most: Option<u64>) -> Answer<'a, Vec<String>>;

    /// Adds to a session, all or none.
    fn add_session_items<'a>(&'a self, session: &'a str, items: &'a [String], at: Micros) -> Answer<'a, ()>;

    /// Takes the last item of a session back.
    fn pop_session_item<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, Option<String>>;

    /// Forgets what was said in a session. Whoever has it keeps it.
    fn clear_session<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, ()>;

    /// Forgets a session with everything in it; says whether there was one.
    fn forget_session<'a>(&'a self, session: &'a str) -> Answer<'a, bool>;

    /// Forgets a session unless a run has it or something waits in it; says whether it did.
    fn forget_idle_session<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, bool>;

    /// Takes a session for a run, unless another has it and it is not to be taken over, and says whether it did.
    fn claim_session<'a>(&'a self, session: &'a str, run: &'a str, take_over: bool, at: Micros) -> Answer<'a, bool>;

    /// Adds what a run said that has the session, and gives it back. True also where it had done so before, and then nothing changes.
    fn finish_session<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        items: &'a [String],
        at: Micros,
    ) -> Answer<'a, bool>;

    /// Puts items in the place of the oldest so many of a session that the run has, all or none, and says whether it did.
    fn replace_session_items<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        oldest: u64,
        items: &'a [String],
        at: Micros,
    ) -> Answer<'a, bool>;

    /// Gives a session back, if the run has it.
    fn release_session<'a>(&'a self, session: &'a str, run: &'a str) -> Answer<'a, ()>;

    /// Takes a thread until a moment, unless another has it until later or its owner has too many.
    fn take_thread<'a>(&'a self, claim: ThreadClaim<'a>, at: Micros) -> Answer<'a, TakenThread>;

    /// Keeps a session until a later moment; says whether the holder had it.
    fn keep_thread<'a>(&'a self, session: &'a str, holder: &'a str, until: Micros) -> Answer<'a, bool>;

    /// Adds to a session, writes down what waits in it, and gives it back, all or nothing; says whether the holder had it.
    fn leave_thread<'a>(
        &'a self,
        session: &'a str,
        holder: &'a str,
        items: &'a [String],
        waits: Option<&'a str>,
        at: Micros,
    ) -> Answer<'a, bool>;

    /// Forgets threads that nobody has and that were not used since a moment, or another one where something waits in them; a few at a
    /// time, oldest first.
    fn trim_threads(&self, idle: Micros, waiting: Micros, limit: u32, at: Micros) -> Answer<'_, TrimmedThreads>;

    /// Ends all connections after what is under way.
    fn close(&self) -> Answer<'_, ()>;
}

impl NamesChange {
    /// What must be written so that `before` becomes `after`. Both have one owner for each name.
    pub(crate) fn between(before: &Published, after: &Published) -> Self {
        let rows = |published: &Published| -> std::collections::BTreeMap<String, (String, bool)> {
            let former = published.former().map(|(exposed, tool)| (exposed.to_owned(), (tool.to_owned(), true)));
            let current = published.current().map(|(tool, exposed)| (exposed.to_owned(), (tool.to_owned(), false)));
            former.chain(current).collect()
        };
        let (old, new) = (rows(before), rows(after));
        let forgotten = old.keys().filter(|exposed| !new.contains_key(*exposed)).cloned().collect();
        let changed = new.into_iter().filter(|(exposed, row)| old.get(exposed) != Some(row));
        Self { forgotten, kept: changed.map(|(exposed, (tool, former))| (exposed, tool, former)).collect() }
    }

    /// True when there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forgotten.is_empty() && self.kept.is_empty()
    }
}
