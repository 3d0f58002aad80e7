//! Tokens in SQLite.

use sqlx::Executor as _;
use sqlx::sqlite::SqliteRow;

use super::{Sqlite, Survives, Writing};
use crate::backend::{Counters, TokenRow};
use crate::error::StoreError;
use crate::time::Micros;
use crate::tokens::{Scope, Token, TokenHash, TokenId};

const COLUMNS: &str = "SELECT id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver \
                       FROM tokens ORDER BY created_us, id";

impl Sqlite {
    pub(super) async fn insert_token(&self, row: &TokenRow) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let token = &row.token;
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Also when the hash is there already, which two random secrets never are.
        let query = sqlx::query(
            "INSERT INTO tokens (id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        );
        let query = query.bind(token.id.as_str()).bind(row.hash.as_bytes().to_vec()).bind(token.name.clone());
        let query = query.bind(written(&token.tasks)).bind(written(&token.profiles)).bind(token.created.get());
        let query = query.bind(token.last_used.map(Micros::get)).bind(token.expires.map(Micros::get));
        let query = query.bind(token.revoked.map(Micros::get)).bind(token.approver);
        let done = query.execute(&mut *transaction).await.map_err(error)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        self.count_change(&mut transaction).await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    async fn count_change(&self, transaction: &mut Writing) -> Result<(), StoreError> {
        let sql = "UPDATE counters SET value = value + 1 WHERE name = 'tokens'";
        (&mut **transaction).execute(sql).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    pub(super) async fn load_tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        let rows = self.readers.fetch_all(COLUMNS).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.token(row)).collect()
    }

    pub(super) async fn find_token(&self, hash: &TokenHash) -> Result<Option<TokenRow>, StoreError> {
        let query = sqlx::query(
            "SELECT id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver FROM tokens \
             WHERE hash = ?",
        );
        let query = query.bind(hash.as_bytes().to_vec());
        let row = query.fetch_optional(&self.readers).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| self.token(row)).transpose()
    }

    pub(super) async fn end_token(&self, id: &TokenId, at: Micros) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("UPDATE tokens SET revoked_us = ? WHERE id = ? AND revoked_us IS NULL");
        let query = query.bind(at.get()).bind(id.as_str());
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        self.count_change(&mut transaction).await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    pub(super) async fn note_use(&self, used: &[(TokenId, Micros)]) -> Result<(), StoreError> {
        let mut transaction = self.begin(Survives::Crash).await?;
        for (id, at) in used {
            let query =
                sqlx::query("UPDATE tokens SET last_used_us = ? WHERE id = ? AND coalesce(last_used_us < ?, TRUE)");
            let query = query.bind(at.get()).bind(id.as_str()).bind(at.get());
            query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        }
        self.commit(transaction).await
    }

    pub(super) async fn load_tokens_version(&self) -> Result<u64, StoreError> {
        let sql = "SELECT value FROM counters WHERE name = 'tokens'";
        let row = self.readers.fetch_one(sql).await.map_err(|error| self.error(&error))?;
        self.count(&row, "value")
    }

    pub(super) async fn load_counters(&self) -> Result<Counters, StoreError> {
        let sql = "SELECT name, value FROM counters \
                   UNION ALL SELECT 'names', CAST(coalesce(sum(version), 0) AS BIGINT) FROM name_scopes";
        let rows = self.readers.fetch_all(sql).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok((self.column(row, "name")?, self.count(row, "value")?))).collect()
    }

    fn token(&self, row: &SqliteRow) -> Result<TokenRow, StoreError> {
        let token = Token {
            id: TokenId::new(self.column(row, "id")?),
            name: self.column(row, "name")?,
            tasks: self.scope(row, "tasks")?,
            profiles: self.scope(row, "profiles")?,
            created: self.time(row, "created_us")?,
            last_used: self.maybe_time(row, "last_used_us")?,
            expires: self.maybe_time(row, "expires_us")?,
            revoked: self.maybe_time(row, "revoked_us")?,
            approver: self.column(row, "approver")?,
        };
        Ok(TokenRow { token, hash: TokenHash::from_bytes(self.digest(row, "hash")?) })
    }

    /// A scope that cannot be read is not taken for one without limits.
    fn scope(&self, row: &SqliteRow, column: &str) -> Result<Scope, StoreError> {
        match self.column::<Option<&str>>(row, column)? {
            None => Ok(Scope::All),
            Some(text) => serde_json::from_str(text)
                .map(Scope::Only)
                .map_err(|_| self.unreadable(&format!("`{column}` of a token is no list of names"))),
        }
    }
}

fn written(scope: &Scope) -> Option<String> {
    match scope {
        Scope::All => None,
        Scope::Only(names) => Some(serde_json::Value::from_iter(names.iter().map(String::as_str)).to_string()),
    }
}
