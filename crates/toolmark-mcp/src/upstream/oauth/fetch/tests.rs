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
        "https://localhost./x",
        "https://db.localhost/x",
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
fn no_spelling_of_an_address_in_here_gets_past() {
    let far = Reach::of(&Uri::from_static("https://mcp.example.com/mcp"));
    for host in [
        // Shared between networks, where a cloud keeps its metadata; the first and the last of the range.
        "100.100.100.200",
        "100.64.0.0",
        "100.127.255.255",
        "192.0.0.192",
        "198.18.0.1",
        "198.19.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "224.0.0.251",
        "0.1.2.3",
        "127.8.8.8",
        "[::]",
        "[fc00::1]",
        "[fdff::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[::ffff:100.100.100.200]",
        "[::ffff:a9fe:a9fe]",
        "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[64:ff9b::a00:1]",
        "[64:ff9b:1::10.0.0.1]",
        "[2002:a00:1::]",
        "[2002:7f00:1::1]",
    ] {
        assert!(far.check(&format!("https://{host}/x")).is_err(), "{host}");
    }
    for host in [
        "100.63.255.255",
        "100.128.0.1",
        "192.0.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.1",
        "[2606:4700::1]",
        "[::ffff:8.8.8.8]",
        "[64:ff9b::8.8.8.8]",
        "[2002:808:808::1]",
    ] {
        assert!(far.check(&format!("https://{host}/x")).is_ok(), "{host}");
    }
    // What somebody on the way takes for this machine is not this machine: nothing goes there without TLS.
    let near = Reach::of(&Uri::from_static("http://127.0.0.1:7000/mcp"));
    assert!(near.check("http://[64:ff9b::127.0.0.1]/token").is_err());
    assert!(near.check("http://[::ffff:127.0.0.1]/token").is_ok());
}

#[tokio::test]
async fn a_name_that_stands_for_an_address_in_here_is_no_way_around() {
    let far = Reach::of(&Uri::from_static("https://mcp.example.com/mcp"));
    // Written so that they are neither names nor numbers that a comparison would know.
    for url in ["https://127.1/x", "https://2130706433/x"] {
        assert!(far.check(url).is_ok(), "{url}");
        assert!(far.admit(url).await.is_err(), "{url}");
    }
    assert!(far.admit("https://8.8.8.8/x").await.is_ok());
    assert!(Reach::ALL.admit("https://127.1/x").await.is_ok());
}

#[test]
fn a_field_is_read_as_it_was_written() {
    for text in ["", "a b+c&d=e%f", "é–🦀", "https://x.example/a?b=c#d"] {
        let query = format!("a=1&text={}&z=%zz&y=%e", encode(text));
        assert_eq!(fields(&query), [("a".to_owned(), "1".to_owned()), ("text".to_owned(), text.to_owned())]);
    }
    assert_eq!(fields("a=b+c"), [("a".to_owned(), "b c".to_owned())]);
}

#[test]
fn messages_name_no_more_of_an_address_than_where_it_leads() {
    for (url, named) in [
        ("https://mcp.example/s/sk-secret/mcp?key=secret", "https://mcp.example/…"),
        ("http://ann:secret@mcp.example:81", "http://mcp.example:81"),
        ("http://a@secret@mcp.example/x", "http://mcp.example/…"),
        ("https://mcp.example#secret", "https://mcp.example/…"),
        ("mcp.example/secret", "mcp.example/…"),
        ("", ""),
    ] {
        assert_eq!(shown(url), named, "{url}");
    }
}
