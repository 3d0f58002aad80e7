use proptest::prelude::*;

use super::*;

fn read_in_pieces(stream: &[u8], piece: usize) -> Vec<Event> {
    let mut reader = Reader::new(1 << 20);
    let mut events = Vec::new();
    for chunk in stream.chunks(piece) {
        reader.feed(chunk);
        while let Some(event) = reader.next_event().expect("within limits") {
            events.push(event);
        }
    }
    events
}

fn event(name: Option<&str>, id: Option<&str>, data: &str) -> Event {
    Event { event: name.map(Into::into), id: id.map(Into::into), data: Bytes::copy_from_slice(data.as_bytes()) }
}

#[test]
fn every_kind_of_line_end_and_every_cut_reads_the_same() {
    let expected = vec![
        event(None, None, "one"),
        event(Some("endpoint"), Some("7"), "two\nlines"),
        event(None, Some("7"), ""),
        event(None, Some("8"), " spaced"),
    ];
    for end in ["\n", "\r", "\r\n"] {
        let stream = "\u{feff}: comment|data: one||event:endpoint|id: 7|data:two|data: lines||data||id: 8||data:  spaced|retry: 25||data: lost"
            .replace('|', end);
        for piece in [1, 2, 3, 7, 4096] {
            assert_eq!(read_in_pieces(stream.as_bytes(), piece), expected, "{end:?} in pieces of {piece}");
        }
    }
}

#[test]
fn ids_and_retry_times_are_remembered() {
    let mut reader = Reader::new(100);
    reader.feed(b"id: a\nretry: 10\n\nretry: x\n\nid: \0\n");
    assert_eq!(reader.next_event(), Ok(None));
    assert_eq!((reader.last_id(), reader.retry()), (Some("a"), Some(10)));
}

#[test]
fn an_event_beyond_the_limit_ends_the_reading() {
    let mut reader = Reader::new(10);
    reader.feed(b"data: 12345678901");
    assert_eq!(reader.next_event(), Err(EventTooLargeError { limit: 10 }));
    let mut reader = Reader::new(20);
    for _ in 0..6 {
        reader.feed(b"data: 1234\n");
    }
    assert_eq!(reader.next_event(), Err(EventTooLargeError { limit: 20 }));
    let mut reader = Reader::new(10);
    reader.feed(b": a long comment that never ends");
    assert!(reader.next_event().is_err());
}

#[test]
fn a_priming_event_gives_an_id() {
    assert_eq!(read_in_pieces(&write_priming("5", Some(3)), 4), vec![event(None, Some("5"), "")]);
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(data in "[a-z\\n ]{0,40}", id in proptest::option::of("[a-z0-9]{1,5}"), piece in 1usize..9) {
        let written = write(Some("message"), id.as_deref(), data.as_bytes());
        prop_assert_eq!(read_in_pieces(&written, piece), vec![event(Some("message"), id.as_deref(), &data)]);
    }

    #[test]
    fn no_bytes_make_the_reader_stumble(stream in proptest::collection::vec(any::<u8>(), 0..200), piece in 1usize..50) {
        read_in_pieces(&stream, piece);
    }
}
