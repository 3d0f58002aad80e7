//! The key is in no log, however much is logged.

use std::fmt::Write as _;
use std::sync::Mutex;

use http::{Method, StatusCode};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::Running;

static LOGGED: Mutex<String> = Mutex::new(String::new());

/// Writes down everything.
struct Everything;

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut logged = LOGGED.lock().expect("the log");
        span.record(&mut Line(&mut logged));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut LOGGED.lock().expect("the log")));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut logged = LOGGED.lock().expect("the log");
        let _ = write!(logged, "\n{}", event.metadata().target());
        event.record(&mut Line(&mut logged));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn neither_the_key_nor_a_token_is_ever_logged() {
    tracing::subscriber::set_global_default(Everything).expect("nobody else logs here");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (key, token) = runtime.block_on(async {
        let running = Running::start("").await;
        let token = running.token("bob", true).await;
        assert_eq!(running.get("/api/me").await.status, StatusCode::OK);
        let _ = running.get(&format!("/api/calls?key={}", running.key)).await;
        let wrong = [("authorization", format!("Bearer {token}x"))];
        let wrong: Vec<_> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let _ = running.send(Method::GET, "/api/me", &wrong, String::new()).await;
        let good = [("authorization", format!("Bearer {token}"))];
        let good: Vec<_> = good.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(running.send(Method::GET, "/api/me", &good, String::new()).await.status, StatusCode::OK);
        let key = running.key.clone();
        running.stop().await;
        (key, token)
    });
    let logged = LOGGED.lock().expect("the log");
    assert!(logged.contains("the gateway listens"), "something is logged");
    for secret in [&key, &token] {
        assert!(!logged.contains(secret.as_str()), "{secret} was logged");
    }
}
