//! The floor: one more hop and nothing else. Each connection of a client gets one to the server; bodies pass through as they come.

use std::sync::Arc;

use clap::Args;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

use crate::failure::Failure;

#[derive(Args)]
pub(crate) struct Floor {
    /// Where it listens
    #[arg(long)]
    listen: String,
    /// Where everything goes
    #[arg(long)]
    to: String,
}

impl Floor {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let listener = TcpListener::bind(&self.listen).await?;
        let to: Arc<str> = self.to.into();
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let hop = Arc::new(Hop { to: Arc::clone(&to), sender: Mutex::default() });
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let hop = Arc::clone(&hop);
                    async move { hop.pass(request).await }
                });
                // A client that goes away is no failure.
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }
}

/// The way of one client to the server.
struct Hop {
    to: Arc<str>,
    sender: Mutex<Option<SendRequest<Incoming>>>,
}

impl Hop {
    async fn pass(&self, request: Request<Incoming>) -> Result<Response<Incoming>, std::io::Error> {
        let mut place = self.sender.lock().await;
        let usable = match place.take() {
            Some(mut sender) => sender.ready().await.is_ok().then_some(sender),
            None => None,
        };
        let mut sender = match usable {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let response = sender.send_request(request).await.map_err(std::io::Error::other)?;
        *place = Some(sender);
        Ok(response)
    }

    async fn connect(&self) -> Result<SendRequest<Incoming>, std::io::Error> {
        let stream = TcpStream::connect(&*self.to).await?;
        stream.set_nodelay(true)?;
        let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(std::io::Error::other)?;
        tokio::spawn(connection);
        sender.ready().await.map_err(std::io::Error::other)?;
        Ok(sender)
    }
}
