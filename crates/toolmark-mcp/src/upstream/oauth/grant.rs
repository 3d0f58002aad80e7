//! A token for something: for a code, for an older token, or for who we are. One request to the token endpoint, and what it answers.

use std::time::{SystemTime, UNIX_EPOCH};

use http::Uri;
use serde_json::Value;
use toolmark_core::text::visible;
use toolmark_tls::Trust;

use super::OAuthError;
use super::fetch::{self, Answer};
use super::vault::Token;

/// Who asks, and where.
pub(super) struct Asker<'a> {
    pub(super) endpoint: &'a Uri,
    pub(super) trust: Trust,
    pub(super) client_id: &'a str,
    pub(super) client_secret: Option<&'a str>,
    pub(super) secret_in_form: bool,
}

impl Asker<'_> {
    /// Asks for a token with these fields.
    pub(super) async fn ask(&self, fields: &[(&str, &str)]) -> Result<Token, OAuthError> {
        let answer = self.post(self.endpoint, fields).await?;
        let host = || visible(self.endpoint.host().unwrap_or_default(), 100);
        let unusable = |why: &str| OAuthError::Unreachable { host: host(), why: why.to_owned() };
        let said: Value = match serde_json::from_slice(&answer.body) {
            Ok(said) => said,
            Err(_) => return Err(unusable(&format!("status {}, and no JSON", answer.status.as_u16()))),
        };
        let text = |name: &str| said.get(name).and_then(Value::as_str);
        if let Some(error) = text("error") {
            let description = text("error_description").map(|text| visible(text, 200));
            return Err(OAuthError::Refused { error: visible(error, 60), description });
        }
        if !answer.status.is_success() {
            return Err(unusable(&format!("status {}", answer.status.as_u16())));
        }
        if !text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
            return Err(unusable("its token is of a kind that is not known here"));
        }
        let access =
            text("access_token").filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
        let access = access.ok_or_else(|| unusable("there is no token in it"))?.to_owned();
        let issued = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // Some write the number as text.
        let lasts = said.get("expires_in").and_then(|lasts| lasts.as_u64().or_else(|| lasts.as_str()?.parse().ok()));
        Ok(Token {
            access,
            refresh: text("refresh_token").filter(|token| !token.is_empty()).map(str::to_owned),
            scope: text("scope").map(str::to_owned),
            issued,
            expires: lasts.map(|lasts| issued.saturating_add(lasts)),
        })
    }

    /// Sends fields together with who we are.
    pub(super) async fn post(&self, url: &Uri, fields: &[(&str, &str)]) -> Result<Answer, OAuthError> {
        let mut all = fields.to_vec();
        let mut basic = None;
        match self.client_secret {
            Some(secret) if !self.secret_in_form => basic = Some((self.client_id, secret)),
            Some(secret) => all.extend([("client_id", self.client_id), ("client_secret", secret)]),
            None => all.push(("client_id", self.client_id)),
        }
        fetch::post_form(url, &self.trust, &all, basic).await
    }
}
