//! Every recorded stream, cut in every way: what comes out must not depend on how it arrived.

use proptest::prelude::*;
use toolmark_core::call::CallId;

use super::*;
use crate::connection::SseReader;
use crate::item::Item;
use crate::response::{Finish, ModelResponse};
use crate::{anthropic, chat, responses};

type Made = fn() -> Box<dyn StreamReader>;

const RECORDED: [(&str, &[u8], Made); 6] = [
    ("responses-calls", include_bytes!("../../tests/wire/responses-calls.sse"), || {
        Box::<responses::stream::Reader>::default()
    }),
    ("responses-text", include_bytes!("../../tests/wire/responses-text.sse"), || {
        Box::<responses::stream::Reader>::default()
    }),
    ("chat-calls", include_bytes!("../../tests/wire/chat-calls.sse"), || Box::<chat::stream::Reader>::default()),
    ("chat-text", include_bytes!("../../tests/wire/chat-text.sse"), || Box::<chat::stream::Reader>::default()),
    ("anthropic-calls", include_bytes!("../../tests/wire/anthropic-calls.sse"), || {
        Box::<anthropic::stream::Reader>::default()
    }),
    ("anthropic-hosted", include_bytes!("../../tests/wire/anthropic-hosted.sse"), || {
        Box::<anthropic::stream::Reader>::default()
    }),
];

fn read(make: Made, pieces: &[&[u8]]) -> (Vec<ModelEvent>, Result<(), ModelErrorKind>) {
    let (mut bytes, mut reader) = (SseReader::default(), make());
    let mut out = Vec::new();
    for piece in pieces {
        bytes.feed(piece);
        loop {
            let taken = match bytes.next_event() {
                Ok(None) => break,
                Ok(Some(event)) => reader.take(&event, &mut out),
                Err(error) => Err(error),
            };
            if taken.is_err() {
                return (out, taken);
            }
        }
    }
    let end = reader.end(&mut out);
    (out, end)
}

fn recorded(name: &str) -> (Vec<ModelEvent>, ModelResponse) {
    let (_, bytes, make) = RECORDED.iter().find(|(known, ..)| *known == name).unwrap();
    let (events, end) = read(*make, &[bytes]);
    end.unwrap();
    let Some(ModelEvent::Completed(response)) = events.last().cloned() else { panic!("{name} is not complete") };
    (events, *response)
}

fn id(text: &str) -> CallId {
    text.parse().unwrap()
}

/// The events in the bytes, before anybody knows what they mean.
fn raw_events(pieces: &[&[u8]]) -> Vec<RawEvent> {
    let (mut bytes, mut events) = (SseReader::default(), Vec::new());
    for piece in pieces {
        bytes.feed(piece);
        while let Some(event) = bytes.next_event().unwrap() {
            events.push(event);
        }
    }
    events
}

#[test]
fn a_stream_cut_at_any_one_byte_holds_the_same_events() {
    for (name, bytes, _) in RECORDED {
        let whole = raw_events(&[bytes]);
        for at in 0..=bytes.len() {
            let (one, other) = bytes.split_at(at);
            assert_eq!(raw_events(&[one, other]), whole, "{name} cut at {at}");
        }
    }
}

#[test]
fn a_stream_that_arrives_byte_by_byte_says_the_same() {
    for (name, bytes, make) in RECORDED {
        let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(make, &pieces), read(make, &[bytes]), "{name}");
    }
}

#[test]
fn a_stream_that_ends_anywhere_is_whole_or_an_error_and_never_half_a_call() {
    for (name, bytes, make) in RECORDED {
        let (_, response) = recorded(name);
        // Half an event is no event, so that an end anywhere is an end after some event.
        let ends = bytes.windows(2).enumerate().filter(|(_, window)| window == b"\n\n").map(|(at, _)| at + 2);
        for end in ends.flat_map(|end| [end - 3, end]) {
            let (events, ended) = read(make, &[&bytes[..end]]);
            match events.last() {
                Some(ModelEvent::Completed(early)) => assert_eq!(early.items, response.items, "{name} ends at {end}"),
                _ => assert!(ended.is_err(), "{name} ends at {end}"),
            }
            for event in &events {
                if let ModelEvent::ItemDone(item @ Item::FunctionCall(_)) = event {
                    assert!(response.items.contains(item), "{name} ends at {end}: {item:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_in_any_pieces_says_the_same(which in 0..RECORDED.len(), cuts in prop::collection::vec(1..400_usize, 1..60)) {
        let (_, bytes, make) = RECORDED[which];
        let (mut pieces, mut rest) = (Vec::new(), bytes);
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break }
            let (piece, more) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = more;
        }
        prop_assert_eq!(read(make, &pieces), read(make, &[bytes]));
    }

    #[test]
    fn a_damaged_stream_makes_nothing_panic(which in 0..RECORDED.len(), at in 0..8_000_usize, byte: u8, cut in 0..8_000_usize) {
        let (_, bytes, make) = RECORDED[which];
        let mut damaged = bytes.to_vec();
        let length = damaged.len();
        damaged[at % length] = byte;
        damaged.drain(cut % length..(cut % length + at % 50).min(length));
        let _ = read(make, &[&damaged]);
    }
}

#[test]
fn the_deltas_of_a_call_add_up_to_its_arguments() {
    for name in ["responses-calls", "chat-calls", "anthropic-calls"] {
        let (events, response) = recorded(name);
        assert_eq!(response.function_calls().count(), 2, "{name}");
        for call in response.function_calls() {
            let started = events.iter().any(|event| {
                matches!(event, ModelEvent::CallStarted { call_id, name, .. } if *call_id == call.call_id && *name == call.name)
            });
            assert!(started, "{name}");
            let deltas = events.iter().filter_map(|event| match event {
                ModelEvent::CallArguments { call_id, delta } if *call_id == call.call_id => Some(delta.as_str()),
                _ => None,
            });
            let joined: String = deltas.collect();
            let expected = if call.name == "get_time" { "" } else { call.arguments.as_str() };
            assert_eq!(joined, expected, "{name}");
            let done = ModelEvent::CallDone { call_id: call.call_id.clone(), arguments: call.arguments.clone() };
            assert_eq!(events.iter().filter(|event| **event == done).count(), 1, "{name}");
        }
        assert_eq!(response.finish, Finish::ToolCalls);
    }
}

#[test]
fn items_are_announced_as_they_stand_in_the_answer() {
    for (name, ..) in RECORDED {
        let (events, response) = recorded(name);
        let done = events.iter().filter_map(|event| match event {
            ModelEvent::ItemDone(item) => Some(item.clone()),
            _ => None,
        });
        assert_eq!(done.collect::<Vec<_>>(), response.items, "{name}");
        let text = events.iter().filter_map(|event| match event {
            ModelEvent::Text { delta } => Some(delta.as_str()),
            _ => None,
        });
        assert_eq!(text.collect::<String>(), response.text(), "{name}");
    }
}

#[test]
fn arguments_stay_as_the_model_wrote_them() {
    for name in ["responses-calls", "chat-calls", "anthropic-calls"] {
        let (_, response) = recorded(name);
        assert_eq!(
            response.function_calls().next().unwrap().arguments,
            "{\"city\": \"Delft\", \"days\": 1.0}",
            "{name}"
        );
    }
    let (_, response) = recorded("anthropic-calls");
    let second = response.function_calls().nth(1).unwrap();
    assert_eq!((second.call_id.clone(), second.arguments.as_str()), (id("toolu_b"), "{}"));
}

#[test]
fn thoughts_are_kept_with_what_the_provider_needs_to_trust_them() {
    let thought = |name: &str| match &recorded(name).1.items[0] {
        Item::Reasoning(raw) => raw.value.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(thought("responses-calls")["encrypted_content"], "gAAAA+/==");
    let thinking = thought("anthropic-calls");
    assert_eq!(
        (&thinking["thinking"], &thinking["signature"]),
        (&"Two cities, two calls.".into(), &"EqQBCg+/==".into())
    );
    assert_eq!(thought("anthropic-hosted")["data"], "EmwKAh==");
    assert_eq!(thought("chat-calls")["fields"]["reasoning_content"], "Two calls.");
}

#[test]
fn tokens_are_counted_whoever_counts_them() {
    let usage = |name: &str| recorded(name).1.usage;
    let of = |name| (usage(name).input_tokens, usage(name).cached_input_tokens, usage(name).output_tokens);
    assert_eq!(of("responses-calls"), (120, 100, 40));
    assert_eq!(usage("responses-calls").reasoning_tokens, 16);
    assert_eq!(of("chat-calls"), (20, 5, 30));
    assert_eq!(of("anthropic-calls"), (115, 100, 50));
    assert_eq!(usage("anthropic-calls").cache_write_tokens, 5);
    assert_eq!(of("anthropic-hosted"), (9, 0, 50));
}

#[test]
fn a_call_whose_end_was_never_announced_is_not_taken_for_whole() {
    let (_, bytes, make) = RECORDED[4];
    let text = str::from_utf8(bytes).unwrap();
    let without_end = text.replace("data: {\"type\":\"content_block_stop\",\"index\":2}", "data: {\"type\":\"ping\"}");
    assert_ne!(without_end, text);
    let (events, ended) = read(make, &[without_end.as_bytes()]);
    assert_eq!(ended, Err(ModelErrorKind::Truncated));
    assert!(!events.iter().any(|event| matches!(event, ModelEvent::Completed(_))));
}
