//! Why was a server not believed? Found in whatever error a client wraps around it, in words that say what to do.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError, InvalidMessage};
use toolmark_core::text::visible;

/// What was wrong before anything was said to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// Its certificate is not accepted, and why.
    Certificate(String),
    /// No encrypted connection came about, and why.
    Handshake(String),
}

/// What was wrong with TLS, if that is what an error is about.
#[must_use]
pub fn distrust(error: &(dyn Error + 'static)) -> Option<Distrust> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = tls(error) {
            return Some(named(found));
        }
        cause = error.source();
    }
    None
}

/// The error of the TLS library. An I/O error does not show what it wraps as its source.
fn tls<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut error = error;
    loop {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        error = error.downcast_ref::<io::Error>()?.get_ref()?;
    }
}

fn named(error: &rustls::Error) -> Distrust {
    match error {
        rustls::Error::InvalidCertificate(error) => Distrust::Certificate(certificate(error)),
        rustls::Error::NoCertificatesPresented => Distrust::Certificate("it shows none".to_owned()),
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            Distrust::Handshake("the server does not speak TLS at this port".to_owned())
        }
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            Distrust::Handshake("the server wants a certificate of ours, and we show none".to_owned())
        }
        other => Distrust::Handshake(format!("no encrypted connection: {other}")),
    }
}

fn certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "nobody who is believed here has signed it".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet".to_owned(),
        CertificateError::BadSignature => "whom it names has not signed it".to_owned(),
        CertificateError::Revoked => "it was revoked".to_owned(),
        CertificateError::NotValidForName => "it is for another host".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let presented: Vec<String> = presented.iter().take(5).map(|name| name_of(name)).collect();
            let expected = visible(&expected.to_str(), 100);
            match presented.as_slice() {
                [] => format!("it is not for `{expected}`, and names no host"),
                names => format!("it is for {}, not for `{expected}`", names.join(", ")),
            }
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is that of an authority, not of a server".to_owned()
        }
        other => other.to_string(),
    }
}

/// `DnsName("a.example")` and `IpAddress(10.0.0.1)` without what is around the name.
fn name_of(presented: &str) -> String {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(presented);
    format!("`{}`", visible(inner.trim_matches('"'), 100))
}
