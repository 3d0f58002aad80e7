//! `/metrics`: is it text that a collector can read, does it count who was not let in, and can it be switched off?

use std::collections::{BTreeMap, BTreeSet};

use http::{Method, StatusCode};
use serde_json::Value;
use toolmark_store::{NewToken, Scope};

use crate::support::{Recorded, Running, call, named, send};

/// Figures by their name and labels as they are written. Panics at what is no OpenMetrics text.
fn read(text: &str) -> BTreeMap<String, f64> {
    let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end: {text}"));
    let (mut figures, mut families) = (BTreeMap::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), "unknown".to_owned());
    let name_ok = |name: &str| {
        let rest = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
        !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()) && name.chars().all(rest)
    };
    for line in body.lines() {
        if let Some(about) = line.strip_prefix("# ") {
            let mut words = about.splitn(3, ' ');
            let (word, name) = (words.next().expect("a word"), words.next().expect("a name"));
            let rest = words.next().expect("something about it");
            assert!(name_ok(name), "{line}");
            if name != family {
                assert!(families.insert(name.to_owned()), "`{name}` comes twice");
                (family, kind) = (name.to_owned(), "unknown".to_owned());
            }
            match word {
                "TYPE" => {
                    assert!(["counter", "gauge", "histogram", "info"].contains(&rest), "{line}");
                    kind = rest.to_owned();
                }
                "UNIT" => assert!(family.ends_with(&format!("_{rest}")), "{line}"),
                "HELP" => assert!(!rest.is_empty(), "{line}"),
                _ => panic!("what is {line}?"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no figure: {line}"));
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap_or_else(|| panic!("open labels: {line}"))),
            None => (series, ""),
        };
        let suffix = name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} is not part of {family}"));
        let suffixes: &[&str] = match kind.as_str() {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_sum", "_count"],
            "gauge" => &[""],
            other => panic!("{line} is of type {other}"),
        };
        assert!(suffixes.contains(&suffix), "{line} does not fit a {kind}");
        assert!(kind == "gauge" || value >= 0.0, "{line}");
        let mut known = BTreeSet::new();
        let mut rest = labels;
        while !rest.is_empty() {
            let (label, more) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
            assert!(name_ok(label) && known.insert(label), "{line}");
            let mut escaped = false;
            let end = more.find(|letter: char| {
                let ends = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            });
            let (_, after) = more.split_at(end.unwrap_or_else(|| panic!("no end of a label: {line}")));
            rest = after.strip_prefix('"').expect("a quote");
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        assert!(figures.insert(series.to_owned(), value).is_none(), "{series} comes twice");
    }
    // What is counted in a bucket is counted in every larger one, and the last holds all.
    for (series, count) in figures.iter().filter(|(series, _)| series.contains("_count{")) {
        let (name, labels) = series.split_once("_count{").expect("just found");
        let labels = labels.trim_end_matches('}');
        let of = |series: &&String| series.starts_with(&format!("{name}_bucket{{")) && series.contains(labels);
        let mut buckets: Vec<(f64, f64)> = figures
            .keys()
            .filter(of)
            .map(|series| {
                let (_, bound) = series.split_once("le=\"").expect("a bound");
                let bound = bound.split('"').next().expect("a bound").replace("+Inf", "inf");
                (bound.parse().expect("a bound"), figures[series])
            })
            .collect();
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{series}: {buckets:?}");
        assert_eq!(buckets.last().map(|(_, all)| *all), Some(*count), "{series}");
    }
    figures
}

#[tokio::test]
async fn whoever_is_not_let_in_is_counted_by_reason() {
    let upstream = Recorded::start().await;
    let config = format!("[gateway.auth]\ntokens = true\n[gateway.limits]\nrate = \"3/h\"\n{}", upstream.config());
    let gateway = Running::start(&config).await;
    let (all, some) =
        (gateway.token(named("all")).await, NewToken { tasks: Scope::only(["read-only"]), ..named("some") });
    let some = gateway.token(some).await;
    let get =
        async |headers: &[(&str, &str)]| send(&gateway, Method::GET, "/healthz", headers, &Value::Null).await.status;
    assert_eq!(get(&[("host", "evil.example")]).await, StatusCode::FORBIDDEN);
    assert_eq!(get(&[("origin", "http://evil.example")]).await, StatusCode::FORBIDDEN);
    assert_eq!(get(&[("origin", "http://evil.example")]).await, StatusCode::FORBIDDEN);
    assert_eq!(call(&gateway, "/mcp", None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(call(&gateway, "/mcp", Some(&some)).await.status, StatusCode::FORBIDDEN);
    for _ in 0..3 {
        assert_eq!(call(&gateway, "/mcp", Some(&all)).await.status, StatusCode::OK);
    }
    assert_eq!(call(&gateway, "/mcp", Some(&all)).await.status, StatusCode::TOO_MANY_REQUESTS);

    let shown = format!("Bearer {all}");
    let answer = send(&gateway, Method::GET, "/metrics", &[("authorization", &shown)], &Value::Null).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text; version=1.0.0"));
    let figures = read(&answer.body);
    for (code, status, count) in [
        ("host-refused", 403, 1.0),
        ("origin-refused", 403, 2.0),
        ("access-token-missing", 401, 1.0),
        ("access-scope", 403, 1.0),
        ("caller-limit", 429, 1.0),
    ] {
        let series = format!("toolmark_requests_refused_total{{code=\"{code}\",status=\"{status}\"}}");
        assert_eq!(figures.get(&series), Some(&count), "{series}: {figures:#?}");
    }
    let calls = figures.iter().filter(|(series, _)| series.starts_with("toolmark_calls_total{"));
    assert_eq!(calls.map(|(_, count)| count).sum::<f64>(), 3.0);
    assert_eq!(figures["toolmark_audit_dropped_total"], 0.0);
    assert_eq!(figures["toolmark_audit_queued"] + figures["toolmark_audit_written_total"], 3.0);
    assert_eq!(figures["toolmark_spans_dropped_total"], 0.0);
    let restarts = figures.iter().find(|(series, _)| series.starts_with("toolmark_pack_restarts_total{"));
    assert_eq!(restarts.map(|(_, count)| *count), Some(0.0), "{figures:#?}");
    for secret in [&all, &some] {
        assert!(!answer.body.contains(secret.as_str()));
    }
    gateway.stop().await;
}

#[tokio::test]
async fn figures_that_are_switched_off_are_nowhere() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("[telemetry]\nmetrics = false\n{}", upstream.config())).await;
    let answer = send(&gateway, Method::GET, "/metrics", &[], &Value::Null).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(!answer.body.contains("toolmark_"), "{}", answer.body);
    let health = send(&gateway, Method::GET, "/healthz", &[], &Value::Null).await;
    assert_eq!(health.status, StatusCode::OK);
    gateway.stop().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_started_is_counted_each_time_it_is_tried() {
    let gateway = Running::start("[packs.gone]\ncommand = \"/nowhere/to-be-found\"\n").await;
    // It is tried again by itself; the patience only keeps a broken test from hanging.
    for _ in 0..1_000 {
        let figures = read(&send(&gateway, Method::GET, "/metrics", &[], &Value::Null).await.body);
        assert_eq!(figures["toolmark_pack_state{pack=\"gone\",state=\"ready\"}"], 0.0);
        if figures["toolmark_pack_restarts_total{pack=\"gone\"}"] >= 1.0 {
            return gateway.stop().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it was never tried again");
}
