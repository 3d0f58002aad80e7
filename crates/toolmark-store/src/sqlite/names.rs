//! Published names in SQLite.

use sqlx::Executor as _;

use super::{Sqlite, Survives};
use crate::backend::NamesChange;
use crate::error::StoreError;
use crate::names::{KnownNames, NameScope};
use crate::time::Micros;

impl Sqlite {
    pub(super) async fn load_names(&self, scope: &NameScope) -> Result<KnownNames, StoreError> {
        // One statement, so that names and version belong together.
        let query = sqlx::query(
            "SELECT s.version, n.exposed, n.canonical, n.former FROM name_scopes s LEFT JOIN names n ON n.scope = s.id \
             WHERE s.profile = ? AND s.server = ?",
        );
        let rows = query.bind(scope.profile.clone()).bind(scope.server.clone()).fetch_all(&self.readers).await;
        let mut known = KnownNames::default();
        for row in rows.map_err(|error| self.error(&error))? {
            known.version = self.count(&row, "version")?;
            let Some(exposed) = self.column::<Option<&str>>(&row, "exposed")? else { continue };
            let canonical: &str = self.column(&row, "canonical")?;
            match self.column::<i64>(&row, "former")? {
                0 => known.published.remember(canonical, exposed),
                _ => known.published.remember_former(canonical, exposed),
            }
        }
        Ok(known)
    }

    pub(super) async fn load_scopes(&self) -> Result<Vec<NameScope>, StoreError> {
        let sql = "SELECT profile, server FROM name_scopes ORDER BY profile, server";
        let rows = self.readers.fetch_all(sql).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok(NameScope::new(self.column(row, "profile")?, self.column(row, "server")?))).collect()
    }

    pub(super) async fn save_names(
        &self,
        scope: &NameScope,
        expected: u64,
        change: &NamesChange,
        at: Micros,
    ) -> Result<bool, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("SELECT id, version FROM name_scopes WHERE profile = ? AND server = ?");
        let query = query.bind(scope.profile.clone()).bind(scope.server.clone());
        let row = query.fetch_optional(&mut *transaction).await.map_err(error)?;
        let found = match &row {
            None => (None, 0),
            Some(row) => (Some(self.column::<i64>(row, "id")?), self.count(row, "version")?),
        };
        if found.1 != expected {
            return Ok(false);
        }
        let id = match found.0 {
            Some(id) => {
                let query = sqlx::query("UPDATE name_scopes SET version = version + 1 WHERE id = ?");
                query.bind(id).execute(&mut *transaction).await.map_err(error)?;
                id
            }
            None => {
                let query = sqlx::query("INSERT INTO name_scopes (profile, server, version) VALUES (?, ?, 1)");
                let query = query.bind(scope.profile.clone()).bind(scope.server.clone());
                query.execute(&mut *transaction).await.map_err(error)?.last_insert_rowid()
            }
        };
        // A name may pass from one tool to another: first nobody has it.
        let changed = change.kept.iter().map(|(exposed, ..)| exposed);
        for exposed in change.forgotten.iter().chain(changed) {
            let query = sqlx::query("DELETE FROM names WHERE scope = ? AND exposed = ?");
            query.bind(id).bind(exposed.clone()).execute(&mut *transaction).await.map_err(error)?;
        }
        for (exposed, canonical, former) in &change.kept {
            let query =
                sqlx::query("INSERT INTO names (scope, exposed, canonical, former, since_us) VALUES (?, ?, ?, ?, ?)");
            let query = query.bind(id).bind(exposed.clone()).bind(canonical.clone());
            let query = query.bind(i64::from(*former)).bind(at.get());
            query.execute(&mut *transaction).await.map_err(error)?;
        }
        self.commit(transaction).await?;
        Ok(true)
    }
}
