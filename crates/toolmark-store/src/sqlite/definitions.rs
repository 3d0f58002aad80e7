//! Last known definitions in SQLite.

use std::collections::HashSet;

use sqlx::Executor as _;
use sqlx::sqlite::SqliteRow;

use super::{Sqlite, Survives, Writing};
use crate::backend::DefinitionsChange;
use crate::definitions::{DefinitionKind, History, KnownDefinition, KnownPack};
use crate::error::StoreError;

impl Sqlite {
    pub(super) async fn load_definitions(
        &self,
        pack: &str,
    ) -> Result<Option<(KnownPack, Vec<KnownDefinition>)>, StoreError> {
        // One statement, so that no replacement comes between the pack and what it lists.
        let query = sqlx::query(
            "SELECT p.pack, p.source, p.about, p.seen_us, d.kind, d.name, d.text, d.digest FROM packs p \
             LEFT JOIN definitions d ON d.pack = p.pack WHERE p.pack = ? ORDER BY d.position",
        );
        let rows = query.bind(pack.to_owned()).fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        let Some(first) = rows.first() else { return Ok(None) };
        let known = self.pack(first)?;
        let mut definitions = Vec::with_capacity(rows.len());
        for row in &rows {
            if let Some(kind) = self.column::<Option<&str>>(row, "kind")? {
                definitions.push(KnownDefinition {
                    kind: self.kind(kind)?,
                    name: self.column(row, "name")?,
                    text: self.column(row, "text")?,
                    digest: self.digest(row, "digest")?,
                });
            }
        }
        Ok(Some((known, definitions)))
    }

    pub(super) async fn load_packs(&self) -> Result<Vec<KnownPack>, StoreError> {
        let sql = "SELECT pack, source, about, seen_us FROM packs ORDER BY pack";
        let rows = self.readers.fetch_all(sql).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| self.pack(row)).collect()
    }

    fn pack(&self, row: &SqliteRow) -> Result<KnownPack, StoreError> {
        Ok(KnownPack {
            pack: self.column(row, "pack")?,
            source: self.column(row, "source")?,
            about: self.column(row, "about")?,
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
        let query = sqlx::query(
            "INSERT INTO packs (pack, source, about, seen_us) VALUES (?, ?, ?, ?) ON CONFLICT (pack) DO UPDATE \
             SET source = excluded.source, about = excluded.about, seen_us = excluded.seen_us",
        );
        let query = query.bind(pack.clone()).bind(source.clone()).bind(about.clone()).bind(seen.get());
        query.execute(&mut *transaction).await.map_err(error)?;
        if !self.lists_the_same(&mut transaction, &change).await? {
            let query = sqlx::query("DELETE FROM definitions WHERE pack = ?");
            query.bind(pack.clone()).execute(&mut *transaction).await.map_err(error)?;
            for (position, definition) in (0i64..).zip(change.definitions) {
                let query = sqlx::query(
                    "INSERT INTO definitions (pack, position, kind, name, text, digest) VALUES (?, ?, ?, ?, ?, ?)",
                );
                let query = query.bind(pack.clone()).bind(position).bind(definition.kind.as_str());
                let query = query.bind(definition.name.clone()).bind(definition.text.clone());
                query.bind(definition.digest.to_vec()).execute(&mut *transaction).await.map_err(error)?;
            }
            self.save_history(&mut transaction, &change).await?;
        }
        self.commit(transaction).await
    }

    /// The common case: a server that starts again and lists what it always did. Only the time is new then.
    async fn lists_the_same(
        &self,
        transaction: &mut Writing,
        change: &DefinitionsChange<'_>,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query("SELECT kind, name, text, digest FROM definitions WHERE pack = ? ORDER BY position");
        let rows = query.bind(change.pack.pack.clone()).fetch_all(&mut **transaction).await;
        let rows = rows.map_err(|error| self.error(&error))?;
        if rows.len() != change.definitions.len() {
            return Ok(false);
        }
        for (row, definition) in rows.iter().zip(change.definitions) {
            let same = self.column::<&str>(row, "kind")? == definition.kind.as_str()
                && self.column::<&str>(row, "name")? == definition.name
                && self.column::<&[u8]>(row, "digest")? == definition.digest
                && self.column::<&str>(row, "text")? == definition.text;
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn save_history(&self, transaction: &mut Writing, change: &DefinitionsChange<'_>) -> Result<(), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let (pack, at) = (&change.pack.pack, change.pack.seen.get());
        let mut listed: HashSet<(&str, &str, [u8; 32])> =
            change.definitions.iter().map(|one| (one.kind.as_str(), one.name.as_str(), one.digest)).collect();
        let query =
            sqlx::query("SELECT id, kind, name, digest FROM definition_history WHERE pack = ? AND replaced_us IS NULL");
        let rows = query.bind(pack.clone()).fetch_all(&mut **transaction).await.map_err(error)?;
        for row in &rows {
            let key = (self.column(row, "kind")?, self.column(row, "name")?, self.digest(row, "digest")?);
            if !listed.remove(&key) {
                let query = sqlx::query("UPDATE definition_history SET replaced_us = ? WHERE id = ?");
                let query = query.bind(at).bind(self.column::<i64>(row, "id")?);
                query.execute(&mut **transaction).await.map_err(error)?;
            }
        }
        for (kind, name, digest) in listed {
            let query = sqlx::query(
                "INSERT INTO definition_history (pack, kind, name, digest, first_seen_us) VALUES (?, ?, ?, ?, ?)",
            );
            let query = query.bind(pack.clone()).bind(kind).bind(name).bind(digest.to_vec()).bind(at);
            query.execute(&mut **transaction).await.map_err(error)?;
        }
        // What is listed now stays, however much there is; of what was replaced, the newest.
        let query = sqlx::query(
            "DELETE FROM definition_history WHERE id IN (SELECT id FROM (SELECT id, replaced_us, \
             row_number() OVER (PARTITION BY kind, name ORDER BY id DESC) AS by_name, \
             row_number() OVER (ORDER BY replaced_us IS NULL DESC, id DESC) AS by_pack, \
             count(*) FILTER (WHERE replaced_us IS NULL) OVER () AS current \
             FROM definition_history WHERE pack = ?) \
             WHERE replaced_us IS NOT NULL AND (by_name > ? OR by_pack > current + ?))",
        );
        let query = query.bind(pack.clone()).bind(change.history_per_name).bind(change.history_per_pack);
        query.execute(&mut **transaction).await.map_err(error)?;
        Ok(())
    }

    pub(super) async fn remove_pack(&self, pack: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        let query = sqlx::query("DELETE FROM packs WHERE pack = ?").bind(pack.to_owned());
        let done = query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn load_history(&self, pack: &str) -> Result<Vec<History>, StoreError> {
        let query = sqlx::query(
            "SELECT kind, name, digest, first_seen_us, replaced_us FROM definition_history WHERE pack = ? \
             ORDER BY id DESC",
        );
        let rows = query.bind(pack.to_owned()).fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        let history = |row: &SqliteRow| {
            Ok(History {
                kind: self.kind(self.column(row, "kind")?)?,
                name: self.column(row, "name")?,
                digest: self.digest(row, "digest")?,
                first_seen: self.time(row, "first_seen_us")?,
                replaced: self.maybe_time(row, "replaced_us")?,
            })
        };
        rows.iter().map(history).collect()
    }
}
