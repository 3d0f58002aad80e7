//! Pieces are one message, however they are taken.

use std::io::IoSlice;

use bytes::{Buf, Bytes};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

use super::{Body, Pieces};

fn pieces(parts: [&'static str; 3]) -> Pieces {
    Pieces::new(parts.map(|part| Bytes::from_static(part.as_bytes())))
}

#[test]
fn pieces_are_read_one_after_the_other_in_steps_of_any_size() {
    for parts in [["ab", "cde", "f"], ["", "abcdef", ""], ["abc", "", "def"], ["abcdef", "", ""], ["", "", "abcdef"]] {
        for step in 1..=6 {
            let (mut message, mut read) = (pieces(parts), Vec::new());
            while message.has_remaining() {
                assert!(!message.chunk().is_empty(), "{parts:?}: something is left, and none of it is shown");
                let length = step.min(message.remaining());
                let before = message.remaining();
                read.extend_from_slice(&message.copy_to_bytes(length));
                assert_eq!(message.remaining(), before - length);
            }
            assert_eq!(read, b"abcdef", "{parts:?} in steps of {step}");
            assert!(message.chunk().is_empty());
        }
    }
}

#[test]
fn all_pieces_can_be_written_at_once() {
    let mut message = pieces(["ab", "", "cd"]);
    message.advance(1);
    let mut slices = [IoSlice::new(&[]); 8];
    assert_eq!(message.chunks_vectored(&mut slices), 2);
    let [first, second, ..] = &slices;
    assert_eq!((&**first, &**second), (&b"b"[..], &b"cd"[..]));
    let mut one = [IoSlice::new(&[]); 1];
    assert_eq!(message.chunks_vectored(&mut one), 1, "no more than there is room for");
}

#[tokio::test]
async fn a_message_in_pieces_is_one_frame_and_the_last() {
    let mut body = Body::pieces(pieces(["{", "\"a\":1", "}"]));
    assert_eq!(body.size_hint().exact(), Some(7));
    let frame = body.frame().await.expect("a frame").expect("no failure");
    assert_eq!(frame.into_data().expect("data").copy_to_bytes(7), "{\"a\":1}");
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());
}
