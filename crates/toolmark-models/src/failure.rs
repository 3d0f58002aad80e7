//! What does a provider mean when it does not answer? Statuses, error objects of every known shape, and pages of proxies.
//!
//! Texts come out as they were sent; `connection::secrets` takes keys out of them and cuts them before anybody sees them.

use std::time::Duration;

use serde_json::Value;

use crate::error::ModelErrorKind;

/// What a provider says when it fails.
#[derive(Debug, PartialEq)]
pub(crate) struct Complaint {
    /// Its words for the kind of failure, type and code.
    words: Vec<String>,
    message: String,
}

impl Complaint {
    /// Reads an error object: `{"error": {…}}`, `{"error": "…"}`, a list of one, `{"message": …}`, `{"detail": …}`, or the
    /// object itself.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let inner = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        if let Some(text) = inner.as_str() {
            return Some(Self { words: Vec::new(), message: text.to_owned() });
        }
        let message =
            ["message", "detail"].iter().find_map(|key| inner.get(key)).filter(|message| !message.is_null())?;
        let message = message.as_str().map_or_else(|| message.to_string(), ToOwned::to_owned);
        let words = ["type", "code", "status"].iter().filter_map(|key| inner.get(key)?.as_str());
        Some(Self { words: words.map(str::to_ascii_lowercase).collect(), message })
    }

    /// What it means when it comes in the middle of an answer, where there is no status to go by.
    pub(crate) fn in_answer(self) -> ModelErrorKind {
        let message = self.message.clone();
        if self.says(&["overloaded_error", "server_overloaded", "overloaded", "unavailable"]) {
            ModelErrorKind::Overloaded { message, retry_after: None }
        } else if self.is_about_money() {
            ModelErrorKind::Quota { message }
        } else if self.says(&["rate_limit_error", "rate_limit_exceeded"]) {
            ModelErrorKind::RateLimited { message, retry_after: None }
        } else {
            let temporary = self.says(&["server_error", "api_error", "timeout_error", "internal_error"]);
            ModelErrorKind::AnswerFailed { message, temporary }
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    fn is_about_money(&self) -> bool {
        self.says(&["insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"])
    }
}

/// What a status that is no success means, with whatever came along.
pub(crate) fn of_status(status: u16, body: &[u8], retry_after: Option<Duration>) -> ModelErrorKind {
    if (300..400).contains(&status) {
        return ModelErrorKind::Redirected { status };
    }
    let complaint = serde_json::from_slice(body).ok().and_then(|value: Value| Complaint::of(&value));
    match (status, &complaint) {
        (401, _) => return ModelErrorKind::Auth { status, message: None },
        (403, Some(complaint)) => return ModelErrorKind::Auth { status, message: Some(complaint.message.clone()) },
        _ => {}
    }
    let about_money = complaint.as_ref().is_some_and(Complaint::is_about_money);
    let page = title(body);
    let message = match (&complaint, &page) {
        (Some(complaint), _) => complaint.message.clone(),
        (None, Some(title)) => format!("a web page, `{title}`"),
        (None, None) => match str::from_utf8(body).map(str::trim) {
            Ok("") | Err(_) => "it does not say why".to_owned(),
            Ok(text) => text.to_owned(),
        },
    };
    match status {
        402 => ModelErrorKind::Quota { message },
        429 if about_money => ModelErrorKind::Quota { message },
        429 => ModelErrorKind::RateLimited { message, retry_after },
        503 | 529 => ModelErrorKind::Overloaded { message, retry_after },
        408 | 409 | 425 | 500.. => ModelErrorKind::ServerFailed { status, message, retry_after },
        _ => match page {
            Some(title) => ModelErrorKind::Html { status, title },
            None => ModelErrorKind::BadRequest { status, message },
        },
    }
}

/// What a body that was taken for a success but is no JSON means.
pub(crate) fn of_body(status: u16, body: &[u8], problem: &str) -> ModelErrorKind {
    match title(body) {
        Some(title) => ModelErrorKind::Html { status, title },
        None if body.iter().all(u8::is_ascii_whitespace) => ModelErrorKind::malformed("it is empty"),
        None => ModelErrorKind::malformed(problem),
    }
}

/// The title of a web page; none if this is no web page.
pub(crate) fn title(body: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(body.get(..body.len().min(4_096)).unwrap_or_default());
    // ASCII only, so that positions in the copy are positions in the text.
    let lower = head.to_ascii_lowercase();
    let start = lower.trim_start_matches('\u{feff}').trim_start();
    if !["<!doctype", "<html", "<head", "<body", "<?xml"].iter().any(|tag| start.starts_with(tag)) {
        return None;
    }
    let title = lower.find("<title").and_then(|at| {
        let from = at + lower.get(at..)?.find('>')? + 1;
        let to = from + lower.get(from..)?.find("</title")?;
        head.get(from..to)
    });
    Some(title.map(str::trim).filter(|title| !title.is_empty()).unwrap_or("without a title").to_owned())
}

#[cfg(test)]
mod tests;
