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
