//! The back end that several nodes share: one PostgreSQL database, a pool of connections, and a lock for each thing that only one
//! node may change at a time.
//!
//! Everything that writes is one transaction. A server that is gone is [`Fault::Unreachable`], which may pass: connections are made
//! anew when it is back, and nothing here needs to be started again.

mod absence;
mod address;
mod approvals;
mod audit;
mod baselines;
mod definitions;
mod error;
mod migrate;
mod names;
mod node;
mod notices;
mod open;
mod pins;
mod sessions;
mod text;
mod threads;
mod tokens;
mod transfer;

use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

use sqlx::postgres::{PgPool, PgRow};
use sqlx::{Postgres as Database, Row as _, Transaction};
use tokio::sync::mpsc;
use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId, RunState,
};

pub use self::address::Address;
pub(crate) use self::address::Misspelled;
use self::audit::Doubts;
use self::node::Holders;
use crate::approvals::AskFilter;
use crate::audit::{AuditCall, AuditCursor, AuditEntry, AuditFilter, AuditRecord, Chain, ChainRow, Head, Order};
use crate::backend::{Answer, Backend, Claim, Counters, DefinitionsChange, NamesChange, TokenRow};
use crate::definitions::{History, KnownDefinition, KnownPack};
use crate::error::{Fault, StoreError};
use crate::location::Location;
use crate::names::{KnownNames, NameScope};
use crate::pins::Pin;
use crate::sessions::KeptSession;
use crate::threads::{TakenThread, ThreadClaim, TrimmedThreads};
use crate::time::Micros;
use crate::tokens::{TokenHash, TokenId};
use crate::transfer::{Part, Row, Table, Taken};
use crate::watch::Change;

/// How long anybody waits for an answer over a connection that seems to be there.
const ANSWER: Duration = Duration::from_secs(60);
/// Where changes are announced.
const CHANNEL: &str = "toolmark";

/// A store in PostgreSQL.
pub struct Postgres {
    pool: PgPool,
    address: Address,
    place: Location,
    patience: Duration,
    doubts: Doubts,
    holders: Holders,
}

/// A transaction that is rolled back unless it is committed.
type Writing = Transaction<'static, Database>;

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Survives {
    /// The end of this process. If the server dies, the last commits may be missing; none is torn.
    Crash,
    /// The end of the server too.
    PowerLoss,
}

impl Postgres {
    async fn begin(&self, survives: Survives) -> Result<Writing, StoreError> {
        let begun = match survives {
            Survives::Crash => self.pool.begin_with("BEGIN; SET LOCAL synchronous_commit = off").await,
            Survives::PowerLoss => self.pool.begin().await,
        };
        begun.map_err(|error| self.error(&error))
    }

    async fn commit(&self, writing: Writing) -> Result<(), StoreError> {
        writing.commit().await.map_err(|error| self.error(&error))
    }

    /// Tells all nodes, once the transaction is committed.
    async fn announce(&self, writing: &mut Writing, change: Change) -> Result<(), StoreError> {
        let query = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(change.to_string());
        query.execute(&mut **writing).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    /// No answer is waited for without end: a network that swallows packets says nothing for a quarter of an hour.
    fn within<'a, T: 'a>(&'a self, work: impl Future<Output = Result<T, StoreError>> + Send + 'a) -> Answer<'a, T> {
        Box::pin(async move {
            let late = || StoreError::new(&self.place, Fault::Unreachable, "it does not answer");
            tokio::time::timeout(ANSWER.max(self.patience * 4), work).await.unwrap_or_else(|_| Err(late()))
        })
    }

    fn error(&self, error: &sqlx::Error) -> StoreError {
        error::error_at(&self.place, error)
    }

    fn unreadable(&self, detail: &str) -> StoreError {
        StoreError::new(&self.place, Fault::UnreadableRow, detail)
    }

    fn column<'r, T: sqlx::Decode<'r, Database> + sqlx::Type<Database>>(
        &self,
        row: &'r PgRow,
        column: &str,
    ) -> Result<T, StoreError> {
        row.try_get(column).map_err(|error| self.unreadable(&error.to_string()))
    }

    fn text<'r>(&self, row: &'r PgRow, column: &str) -> Result<Cow<'r, str>, StoreError> {
        self.maybe_text(row, column)?.ok_or_else(|| self.unreadable(&format!("`{column}` is empty")))
    }

    fn maybe_text<'r>(&self, row: &'r PgRow, column: &str) -> Result<Option<Cow<'r, str>>, StoreError> {
        match self.column::<Option<&str>>(row, column)? {
            None => Ok(None),
            Some(kept) => {
                text::given(kept).map(Some).ok_or_else(|| self.unreadable(&format!("`{column}` is no text of ours")))
            }
        }
    }

    fn digest(&self, row: &PgRow, column: &str) -> Result<[u8; 32], StoreError> {
        let bytes: &[u8] = self.column(row, column)?;
        bytes.try_into().map_err(|_| self.unreadable(&format!("`{column}` has {} bytes, not 32", bytes.len())))
    }

    /// Numbers that count are kept as signed ones; a negative one was written by somebody else.
    fn count(&self, row: &PgRow, column: &str) -> Result<u64, StoreError> {
        let number: i64 = self.column(row, column)?;
        u64::try_from(number).map_err(|_| self.unreadable(&format!("`{column}` is {number}")))
    }

    fn time(&self, row: &PgRow, column: &str) -> Result<Micros, StoreError> {
        self.column(row, column).map(Micros::new)
    }

    fn maybe_time(&self, row: &PgRow, column: &str) -> Result<Option<Micros>, StoreError> {
        Ok(self.column::<Option<i64>>(row, column)?.map(Micros::new))
    }
}

impl Backend for Postgres {
    fn names<'a>(&'a self, scope: &'a NameScope) -> Answer<'a, KnownNames> {
        self.within(self.load_names(scope))
    }

    fn change_names<'a>(
        &'a self,
        scope: &'a NameScope,
        expected: u64,
        change: &'a NamesChange,
        at: Micros,
    ) -> Answer<'a, bool> {
        self.within(self.save_names(scope, expected, change, at))
    }

    fn name_scopes(&self) -> Answer<'_, Vec<NameScope>> {
        self.within(self.load_scopes())
    }

    fn definitions<'a>(&'a self, pack: &'a str) -> Answer<'a, Option<(KnownPack, Vec<KnownDefinition>)>> {
        self.within(self.load_definitions(pack))
    }

    fn packs(&self) -> Answer<'_, Vec<KnownPack>> {
        self.within(self.load_packs())
    }

    fn replace_definitions<'a>(&'a self, change: DefinitionsChange<'a>) -> Answer<'a, ()> {
        self.within(self.save_definitions(change))
    }

    fn forget_pack<'a>(&'a self, pack: &'a str) -> Answer<'a, bool> {
        self.within(self.remove_pack(pack))
    }

    fn history<'a>(&'a self, pack: &'a str) -> Answer<'a, Vec<History>> {
        self.within(self.load_history(pack))
    }

    fn add_token<'a>(&'a self, row: &'a TokenRow) -> Answer<'a, bool> {
        self.within(self.insert_token(row))
    }

    fn tokens(&self) -> Answer<'_, Vec<TokenRow>> {
        self.within(self.load_tokens())
    }

    fn token_by_hash<'a>(&'a self, hash: &'a TokenHash) -> Answer<'a, Option<TokenRow>> {
        self.within(self.find_token(hash))
    }

    fn revoke_token<'a>(&'a self, id: &'a TokenId, at: Micros) -> Answer<'a, bool> {
        self.within(self.end_token(id, at))
    }

    fn tokens_used<'a>(&'a self, used: &'a [(TokenId, Micros)]) -> Answer<'a, ()> {
        self.within(self.note_use(used))
    }

    fn tokens_version(&self) -> Answer<'_, u64> {
        self.within(self.load_tokens_version())
    }

    fn append<'a>(&'a self, node: &'a str, records: &'a [&'a AuditRecord], strict: bool) -> Answer<'a, Head> {
        let survives = if strict { Survives::PowerLoss } else { Survives::Crash };
        Box::pin(self.append_records(node, records, survives))
    }

    fn audit_page<'a>(
        &'a self,
        filter: &'a AuditFilter,
        order: Order,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Answer<'a, Vec<(AuditCursor, AuditEntry)>> {
        self.within(self.load_page(filter, order, after, limit))
    }

    fn calls_page<'a>(
        &'a self,
        filter: &'a AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Answer<'a, Vec<(AuditCursor, AuditCall)>> {
        self.within(self.load_calls(filter, after, limit))
    }

    fn chains(&self) -> Answer<'_, Vec<Chain>> {
        self.within(self.load_chains())
    }

    fn chain_page<'a>(&'a self, node: &'a str, after: u64, limit: u32) -> Answer<'a, Vec<ChainRow>> {
        self.within(self.load_chain_page(node, after, limit))
    }

    fn open_intents<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<AuditEntry>> {
        self.within(self.load_open(node))
    }

    fn claim<'a>(&'a self, node: &'a str) -> Answer<'a, Claim> {
        self.within(self.take_node(node))
    }

    fn trim<'a>(&'a self, node: &'a str, before: Micros, limit: u32, at: Micros) -> Answer<'a, u64> {
        self.within(self.trim_chain(node, before, limit, at))
    }

    fn trim_bodies(&self, before: Micros, limit: u32) -> Answer<'_, u64> {
        self.within(self.remove_bodies(before, limit))
    }

    fn counters(&self) -> Answer<'_, Counters> {
        self.within(self.load_counters())
    }

    fn notices(&self) -> Answer<'_, Option<mpsc::Receiver<Change>>> {
        Box::pin(async { self.listen().await.map(Some) })
    }

    fn join_ask<'a>(&'a self, new: &'a Ask, run: RunId, node: &'a str) -> Answer<'a, Joined> {
        self.within(self.take_part(new, run, node))
    }

    fn take_answer<'a>(&'a self, key: &'a AskKey, node: &'a str, at: Micros) -> Answer<'a, Option<Joined>> {
        self.within(self.take_decided(key, node, at))
    }

    fn ask(&self, id: AskId) -> Answer<'_, Option<Ask>> {
        self.within(self.load_ask(id))
    }

    fn asks<'a>(&'a self, filter: &'a AskFilter, before: Option<AskId>, limit: u32) -> Answer<'a, Vec<Ask>> {
        self.within(self.load_asks(filter, before, limit))
    }

    fn pending_asks(&self, now: Micros) -> Answer<'_, u64> {
        self.within(self.count_pending(now))
    }

    fn decide_ask<'a>(
        &'a self,
        id: AskId,
        decided: &'a Decided,
        grant: Option<&'a Grant>,
        until: Micros,
    ) -> Answer<'a, Outcome> {
        self.within(self.save_decision(id, decided, grant, until))
    }

    fn answered_asks(&self, now: Micros) -> Answer<'_, Vec<(AskKey, Micros)>> {
        self.within(self.load_answered(now))
    }

    fn expire_asks(&self, now: Micros) -> Answer<'_, u64> {
        self.within(self.end_asks(now))
    }

    fn trim_asks(&self, before: Micros, limit: u32) -> Answer<'_, u64> {
        self.within(self.remove_asks(before, limit))
    }

    fn run(&self, id: RunId) -> Answer<'_, Option<(Run, Ask)>> {
        self.within(self.load_run(id))
    }

    fn runs_of(&self, ask: AskId) -> Answer<'_, Vec<Run>> {
        self.within(self.load_runs_of(ask))
    }

    fn start_run<'a>(&'a self, id: RunId, node: &'a str, at: Micros) -> Answer<'a, bool> {
        self.within(self.begin_run(id, node, at))
    }

    fn continue_run<'a>(&'a self, id: RunId, round: u32, node: &'a str, at: Micros) -> Answer<'a, bool> {
        self.within(self.next_round(id, round, node, at))
    }

    fn move_run<'a>(&'a self, id: RunId, from: &'a [RunState], to: RunState, at: Micros) -> Answer<'a, bool> {
        self.within(self.change_run(id, from, to, at))
    }

    fn leave_behind<'a>(&'a self, node: &'a str, at: Micros) -> Answer<'a, (u64, u64)> {
        self.within(self.end_node(node, at))
    }

    fn busy_nodes(&self) -> Answer<'_, Vec<String>> {
        self.within(self.load_busy_nodes())
    }

    fn grants(&self, revoked: bool) -> Answer<'_, Vec<Grant>> {
        self.within(self.load_grants(revoked))
    }

    fn add_grant<'a>(&'a self, grant: &'a Grant) -> Answer<'a, ()> {
        self.within(self.save_grant(grant))
    }

    fn use_grant(&self, id: GrantId) -> Answer<'_, bool> {
        self.within(self.count_use(id))
    }

    fn revoke_grant<'a>(&'a self, id: GrantId, by: &'a Given) -> Answer<'a, bool> {
        self.within(self.end_grant(id, by))
    }

    fn approvals_version(&self) -> Answer<'_, ApprovalsVersion> {
        self.within(self.load_approvals_version())
    }

    fn shared_key<'a>(&'a self, name: &'a str, fresh: [u8; 32]) -> Answer<'a, [u8; 32]> {
        self.within(self.load_key(name, fresh))
    }

    fn pins(&self) -> Answer<'_, Vec<Pin>> {
        self.within(self.load_pins())
    }

    fn add_pins<'a>(&'a self, pins: &'a [Pin]) -> Answer<'a, Vec<Pin>> {
        self.within(self.insert_pins(pins))
    }

    fn replace_pins<'a>(&'a self, pins: &'a [Pin]) -> Answer<'a, ()> {
        self.within(self.save_pins(pins))
    }

    fn forget_pin<'a>(&'a self, tool: &'a str) -> Answer<'a, bool> {
        self.within(self.remove_pin(tool))
    }

    fn version(&self) -> u64 {
        migrate::NEWEST.unsigned_abs()
    }

    fn export(&self, out: mpsc::Sender<(&'static Table, Row)>) -> Answer<'_, ()> {
        Box::pin(self.send_all(out))
    }

    fn import(&self, parts: mpsc::Receiver<Part>) -> Answer<'_, Taken> {
        Box::pin(self.take_all(parts))
    }

    fn sessions<'a>(&'a self, named: Option<&'a str>, most: Option<u64>) -> Answer<'a, Vec<KeptSession>> {
        self.within(self.load_sessions(named, most))
    }

    fn session_items<'a>(&'a self, session: &'a str, most: Option<u64>) -> Answer<'a, Vec<String>> {
        self.within(self.load_session(session, most))
    }

    fn add_session_items<'a>(&'a self, session: &'a str, items: &'a [String], at: Micros) -> Answer<'a, ()> {
        self.within(self.add_to_session(session, items, at))
    }

    fn pop_session_item<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, Option<String>> {
        self.within(self.pop_from_session(session, at))
    }

    fn clear_session<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, ()> {
        self.within(self.empty_session(session, at))
    }

    fn forget_session<'a>(&'a self, session: &'a str) -> Answer<'a, bool> {
        self.within(self.remove_session(session))
    }

    fn forget_idle_session<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, bool> {
        self.within(self.remove_idle_session(session, at))
    }

    fn claim_session<'a>(&'a self, session: &'a str, run: &'a str, take_over: bool, at: Micros) -> Answer<'a, bool> {
        self.within(self.take_session(session, run, take_over, at))
    }

    fn finish_session<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        items: &'a [String],
        at: Micros,
    ) -> Answer<'a, bool> {
        self.within(self.end_session(session, run, items, at))
    }

    fn replace_session_items<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        oldest: u64,
        items: &'a [String],
        at: Micros,
    ) -> Answer<'a, bool> {
        self.within(self.shorten_session(session, run, oldest, items, at))
    }

    fn release_session<'a>(&'a self, session: &'a str, run: &'a str) -> Answer<'a, ()> {
        self.within(self.leave_session(session, run))
    }

    fn take_thread<'a>(&'a self, claim: ThreadClaim<'a>, at: Micros) -> Answer<'a, TakenThread> {
        self.within(self.hold_session(claim, at))
    }

    fn trim_threads(&self, idle: Micros, waiting: Micros, limit: u32, at: Micros) -> Answer<'_, TrimmedThreads> {
        self.within(self.remove_threads(idle, waiting, limit, at))
    }

    fn keep_thread<'a>(&'a self, session: &'a str, holder: &'a str, until: Micros) -> Answer<'a, bool> {
        self.within(self.hold_longer(session, holder, until))
    }

    fn leave_thread<'a>(
        &'a self,
        session: &'a str,
        holder: &'a str,
        items: &'a [String],
        waits: Option<&'a str>,
        at: Micros,
    ) -> Answer<'a, bool> {
        self.within(self.give_session_back(session, holder, items, waits, at))
    }

    fn baseline<'a>(&'a self, task: &'a str) -> Answer<'a, Option<String>> {
        self.within(self.load_baseline(task))
    }

    fn baselines(&self) -> Answer<'_, Vec<(String, Micros)>> {
        self.within(self.load_baselines())
    }

    fn change_baseline<'a>(
        &'a self,
        task: &'a str,
        before: Option<&'a str>,
        text: &'a str,
        at: Micros,
    ) -> Answer<'a, bool> {
        self.within(self.save_baseline(task, before, text, at))
    }

    fn failure(&self, detail: &str) -> StoreError {
        StoreError::new(&self.place, Fault::Failed, detail)
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async {
            self.pool.close().await;
            self.holders.ended(self.patience).await;
            Ok(())
        })
    }
}
