use serde_json::json;

use super::super::ask::samples::{ask, ruling};
use super::super::{GrantId, Ruling, Scope};
use super::{Asked, Grant};
use crate::digest::{ArgumentDigest, MARK, Mark};
use crate::facts::Facts;
use crate::time::Micros;

fn always() -> Grant {
    let ask = ask("{}");
    let ruling = Ruling { expires: Some(Micros::new(500)), uses: Some(3), ..ruling(Scope::Always) };
    ask.settle(&ruling, GrantId::new(1)).expect("settled").1.expect("a grant")
}

fn covers(grant: &Grant, change: impl Fn(&mut Asked<'_>)) -> bool {
    let (arguments, facts) = (json!({}), Facts::default());
    let digest = ArgumentDigest::of(&crate::json::read("{}").expect("JSON"));
    let mark = Mark::of_bytes(MARK, b"a tool");
    let mut asked = Asked {
        principal: "ann",
        session: Some("s1"),
        mark: &mark,
        arguments: &arguments,
        digest: &digest,
        facts: &facts,
        policy: "p1",
        now: Micros::new(100),
    };
    change(&mut asked);
    grant.covers(&asked)
}

#[test]
fn a_grant_covers_its_principal_its_mark_its_policy_and_its_time_and_nothing_else() {
    let grant = always();
    assert!(covers(&grant, |_| {}));
    assert!(!covers(&grant, |asked| asked.principal = "eve"));
    assert!(!covers(&grant, |asked| asked.policy = "p2"));
    assert!(!covers(&grant, |asked| asked.now = Micros::new(500)));
    let other = Mark::of_bytes(MARK, b"the same name, changed");
    let digest = always().mark;
    assert_ne!(other, digest);
    let grant = Grant { mark: other, ..always() };
    assert!(!covers(&grant, |_| {}), "a changed tool voids the grant");
}

#[test]
fn a_grant_for_a_session_holds_in_no_other() {
    let grant = Grant { session: Some("s1".into()), ..always() };
    assert!(covers(&grant, |_| {}));
    assert!(!covers(&grant, |asked| asked.session = Some("s2")));
    assert!(!covers(&grant, |asked| asked.session = None));
}

#[test]
fn a_grant_that_is_used_up_or_taken_back_covers_nothing() {
    let mut grant = always();
    assert_eq!(grant.uses, Some(2), "the call that waited was the first of three");
    grant.used = 2;
    assert!(!covers(&grant, |_| {}));
    let revoked = Grant { revoked: Some(always().given), ..always() };
    assert!(!covers(&revoked, |_| {}));
}

#[test]
fn a_grant_survives_being_written_down() {
    let grant = always();
    let text = serde_json::to_string(&grant).expect("text");
    assert_eq!(serde_json::from_str::<Grant>(&text).expect("a grant"), grant);
}
