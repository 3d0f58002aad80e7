use std::sync::atomic::AtomicUsize;

use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::upstream::request::Delivery;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that counts, and does with each connection what it is told: the number of answers before it closes, and whether it reads one
/// more request and then leaves it without an answer.
struct Server {
    address: Uri,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    async fn start(answers: usize, takes_one_more: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (all, seen) = (Arc::clone(&connections), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                all.fetch_add(1, Ordering::SeqCst);
                let seen = Arc::clone(&seen);
                tokio::spawn(async move {
                    let mut buffer = [0; 4096];
                    for number in 0.. {
                        if number == answers && !takes_one_more {
                            return;
                        }
                        // Requests here are small, and come one at a time.
                        if stream.read(&mut buffer).await.unwrap_or(0) == 0 {
                            return;
                        }
                        seen.fetch_add(1, Ordering::SeqCst);
                        if number == answers {
                            return;
                        }
                        stream.write_all(ANSWER).await.unwrap();
                    }
                });
            }
        });
        Self { address, connections, requests }
    }

    fn pool(&self) -> Arc<Pool> {
        Pool::new(HttpConnector::new(), &self.address, 8, Duration::from_secs(60)).unwrap()
    }

    fn counts(&self) -> (usize, usize) {
        (self.connections.load(Ordering::SeqCst), self.requests.load(Ordering::SeqCst))
    }
}

async fn ask(pool: &Arc<Pool>, address: &Uri) -> Result<Bytes, UpstreamError> {
    let request = Request::post(address.clone()).body(Full::new(Bytes::from_static(b"{}"))).unwrap();
    Ok(pool.send(request).await?.into_body().collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn calls_that_follow_each_other_share_a_connection() {
    let server = Server::start(usize::MAX, false).await;
    let pool = server.pool();
    for _ in 0..20 {
        assert_eq!(ask(&pool, &server.address).await.unwrap(), "ok");
    }
    assert_eq!(server.counts(), (1, 20));
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_replaced_and_nothing_is_sent_twice() {
    let server = Server::start(1, false).await;
    let pool = server.pool();
    for _ in 0..5 {
        assert_eq!(ask(&pool, &server.address).await.unwrap(), "ok");
        // The end of the connection has come by then, so that nothing is written to it.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.counts(), (5, 5));
}

#[tokio::test]
async fn a_request_that_may_have_been_read_is_not_sent_again() {
    let server = Server::start(1, true).await;
    let pool = server.pool();
    assert_eq!(ask(&pool, &server.address).await.unwrap(), "ok");
    let error = ask(&pool, &server.address).await.unwrap_err();
    assert_eq!(error.delivery(), Delivery::Perhaps, "{error}");
    assert_eq!(server.counts(), (1, 2));
}

#[tokio::test]
async fn where_nobody_listens_nothing_was_sent() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let address: Uri = format!("http://{free}/mcp").parse().unwrap();
    let pool = Pool::new(HttpConnector::new(), &address, 8, Duration::from_secs(60)).unwrap();
    assert_eq!(ask(&pool, &address).await.unwrap_err().delivery(), Delivery::Never);
}

#[tokio::test]
async fn an_answer_that_nobody_reads_takes_its_connection_along() {
    let server = Server::start(usize::MAX, false).await;
    let pool = server.pool();
    let request = Request::post(server.address.clone()).body(Full::new(Bytes::from_static(b"{}"))).unwrap();
    drop(pool.send(request).await.unwrap());
    assert!(pool.idle().is_empty());
    assert_eq!(ask(&pool, &server.address).await.unwrap(), "ok");
    assert_eq!(server.counts(), (2, 2));
}

#[tokio::test]
async fn connections_that_nobody_uses_are_closed() {
    let server = Server::start(usize::MAX, false).await;
    let pool = Pool::new(HttpConnector::new(), &server.address, 8, Duration::from_millis(20)).unwrap();
    ask(&pool, &server.address).await.unwrap();
    for _ in 0..500 {
        if pool.idle().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is still kept");
}
