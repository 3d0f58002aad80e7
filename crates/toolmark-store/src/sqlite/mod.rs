//! The back end that needs nothing installed: one SQLite file in WAL mode, one connection that writes, a few that read.
//!
//! Each connection is a thread of its own. Everything that writes takes the one writing connection in turn, begins with a
//! lock, and commits or leaves no trace. Several processes may share a file: what they know is read anew inside the lock.

mod approvals;
mod audit;
mod baselines;
mod claim;
mod definitions;
mod migrate;
mod names;
mod open;
mod pins;
mod sessions;
mod threads;
mod tokens;
mod transfer;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{Executor as _, Row as _, Sqlite as Database};
use tokio::sync::mpsc;
use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId, RunState,
};

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

/// A store in SQLite.
pub struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    place: Location,
    kinds: audit::Kinds,
}

/// The writing connection with a transaction begun. Dropped without a commit, it is rolled back on its way to the pool.
type Writing = PoolConnection<Database>;

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Survives {
    /// The end of the process, at whatever moment. After a loss of power the last commits may be missing; none is torn.
    Crash,
    /// A loss of power too.
    PowerLoss,
}

impl Sqlite {
    /// Begins to write: waits for other processes, then holds the lock until the end of the transaction.
    ///
    /// Transactions are begun and ended in words, not by sqlx's counting: SQLite ends one by itself when the disk is full, and a
    /// count that does not know that would leave the connection useless.
    async fn begin(&self, survives: Survives) -> Result<Writing, StoreError> {
        let begin = match survives {
            Survives::Crash => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
            Survives::PowerLoss => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
        };
        let mut writing = self.writer.acquire().await.map_err(|error| self.error(&error))?;
        writing.execute(sqlx::raw_sql(begin)).await.map_err(|error| self.error(&error))?;
        Ok(writing)
    }

    async fn commit(&self, mut writing: Writing) -> Result<(), StoreError> {
        writing.execute("COMMIT").await.map(|_| ()).map_err(|error| self.error(&error))
    }

    fn error(&self, error: &sqlx::Error) -> StoreError {
        error_at(&self.place, error)
    }

    fn unreadable(&self, detail: &str) -> StoreError {
        StoreError::new(&self.place, Fault::UnreadableRow, detail)
    }

    fn column<'r, T: sqlx::Decode<'r, Database> + sqlx::Type<Database>>(
        &self,
        row: &'r SqliteRow,
        column: &str,
    ) -> Result<T, StoreError> {
        row.try_get(column).map_err(|error| self.unreadable(&error.to_string()))
    }

    fn digest(&self, row: &SqliteRow, column: &str) -> Result<[u8; 32], StoreError> {
        let bytes: &[u8] = self.column(row, column)?;
        bytes.try_into().map_err(|_| self.unreadable(&format!("`{column}` has {} bytes, not 32", bytes.len())))
    }

    /// Numbers that count are kept as SQLite's signed ones; a negative one was written by somebody else.
    fn count(&self, row: &SqliteRow, column: &str) -> Result<u64, StoreError> {
        let number: i64 = self.column(row, column)?;
        u64::try_from(number).map_err(|_| self.unreadable(&format!("`{column}` is {number}")))
    }

    fn time(&self, row: &SqliteRow, column: &str) -> Result<Micros, StoreError> {
        self.column(row, column).map(Micros::new)
    }

    fn maybe_time(&self, row: &SqliteRow, column: &str) -> Result<Option<Micros>, StoreError> {
        Ok(self.column::<Option<i64>>(row, column)?.map(Micros::new))
    }
}

/// Sorts what SQLite reports by what a person can do about it.
fn error_at(place: &Location, error: &sqlx::Error) -> StoreError {
    let fault = match error {
        sqlx::Error::Database(database) => {
            let code = database.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or_default();
            match code & 0xff {
                5 | 6 => Fault::Busy,
                8 => Fault::ReadOnly,
                11 => Fault::Damaged,
                13 => Fault::Full,
                14 => Fault::Unreachable,
                26 => Fault::NotADatabase,
                _ => Fault::Failed,
            }
        }
        sqlx::Error::Io(_) => Fault::Unreachable,
        sqlx::Error::PoolTimedOut => Fault::Busy,
        sqlx::Error::PoolClosed => Fault::Closed,
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Fault::UnreadableRow,
        _ => Fault::Failed,
    };
    let detail = match error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        sqlx::Error::PoolClosed => String::new(),
        other => other.to_string(),
    };
    StoreError::new(place, fault, &detail)
}

impl Backend for Sqlite {
    fn names<'a>(&'a self, scope: &'a NameScope) -> Answer<'a, KnownNames> {
        Box::pin(self.load_names(scope))
    }

    fn change_names<'a>(
        &'a self,
        scope: &'a NameScope,
        expected: u64,
        change: &'a NamesChange,
        at: Micros,
    ) -> Answer<'a, bool> {
        Box::pin(self.save_names(scope, expected, change, at))
    }

    fn name_scopes(&self) -> Answer<'_, Vec<NameScope>> {
        Box::pin(self.load_scopes())
    }

    fn definitions<'a>(&'a self, pack: &'a str) -> Answer<'a, Option<(KnownPack, Vec<KnownDefinition>)>> {
        Box::pin(self.load_definitions(pack))
    }

    fn packs(&self) -> Answer<'_, Vec<KnownPack>> {
        Box::pin(self.load_packs())
    }

    fn replace_definitions<'a>(&'a self, change: DefinitionsChange<'a>) -> Answer<'a, ()> {
        Box::pin(self.save_definitions(change))
    }

    fn forget_pack<'a>(&'a self, pack: &'a str) -> Answer<'a, bool> {
        Box::pin(self.remove_pack(pack))
    }

    fn history<'a>(&'a self, pack: &'a str) -> Answer<'a, Vec<History>> {
        Box::pin(self.load_history(pack))
    }

    fn add_token<'a>(&'a self, row: &'a TokenRow) -> Answer<'a, bool> {
        Box::pin(self.insert_token(row))
    }

    fn tokens(&self) -> Answer<'_, Vec<TokenRow>> {
        Box::pin(self.load_tokens())
    }

    fn token_by_hash<'a>(&'a self, hash: &'a TokenHash) -> Answer<'a, Option<TokenRow>> {
        Box::pin(self.find_token(hash))
    }

    fn revoke_token<'a>(&'a self, id: &'a TokenId, at: Micros) -> Answer<'a, bool> {
        Box::pin(self.end_token(id, at))
    }

    fn tokens_used<'a>(&'a self, used: &'a [(TokenId, Micros)]) -> Answer<'a, ()> {
        Box::pin(self.note_use(used))
    }

    fn tokens_version(&self) -> Answer<'_, u64> {
        Box::pin(self.load_tokens_version())
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
        Box::pin(self.load_page(filter, order, after, limit))
    }

    fn calls_page<'a>(
        &'a self,
        filter: &'a AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Answer<'a, Vec<(AuditCursor, AuditCall)>> {
        Box::pin(self.load_calls(filter, after, limit))
    }

    fn chains(&self) -> Answer<'_, Vec<Chain>> {
        Box::pin(self.load_chains())
    }

    fn chain_page<'a>(&'a self, node: &'a str, after: u64, limit: u32) -> Answer<'a, Vec<ChainRow>> {
        Box::pin(self.load_chain_page(node, after, limit))
    }

    fn open_intents<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<AuditEntry>> {
        Box::pin(self.load_open(node))
    }

    fn claim<'a>(&'a self, node: &'a str) -> Answer<'a, Claim> {
        Box::pin(std::future::ready(self.lock_node(node)))
    }

    fn trim<'a>(&'a self, node: &'a str, before: Micros, limit: u32, at: Micros) -> Answer<'a, u64> {
        Box::pin(self.trim_chain(node, before, limit, at))
    }

    fn trim_bodies(&self, before: Micros, limit: u32) -> Answer<'_, u64> {
        Box::pin(self.remove_bodies(before, limit))
    }

    fn counters(&self) -> Answer<'_, Counters> {
        Box::pin(self.load_counters())
    }

    /// SQLite calls nobody: the counters tell.
    fn notices(&self) -> Answer<'_, Option<mpsc::Receiver<Change>>> {
        Box::pin(async { Ok(None) })
    }

    fn join_ask<'a>(&'a self, new: &'a Ask, run: RunId, node: &'a str) -> Answer<'a, Joined> {
        Box::pin(self.take_part(new, run, node))
    }

    fn take_answer<'a>(&'a self, key: &'a AskKey, node: &'a str, at: Micros) -> Answer<'a, Option<Joined>> {
        Box::pin(self.take_decided(key, node, at))
    }

    fn ask(&self, id: AskId) -> Answer<'_, Option<Ask>> {
        Box::pin(self.load_ask(id))
    }

    fn asks<'a>(&'a self, filter: &'a AskFilter, before: Option<AskId>, limit: u32) -> Answer<'a, Vec<Ask>> {
        Box::pin(self.load_asks(filter, before, limit))
    }

    fn pending_asks(&self, now: Micros) -> Answer<'_, u64> {
        Box::pin(self.count_pending(now))
    }

    fn decide_ask<'a>(
        &'a self,
        id: AskId,
        decided: &'a Decided,
        grant: Option<&'a Grant>,
        until: Micros,
    ) -> Answer<'a, Outcome> {
        Box::pin(self.save_decision(id, decided, grant, until))
    }

    fn answered_asks(&self, now: Micros) -> Answer<'_, Vec<(AskKey, Micros)>> {
        Box::pin(self.load_answered(now))
    }

    fn expire_asks(&self, now: Micros) -> Answer<'_, u64> {
        Box::pin(self.end_asks(now))
    }

    fn trim_asks(&self, before: Micros, limit: u32) -> Answer<'_, u64> {
        Box::pin(self.remove_asks(before, limit))
    }

    fn run(&self, id: RunId) -> Answer<'_, Option<(Run, Ask)>> {
        Box::pin(self.load_run(id))
    }

    fn runs_of(&self, ask: AskId) -> Answer<'_, Vec<Run>> {
        Box::pin(self.load_runs_of(ask))
    }

    fn start_run<'a>(&'a self, id: RunId, node: &'a str, at: Micros) -> Answer<'a, bool> {
        Box::pin(self.begin_run(id, node, at))
    }

    fn continue_run<'a>(&'a self, id: RunId, round: u32, node: &'a str, at: Micros) -> Answer<'a, bool> {
        Box::pin(self.next_round(id, round, node, at))
    }

    fn move_run<'a>(&'a self, id: RunId, from: &'a [RunState], to: RunState, at: Micros) -> Answer<'a, bool> {
        Box::pin(self.change_run(id, from, to, at))
    }

    fn leave_behind<'a>(&'a self, node: &'a str, at: Micros) -> Answer<'a, (u64, u64)> {
        Box::pin(self.end_node(node, at))
    }

    fn busy_nodes(&self) -> Answer<'_, Vec<String>> {
        Box::pin(self.load_busy_nodes())
    }

    fn grants(&self, revoked: bool) -> Answer<'_, Vec<Grant>> {
        Box::pin(self.load_grants(revoked))
    }

    fn add_grant<'a>(&'a self, grant: &'a Grant) -> Answer<'a, ()> {
        Box::pin(self.save_grant(grant))
    }

    fn use_grant(&self, id: GrantId) -> Answer<'_, bool> {
        Box::pin(self.count_use(id))
    }

    fn revoke_grant<'a>(&'a self, id: GrantId, by: &'a Given) -> Answer<'a, bool> {
        Box::pin(self.end_grant(id, by))
    }

    fn approvals_version(&self) -> Answer<'_, ApprovalsVersion> {
        Box::pin(self.load_approvals_version())
    }

    fn shared_key<'a>(&'a self, name: &'a str, fresh: [u8; 32]) -> Answer<'a, [u8; 32]> {
        Box::pin(self.load_key(name, fresh))
    }

    fn pins(&self) -> Answer<'_, Vec<Pin>> {
        Box::pin(self.load_pins())
    }

    fn add_pins<'a>(&'a self, pins: &'a [Pin]) -> Answer<'a, Vec<Pin>> {
        Box::pin(self.insert_pins(pins))
    }

    fn replace_pins<'a>(&'a self, pins: &'a [Pin]) -> Answer<'a, ()> {
        Box::pin(self.save_pins(pins))
    }

    fn forget_pin<'a>(&'a self, tool: &'a str) -> Answer<'a, bool> {
        Box::pin(self.remove_pin(tool))
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

    fn failure(&self, detail: &str) -> StoreError {
        StoreError::new(&self.place, Fault::Failed, detail)
    }

    fn sessions<'a>(&'a self, named: Option<&'a str>, most: Option<u64>) -> Answer<'a, Vec<KeptSession>> {
        Box::pin(self.load_sessions(named, most))
    }

    fn session_items<'a>(&'a self, session: &'a str, most: Option<u64>) -> Answer<'a, Vec<String>> {
        Box::pin(self.load_session(session, most))
    }

    fn add_session_items<'a>(&'a self, session: &'a str, items: &'a [String], at: Micros) -> Answer<'a, ()> {
        Box::pin(self.add_to_session(session, items, at))
    }

    fn pop_session_item<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, Option<String>> {
        Box::pin(self.pop_from_session(session, at))
    }

    fn clear_session<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, ()> {
        Box::pin(self.empty_session(session, at))
    }

    fn forget_session<'a>(&'a self, session: &'a str) -> Answer<'a, bool> {
        Box::pin(self.remove_session(session))
    }

    fn forget_idle_session<'a>(&'a self, session: &'a str, at: Micros) -> Answer<'a, bool> {
        Box::pin(self.remove_idle_session(session, at))
    }

    fn claim_session<'a>(&'a self, session: &'a str, run: &'a str, take_over: bool, at: Micros) -> Answer<'a, bool> {
        Box::pin(self.take_session(session, run, take_over, at))
    }

    fn finish_session<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        items: &'a [String],
        at: Micros,
    ) -> Answer<'a, bool> {
        Box::pin(self.end_session(session, run, items, at))
    }

    fn replace_session_items<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        oldest: u64,
        items: &'a [String],
        at: Micros,
    ) -> Answer<'a, bool> {
        Box::pin(self.shorten_session(session, run, oldest, items, at))
    }

    fn release_session<'a>(&'a self, session: &'a str, run: &'a str) -> Answer<'a, ()> {
        Box::pin(self.leave_session(session, run))
    }

    fn take_thread<'a>(&'a self, claim: ThreadClaim<'a>, at: Micros) -> Answer<'a, TakenThread> {
        Box::pin(self.hold_session(claim, at))
    }

    fn trim_threads(&self, idle: Micros, waiting: Micros, limit: u32, at: Micros) -> Answer<'_, TrimmedThreads> {
        Box::pin(self.remove_threads(idle, waiting, limit, at))
    }

    fn keep_thread<'a>(&'a self, session: &'a str, holder: &'a str, until: Micros) -> Answer<'a, bool> {
        Box::pin(self.hold_longer(session, holder, until))
    }

    fn leave_thread<'a>(
        &'a self,
        session: &'a str,
        holder: &'a str,
        items: &'a [String],
        waits: Option<&'a str>,
        at: Micros,
    ) -> Answer<'a, bool> {
        Box::pin(self.give_session_back(session, holder, items, waits, at))
    }

    fn baseline<'a>(&'a self, task: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(self.load_baseline(task))
    }

    fn baselines(&self) -> Answer<'_, Vec<(String, Micros)>> {
        Box::pin(self.load_baselines())
    }

    fn change_baseline<'a>(
        &'a self,
        task: &'a str,
        before: Option<&'a str>,
        text: &'a str,
        at: Micros,
    ) -> Answer<'a, bool> {
        Box::pin(self.save_baseline(task, before, text, at))
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(self.end())
    }
}
