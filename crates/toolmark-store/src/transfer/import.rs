//! Reading a store in: line by line into one transaction, kept only when the last line says that it was all.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};
use tokio::sync::mpsc;

use super::error::ImportStoreError;
use super::line::{Wrong, kind, object, push_hex, row};
use super::tables::Rows;
use super::{END, FORMAT, NAME, Part, Taken};
use crate::store::Store;

/// How many rows are sent at once.
const BATCH: usize = 128;
/// How long a line may be. The longest rows hold the arguments and the result of a call.
const LONGEST: u64 = 1 << 30;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// How many rows.
    pub rows: u64,
    /// How many of them are records of the audit.
    pub records: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The version of the store that the export is from.
    pub version: u64,
}

/// A text that is read line by line, with what it hashes to so far.
struct Lines<'r, R> {
    from: &'r mut R,
    digest: Sha256,
    number: u64,
    bytes: u64,
    text: Vec<u8>,
}

impl Store {
    /// Reads an export into this store, which must be empty: all of it or nothing. `told` hears how far it is now and then.
    ///
    /// # Errors
    /// [`ImportStoreError`]; then the store is as it was.
    pub async fn import(
        &self,
        from: &mut (impl AsyncBufRead + Unpin),
        told: impl FnMut(&Imported),
    ) -> Result<Imported, ImportStoreError> {
        let mut lines = Lines { from, digest: Sha256::new(), number: 0, bytes: 0, text: Vec::new() };
        let version = lines.header(self.backend().version()).await?;
        let (send, parts) = mpsc::channel(8);
        let writing = self.backend().import(parts);
        let reading = lines.rows(Imported { version, ..Imported::default() }, send, told);
        let (taken, read) = tokio::join!(writing, reading);
        // What the store says counts first: a reader whose rows nobody takes any more has nothing to tell.
        match taken? {
            Taken::All => read,
            Taken::NotEmpty(kind) => Err(ImportStoreError::NotEmpty(kind)),
            Taken::Refused { line, why } => Err(ImportStoreError::Row { line, why }),
            Taken::Abandoned => read.and_then(|_| Err(ImportStoreError::Broken("it has no end".into()))),
        }
    }
}

impl<R: AsyncBufRead + Unpin> Lines<'_, R> {
    /// The next line; false at the end of the text.
    async fn next(&mut self) -> Result<bool, ImportStoreError> {
        self.text.clear();
        let read = (&mut *self.from).take(LONGEST).read_until(b'\n', &mut self.text).await?;
        self.number += u64::from(read > 0);
        self.bytes += read as u64;
        if read > 0 && !self.text.ends_with(b"\n") {
            return Err(ImportStoreError::Broken(format!("line {} breaks off", self.number)));
        }
        Ok(read > 0)
    }

    fn wrong(&self, wrong: Wrong) -> ImportStoreError {
        match wrong {
            Wrong::Syntax(why) => ImportStoreError::Line { line: self.number, why },
            Wrong::Kind(kind) => ImportStoreError::Kind { line: self.number, kind },
        }
    }

    /// Reads the first line, and returns the version of the store.
    async fn header(&mut self, known: u64) -> Result<u64, ImportStoreError> {
        let no = |why: &str| ImportStoreError::NotAnExport(why.to_owned());
        if !self.next().await.map_err(|error| match error {
            ImportStoreError::Broken(_) => no("its first line has no end"),
            other => other,
        })? {
            return Err(no("it is empty"));
        }
        let mut header = object(&self.text).map_err(|_| no("its first line is no JSON object"))?;
        if kind(&mut header).ok().as_deref() != Some(NAME) {
            return Err(no("its first line does not say so"));
        }
        let number = |key: &str| header.get(key).and_then(Value::as_u64);
        match (number("format"), number("version")) {
            (Some(found), _) if found > FORMAT => Err(ImportStoreError::Newer { found, known: FORMAT }),
            (_, Some(found)) if found > known => Err(ImportStoreError::Newer { found, known }),
            (Some(FORMAT), Some(version)) => {
                self.digest.update(&self.text);
                Ok(version)
            }
            _ => Err(no("its first line has no version")),
        }
    }

    /// Sends all rows, and the end when there is one.
    async fn rows(
        &mut self,
        mut done: Imported,
        send: mpsc::Sender<Part>,
        mut told: impl FnMut(&Imported),
    ) -> Result<Imported, ImportStoreError> {
        let mut gathered: Option<Rows> = None;
        // Whoever takes them knows why they take no more.
        let closed = || ImportStoreError::Broken("the store takes no more rows".into());
        loop {
            if !self.next().await? {
                return Err(ImportStoreError::Broken(format!("it ends after line {}", self.number)));
            }
            let mut object = object(&self.text).map_err(|wrong| self.wrong(wrong))?;
            let kind = kind(&mut object).map_err(|wrong| self.wrong(wrong))?;
            if kind == END {
                self.end(&object, done.rows)?;
                if self.next().await? {
                    return Err(ImportStoreError::Broken("it goes on after its end".into()));
                }
                break;
            }
            self.digest.update(&self.text);
            let (table, row) = row(&kind, object).map_err(|wrong| self.wrong(wrong))?;
            done.rows += 1;
            done.records += u64::from(table.kind == "audit");
            done.bytes = self.bytes;
            match &mut gathered {
                Some(rows) if rows.table == table && rows.rows.len() < BATCH => rows.rows.push(row),
                _ => {
                    let fresh = Rows { table, rows: vec![row], line: self.number };
                    if let Some(rows) = gathered.replace(fresh) {
                        send.send(Part::Rows(rows)).await.map_err(|_| closed())?;
                        told(&done);
                    }
                }
            }
        }
        if let Some(rows) = gathered {
            send.send(Part::Rows(rows)).await.map_err(|_| closed())?;
        }
        send.send(Part::End).await.map_err(|_| closed())?;
        Ok(Imported { bytes: self.bytes, ..done })
    }

    /// Whether the last line tells of what was read.
    fn end(&mut self, last: &serde_json::Map<String, Value>, rows: u64) -> Result<(), ImportStoreError> {
        if last.get("rows").and_then(Value::as_u64) != Some(rows) {
            return Err(ImportStoreError::Broken("its last line tells of another number of rows".into()));
        }
        let mut digest = Vec::with_capacity(64);
        push_hex(&mut digest, &std::mem::take(&mut self.digest).finalize());
        let said = last.get("sha256").and_then(Value::as_str).unwrap_or_default();
        if said.as_bytes() != digest {
            return Err(ImportStoreError::Broken("its lines are not those that were written".into()));
        }
        Ok(())
    }
}
