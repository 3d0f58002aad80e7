//! Published names in PostgreSQL.

use super::text::kept;
use super::{Postgres, Survives, Writing};
use crate::backend::NamesChange;
use crate::error::StoreError;
use crate::names::{KnownNames, NameScope};
use crate::time::Micros;
use crate::watch::Change;

impl Postgres {
    pub(super) async fn load_names(&self, scope: &NameScope) -> Result<KnownNames, StoreError> {
        // One statement, so that names and version belong together.
        let query = sqlx::query(
            "SELECT s.version, n.exposed, n.canonical, n.former FROM name_scopes s LEFT JOIN names n ON n.scope = s.id \
             WHERE s.profile = $1 AND s.server = $2",
        );
        let rows = query.bind(kept(&scope.profile)).bind(kept(&scope.server)).fetch_all(&self.pool).await;
        let mut known = KnownNames::default();
        for row in rows.map_err(|error| self.error(&error))? {
            known.version = self.count(&row, "version")?;
            let Some(exposed) = self.maybe_text(&row, "exposed")? else { continue };
            let canonical = self.text(&row, "canonical")?;
            match self.column::<i64>(&row, "former")? {
                0 => known.published.remember(&canonical, &exposed),
                _ => known.published.remember_former(&canonical, &exposed),
            }
        }
        Ok(known)
    }

    pub(super) async fn load_scopes(&self) -> Result<Vec<NameScope>, StoreError> {
        let sql = "SELECT profile, server FROM name_scopes ORDER BY profile, server";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok(NameScope::new(&self.text(row, "profile")?, &self.text(row, "server")?))).collect()
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
        let Some(id) = self.next_version(&mut transaction, scope, expected).await? else { return Ok(false) };
        // A name may pass from one tool to another: first nobody has it.
        let changed = change.kept.iter().map(|(exposed, ..)| exposed);
        let gone: Vec<_> = change.forgotten.iter().chain(changed).map(|exposed| kept(exposed)).collect();
        let query = sqlx::query("DELETE FROM names WHERE scope = $1 AND exposed = ANY($2)");
        query.bind(id).bind(gone).execute(&mut *transaction).await.map_err(error)?;
        let (mut exposed, mut canonical, mut former) = (Vec::new(), Vec::new(), Vec::new());
        for (name, tool, was) in &change.kept {
            exposed.push(kept(name));
            canonical.push(kept(tool));
            former.push(i64::from(*was));
        }
        let query = sqlx::query(
            "INSERT INTO names (scope, exposed, canonical, former, since_us) \
             SELECT $1, n.*, $5 FROM UNNEST($2::text[], $3::text[], $4::bigint[]) AS n",
        );
        let query = query.bind(id).bind(exposed).bind(canonical).bind(former).bind(at.get());
        query.execute(&mut *transaction).await.map_err(error)?;
        self.announce(&mut transaction, Change::Names).await?;
        self.commit(transaction).await?;
        Ok(true)
    }

    /// Holds a scope that has the version that is expected, and counts the change. None when somebody else was faster.
    async fn next_version(
        &self,
        transaction: &mut Writing,
        scope: &NameScope,
        expected: u64,
    ) -> Result<Option<i64>, StoreError> {
        let expected = expected.cast_signed();
        let query = if expected == 0 {
            sqlx::query(
                "INSERT INTO name_scopes (profile, server, version) VALUES ($1, $2, $3 + 1) \
                 ON CONFLICT (profile, server) DO NOTHING RETURNING id",
            )
        } else {
            sqlx::query(
                "UPDATE name_scopes SET version = version + 1 WHERE profile = $1 AND server = $2 AND version = $3 \
                 RETURNING id",
            )
        };
        let query = query.bind(kept(&scope.profile)).bind(kept(&scope.server)).bind(expected);
        let row = query.fetch_optional(&mut **transaction).await.map_err(|error| self.error(&error))?;
        row.map(|row| self.column(&row, "id")).transpose()
    }
}
