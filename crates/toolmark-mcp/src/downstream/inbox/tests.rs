use std::task::Waker;

use super::*;

fn drain(inbox: &Inbox) -> Vec<Changed> {
    let cx = TaskContext::from_waker(Waker::noop());
    std::iter::from_fn(|| match inbox.poll(1, &cx) {
        Poll::Ready(change) => change,
        Poll::Pending => None,
    })
    .collect()
}

#[test]
fn the_same_change_twice_is_told_once() {
    let inbox = Inbox::default();
    for _ in 0..1_000 {
        inbox.add(&Changed::Tools);
        inbox.add(&Changed::Resource("a:b".into()));
    }
    assert_eq!(drain(&inbox), [Changed::Tools, Changed::Resource("a:b".into())]);
    assert_eq!(drain(&inbox), []);
}

#[test]
fn too_many_updates_become_one_changed_list() {
    let inbox = Inbox::default();
    for number in 0..=UPDATES {
        inbox.add(&Changed::Resource(format!("a:{number}").into()));
    }
    assert_eq!(drain(&inbox), [Changed::Resources]);
}

#[test]
fn a_closed_inbox_ends_after_what_is_left() {
    let inbox = Inbox::default();
    inbox.add(&Changed::Prompts);
    inbox.close();
    let cx = TaskContext::from_waker(Waker::noop());
    assert_eq!(inbox.poll(1, &cx), Poll::Ready(Some(Changed::Prompts)));
    assert_eq!(inbox.poll(1, &cx), Poll::Ready(None));
}

#[test]
fn a_change_is_written_with_the_subscription_it_belongs_to() {
    let id = Id::text("s1");
    let plain = Changed::Tools.write(None);
    assert_eq!(plain, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    let tagged = Changed::Resource("a:\"b\"".into()).write(Some(&id));
    let tagged: serde_json::Value = serde_json::from_slice(&tagged).unwrap();
    assert_eq!(tagged["params"]["uri"], "a:\"b\"");
    assert_eq!(tagged["params"]["_meta"][meta::SUBSCRIPTION_ID], "s1");
    let listed: serde_json::Value = serde_json::from_slice(&Changed::Prompts.write(Some(&Id::number(7)))).unwrap();
    assert_eq!(listed["params"]["_meta"][meta::SUBSCRIPTION_ID], 7);
}

#[test]
fn an_interest_is_what_both_sides_want() {
    let read = |text: &'static str| {
        Interest::read(&RawObject::read(Bytes::from_static(text.as_bytes()), crate::wire::Limits::default()).unwrap())
    };
    let wanted = read(r#"{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["a:1","a:2"]}"#);
    let offered = read(r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:2","a:3"]}"#);
    let both = wanted.both(&offered);
    assert_eq!(both.write(), r#"{"toolsListChanged":true,"resourceSubscriptions":["a:2"]}"#);
    assert!(both.wants(&Changed::Tools) && both.wants(&Changed::Resource("a:2".into())));
    assert!(!both.wants(&Changed::Prompts) && !both.wants(&Changed::Resource("a:1".into())));
}

#[test]
fn a_page_that_was_visited_is_told_before_updates_and_to_no_listener() {
    let inbox = Inbox::default();
    inbox.add(&Changed::Resource("a:b".into()));
    inbox.add(&Changed::Visited("e1".into()));
    assert_eq!(drain(&inbox), [Changed::Visited("e1".into()), Changed::Resource("a:b".into())]);
    let written: serde_json::Value = serde_json::from_slice(&Changed::Visited("e1".into()).write(None)).unwrap();
    assert_eq!(written["method"], "notifications/elicitation/complete");
    assert_eq!(written["params"], serde_json::json!({"elicitationId": "e1"}));
    assert!(!Interest { tools: true, ..Interest::default() }.wants(&Changed::Visited("e1".into())));
}
