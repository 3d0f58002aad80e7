//! Tokens in PostgreSQL.

use sqlx::Executor as _;
use sqlx::postgres::PgRow;

use super::text::kept;
use super::{Postgres, Survives, Writing};
use crate::backend::TokenRow;
use crate::error::StoreError;
use crate::time::Micros;
use crate::tokens::{Scope, Token, TokenHash, TokenId};
use crate::watch::Change;

impl Postgres {
    pub(super) async fn insert_token(&self, row: &TokenRow) -> Result<bool, StoreError> {
        let token = &row.token;
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Also when the hash is there already, which two random secrets never are.
        let query = sqlx::query(
            "INSERT INTO tokens (id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
        );
        let query = query.bind(token.id.as_str()).bind(row.hash.as_bytes().as_slice()).bind(kept(&token.name));
        let query = query.bind(written(&token.tasks)).bind(written(&token.profiles)).bind(token.created.get());
        let query = query.bind(token.last_used.map(Micros::get)).bind(token.expires.map(Micros::get));
        let query = query.bind(token.revoked.map(Micros::get)).bind(i64::from(token.approver));
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        self.count_change(&mut transaction).await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    async fn count_change(&self, transaction: &mut Writing) -> Result<(), StoreError> {
        let sql = "UPDATE counters SET value = value + 1 WHERE name = 'tokens'";
        (&mut **transaction).execute(sql).await.map_err(|error| self.error(&error))?;
        self.announce(transaction, Change::Tokens).await
    }

    pub(super) async fn load_tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        let sql = "SELECT id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver \
                   FROM tokens ORDER BY created_us, id";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.token(row)).collect()
    }

    pub(super) async fn find_token(&self, hash: &TokenHash) -> Result<Option<TokenRow>, StoreError> {
        let query = sqlx::query(
            "SELECT id, hash, name, tasks, profiles, created_us, last_used_us, expires_us, revoked_us, approver FROM tokens \
             WHERE hash = $1",
        );
        let query = query.bind(hash.as_bytes().as_slice());
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.error(&error))?;
        row.as_ref().map(|row| self.token(row)).transpose()
    }

    pub(super) async fn end_token(&self, id: &TokenId, at: Micros) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("UPDATE tokens SET revoked_us = $1 WHERE id = $2 AND revoked_us IS NULL");
        let query = query.bind(at.get()).bind(kept(id.as_str()));
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
        // Rows are taken in one order by everybody, so that no two nodes wait for each other.
        let query = sqlx::query(
            "UPDATE tokens t SET last_used_us = u.at FROM (SELECT t.id, max(n.at) AS at \
             FROM UNNEST($1::text[], $2::bigint[]) AS n (id, at) JOIN (SELECT id FROM tokens WHERE id = ANY($1) \
             ORDER BY id FOR UPDATE) t ON t.id = n.id GROUP BY t.id) u \
             WHERE t.id = u.id AND coalesce(t.last_used_us < u.at, TRUE)",
        );
        let ids: Vec<_> = used.iter().map(|(id, _)| kept(id.as_str())).collect();
        let times: Vec<i64> = used.iter().map(|(_, at)| at.get()).collect();
        query.bind(ids).bind(times).execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await
    }

    pub(super) async fn load_tokens_version(&self) -> Result<u64, StoreError> {
        let sql = "SELECT value FROM counters WHERE name = 'tokens'";
        let row = sqlx::query(sql).fetch_one(&self.pool).await.map_err(|error| self.error(&error))?;
        self.count(&row, "value")
    }

    fn token(&self, row: &PgRow) -> Result<TokenRow, StoreError> {
        let token = Token {
            id: TokenId::new(&self.text(row, "id")?),
            name: self.text(row, "name")?.into_owned(),
            tasks: self.scope(row, "tasks")?,
            profiles: self.scope(row, "profiles")?,
            created: self.time(row, "created_us")?,
            last_used: self.maybe_time(row, "last_used_us")?,
            expires: self.maybe_time(row, "expires_us")?,
            revoked: self.maybe_time(row, "revoked_us")?,
            approver: self.column::<i64>(row, "approver")? != 0,
        };
        Ok(TokenRow { token, hash: TokenHash::from_bytes(self.digest(row, "hash")?) })
    }

    /// A scope that cannot be read is not taken for one without limits.
    fn scope(&self, row: &PgRow, column: &str) -> Result<Scope, StoreError> {
        match self.maybe_text(row, column)? {
            None => Ok(Scope::All),
            Some(text) => serde_json::from_str(&text)
                .map(Scope::Only)
                .map_err(|_| self.unreadable(&format!("`{column}` of a token is no list of names"))),
        }
    }
}

/// JSON spells NUL out, so it is kept as it is.
fn written(scope: &Scope) -> Option<String> {
    match scope {
        Scope::All => None,
        Scope::Only(names) => {
            let text = serde_json::Value::from_iter(names.iter().map(String::as_str)).to_string();
            Some(kept(&text).into_owned())
        }
    }
}
