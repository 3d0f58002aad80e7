use super::*;

#[test]
fn an_address_has_a_host_and_a_port_that_is_one() {
    for good in [
        "http://localhost",
        "https://mcp.example/a?b#c",
        "http://127.0.0.1:7319/mcp",
        "http://[::1]:7319/",
        "https://[2001:db8::1]",
        "https://ann:pw@mcp.example:8443/",
        "http://a:1",
        "http://a:65535",
        "HTTPS://mcp.example/a",
        "Http://mcp.example",
    ] {
        assert!(is_web_address(good), "{good}");
    }
    for bad in [
        "mcp.example",
        "ftp://mcp.example",
        "http://",
        "http:///path",
        "http://:80/",
        "http://a:/",
        "http://a:0/",
        "http://a:65536/",
        "http://127.0.0.1:99999/",
        "http://a:8o80/",
        "http://a:-1/",
        "http://a:+1/",
        "http://[::1/",
        "http://[::1]x/",
        "http://[nothing]/",
        "http://ann@:80/",
        "http://a b/",
    ] {
        assert!(!is_web_address(bad), "{bad}");
    }
}

#[test]
fn answers_are_believed_over_tls_and_from_this_machine() {
    for good in [
        "https://id.example.com/x",
        "HTTPS://id.example.com/x",
        "http://localhost:8080/",
        "http://127.0.0.1",
        "http://[::1]:80",
        "http://evil.example@localhost/",
    ] {
        assert!(is_trusted_address(good), "{good}");
    }
    for bad in [
        "http://evil.example",
        "HTTP://evil.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "http://192.0.2.1",
        "https://",
        "id.example.com",
        "",
    ] {
        assert!(!is_trusted_address(bad), "{bad}");
    }
}

#[test]
fn a_receiver_is_an_address_without_what_may_be_secret() {
    for good in ["http://127.0.0.1:4318", "https://x.example/otlp/"] {
        assert_eq!(check_receiver(good), Ok(()), "{good}");
    }
    for bad in ["127.0.0.1:4318", "", "grpc://x:4317", "http://", "http://x/?key=1", "http://a:b@x"] {
        assert!(check_receiver(bad).is_err(), "{bad}");
    }
}
