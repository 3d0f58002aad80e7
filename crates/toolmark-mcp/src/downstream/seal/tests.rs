use super::*;

const NOW: u64 = 1_800_000_000;

fn key() -> SealKey {
    SealKey::new([7; 32])
}

fn bound() -> Bound {
    Bound::new("alice", "/mcp", "tools/call", br#"{"name":"a"}"#)
}

#[test]
fn what_was_sealed_is_opened_again() {
    let text = key().seal(bound(), NOW + 1, b"payload");
    assert_eq!(key().open(bound(), NOW, &text).unwrap(), "payload");
    let empty = key().seal(bound(), NOW + 1, b"");
    assert_eq!(key().open(bound(), NOW, &empty).unwrap(), "");
}

#[test]
fn every_changed_bit_is_a_forgery() {
    let text = key().seal(bound(), NOW + 1, b"payload");
    let token = URL_SAFE_NO_PAD.decode(&text).unwrap();
    for bit in 0..token.len() * 8 {
        let mut changed = token.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let changed = URL_SAFE_NO_PAD.encode(changed);
        assert_eq!(key().open(bound(), NOW, &changed), Err(OpenSealError::Forged), "bit {bit}");
    }
}

#[test]
fn what_is_no_seal_is_a_forgery() {
    let text = key().seal(bound(), NOW + 1, b"payload");
    for wrong in [
        String::new(),
        "====".to_owned(),
        "AQ".to_owned(),
        format!("{text}-TAMPERED"),
        text[1..].to_owned(),
        "é".repeat(80),
    ] {
        assert_eq!(key().open(bound(), NOW, &wrong), Err(OpenSealError::Forged), "{wrong}");
    }
    assert_eq!(SealKey::new([8; 32]).open(bound(), NOW, &text), Err(OpenSealError::Forged));
}

#[test]
fn another_caller_place_method_or_request_is_a_mismatch() {
    let text = key().seal(bound(), NOW + 1, b"payload");
    for other in [
        Bound::new("mallory", "/mcp", "tools/call", br#"{"name":"a"}"#),
        Bound::new("alice", "/mcp/other", "tools/call", br#"{"name":"a"}"#),
        Bound::new("alice", "/mcp", "prompts/get", br#"{"name":"a"}"#),
        Bound::new("alice", "/mcp", "tools/call", br#"{"name":"b"}"#),
        // The same bytes, cut elsewhere.
        Bound::new("alice/", "mcp", "tools/call", br#"{"name":"a"}"#),
    ] {
        assert_eq!(key().open(other, NOW, &text), Err(OpenSealError::Mismatch));
    }
}

#[test]
fn a_seal_ends_at_its_expiry() {
    let text = key().seal(bound(), NOW, b"payload");
    assert_eq!(key().open(bound(), NOW, &text), Err(OpenSealError::Expired));
    assert!(key().open(bound(), NOW - 1, &text).is_ok());
}

#[test]
fn a_key_is_not_shown() {
    assert_eq!(format!("{:?}", key()), "SealKey(…)");
}
