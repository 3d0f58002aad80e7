use serde_json::json;

use super::*;

fn of(status: u16, body: &str) -> ModelErrorKind {
    of_status(status, body.as_bytes(), None)
}

#[test]
fn the_message_is_found_in_every_known_shape() {
    for shape in [
        json!({"error": {"message": "m", "type": "t"}}),
        json!({"error": "m"}),
        json!([{"error": {"message": "m", "code": 400, "status": "INVALID_ARGUMENT"}}]),
        json!({"type": "error", "error": {"type": "t", "message": "m"}}),
        json!({"message": "m"}),
        json!({"detail": "m"}),
    ] {
        let kind = of(400, &shape.to_string());
        assert_eq!(kind, ModelErrorKind::BadRequest { status: 400, message: "m".into() }, "{shape}");
    }
}

#[test]
fn an_empty_account_is_no_rate_limit() {
    let body = json!({"error": {"message": "m", "code": "insufficient_quota"}}).to_string();
    assert_eq!(of(429, &body), ModelErrorKind::Quota { message: "m".into() });
    assert!(matches!(of(429, "{}"), ModelErrorKind::RateLimited { .. }));
}

#[test]
fn a_page_is_recognised_by_its_beginning() {
    let page = "\u{feff} <!DOCTYPE html><html><head><TITLE>Sign\u{202e} in</TITLE></head></html>";
    assert_eq!(of(403, page), ModelErrorKind::Html { status: 403, title: "Sign\u{202e} in".into() });
    assert!(matches!(of(502, page), ModelErrorKind::ServerFailed { status: 502, .. }));
    assert_eq!(title(b"{\"html\": \"<html>\"}"), None);
    assert_eq!(title(b"<html"), Some("without a title".into()));
}

#[test]
fn what_the_provider_says_about_a_key_is_not_repeated() {
    let body = json!({"error": {"message": "Incorrect API key provided: sk-abc"}}).to_string();
    assert_eq!(of(401, &body), ModelErrorKind::Auth { status: 401, message: None });
    let body = json!({"error": {"message": "not in your country"}}).to_string();
    let message = Some("not in your country".into());
    assert_eq!(of(403, &body), ModelErrorKind::Auth { status: 403, message });
}

#[test]
fn no_body_makes_it_panic() {
    for body in ["", "<", "\u{0}", "null", "[]", "[1]", "{\"error\":null}", "{\"error\":{\"message\":{\"a\":1}}}"] {
        for status in [200, 301, 400, 401, 403, 404, 429, 500, 503, 529, 999] {
            let _ = of(status, body);
            let _ = of_body(status, body.as_bytes(), "p");
        }
    }
}
