use super::*;

fn headers(host: Option<&str>, origin: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(host) = host {
        headers.append(HOST, host.parse().unwrap());
    }
    if let Some(origin) = origin {
        headers.append(ORIGIN, origin.parse().unwrap());
    }
    headers
}

fn check(guard: &Guard, host: Option<&str>, origin: Option<&str>) -> Result<(), RefuseRequestError> {
    guard.check(&Uri::from_static("/mcp"), &headers(host, origin)).map(|_| ())
}

#[test]
fn loopback_names_are_served_on_any_port() {
    let guard = Guard::loopback();
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:7319", "[::1]", "[::1]:7319", "[0:0:0:0:0:0:0:1]:80"] {
        assert_eq!(check(&guard, Some(host), None), Ok(()), "{host}");
    }
}

#[test]
fn a_foreign_host_alone_is_refused() {
    let guard = Guard::loopback();
    for host in [
        "evil.example",
        "evil.example:7319",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "localhost.",
    ] {
        assert_eq!(check(&guard, Some(host), None), Err(RefuseRequestError::Host(host.to_owned())), "{host}");
    }
}

#[test]
fn a_foreign_origin_alone_is_refused() {
    let guard = Guard::loopback();
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
        "http://localhost/",
        "localhost",
        "",
    ] {
        let refused = check(&guard, Some("localhost"), Some(origin));
        assert_eq!(refused, Err(RefuseRequestError::Origin(origin.to_owned())), "{origin}");
    }
}

#[test]
fn a_page_of_our_own_port_may_send_requests() {
    let guard = Guard::loopback();
    for (host, origin) in [
        ("localhost:7319", "http://localhost:7319"),
        ("127.0.0.1:7319", "http://localhost:7319"),
        ("[::1]:8443", "https://[::1]:8443"),
        ("localhost", "http://127.0.0.1"),
        ("localhost:80", "HTTP://LocalHost"),
        ("localhost", "https://localhost:443"),
    ] {
        assert_eq!(check(&guard, Some(host), Some(origin)), Ok(()), "{host} {origin}");
    }
    let called = Uri::from_static("http://localhost:7319/mcp");
    assert!(guard.check(&called, &headers(None, Some("http://localhost:7319"))).is_ok());
}

#[test]
fn a_page_of_another_port_of_this_machine_is_refused_unless_it_is_allowed() {
    let guard = Guard::loopback();
    for (host, origin) in [
        ("localhost:7319", "http://localhost:3000"),
        ("127.0.0.1:7319", "http://127.0.0.1"),
        ("localhost:7319", "https://localhost"),
        ("localhost", "http://localhost:7319"),
        ("localhost:7319", "ftp://localhost:7319"),
    ] {
        let refused = Err(RefuseRequestError::Origin(origin.to_owned()));
        assert_eq!(check(&guard, Some(host), Some(origin)), refused, "{host} {origin}");
    }
    let guard = guard.allow_origin("http://localhost:3000").unwrap();
    assert_eq!(check(&guard, Some("localhost:7319"), Some("http://localhost:3000")), Ok(()));
}

#[test]
fn a_request_without_exactly_one_readable_host_is_refused() {
    let guard = Guard::loopback();
    for host in [
        None,
        Some("user@localhost"),
        Some("localhost:port"),
        Some("localhost:+80"),
        Some("localhost:99999"),
        Some("[::1"),
        Some(""),
    ] {
        assert_eq!(check(&guard, host, None), Err(RefuseRequestError::HostUnreadable), "{host:?}");
    }
    let mut twice = headers(Some("localhost"), None);
    twice.append(HOST, "localhost".parse().unwrap());
    assert_eq!(guard.check_host(&Uri::from_static("/mcp"), &twice), Err(RefuseRequestError::HostUnreadable));
}

#[test]
fn the_authority_of_the_address_counts_as_much_as_the_header() {
    let guard = Guard::loopback();
    let evil = Uri::from_static("http://evil.example/mcp");
    assert_eq!(
        guard.check_host(&evil, &headers(Some("localhost"), None)),
        Err(RefuseRequestError::Host("evil.example".to_owned()))
    );
    assert_eq!(guard.check_host(&Uri::from_static("http://localhost/mcp"), &HeaderMap::new()), Ok(()));
}

#[test]
fn two_origins_are_both_checked() {
    let guard = Guard::loopback();
    let mut headers = headers(Some("localhost"), Some("http://localhost"));
    headers.append(ORIGIN, "https://evil.example".parse().unwrap());
    assert!(guard.check_origin(&Uri::from_static("/mcp"), &headers).is_err());
}

#[test]
fn hosts_and_origins_of_the_settings_are_served() {
    let guard = Guard::closed().allow_host("tools.example.com").unwrap().allow_host("box:8080").unwrap();
    let guard =
        guard.allow_origin("https://app.example.com:443").unwrap().allow_origin("http://dev.example.com:5173").unwrap();
    assert_eq!(check(&guard, Some("tools.example.com:99"), Some("https://app.example.com")), Ok(()));
    assert_eq!(check(&guard, Some("box:8080"), Some("http://dev.example.com:5173")), Ok(()));
    assert!(check(&guard, Some("box"), None).is_err());
    assert!(check(&guard, Some("localhost"), None).is_err());
    assert!(check(&guard, Some("box:8080"), Some("https://app.example.com:8443")).is_err());
    assert!(check(&guard, Some("box:8080"), Some("http://app.example.com")).is_err());
}

#[test]
fn an_origin_without_a_port_is_the_one_of_its_schemes_usual_port_only() {
    let guard = Guard::loopback().allow_origin("https://app.example.com").unwrap();
    let guard = guard.allow_origin("HTTP://localhost").unwrap().allow_origin("app://shell").unwrap();
    let host = Some("localhost:7319");
    for origin in [
        "https://app.example.com",
        "https://app.example.com:443",
        "http://localhost",
        "http://localhost:80",
        "app://shell",
    ] {
        assert_eq!(check(&guard, host, Some(origin)), Ok(()), "{origin}");
    }
    for origin in [
        "https://app.example.com:444",
        "https://app.example.com:80",
        "http://app.example.com",
        "http://app.example.com:443",
        "http://localhost:9999",
        "https://localhost",
        "app://shell:1",
    ] {
        assert_eq!(check(&guard, host, Some(origin)), Err(RefuseRequestError::Origin(origin.to_owned())), "{origin}");
    }
}

#[test]
fn settings_that_are_no_host_or_origin_are_refused() {
    assert!(Guard::closed().allow_host("http://a").is_err());
    assert!(Guard::closed().allow_host("").is_err());
    assert!(Guard::closed().allow_origin("app.example.com").is_err());
    assert!(Guard::closed().allow_origin("https://a/path").is_err());
    assert!(Guard::closed().allow_origin("*").is_err());
}

#[test]
fn each_refusal_has_a_status_and_a_code() {
    assert_eq!(RefuseRequestError::HostUnreadable.status(), StatusCode::BAD_REQUEST);
    assert_eq!(RefuseRequestError::Host(String::new()).status(), StatusCode::FORBIDDEN);
    assert_eq!(RefuseRequestError::Origin(String::new()).code().as_str(), "origin-refused");
}

#[test]
fn an_address_of_ours_is_allowed_as_a_number_and_its_pages_at_their_port_only() {
    let guard = Guard::closed().allow_address("[::ffff:192.0.2.7]:7319".parse().unwrap());
    let host = Some("192.0.2.7:7319");
    assert_eq!(check(&guard, host, None), Ok(()));
    assert_eq!(check(&guard, Some("192.0.2.7"), None), Ok(()));
    assert_eq!(check(&guard, host, Some("http://192.0.2.7:7319")), Ok(()));
    for origin in ["http://192.0.2.7", "https://192.0.2.7:7319", "http://192.0.2.7:80", "http://192.0.2.8:7319"] {
        assert!(check(&guard, host, Some(origin)).is_err(), "{origin}");
    }
    for host in ["192.0.2.8:7319", "evil.example:7319", "192.0.2.7.evil.example"] {
        assert!(check(&guard, Some(host), None).is_err(), "{host}");
    }
}

#[test]
fn pages_of_the_public_address_are_let_in_and_others_of_its_host_are_not() {
    let guard = Guard::closed().allow_url("https://tools.example.com/below").unwrap();
    let host = Some("tools.example.com");
    assert_eq!(check(&guard, host, None), Ok(()));
    for origin in ["https://tools.example.com", "https://tools.example.com:443"] {
        assert_eq!(check(&guard, host, Some(origin)), Ok(()), "{origin}");
    }
    for origin in ["http://tools.example.com", "https://tools.example.com:8443", "https://example.com"] {
        assert!(check(&guard, host, Some(origin)).is_err(), "{origin}");
    }
    assert!(Guard::closed().allow_url("tools.example.com").is_err());
}
