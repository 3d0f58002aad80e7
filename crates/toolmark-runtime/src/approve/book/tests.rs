use serde_json::json;
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

#[test]
fn a_standing_no_comes_before_every_yes_and_another_mark_finds_nothing() {
    let book = Book::default();
    book.replace(vec![grant(1, true), grant(2, false), grant(3, true)]);
    let (arguments, facts) = (json!({}), Facts::default());
    let digest = ArgumentDigest::of(&toolmark_core::json::read("{}").unwrap());
    let find = |mark: &Mark, principal: &str| {
        let asked = Asked {
            principal,
            session: None,
            mark,
            arguments: &arguments,
            digest: &digest,
            facts: &facts,
            policy: "p",
            now: Micros::new(1),
        };
        book.find(&asked).iter().map(|grant| grant.id.get()).collect::<Vec<_>>()
    };
    assert_eq!(find(&mark('a'), "ann"), [2, 1, 3]);
    assert!(find(&mark('b'), "ann").is_empty() && find(&mark('a'), "eve").is_empty());
}
