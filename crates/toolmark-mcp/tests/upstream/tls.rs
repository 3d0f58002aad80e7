//! Servers with TLS: the fixture behind a door that shows a certificate.

use std::net::Ipv4Addr;

use toolmark_core::explain::Explain as _;
use toolmark_fixture::{Fixture, Listening, Options, serve_http};
use toolmark_mcp::toolset::McpServer;
use toolmark_mcp::upstream::{ConnectError, ConnectOptions, Delivery, EventSender, Target, Upstream};
use toolmark_testkit::tls::{Authority, Door, Ends, Valid};
use toolmark_tls::Trust;

use crate::{call, options, parsed};

async fn fixture() -> Listening {
    let fixture = Fixture::new(Options::default()).expect("a fixture");
    serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port")
}

async fn connect(door: &Door, trust: Trust) -> Result<Upstream, ConnectError> {
    let url = format!("https://{}/mcp", door.address()).parse().expect("an address");
    let target = Target::Http { url, headers: ::http::HeaderMap::new() };
    Upstream::connect(target, ConnectOptions { trust, ..options() }, EventSender::channel(8).0).await
}

fn believed(authority: &Authority) -> Trust {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    authority.write(&file);
    Trust::read(&file).expect("certificates")
}

#[tokio::test]
async fn a_server_with_a_certificate_of_the_named_authority_is_called() {
    let (fixture, authority) = (fixture().await, Authority::new());
    let door = Door::open(fixture.address(), authority.server("127.0.0.1", Valid::Now), Ends::Well).await;
    let upstream = connect(&door, believed(&authority)).await.expect("connected");
    let reply = upstream.request(call(r#"{"name":"echo","arguments":{"text":"hello"}}"#)).await;
    assert_eq!(parsed(reply)["content"][0]["text"], "hello");
}

#[tokio::test]
async fn a_server_that_is_not_believed_is_told_nothing_and_the_reason_is_said() {
    let (fixture, authority, other) = (fixture().await, Authority::new(), Authority::new());
    let unknown =
        "the server cannot be reached: its certificate is not accepted: nobody who is believed here has signed it";
    for (shows, trust, says) in [
        (other.server("127.0.0.1", Valid::Now), believed(&authority), unknown),
        (authority.server("127.0.0.1", Valid::Now), Trust::machine(), unknown),
        (
            authority.server("mcp.example", Valid::Now),
            believed(&authority),
            "the server cannot be reached: its certificate is not accepted: it is for `mcp.example`, not for `127.0.0.1`",
        ),
        (
            authority.server("127.0.0.1", Valid::Past),
            believed(&authority),
            "the server cannot be reached: its certificate is not accepted: it has expired",
        ),
    ] {
        let door = Door::open(fixture.address(), shows, Ends::Well).await;
        match connect(&door, trust).await {
            Err(ConnectError::Request(error)) => {
                assert_eq!((error.to_string().as_str(), error.delivery()), (says, Delivery::Never));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_toolset_of_a_program_may_name_an_authority_too() {
    let (fixture, authority) = (fixture().await, Authority::new());
    let door = Door::open(fixture.address(), authority.server("127.0.0.1", Valid::Now), Ends::Well).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    let url = format!("https://{}/mcp", door.address());
    let missing = McpServer::at("fixture", &url).ca(&file).build().expect_err("no file");
    assert_eq!(missing.code().as_str(), "ca-unusable");
    authority.write(&file);
    let server = McpServer::at("fixture", &url).ca(&file).build().expect("a server");
    server.connect().await.expect("connected");
    let plain = McpServer::at("fixture", "http://127.0.0.1:1/mcp").ca(&file).build().expect_err("no TLS");
    assert!(plain.to_string().contains("without encryption"), "{plain}");
}
