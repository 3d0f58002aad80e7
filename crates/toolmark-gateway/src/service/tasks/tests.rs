use super::*;

fn origin(pack: &str, id: &str) -> Origin {
    Origin { pack: pack.parse().unwrap(), id: id.into() }
}

#[test]
fn an_id_stays_as_it_is_until_a_second_pack_gives_it_out() {
    let (mut known, ann) = (Known::default(), Caller::new("ann"));
    assert_eq!(&*known.add(&ann, origin("one", "7")), "7");
    assert_eq!(&*known.add(&ann, origin("one", "7")), "7");
    assert_eq!(&*known.add(&ann, origin("two", "7")), "two.1.7");
    // A server may well give out what we made up.
    assert_eq!(&*known.add(&ann, origin("three", "two.1.7")), "three.1.two.1.7");
    let tasks = Tasks(Mutex::new(known));
    assert_eq!(tasks.find(&ann, "7"), Some(origin("one", "7")));
    assert_eq!(tasks.find(&ann, "two.1.7"), Some(origin("two", "7")));
}

#[test]
fn a_task_is_known_to_nobody_but_the_caller_who_started_it() {
    let (mut known, ann) = (Known::default(), Caller::new("ann"));
    known.add(&ann, origin("one", "7"));
    let tasks = Tasks(Mutex::new(known));
    assert_eq!(tasks.find(&Caller::new("bob"), "7"), None);
    assert_eq!(tasks.find(&ann, "8"), None);
}

#[test]
fn the_oldest_tasks_are_forgotten_first() {
    let (mut known, ann) = (Known::default(), Caller::new("ann"));
    for number in 0..=MOST {
        known.add(&ann, origin("one", &number.to_string()));
    }
    let tasks = Tasks(Mutex::new(known));
    assert_eq!(tasks.find(&ann, "0"), None);
    assert!(tasks.find(&ann, "1").is_some());
    assert!(tasks.find(&ann, &MOST.to_string()).is_some());
}

#[test]
fn only_a_client_that_declares_the_extension_may_ask_for_tasks() {
    assert!(declares_tasks(&Bytes::from_static(br#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#)));
    assert!(!declares_tasks(&Bytes::from_static(br#"{"extensions":{}}"#)));
    assert!(!declares_tasks(&Bytes::from_static(b"{}")));
}
