//! An authority of our own, certificates that it signs, well and badly, and a door with TLS in front of a server without.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// How many authorities there are.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// Somebody who signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// When a certificate is valid.
#[derive(Clone, Copy, Debug)]
pub enum Valid {
    /// All the time.
    Now,
    /// Until long ago.
    Past,
    /// From a day on that is far away.
    Future,
}

/// How a door ends a connection whose server has said all it says.
#[derive(Clone, Copy, Debug)]
pub enum Ends {
    /// As TLS wants it, with a word of farewell.
    Well,
    /// Without one, as if somebody had cut it.
    Cut,
}

/// A door that listens. It ends with the test.
pub struct Door {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Authority {
    /// A new one, that nobody believes yet.
    ///
    /// # Panics
    /// When there are no random numbers.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Another name each time, so that none is taken for another that lies.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        params.distinguished_name.push(DnType::CommonName, format!("authority {number} for tests"));
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Its certificate.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes its certificate to a file.
    ///
    /// # Panics
    /// When that cannot be done.
    pub fn write(&self, file: &Path) {
        std::fs::write(file, &self.pem).expect("a file");
    }

    /// What a server shows that is called `host`, which may be an address.
    ///
    /// # Panics
    /// When the name is none.
    #[must_use]
    pub fn server(&self, host: &str, valid: Valid) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new([host.to_owned()]).expect("a name");
        (params.not_before, params.not_after) = match valid {
            Valid::Now => (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1)),
            Valid::Past => (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1)),
            Valid::Future => (date_time_ymd(2119, 1, 1), date_time_ymd(2120, 1, 1)),
        };
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        config(certificate.der().clone(), &key)
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

/// What a server shows that has signed its own certificate, as many tools make it: one of an authority. Also the certificate.
///
/// # Panics
/// When the name is none.
#[must_use]
pub fn self_signed(host: &str) -> (Arc<ServerConfig>, String) {
    let mut params = CertificateParams::new([host.to_owned()]).expect("a name");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    (config(certificate.der().clone(), &key), certificate.pem())
}

fn config(certificate: rustls::pki_types::CertificateDer<'static>, key: &KeyPair) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let config = ServerConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let config = config.expect("versions").with_no_client_auth().with_single_cert(vec![certificate], key);
    Arc::new(config.expect("a certificate and its key"))
}

impl Door {
    /// Opens a door in front of a server. Nothing gets through that was not encrypted.
    ///
    /// # Panics
    /// When there is no free port.
    pub async fn open(server: SocketAddr, shows: Arc<ServerConfig>, ends: Ends) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, server, TlsAcceptor::from(Arc::clone(&shows)), ends));
            }
        });
        Self { address, task }
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(outside: TcpStream, server: SocketAddr, acceptor: TlsAcceptor, ends: Ends) {
    let Ok(mut outside) = acceptor.accept(outside).await else { return };
    let Ok(mut inside) = TcpStream::connect(server).await else { return };
    match ends {
        Ends::Well => {
            let _ = copy_bidirectional(&mut outside, &mut inside).await;
        }
        Ends::Cut => {
            let (mut from, mut to) = inside.split();
            let (mut hears, mut says) = tokio::io::split(outside);
            let asked = tokio::io::copy(&mut hears, &mut to);
            let answered = async {
                let mut buffer = [0; 4_096];
                while let Ok(count @ 1..) = from.read(&mut buffer).await {
                    let Some(part) = buffer.get(..count) else { return };
                    if says.write_all(part).await.is_err() || says.flush().await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                _ = asked => {}
                () = answered => {}
            }
            // Both halves are dropped without a word.
        }
    }
}
