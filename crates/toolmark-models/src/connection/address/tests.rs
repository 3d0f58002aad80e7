use super::*;

#[test]
fn the_path_of_the_format_follows_the_base() {
    for (provider, base, expected) in [
        (Provider::OpenAi, None, "https://api.openai.com/v1/responses"),
        (Provider::Anthropic, None, "https://api.anthropic.com/v1/messages"),
        (Provider::OpenAiChat, Some("http://127.0.0.1:8080/v1/"), "http://127.0.0.1:8080/v1/chat/completions"),
        (Provider::Anthropic, Some("https://x.example/v1"), "https://x.example/v1/messages"),
        (Provider::OpenAi, Some("https://x.example/a?v=1"), "https://x.example/a/responses?v=1"),
    ] {
        assert_eq!(address(provider, base).unwrap().to_string(), expected);
    }
}

#[test]
fn what_is_no_address_is_refused_without_showing_secrets() {
    for bad in [
        "",
        "x",
        "ftp://h/v1",
        "https://",
        "https://h#f",
        "https://user:hunter22@h/v1",
        "https://h/v1?key=hunter22#x",
        "https://a b/",
        "/v1",
        "https://[::1/v1",
    ] {
        let error = address(Provider::OpenAiChat, Some(bad)).unwrap_err();
        assert!(!error.to_string().contains("hunter22"), "{error}");
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    }
}

#[test]
fn loopback_is_private_and_the_network_is_not() {
    let private = |uri: &str| is_private(&uri.parse().unwrap());
    assert!(private("http://127.0.0.1:1/v1"));
    assert!(private("http://[::1]:1/v1"));
    assert!(private("http://localhost/v1"));
    assert!(private("https://example.org/v1"));
    assert!(!private("http://example.org/v1"));
    assert!(!private("http://127.0.0.1.example.org/v1"));
    assert!(!private("http://localhost.example.org/v1"));
}
