//! An endpoint with a service behind it that has what the official conformance suite asks for by name.
//!
//! `cargo run -p toolmark-mcp --example endpoint -- 127.0.0.1:8401`, or `-- stdio`.
#![expect(clippy::print_stderr, reason = "says where it listens")]

mod fixture;

use std::convert::Infallible;
use std::sync::Arc;

use http::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use toolmark_mcp::downstream::origin::Guard;
use toolmark_mcp::downstream::{Body, Caller, Endpoint, Settings};

use fixture::Fixture;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8401".to_owned());
    let fixture = Arc::new(Fixture::default());
    let endpoint = Endpoint::new(Arc::clone(&fixture), Settings::default());
    fixture.announce_through(&endpoint);
    if address == "stdio" {
        return endpoint.stdio(tokio::io::stdin(), tokio::io::stdout(), Caller::new("pipe")).await;
    }
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    let guard = Arc::new(Guard::loopback());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (endpoint, guard) = (endpoint.clone(), Arc::clone(&guard));
        tokio::spawn(async move {
            let answer = service_fn(move |request: http::Request<Incoming>| {
                let (endpoint, guard) = (endpoint.clone(), Arc::clone(&guard));
                async move {
                    let response = match guard.check(request.uri(), request.headers()) {
                        Ok(_) => endpoint.http(request, Caller::new("local")).await,
                        Err(refused) => {
                            let mut response = Response::new(Body::whole(refused.to_string().into()));
                            *response.status_mut() = refused.status();
                            response
                        }
                    };
                    Ok::<_, Infallible>(response)
                }
            });
            drop(auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await);
        });
    }
}
