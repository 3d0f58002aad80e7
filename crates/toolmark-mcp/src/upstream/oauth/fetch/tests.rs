use super::*;

#[test]
fn a_server_out_there_does_not_send_us_to_addresses_in_here() {
    let far = Reach::of(&Uri::from_static("https://mcp.example.com/mcp"));
    let near = Reach::of(&Uri::from_static("http://127.0.0.1:7000/mcp"));
    for url in ["https://login.example.com/token", "https://8.8.8.8/token"] {
        assert!(far.check(url).is_ok(), "{url}");
        assert!(near.check(url).is_ok(), "{url}");
    }
    for url in [
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://LOCALHOST/x",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://10.1.2.3/x",
        "https://169.254.169.254/latest/meta-data",
        "https://192.168.0.1/x",
        "https://[fd00::1]/x",
        "https://0.0.0.0/x",
        "http://127.0.0.1/x",
        "http://login.example.com/token",
        "ftp://login.example.com/token",
        "https://user@login.example.com/token",
        "https:///x",
        "/token",
        "",
    ] {
        assert!(far.check(url).is_err(), "{url}");
    }
    assert!(near.check("http://localhost:9000/token").is_ok());
    let inside = Reach::of(&Uri::from_static("https://10.0.0.5/mcp"));
    assert!(inside.check("https://10.0.0.6/token").is_ok());
    assert!(inside.check("https://127.0.0.1/token").is_err());
    assert!(inside.check("http://10.0.0.6/token").is_err());
    assert!(Reach::ALL.check("https://10.0.0.6/token").is_ok());
    assert!(Reach::ALL.check("http://10.0.0.6/token").is_err());
    assert!(near.check("http://login.example.com/token").is_err());
}

#[test]
fn a_field_is_read_as_it_was_written() {
    for text in ["", "a b+c&d=e%f", "é–🦀", "https://x.example/a?b=c#d"] {
        let query = format!("a=1&text={}&z=%zz&y=%e", encode(text));
        assert_eq!(fields(&query), [("a".to_owned(), "1".to_owned()), ("text".to_owned(), text.to_owned())]);
    }
    assert_eq!(fields("a=b+c"), [("a".to_owned(), "b c".to_owned())]);
}
