//! Keys and header values that must not be seen, and the one place that takes them out of whatever a provider says.

use secrecy::{ExposeSecret as _, SecretString};
use toolmark_core::text::visible;

use crate::error::ModelErrorKind;

/// What must not be seen.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<SecretString>);

/// The longest text of a provider that is repeated, in characters.
const LONGEST: usize = 1_000;

/// What is shorter would be found in ordinary words.
const SHORTEST: usize = 6;

impl Secrets {
    pub(crate) fn add(&mut self, secret: &SecretString) {
        if secret.expose_secret().len() >= SHORTEST {
            self.0.push(secret.clone());
        }
    }

    /// The text without secrets, made visible and cut. Secrets go first, so that no cut leaves half of one.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(secret.expose_secret(), "[secret]");
        }
        // Messages are one line.
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        visible(&line, LONGEST)
    }

    /// The error without secrets.
    pub(crate) fn clean_error(&self, mut kind: ModelErrorKind) -> ModelErrorKind {
        match &mut kind {
            ModelErrorKind::RateLimited { message: text, .. }
            | ModelErrorKind::Quota { message: text }
            | ModelErrorKind::BadRequest { message: text, .. }
            | ModelErrorKind::Overloaded { message: text, .. }
            | ModelErrorKind::ServerFailed { message: text, .. }
            | ModelErrorKind::AnswerFailed { message: text, .. }
            | ModelErrorKind::Unreachable { reason: text, .. }
            | ModelErrorKind::Certificate { reason: text }
            | ModelErrorKind::Html { title: text, .. }
            | ModelErrorKind::Malformed { problem: text }
            | ModelErrorKind::Script { problem: text } => *text = self.clean(text),
            ModelErrorKind::Auth { message, .. } => *message = message.as_deref().map(|text| self.clean(text)),
            // These hold nothing that a provider said.
            ModelErrorKind::Unsendable(_)
            | ModelErrorKind::Timeout { .. }
            | ModelErrorKind::Redirected { .. }
            | ModelErrorKind::Truncated
            | ModelErrorKind::TooLarge { .. } => {}
        }
        kind
    }
}
