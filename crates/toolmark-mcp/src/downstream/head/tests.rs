use super::*;

fn headers(name: &'static str, value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(name, value.parse().unwrap());
    headers
}

fn accepts(value: &str) -> (bool, bool) {
    let accepts = Accepts::read(&headers("accept", value));
    (accepts.json, accepts.events)
}

#[test]
fn what_a_client_takes_is_read_from_accept() {
    assert_eq!(Accepts::read(&HeaderMap::new()), Accepts { json: true, events: true });
    assert_eq!(accepts("application/json, text/event-stream"), (true, true));
    assert_eq!(accepts("TEXT/Event-Stream;q=0.9 , Application/JSON;charset=utf-8"), (true, true));
    assert_eq!(accepts("*/*"), (true, true));
    assert_eq!(accepts("application/json"), (true, false));
    assert_eq!(accepts("text/*"), (false, true));
    assert_eq!(accepts("text/html"), (false, false));
    assert_eq!(accepts("application/json;q=0, text/event-stream; Q=1"), (false, true));
    assert_eq!(accepts(""), (false, false));
}

#[test]
fn only_json_is_read_as_json() {
    assert!(is_json(&headers("content-type", "application/json")));
    assert!(is_json(&headers("content-type", "Application/JSON; charset=utf-8")));
    for wrong in ["text/plain", "application/jsonp", "application/json-rpc", ""] {
        assert!(!is_json(&headers("content-type", wrong)), "{wrong}");
    }
    assert!(!is_json(&HeaderMap::new()));
    let mut encoded = headers("content-type", "application/json");
    encoded.insert("content-encoding", HeaderValue::from_static("identity"));
    assert!(is_json(&encoded));
    encoded.insert("content-encoding", HeaderValue::from_static("gzip"));
    assert!(!is_json(&encoded), "nothing is unpacked");
}

#[test]
fn the_body_says_the_era_first_and_the_header_second() {
    let modern = headers("mcp-protocol-version", "2026-07-28");
    let old = headers("mcp-protocol-version", "2025-06-18");
    let strange = headers("mcp-protocol-version", "v999");
    let none = HeaderMap::new();
    let session = |version| Ok(Speaks::Session(version));
    assert_eq!(speaks(&modern, Some("tools/list"), None), Ok(Speaks::Stateless));
    assert_eq!(speaks(&none, Some("tools/list"), Some("2026-07-28")), Ok(Speaks::Stateless));
    assert_eq!(speaks(&strange, Some("tools/list"), Some("v999")), Ok(Speaks::Stateless));
    assert_eq!(speaks(&modern, Some("initialize"), Some("2026-07-28")), Ok(Speaks::Stateless));
    assert_eq!(speaks(&modern, Some("initialize"), None), session(None));
    assert_eq!(speaks(&none, Some("server/discover"), None), Ok(Speaks::Stateless));
    assert_eq!(speaks(&none, Some("tools/list"), None), session(None));
    assert_eq!(speaks(&old, Some("tools/list"), None), session(Some(ProtocolVersion::V2025_06_18)));
    assert_eq!(speaks(&none, Some("tools/list"), Some("2025-11-25")), session(Some(ProtocolVersion::V2025_11_25)));
    assert_eq!(speaks(&old, Some("tools/list"), Some("2025-06-18")), session(Some(ProtocolVersion::V2025_06_18)));
    assert!(
        speaks(&modern, Some("tools/list"), Some("2025-11-25")).is_err(),
        "something in between may have believed it"
    );
    assert_eq!(speaks(&strange, Some("tools/list"), None), Ok(Speaks::Unknown));
    let mut twice = modern.clone();
    twice.append("mcp-protocol-version", "2025-06-18".parse().unwrap());
    assert!(speaks(&twice, Some("tools/list"), None).is_err());
}
