use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::HeaderValue;
use http_body_util::StreamBody;
use hyper::body::Frame;

use super::*;

/// A body of so many pieces of a thousand bytes, and how many of them were read.
fn pieces(count: usize) -> (Arc<AtomicUsize>, impl hyper::body::Body<Data = Bytes, Error = Infallible> + Unpin) {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let pieces = (0..count).map(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Frame::data(Bytes::from_static(&[b'x'; 1000])))
    });
    (read, StreamBody::new(futures_util::stream::iter(pieces)))
}

fn headers(of: &[(http::HeaderName, &'static str)]) -> HeaderMap {
    of.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

const TIME: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_body_that_is_too_long_is_read_to_its_end_so_that_its_client_hears_why() {
    for headers in [headers(&[(CONTENT_LENGTH, "50000")]), HeaderMap::new()] {
        let (read, body) = pieces(50);
        assert_eq!(read_body(&headers, body, 10_000, TIME).await, Err(ReadBodyError::TooLarge(10_000)));
        assert_eq!(read.load(Ordering::Relaxed), 50);
    }
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_before_it_writes() {
    let (read, body) = pieces(50);
    let headers = headers(&[(CONTENT_LENGTH, "50000"), (EXPECT, "100-continue")]);
    assert_eq!(read_body(&headers, body, 10_000, TIME).await, Err(ReadBodyError::TooLarge(10_000)));
    assert_eq!(read.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn nobody_is_listened_to_for_ever() {
    let (read, body) = pieces(1 << 20);
    assert_eq!(read_body(&HeaderMap::new(), body, 10_000, TIME).await, Err(ReadBodyError::TooLarge(10_000)));
    let read = read.load(Ordering::Relaxed) * 1000;
    assert!((MOST_REST..MOST_REST + 20_000).contains(&read), "{read}");
}
