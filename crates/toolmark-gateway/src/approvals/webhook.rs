//! Questions sent to a server of the operator, signed, and its answer: at once in the response, or later with the token that it was given.

use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use serde_json::json;
use sha2::Sha256;
use toolmark_core::approval::{Ask, AskId, Given, Ruling, Way};
use toolmark_core::time::Micros;
use toolmark_runtime::approve::{Asker, Later};

use super::ruling::Written;
use crate::https;

/// The header with the time and the signature.
const SIGNATURE: &str = "toolmark-signature";
/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// What is waited before each further attempt.
const AGAIN: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];
const LARGEST: usize = 64 * 1024;
/// What tokens of answers begin with.
const PREFIX: &str = "tma_";

/// A server that hears of every question.
pub(super) struct Webhook {
    client: https::Client<Full<Bytes>>,
    url: Uri,
    secret: Vec<u8>,
    answers: AnswerKey,
    public: String,
}

/// Makes and checks the tokens with which one question may be answered.
#[derive(Clone)]
pub(super) struct AnswerKey([u8; 32]);

impl AnswerKey {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The token for a question.
    fn token(&self, id: AskId) -> String {
        let tag = self.mac(id).finalize().into_bytes();
        tag.iter().fold(PREFIX.to_owned(), |text, byte| format!("{text}{byte:02x}"))
    }

    /// Whether a token is the one of a question. Takes the same time wherever they differ.
    pub(super) fn fits(&self, id: AskId, token: &str) -> bool {
        let Some(digits) = token.strip_prefix(PREFIX).filter(|digits| digits.len() == 64) else { return false };
        let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let tag: Option<Vec<u8>> = (0..64).step_by(2).map(byte).collect();
        tag.is_some_and(|tag| self.mac(id).verify_slice(&tag).is_ok())
    }

    fn mac(&self, id: AskId) -> Hmac<Sha256> {
        keyed(&self.0).chain_update(b"toolmark/answer/v1\0").chain_update(id.get().to_be_bytes())
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of every length; this is a way to say so without a panic.
    Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default()))
}

impl Webhook {
    pub(super) fn new(url: &str, secret: &str, answers: [u8; 32], public: &str) -> Result<Self, String> {
        let url: Uri = url.trim().parse().map_err(|error| format!("its `url` is no address: {error}"))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
            return Err("its `url` is no `http://` or `https://` address".into());
        }
        if secret.len() < 16 {
            return Err("its `secret` has less than 16 characters, which can be guessed".into());
        }
        let client = https::client(PATIENCE)?;
        let public = public.trim_end_matches('/').to_owned();
        Ok(Self { client, url, secret: secret.as_bytes().to_vec(), answers: AnswerKey::new(answers), public })
    }

    async fn send(&self, ask: &Ask) -> Result<Option<Ruling>, String> {
        let now = Micros::from(std::time::SystemTime::now());
        let seconds = now.get() / 1_000_000;
        let body = json!({
            "type": "approval.asked",
            "approval": ask.to_json(),
            "decide": {
                "url": format!("{}/api/approvals/{}/decision", self.public, ask.id),
                "token": self.answers.token(ask.id),
            },
        });
        let body = Bytes::from(body.to_string());
        let signed = format!("{seconds}.");
        let tag = keyed(&self.secret).chain_update(&signed).chain_update(&body).finalize().into_bytes();
        let tag = tag.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let signature = HeaderValue::from_str(&format!("t={seconds},v1={tag}")).map_err(|error| error.to_string())?;
        request.headers_mut().insert(SIGNATURE, signature);
        let work = async {
            let response = self.client.request(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            if !status.is_success() {
                return Err(format!("it answers {status}"));
            }
            let body =
                Limited::new(response.into_body(), LARGEST).collect().await.map_err(|error| error.to_string())?;
            Ok(body.to_bytes())
        };
        let body =
            tokio::time::timeout(PATIENCE, work).await.map_err(|_| "there is no answer in time".to_owned())??;
        // Most take the question and answer later.
        let decides =
            serde_json::from_slice::<serde_json::Value>(&body).is_ok_and(|body| body.get("decision").is_some());
        if !decides {
            return Ok(None);
        }
        let written = Written::read(&body).map_err(|error| error.to_string())?;
        let at = Micros::from(std::time::SystemTime::now());
        let from = self.url.authority().map(ToString::to_string);
        Ok(Some(written.ruling(ask, Given { by: "webhook".into(), way: Way::Webhook, at, from })))
    }
}

impl Asker for Webhook {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Later<'a, Option<Ruling>> {
        Box::pin(async move {
            let mut waits = AGAIN.iter();
            loop {
                match self.send(ask).await {
                    Ok(ruling) => return ruling,
                    Err(why) => match waits.next() {
                        Some(wait) => {
                            tracing::warn!(ask = %ask.id, why, "the webhook did not take a question; tried again");
                            tokio::time::sleep(*wait).await;
                        }
                        None => {
                            tracing::error!(ask = %ask.id, why, "the webhook did not take a question");
                            return None;
                        }
                    },
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_answers_its_own_question_only() {
        let (key, other) = (AnswerKey::new([7; 32]), AnswerKey::new([8; 32]));
        let token = key.token(AskId::new(1));
        assert!(key.fits(AskId::new(1), &token));
        assert!(!key.fits(AskId::new(2), &token) && !other.fits(AskId::new(1), &token));
        for forged in ["", "tma_", "tma_00", &token[1..], &token.to_uppercase(), &format!("{token}0")] {
            assert!(!key.fits(AskId::new(1), forged), "{forged}");
        }
    }
}
