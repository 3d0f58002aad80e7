//! Addresses and requests from strangers: reading never panics, and a host inside stays inside whatever stands around it.
//! The first lines are the first parts, the rest is the last.

use toolmark_core::facts::{Danger, Reading};
use toolmark_effects::http::{Request, read, read_url};

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let mut parts = text.splitn(3, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (address, method, body) = (part(), part(), part());
    let _ = read_url(address);
    let body = serde_json::Value::String(body.to_owned());
    for relative in [false, true] {
        let _ = read(&Request {
            method: Some(method),
            address,
            relative,
            rows: relative,
            headers: Some(&body),
            body: Some(&body),
            parameters: None,
        });
    }
    let path: String = address.chars().filter(|c| !matches!(c, '@' | '/' | '\\' | '?' | '#')).collect();
    if let Reading::Understood(effects) = read_url(&format!("http://127.0.0.1/{path}")) {
        assert!(effects.iter().all(|effect| effect.dangers.contains(&Danger::Escape)));
    }
}
