use toolmark_config::Config;

use super::*;

fn limiter(text: &str) -> Limiter {
    let config = Config::read(&format!("[gateway.limits]\n{text}\n"), "test").expect("a configuration");
    Limiter::new(&config.gateway.limits)
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_caller_has_so_many_at_once_and_another_caller_as_many() {
    let limiter = limiter("concurrency = 2");
    let (one, other) = (Arc::from("one"), Arc::from("other"));
    let first = limiter.take(&one).expect("the first");
    let _second = limiter.take(&one).expect("the second");
    assert_eq!(limiter.take(&one).err(), Some(TooMuch::AtOnce { most: 2 }));
    assert!(limiter.take(&other).is_ok());
    drop(first);
    assert!(limiter.take(&one).is_ok());
}

#[test]
fn a_bucket_holds_what_a_rate_allows_and_fills_again() {
    let limiter = limiter("rate = \"3/min\"");
    let one = Arc::from("one");
    for _ in 0..3 {
        assert!(limiter.take_at(&one, 0).is_ok());
    }
    assert_eq!(limiter.take_at(&one, 0).err(), Some(TooMuch::TooFast { seconds: 20 }));
    assert_eq!(limiter.take_at(&one, 19 * SECOND).err(), Some(TooMuch::TooFast { seconds: 1 }));
    assert!(limiter.take_at(&one, 20 * SECOND).is_ok());
    assert!(limiter.take_at(&one, 20 * SECOND).is_err());
}

#[test]
fn a_refused_request_takes_no_place() {
    let limiter = limiter("concurrency = 1\nrate = \"1/h\"");
    let one = Arc::from("one");
    drop(limiter.take_at(&one, 0).expect("the first"));
    for _ in 0..3 {
        assert!(matches!(limiter.take_at(&one, 0), Err(TooMuch::TooFast { .. })));
    }
    assert!(limiter.take_at(&one, 3600 * SECOND).is_ok());
}

#[test]
fn callers_who_take_nothing_make_room_and_others_do_not() {
    let mut limiter = limiter("rate = \"1/s\"");
    limiter.most = 2;
    let held = limiter.take_at(&Arc::from("held"), 0).expect("room");
    drop(limiter.take_at(&Arc::from("gone"), 0).expect("room"));
    assert_eq!(limiter.take_at(&Arc::from("new"), 0).err(), Some(TooMuch::Callers));
    let new = limiter.take_at(&Arc::from("new"), SECOND).expect("`gone` made room");
    assert_eq!(limiter.take_at(&Arc::from("more"), SECOND).err(), Some(TooMuch::Callers));
    drop((held, new));
}

#[test]
fn the_only_caller_is_limited_like_any_other() {
    let config = Config::read("[gateway.limits]\nconcurrency = 2\nrate = \"3/h\"\n", "test").expect("a configuration");
    let alone = Alone::new(&config.gateway.limits);
    let (one, _two) = (alone.take().expect("the first"), alone.take().expect("the second"));
    assert_eq!(alone.take().err(), Some(TooMuch::AtOnce { most: 2 }));
    drop(one);
    drop(alone.take().expect("the third"));
    assert!(matches!(alone.take().err(), Some(TooMuch::TooFast { .. })));
}
