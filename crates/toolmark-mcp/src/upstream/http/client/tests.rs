use super::*;

fn from(address: &str, location: &str) -> Option<String> {
    same_origin(&address.parse().expect("an address"), location).map(|uri| uri.to_string())
}

#[test]
fn a_redirect_stays_on_the_server() {
    assert_eq!(from("http://h:1/mcp", "/mcp/").as_deref(), Some("http://h:1/mcp/"));
    assert_eq!(from("http://h:1/a/sse", "messages?x=1").as_deref(), Some("http://h:1/a/messages?x=1"));
    assert_eq!(from("http://h:1/sse", "?s=1").as_deref(), Some("http://h:1/sse?s=1"));
    assert_eq!(from("https://h/mcp", "https://H:443/x").as_deref(), Some("https://H:443/x"));
}

#[test]
fn a_redirect_to_another_server_is_none() {
    for location in [
        "http://evil/mcp",
        "//evil/mcp",
        "https://h:1/mcp",
        "http://h:2/mcp",
        "http://user@h:1/",
        "javascript://h:1/",
        " ",
    ] {
        assert_eq!(from("http://h:1/mcp", location), None, "{location}");
    }
}

#[test]
fn only_web_addresses_have_a_client() {
    for address in ["ftp://h/", "/mcp", "h:80"] {
        assert!(Client::new(&address.parse().expect("an address"), &Trust::machine(), IDLE, 1).is_err(), "{address}");
    }
}
