//! An authorization server as far as a resource server sees it: metadata and keys, on a port of this machine.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) const AUDIENCE: &str = "https://tools.example.com/mcp";

/// A key that signs, made for one test.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) id: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: EncodingKey,
}

impl Signer {
    pub(crate) fn new(id: &str, algorithm: Algorithm) -> Self {
        let random = SystemRandom::new();
        let key = match algorithm {
            Algorithm::ES256 => {
                let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
                EncodingKey::from_ec_der(key.as_ref())
            }
            Algorithm::ES384 => {
                let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).expect("a key");
                EncodingKey::from_ec_der(key.as_ref())
            }
            Algorithm::EdDSA => {
                let key = Ed25519KeyPair::generate_pkcs8v1(&random).expect("a key");
                EncodingKey::from_ed_der(key.as_ref())
            }
            _ => {
                let key = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).expect("a key");
                let key: Pkcs8V1Der<'_> = key.as_der().expect("an encoding");
                EncodingKey::from_rsa_der(&pkcs1(key.as_ref()))
            }
        };
        Self { id: id.to_owned(), algorithm, key }
    }

    /// The public half, as it is published.
    pub(crate) fn public(&self) -> Value {
        let mut key = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public key");
        key.common.key_id = Some(self.id.clone());
        serde_json::to_value(key).expect("JSON")
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_with(&Header { kid: Some(self.id.clone()), ..Header::new(self.algorithm) }, claims)
    }

    pub(crate) fn sign_with(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &self.key).expect("a token")
    }
}

/// The key within its envelope: what RFC 8017 calls `RSAPrivateKey` is the last member of PKCS #8.
fn pkcs1(pkcs8: &[u8]) -> Vec<u8> {
    // An RSA key of 2048 bits has lengths of two bytes: `30 82 ….` begins both the envelope and the key.
    let start = (4..pkcs8.len()).find(|at| pkcs8[*at..].starts_with(&[0x30, 0x82])).expect("a key");
    pkcs8[start..].to_vec()
}

/// The time, in seconds, so much later or earlier.
pub(crate) fn seconds(later: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    i64::try_from(now).expect("before the end of time") + later
}

/// A running authorization server.
pub(crate) struct Issuer {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Arc<AtomicUsize>,
    down: Arc<AtomicBool>,
    keys: Arc<Mutex<Vec<Value>>>,
}

impl Issuer {
    /// One whose keys these are. The metadata is where OpenID Connect has it, so that both places are looked at.
    pub(crate) async fn start(signers: &[&Signer]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let issuer = Self { address, asked: Arc::default(), down: Arc::default(), keys: Arc::default() };
        issuer.publish(signers);
        let (asked, down, keys) = (Arc::clone(&issuer.asked), Arc::clone(&issuer.down), Arc::clone(&issuer.keys));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (asked, down, keys) = (Arc::clone(&asked), Arc::clone(&down), Arc::clone(&keys));
                let service = service_fn(move |request: Request<Incoming>| {
                    let document = match request.uri().path() {
                        "/.well-known/openid-configuration" => Some(json!({
                            "issuer": format!("http://{address}"),
                            "jwks_uri": format!("http://{address}/keys"),
                        })),
                        "/keys" => {
                            asked.fetch_add(1, Ordering::SeqCst);
                            Some(json!({ "keys": *keys.lock().expect("no test panics with it") }))
                        }
                        _ => None,
                    };
                    let document = document.filter(|_| !down.load(Ordering::SeqCst));
                    let status = if document.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
                    let body = Full::new(Bytes::from(document.unwrap_or_default().to_string()));
                    let response = Response::builder().status(status).body(body).expect("a response");
                    async move { Ok::<_, Infallible>(response) }
                });
                tokio::spawn(async move {
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        issuer
    }

    pub(crate) fn publish(&self, signers: &[&Signer]) {
        *self.keys.lock().expect("no test panics with it") = signers.iter().map(|signer| signer.public()).collect();
    }

    pub(crate) fn go_down(&self) {
        self.down.store(true, Ordering::SeqCst);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What a good token says.
    pub(crate) fn claims(&self) -> Value {
        json!({ "iss": self.url(), "aud": AUDIENCE, "sub": "alice", "exp": seconds(300), "iat": seconds(-5) })
    }

    pub(crate) fn claims_with(&self, more: &Value) -> Value {
        let mut claims = self.claims();
        let all = claims.as_object_mut().expect("an object");
        for (name, value) in more.as_object().expect("an object") {
            if value.is_null() {
                all.remove(name);
            } else {
                all.insert(name.clone(), value.clone());
            }
        }
        claims
    }

    /// The part of a configuration that trusts it.
    pub(crate) fn config(&self) -> String {
        format!("[gateway.auth.jwt]\nissuer = \"{}\"\naudience = \"{AUDIENCE}\"\n", self.url())
    }
}
