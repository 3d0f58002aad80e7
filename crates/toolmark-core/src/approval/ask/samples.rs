//! A question to test with.

use serde_json::json;

use super::super::{AskId, Given, Scope, Way};
use super::{Ask, AskKey, AskState, Ruling};
use crate::digest::{ArgumentDigest, MARK, Mark};
use crate::time::Micros;

pub(crate) fn ask(arguments: &str) -> Ask {
    let json = crate::json::read(arguments).expect("JSON");
    let (mark, digest) = (Mark::of_bytes(MARK, b"a tool"), ArgumentDigest::of(&json));
    Ask {
        id: AskId::new(7),
        key: AskKey::of("ann", &mark, &digest, None, "p1"),
        principal: "ann".into(),
        session: Some("s1".into()),
        called: "delete".into(),
        canonical: "shop.delete".into(),
        mark,
        behavior: "MUTATES|DELETE|RECORD".into(),
        arguments: arguments.into(),
        digest,
        effects: Vec::new(),
        bound: None,
        reasons: json!([{"message": "it deletes"}]),
        changes: Vec::new(),
        task: None,
        policy: "p1".into(),
        created: Micros::new(0),
        expires: Micros::new(1_000_000),
        state: AskState::Pending,
    }
}

pub(crate) fn given() -> Given {
    Given { by: "bob".into(), way: Way::Cli, at: Micros::new(10), from: None }
}

pub(crate) fn ruling(scope: Scope) -> Ruling {
    Ruling { scope, ..Ruling::once(true, given()) }
}
