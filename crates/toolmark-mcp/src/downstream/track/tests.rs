use std::task::Waker;

use super::*;

fn next(track: &Track, reader: &mut Reader) -> Poll<Option<String>> {
    let cx = TaskContext::from_waker(Waker::noop());
    track.poll(reader, &cx).map(|event| event.map(|event| String::from_utf8(event.to_vec()).unwrap()))
}

#[test]
fn a_client_reads_on_after_the_event_it_saw_last() {
    let track = Track::new(3, 1 << 20);
    let mut first = track.read_on();
    track.push(b"one");
    track.push(b"two");
    assert_eq!(next(&track, &mut first), Poll::Ready(Some("id: 3-1\ndata: one\n\n".to_owned())));
    let mut second = track.read_after(1).unwrap();
    assert_eq!(next(&track, &mut second), Poll::Ready(Some("id: 3-2\ndata: two\n\n".to_owned())));
    assert_eq!(next(&track, &mut second), Poll::Pending);
    track.push(b"three");
    track.finish();
    assert_eq!(next(&track, &mut second), Poll::Ready(Some("id: 3-3\ndata: three\n\n".to_owned())));
    assert_eq!(next(&track, &mut second), Poll::Ready(None));
}

#[test]
fn an_earlier_reader_ends_when_a_later_one_comes() {
    let track = Track::new(1, 1 << 20);
    let mut earlier = track.read_on();
    let mut later = track.read_after(0).unwrap();
    track.push(b"one");
    assert_eq!(next(&track, &mut earlier), Poll::Ready(None));
    assert!(matches!(next(&track, &mut later), Poll::Ready(Some(_))));
}

#[test]
fn events_that_are_gone_or_never_were_cannot_be_read_on_from() {
    let track = Track::new(1, 64);
    for _ in 0..100 {
        track.push(&[b'x'; 40]);
    }
    assert!(track.read_after(0).is_none());
    assert!(track.read_after(99).is_some());
    assert!(track.read_after(100).is_some());
    assert!(track.read_after(101).is_none());
    assert!(track.bytes() < 200);
}

#[test]
fn the_newest_event_is_kept_until_it_is_read_however_large() {
    let track = Track::new(1, 8);
    track.push(&[b'x'; 1_000]);
    let mut reader = track.read_after(0).unwrap();
    assert!(matches!(next(&track, &mut reader), Poll::Ready(Some(event)) if event.len() > 1_000));
    assert_eq!(track.bytes(), 0, "until it was read");
}

#[test]
fn only_ids_of_ours_are_read() {
    assert_eq!(EventId::read("12-7"), Some(EventId { track: 12, event: 7 }));
    for wrong in ["", "12", "-", "12-", "a-b", "1-2-3", "-1-2", "99999999999999999999999-1"] {
        assert_eq!(EventId::read(wrong), None, "{wrong}");
    }
}

#[test]
fn a_priming_event_lets_a_client_begin_at_the_beginning() {
    let track = Track::new(4, 1 << 20);
    assert_eq!(track.priming(1_000), "id: 4-0\nretry: 1000\ndata: \n\n");
    track.push(b"one");
    assert!(track.read_after(0).is_some());
}
