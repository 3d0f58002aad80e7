use proptest::prelude::*;
use serde_json::Value;
use toolmark_core::behavior::Mutability;

use super::*;

#[test]
fn the_corpus_is_read_as_it_says() {
    let mut wrong = Vec::new();
    for line in include_str!("../../corpus/http.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let request = Request {
            method: case["method"].as_str(),
            address: case["address"].as_str().unwrap(),
            relative: case["relative"] == true,
            rows: case["rows"] == true,
            headers: case.get("headers"),
            body: case.get("body"),
            parameters: None,
        };
        let readings = read(&request);
        if let Err(found) = check(&case, &readings) {
            wrong.push(format!("{case}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(case: &Value, readings: &[Reading]) -> Result<(), String> {
    let all = format!("{readings:?}");
    let effects = match readings {
        [Reading::Understood(effects)] if case["unclear"] != true => effects,
        [Reading::CannotTell { .. }] if case["unclear"] == true => return Ok(()),
        _ => return Err(all),
    };
    let mut dangers: Vec<&str> =
        effects.iter().flat_map(|effect| &effect.dangers).map(|danger| danger.as_str()).collect();
    dangers.sort_unstable();
    let said: Vec<&str> = case["dangers"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let [effect] = effects.as_slice() else { return Err(all) };
    let mutates = effect.mutability == Mutability::Mutates;
    let same = case["mutates"] == mutates
        && case["action"] == effect.action.as_str()
        && dangers == said
        && case["bounded"] == effect.bounded;
    if same { Ok(()) } else { Err(all) }
}

#[test]
fn a_statement_in_a_body_is_handed_on() {
    let body = serde_json::json!({"queries": [{"rawSql": "DELETE FROM users"}]});
    let request = Request {
        method: Some("POST"),
        address: "/api/ds/query",
        relative: true,
        body: Some(&body),
        ..Request::default()
    };
    assert!(
        read(&request)
            .iter()
            .any(|reading| matches!(reading, Reading::CannotTell { reason } if reason.contains("sql")))
    );
}

proptest! {
    #[test]
    fn no_address_is_too_strange_to_be_read(address in "\\PC{0,80}", method in "[A-Za-z]{0,8}") {
        let _ = read_url(&address);
        let _ = read(&Request { method: Some(&method), address: &address, relative: true, ..Request::default() });
    }

    #[test]
    fn every_spelling_of_a_loopback_address_is_inside(host in 0_u32..0x0100_0000) {
        let number = 0x7F00_0000 | host;
        let [a, b, c, d] = number.to_be_bytes();
        for spelling in [
            format!("{number}"), format!("0x{number:x}"), format!("0{number:o}"), format!("{a}.{b}.{c}.{d}"), format!("0x{a:x}.{b}.{c}.{d}"),
            format!("0{a:o}.{b}.{c}.{d}"), format!("[::ffff:{a}.{b}.{c}.{d}]"), format!("{a}.{}", number & 0x00FF_FFFF),
        ] {
            let effect = with_dangers(Effect::pure(Action::Read, ""), &format!("http://{spelling}/"));
            prop_assert!(effect.dangers.contains(&Danger::Escape), "{}", spelling);
        }
    }
}
