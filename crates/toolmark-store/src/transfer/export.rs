//! Writing a store out: all tables in one order, from one moment.

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::error::ExportStoreError;
use super::line::{push_hex, write};
use super::tables::{Row, Table};
use super::{END, FORMAT, NAME};
use crate::store::Store;

/// How much is gathered before it is written.
const CHUNK: usize = 256 * 1024;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many rows.
    pub rows: u64,
    /// How many of them are records of the audit.
    pub records: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl Store {
    /// Writes everything but shared keys, as it is at one moment, whoever writes meanwhile. `told` hears how far it is now and then.
    ///
    /// # Errors
    /// [`ExportStoreError`] when either end fails; then the last line is missing.
    pub async fn export(
        &self,
        out: &mut (impl AsyncWrite + Unpin),
        mut told: impl FnMut(&Exported),
    ) -> Result<Exported, ExportStoreError> {
        let version = self.backend().version();
        let header = format!("{{\"kind\":\"{NAME}\",\"format\":{FORMAT},\"version\":{version}}}\n");
        let (send, rows) = mpsc::channel(1024);
        let (read, written) = tokio::join!(self.backend().export(send), lines(header, rows, out, &mut told));
        let (digest, mut done, mut text) = written?;
        read?;
        text.extend_from_slice(format!("{{\"kind\":\"{END}\",\"rows\":{},\"sha256\":\"", done.rows).as_bytes());
        push_hex(&mut text, &digest.finalize());
        text.extend_from_slice(b"\"}\n");
        out.write_all(&text).await?;
        out.flush().await?;
        done.bytes += text.len() as u64;
        Ok(done)
    }
}

/// Writes rows as they come, all but the last of them. A reader whose rows nobody takes any more ends by itself.
async fn lines(
    header: String,
    mut rows: mpsc::Receiver<(&'static Table, Row)>,
    out: &mut (impl AsyncWrite + Unpin),
    told: &mut impl FnMut(&Exported),
) -> Result<(Sha256, Exported, Vec<u8>), std::io::Error> {
    let mut digest = Sha256::new();
    let mut done = Exported::default();
    let mut text = header.into_bytes();
    while let Some((table, row)) = rows.recv().await {
        write(table, &row, &mut text);
        done.rows += 1;
        done.records += u64::from(table.kind == "audit");
        if text.len() >= CHUNK {
            digest.update(&text);
            out.write_all(&text).await?;
            done.bytes += text.len() as u64;
            text.clear();
            told(&done);
        }
    }
    digest.update(&text);
    Ok((digest, done, text))
}
