use proptest::prelude::*;

use super::*;

fn read(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
    let mut reader = Reader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.feed(piece);
        while let Some(event) = reader.next_event().unwrap() {
            events.push((event.kind, event.data));
        }
    }
    events
}

const STREAM: &[u8] = "\u{feff}: hello\n\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\rid: 7\nretry: x\nevent\ndata:b\u{e9}\u{1f600}\n\ndata\n\nnonsense\ndata: half"
    .as_bytes();

#[test]
fn events_are_read_with_every_line_end() {
    let expected = [
        (Some("a".to_owned()), "{\"x\":\n1}".to_owned()),
        (None, "b\u{e9}\u{1f600}".to_owned()),
        (None, String::new()),
    ];
    assert_eq!(read(&[STREAM]), expected);
}

#[test]
fn a_stream_cut_at_any_one_place_says_the_same() {
    let whole = read(&[STREAM]);
    for at in 0..=STREAM.len() {
        assert_eq!(read(&[&STREAM[..at], &STREAM[at..]]), whole, "cut at {at}");
    }
    let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
    assert_eq!(read(&bytes), whole);
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let mut reader = Reader::default();
    reader.feed(b"data: \xff\xfe\n\n");
    assert!(reader.next_event().is_err());
}

proptest! {
    #[test]
    fn no_bytes_in_any_pieces_make_it_panic_or_disagree(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
        cuts in proptest::collection::vec(1..20_usize, 1..50),
    ) {
        let outcome = |pieces: Vec<&[u8]>| {
            let mut reader = Reader::default();
            let mut events = Vec::new();
            for piece in pieces {
                reader.feed(piece);
                loop {
                    match reader.next_event() {
                        Ok(Some(event)) => events.push(event),
                        Ok(None) => break,
                        Err(_) => return (events, true),
                    }
                }
            }
            (events, false)
        };
        let mut pieces = Vec::new();
        let mut rest = bytes.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break }
            let (piece, more) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = more;
        }
        prop_assert_eq!(outcome(pieces), outcome(vec![&bytes]));
    }
}
