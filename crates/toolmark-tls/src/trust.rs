//! Whose certificates are believed: those that this machine believes, or those of one file and no others.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// Whom to believe when a server says who it is.
#[derive(Clone, Debug, Default)]
pub struct Trust(Option<Arc<RootCertStore>>);

/// A file of certificates that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificates in `{file}` cannot be used: {problem}")]
pub struct ReadTrustError {
    file: String,
    problem: String,
}

/// More than every bundle of certificates that is in use.
const LARGEST: u64 = 4 * 1024 * 1024;

impl Trust {
    /// Whoever this machine believes.
    #[must_use]
    pub fn machine() -> Self {
        Self(None)
    }

    /// Those whom a certificate in this file has signed, and nobody else. The file is PEM, and may hold several.
    ///
    /// # Errors
    /// [`ReadTrustError`] when it cannot be read, holds no certificate, or one that cannot be used.
    pub fn read(file: &Path) -> Result<Self, ReadTrustError> {
        let fail = |problem: String| ReadTrustError { file: visible(&file.to_string_lossy(), 200), problem };
        let mut bytes = Vec::new();
        let opened = File::open(file).map_err(|error| fail(error.to_string()))?;
        opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
        if bytes.len() as u64 > LARGEST {
            return Err(fail(format!("it has more than {LARGEST} bytes")));
        }
        Self::of_pem(&bytes).map_err(fail)
    }

    fn of_pem(bytes: &[u8]) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for (at, certificate) in CertificateDer::pem_slice_iter(bytes).enumerate() {
            let number = at + 1;
            let certificate = match certificate {
                Ok(certificate) => certificate,
                Err(pem::Error::MissingSectionEnd { .. }) => {
                    return Err(format!("certificate {number} has no `-----END CERTIFICATE-----`"));
                }
                Err(_) => return Err(format!("certificate {number} is no valid PEM")),
            };
            roots.add(certificate).map_err(|_| format!("certificate {number} is none that can be believed"))?;
        }
        if roots.is_empty() {
            return Err("there is no `-----BEGIN CERTIFICATE-----` in it".to_owned());
        }
        Ok(Self(Some(Arc::new(roots))))
    }

    /// True when a file says whom to believe.
    #[must_use]
    pub fn is_of_file(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn roots(&self) -> Option<Arc<RootCertStore>> {
        self.0.clone()
    }
}

/// Equal when the same certificates are believed.
impl PartialEq for Trust {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(two)) => one.roots == two.roots,
            _ => false,
        }
    }
}

impl Eq for Trust {}

impl Explain for ReadTrustError {
    fn code(&self) -> Code {
        Code::new("ca-unusable")
    }

    fn why(&self) -> String {
        "without the certificates that were meant, either nobody would be believed or somebody else".into()
    }

    fn fix(&self) -> String {
        "name a PEM file with the certificate of the authority that signed the server's, the text between \
         `-----BEGIN CERTIFICATE-----` and `-----END CERTIFICATE-----`"
            .into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("file", self.file.as_str().into()), ("problem", self.problem.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
