use serde_json::{Value, json};
use toolmark_core::approval::{Asked, Covers, Given, Grant, GrantId, Way};
use toolmark_core::digest::{ArgumentDigest, Mark};
use toolmark_core::facts::Facts;
use toolmark_core::time::Micros;

use super::Book;

fn mark(last: char) -> Mark {
    format!("tm1:{}{last}", "0".repeat(63)).parse().unwrap()
}

fn grant(number: u128, allows: bool) -> Grant {
    Grant {
        id: GrantId::new(number),
        principal: "ann".into(),
        session: None,
        canonical: "shop.delete".into(),
        mark: mark('a'),
        covers: Covers::Anything,
        allows,
        message: None,
        policy: None,
        given: Given { by: "bob".into(), way: Way::Cli, at: Micros::new(0), from: None },
        expires: None,
        uses: None,
        used: 0,
        revoked: None,
    }
}

fn digest(arguments: &Value) -> ArgumentDigest {
    ArgumentDigest::of(&toolmark_core::json::read(&arguments.to_string()).unwrap())
}

fn exactly(number: u128, allows: bool, arguments: &Value) -> Grant {
    Grant { covers: Covers::Arguments(digest(arguments)), ..grant(number, allows) }
}

/// The grants that speak about a call, in the order in which they count.
fn find(book: &Book, mark: &Mark, principal: &str, arguments: &Value) -> Vec<u128> {
    let asked = Asked {
        principal,
        session: None,
        mark,
        arguments,
        digest: &digest(arguments),
        facts: &Facts::default(),
        policy: "p",
        now: Micros::new(1),
    };
    book.find(&asked).iter().map(|grant| grant.id.get()).collect()
}

#[test]
fn a_standing_no_comes_before_every_yes_and_another_mark_finds_nothing() {
    let book = Book::default();
    book.replace(vec![grant(1, true), grant(2, false), grant(3, true)]);
    assert_eq!(find(&book, &mark('a'), "ann", &json!({})), [2, 1, 3]);
    assert!(find(&book, &mark('b'), "ann", &json!({})).is_empty());
    assert!(find(&book, &mark('a'), "eve", &json!({})).is_empty());
}

#[test]
fn of_many_grants_for_exact_arguments_each_speaks_about_its_own_however_they_are_spelled() {
    let book = Book::default();
    let row = |number: u128| json!({"table": "orders", "row": u64::try_from(number).unwrap()});
    let own = |number: u128| exactly(number, number.is_multiple_of(2), &row(number));
    book.replace((0..500).map(own).collect());
    for number in 0..500 {
        assert_eq!(find(&book, &mark('a'), "ann", &row(number)), [number]);
    }
    let spelled: Value = serde_json::from_str(r#"{ "row": 7, "table": "orders" }"#).unwrap();
    assert_eq!(find(&book, &mark('a'), "ann", &spelled), [7]);
    assert!(find(&book, &mark('a'), "ann", &row(500)).is_empty());
    assert!(find(&book, &mark('a'), "eve", &row(7)).is_empty());
    assert!(find(&book, &mark('b'), "ann", &row(7)).is_empty());
}

#[test]
fn grants_for_exact_arguments_and_others_count_in_the_order_in_which_they_were_given() {
    let book = Book::default();
    let (one, two) = (json!({"id": 1}), json!({"id": 2}));
    let grants = [
        grant(1, true),
        exactly(2, true, &one),
        exactly(3, false, &two),
        grant(4, true),
        exactly(5, false, &one),
        grant(6, false),
        exactly(7, false, &one),
    ];
    book.replace(grants.to_vec());
    assert_eq!(find(&book, &mark('a'), "ann", &one), [5, 6, 7, 1, 2, 4]);
    assert_eq!(find(&book, &mark('a'), "ann", &two), [3, 6, 1, 4]);
    assert_eq!(find(&book, &mark('a'), "ann", &json!({"id": 3})), [6, 1, 4]);
}

#[test]
fn a_grant_for_exact_arguments_that_is_over_or_of_another_session_says_nothing() {
    let book = Book::default();
    let one = json!({"id": 1});
    book.replace(vec![
        Grant { expires: Some(Micros::new(1)), ..exactly(1, true, &one) },
        Grant { session: Some("s".into()), ..exactly(2, true, &one) },
        Grant { uses: Some(1), used: 1, ..exactly(3, true, &one) },
        Grant { policy: Some("q".into()), ..exactly(4, true, &one) },
        exactly(5, true, &one),
    ]);
    assert_eq!(find(&book, &mark('a'), "ann", &one), [5]);
    book.replace(Vec::new());
    assert!(find(&book, &mark('a'), "ann", &one).is_empty());
}
