//! Whose certificates are believed: those that this machine believes, those of one file and no others, or both.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls_platform_verifier::Verifier;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// Whom to believe when a server says who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust(Believed);

/// The certificates of a file, as they are written there.
type Certificates = Arc<Vec<CertificateDer<'static>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Believed {
    /// Whoever this machine believes.
    #[default]
    Machine,
    /// Whom a file names, and nobody else.
    File(Certificates),
    /// Whom a file names, and whoever this machine believes.
    Both(Certificates),
}

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
        Self(Believed::Machine)
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
        let (mut roots, mut certificates) = (RootCertStore::empty(), Vec::new());
        for (at, certificate) in CertificateDer::pem_slice_iter(bytes).enumerate() {
            let number = at + 1;
            let certificate = match certificate {
                Ok(certificate) => certificate,
                Err(pem::Error::MissingSectionEnd { .. }) => {
                    return Err(format!("certificate {number} has no `-----END CERTIFICATE-----`"));
                }
                Err(_) => return Err(format!("certificate {number} is no valid PEM")),
            };
            roots.add(certificate.clone()).map_err(|_| format!("certificate {number} is none that can be believed"))?;
            certificates.push(certificate);
        }
        if roots.is_empty() {
            return Err("there is no `-----BEGIN CERTIFICATE-----` in it".to_owned());
        }
        Ok(Self(Believed::File(Arc::new(certificates))))
    }

    /// The same, and whoever this machine believes.
    #[must_use]
    pub fn and_machine(&self) -> Self {
        match &self.0 {
            Believed::Machine => Self::machine(),
            Believed::File(own) | Believed::Both(own) => Self(Believed::Both(Arc::clone(own))),
        }
    }

    /// True when a file alone says whom to believe.
    #[must_use]
    pub fn is_of_file(&self) -> bool {
        matches!(self.0, Believed::File(_))
    }

    /// What checks the certificate of a server.
    pub(crate) fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, String> {
        let machine = |error| format!("this machine has no certificates to trust: {error}");
        match &self.0 {
            Believed::Machine => Ok(Arc::new(Verifier::new(provider).map_err(machine)?)),
            Believed::Both(own) => {
                let own = own.iter().cloned();
                Ok(Arc::new(Verifier::new_with_extra_roots(own, provider).map_err(machine)?))
            }
            Believed::File(own) => {
                let mut roots = RootCertStore::empty();
                for certificate in own.iter() {
                    roots.add(certificate.clone()).map_err(|error| error.to_string())?;
                }
                let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
                Ok(verifier.build().map_err(|error| error.to_string())?)
            }
        }
    }
}

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
