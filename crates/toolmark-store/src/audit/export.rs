//! The audit as text: one JSON object a line, in the order asked for.

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use toolmark_core::explain::{Code, Explain};

use super::query::AuditReader;
use crate::error::StoreError;

/// An export that broke off. What was written before is whole lines, except for the last.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The other end cannot be written.
    #[error("the audit cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

impl AuditReader {
    /// Writes everything that is left as JSON Lines, and returns how many there were.
    ///
    /// # Errors
    /// [`ExportError`] when either end fails.
    pub async fn export(mut self, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64, ExportError> {
        let mut count = 0;
        let mut line = Vec::new();
        while let Some(entry) = self.next().await? {
            line.clear();
            serde_json::to_writer(&mut line, &entry.to_json()).map_err(std::io::Error::from)?;
            line.push(b'\n');
            out.write_all(&line).await?;
            count += 1;
        }
        out.flush().await?;
        Ok(count)
    }
}

impl Explain for ExportError {
    fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Write(_) => Code::new("audit-export"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Store(error) => error.why(),
            Self::Write(_) => "an export that stops half-way must not pass for a whole one".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Store(error) => error.fix(),
            Self::Write(_) => "write to another place, or export less".into(),
        }
    }
}
