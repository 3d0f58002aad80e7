//! Is a result that is not complete what it says? Servers of the old era know no such thing, and one that asks has to ask something that can
//! be answered: its call would be made again for nothing otherwise.

use bytes::Bytes;

use super::request::UpstreamError;
use crate::wire::version::Era;
use crate::wire::{Change, Limits, RawObject, ResultType};

/// What a server may ask.
const ASKED: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// A result as a server of this era means it.
///
/// # Errors
/// [`UpstreamError`], when it asks for input in a way that nobody can answer. The server may have acted all the same.
pub(super) fn understood(era: Era, result: RawObject) -> Result<RawObject, UpstreamError> {
    match (era, result.result_type()) {
        (Era::Session, _) => {
            let own = result.rewrite(&[Change::Remove("resultType")]);
            Ok(RawObject::read(own, Limits::ADMITTED).unwrap_or(result))
        }
        (Era::Stateless, ResultType::InputRequired) => match unanswerable(&result) {
            None => Ok(result),
            Some(why) => Err(UpstreamError::protocol(why)),
        },
        (Era::Stateless, _) => Ok(result),
    }
}

/// Why nobody can answer what a server asks.
fn unanswerable(result: &RawObject) -> Option<&'static str> {
    let state = result.get("requestState").is_some();
    if state && result.text("requestState").is_none() {
        return Some("it asks for input with a `requestState` that is no text");
    }
    if result.get("inputRequests").is_none() {
        return (!state).then_some("it asks for input, but asks nothing");
    }
    let Some(requests) = result.object("inputRequests") else {
        return Some("it asks for input with `inputRequests` that are no object");
    };
    if requests.is_empty() && !state {
        return Some("it asks for input, but asks nothing");
    }
    let is_known = |member: &[u8]| {
        let asked = RawObject::read(Bytes::copy_from_slice(member), Limits::ADMITTED).ok();
        let asked = asked.filter(|asked| asked.get("params").is_none() || asked.object("params").is_some());
        asked.and_then(|asked| asked.text("method").map(|method| ASKED.contains(&&*method))) == Some(true)
    };
    let all = requests.iter().all(|(_, member)| is_known(member));
    (!all).then_some("it asks for input with a request that no client answers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> RawObject {
        RawObject::read(Bytes::from_static(text.as_bytes()), Limits::ADMITTED).expect("an object")
    }

    #[test]
    fn what_a_server_of_the_old_era_says_of_its_result_means_nothing() {
        for result in
            [r#"{"resultType":"input_required","content":[]}"#, r#"{"content":[],"resultType":"task","taskId":"1"}"#]
        {
            let own = understood(Era::Session, read(result)).expect("a result");
            assert_eq!(own.result_type(), ResultType::Complete);
            assert!(own.get("content").is_some());
        }
    }

    #[test]
    fn what_can_be_answered_is_asked() {
        for asks in [
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#,
            r#"{"resultType":"input_required","inputRequests":{},"requestState":"s"}"#,
            r#"{"resultType":"input_required","requestState":"s"}"#,
            r#"{"resultType":"task","taskId":"1"}"#,
        ] {
            assert!(understood(Era::Stateless, read(asks)).is_ok(), "{asks}");
        }
    }

    #[test]
    fn what_nobody_can_answer_ends_the_request_which_may_have_had_an_effect() {
        for asks in [
            r#"{"resultType":"input_required","content":[]}"#,
            r#"{"resultType":"input_required","inputRequests":{}}"#,
            r#"{"resultType":"input_required","inputRequests":[1]}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":1}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":5}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"tools/call"}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":1}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":7}"#,
        ] {
            let error = understood(Era::Stateless, read(asks)).expect_err(asks);
            assert_eq!(error.delivery(), super::super::Delivery::Perhaps, "{asks}");
        }
    }
}
