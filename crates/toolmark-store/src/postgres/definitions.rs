//! Last known definitions in PostgreSQL.

use std::collections::BTreeSet;

use sqlx::postgres::PgRow;

use super::text::kept;
use super::{Postgres, Survives, Writing};
use crate::backend::DefinitionsChange;
use crate::definitions::{DefinitionKind, History, KnownDefinition, KnownPack};
use crate::error::StoreError;

impl Postgres {
    pub(super) async fn load_definitions(
        &self,
        pack: &str,
    ) -> Result<Option<(KnownPack, Vec<KnownDefinition>)>, StoreError> {
        // One statement, so that no replacement comes between the pack and what it lists.
        let query = sqlx::query(
            "SELECT p.pack, p.source, p.about, p.seen_us, d.kind, d.name, d.text, d.digest FROM packs p \
             LEFT JOIN definitions d ON d.pack = p.pack WHERE p.pack = $1 ORDER BY d.position",
        );
        let rows = query.bind(kept(pack)).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        let Some(first) = rows.first() else { return Ok(None) };
        let known = self.pack(first)?;
        let mut definitions = Vec::with_capacity(rows.len());
        for row in &rows {
            if let Some(kind) = self.column::<Option<&str>>(row, "kind")? {
                definitions.push(KnownDefinition {
                    kind: self.kind(kind)?,
                    name: self.text(row, "name")?.into_owned(),
                    text: self.text(row, "text")?.into_owned(),
                    digest: self.digest(row, "digest")?,
                });
            }
        }
        Ok(Some((known, definitions)))
    }

    pub(super) async fn load_packs(&self) -> Result<Vec<KnownPack>, StoreError> {
        let sql = "SELECT pack, source, about, seen_us FROM packs ORDER BY pack";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.pack(row)).collect()
    }

    fn pack(&self, row: &PgRow) -> Result<KnownPack, StoreError> {
        Ok(KnownPack {
            pack: self.text(row, "pack")?.into_owned(),
            source: self.text(row, "source")?.into_owned(),
            about: self.maybe_text(row, "about")?.map(Into::into),
            seen: self.time(row, "seen_us")?,
        })
    }

    fn kind(&self, text: &str) -> Result<DefinitionKind, StoreError> {
        DefinitionKind::parse(text).ok_or_else(|| self.unreadable(&format!("`{text}` is no kind of definition")))
    }

    pub(super) async fn save_definitions(&self, change: DefinitionsChange<'_>) -> Result<(), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let KnownPack { pack, source, about, seen } = change.pack;
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Whoever writes this row first replaces the rest first.
        let query = sqlx::query(
            "INSERT INTO packs (pack, source, about, seen_us) VALUES ($1, $2, $3, $4) ON CONFLICT (pack) DO UPDATE \
             SET source = excluded.source, about = excluded.about, seen_us = excluded.seen_us",
        );
        let query = query.bind(kept(pack)).bind(kept(source)).bind(about.as_deref().map(kept)).bind(seen.get());
        query.execute(&mut *transaction).await.map_err(error)?;
        if !self.lists_the_same(&mut transaction, &change).await? {
            let query = sqlx::query("DELETE FROM definitions WHERE pack = $1");
            query.bind(kept(pack)).execute(&mut *transaction).await.map_err(error)?;
            self.insert_definitions(&mut transaction, &change).await?;
            self.save_history(&mut transaction, &change).await?;
        }
        self.commit(transaction).await
    }

    async fn insert_definitions(
        &self,
        transaction: &mut Writing,
        change: &DefinitionsChange<'_>,
    ) -> Result<(), StoreError> {
        let all = change.definitions;
        let query = sqlx::query(
            "INSERT INTO definitions (pack, position, kind, name, text, digest) \
             SELECT $1, d.position - 1, d.kind, d.name, d.text, d.digest \
             FROM UNNEST($2::text[], $3::text[], $4::text[], $5::bytea[]) \
             WITH ORDINALITY AS d (kind, name, text, digest, position)",
        );
        let query = query.bind(kept(&change.pack.pack));
        let query = query.bind(all.iter().map(|one| one.kind.as_str()).collect::<Vec<_>>());
        let query = query.bind(all.iter().map(|one| kept(&one.name)).collect::<Vec<_>>());
        let query = query.bind(all.iter().map(|one| kept(&one.text)).collect::<Vec<_>>());
        let query = query.bind(all.iter().map(|one| one.digest.as_slice()).collect::<Vec<_>>());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    /// The common case: a server that starts again and lists what it always did. Only the time is new then.
    async fn lists_the_same(
        &self,
        transaction: &mut Writing,
        change: &DefinitionsChange<'_>,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query("SELECT kind, name, text, digest FROM definitions WHERE pack = $1 ORDER BY position");
        let rows = query.bind(kept(&change.pack.pack)).fetch_all(&mut **transaction).await;
        let rows = rows.map_err(|error| self.error(&error))?;
        if rows.len() != change.definitions.len() {
            return Ok(false);
        }
        for (row, definition) in rows.iter().zip(change.definitions) {
            let same = self.column::<&str>(row, "kind")? == definition.kind.as_str()
                && self.text(row, "name")? == definition.name
                && self.column::<&[u8]>(row, "digest")? == definition.digest
                && self.text(row, "text")? == definition.text;
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn save_history(&self, transaction: &mut Writing, change: &DefinitionsChange<'_>) -> Result<(), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let (pack, at) = (kept(&change.pack.pack), change.pack.seen.get());
        let mut listed: BTreeSet<(&str, String, [u8; 32])> =
            change.definitions.iter().map(|one| (one.kind.as_str(), one.name.clone(), one.digest)).collect();
        let sql = "SELECT id, kind, name, digest FROM definition_history WHERE pack = $1 AND replaced_us IS NULL";
        let rows = sqlx::query(sql).bind(&*pack).fetch_all(&mut **transaction).await.map_err(error)?;
        let mut replaced: Vec<i64> = Vec::new();
        for row in &rows {
            let kind: &str = self.column(row, "kind")?;
            let key = (kind, self.text(row, "name")?.into_owned(), self.digest(row, "digest")?);
            if !listed.remove(&key) {
                replaced.push(self.column(row, "id")?);
            }
        }
        let query = sqlx::query("UPDATE definition_history SET replaced_us = $1 WHERE id = ANY($2)");
        query.bind(at).bind(replaced).execute(&mut **transaction).await.map_err(error)?;
        let query = sqlx::query(
            "INSERT INTO definition_history (pack, kind, name, digest, first_seen_us) \
             SELECT $1, n.*, $5 FROM UNNEST($2::text[], $3::text[], $4::bytea[]) AS n",
        );
        let query = query.bind(&*pack).bind(listed.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>());
        let query = query.bind(listed.iter().map(|(_, name, _)| kept(name)).collect::<Vec<_>>());
        let query = query.bind(listed.iter().map(|(.., digest)| digest.as_slice()).collect::<Vec<_>>()).bind(at);
        query.execute(&mut **transaction).await.map_err(error)?;
        // What is listed now stays, however much there is; of what was replaced, the newest.
        let query = sqlx::query(
            "DELETE FROM definition_history WHERE id IN (SELECT id FROM (SELECT id, replaced_us, \
             row_number() OVER (PARTITION BY kind, name ORDER BY id DESC) AS by_name, \
             row_number() OVER (ORDER BY replaced_us IS NULL DESC, id DESC) AS by_pack, \
             count(*) FILTER (WHERE replaced_us IS NULL) OVER () AS current \
             FROM definition_history WHERE pack = $1) AS ranked \
             WHERE replaced_us IS NOT NULL AND (by_name > $2 OR by_pack > current + $3))",
        );
        let query =
            query.bind(&*pack).bind(i64::from(change.history_per_name)).bind(i64::from(change.history_per_pack));
        query.execute(&mut **transaction).await.map(|_| ()).map_err(error)
    }

    pub(super) async fn remove_pack(&self, pack: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("DELETE FROM packs WHERE pack = $1").bind(kept(pack));
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn load_history(&self, pack: &str) -> Result<Vec<History>, StoreError> {
        let query = sqlx::query(
            "SELECT kind, name, digest, first_seen_us, replaced_us FROM definition_history WHERE pack = $1 \
             ORDER BY id DESC",
        );
        let rows = query.bind(kept(pack)).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        let history = |row: &PgRow| {
            Ok(History {
                kind: self.kind(self.column(row, "kind")?)?,
                name: self.text(row, "name")?.into_owned(),
                digest: self.digest(row, "digest")?,
                first_seen: self.time(row, "first_seen_us")?,
                replaced: self.maybe_time(row, "replaced_us")?,
            })
        };
        rows.iter().map(history).collect()
    }
}
