use bytes::Bytes;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::wire::Limits;

fn map(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        map.append(name, HeaderValue::from_str(value).expect("a value"));
    }
    map
}

fn params(text: &'static str) -> RawObject {
    RawObject::read(Bytes::from_static(text.as_bytes()), Limits::default()).expect("an object")
}

#[test]
fn plain_names_travel_as_they_are_and_others_encoded() {
    assert_eq!(encode("get_weather"), "get_weather");
    assert_eq!(encode("a b"), "a b");
    assert_eq!(encode("weer\u{ef}"), "=?base64?d2VlcsOv?=");
    for odd in [" a", "a\t", "a\r\nX: y", "=?base64?x?=", "\u{7f}"] {
        assert!(encode(odd).to_str().expect("ASCII").starts_with("=?base64?"), "{odd:?}");
    }
}

#[test]
fn wrong_encodings_are_not_repaired() {
    for wrong in ["=?base64?!!?=", "=?base64?/w==?="] {
        assert_eq!(decode(&HeaderValue::from_static(wrong)), None);
    }
    assert_eq!(decode(&HeaderValue::from_static("=?base64??=")).as_deref(), Some(""));
}

#[test]
fn method_and_name_must_agree_with_the_body() {
    let body = params(r#"{"name":"caf\u00e9"}"#);
    let good = map(&[("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?Y2Fmw6k=?=")]);
    assert_eq!(check(&good, "tools/call", Some(&body)), Ok(()));
    for bad in [
        map(&[]),
        map(&[("Mcp-Method", "tools/call")]),
        map(&[("Mcp-Method", "tools/list"), ("Mcp-Name", "=?base64?Y2Fmw6k=?=")]),
        map(&[("Mcp-Method", "tools/call"), ("Mcp-Name", "cafe")]),
        map(&[("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?Y2Fmw6k=?="), ("Mcp-Name", "cafe")]),
    ] {
        assert!(check(&bad, "tools/call", Some(&body)).is_err(), "{bad:?}");
    }
    assert_eq!(check(&map(&[("Mcp-Method", "tools/list")]), "tools/list", None), Ok(()));
}

#[test]
fn the_version_must_be_there_once_and_agree() {
    assert_eq!(check_version(&map(&[("MCP-Protocol-Version", "2026-07-28")]), "2026-07-28"), Ok(()));
    assert!(check_version(&map(&[]), "2026-07-28").is_err());
    assert!(check_version(&map(&[("MCP-Protocol-Version", "2025-11-25")]), "2026-07-28").is_err());
}

fn region() -> ParamHeaders {
    let schema = json!({"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Count"}}},
        "flag":{"type":"boolean","x-mcp-header":"Flag"},
    }});
    ParamHeaders::read(&schema).expect("fine")
}

#[test]
fn arguments_are_repeated_where_the_schema_asks_for_it() {
    let headers = region().headers(&json!({"region":"eu west","deep":{"n":42},"flag":null}));
    let shown: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.to_str().expect("ASCII"))).collect();
    assert_eq!(shown, [("mcp-param-region", "eu west"), ("mcp-param-count", "42")]);
}

#[test]
fn repeated_arguments_must_agree_with_the_body() {
    let arguments = json!({"region":"eu","deep":{"n":42}});
    let check = |pairs: &[(&str, &str)]| region().check(&map(pairs), &arguments);
    assert_eq!(check(&[("mcp-param-region", "eu"), ("mcp-param-count", "42")]), Ok(()));
    assert_eq!(check(&[("mcp-param-region", "eu"), ("mcp-param-count", "42.0")]), Ok(()));
    assert!(check(&[("mcp-param-region", "eu")]).is_err());
    assert!(check(&[("mcp-param-region", "us"), ("mcp-param-count", "42")]).is_err());
    assert!(check(&[("mcp-param-region", "eu"), ("mcp-param-count", "42"), ("mcp-param-flag", "true")]).is_err());
}

#[test]
fn keywords_that_cannot_be_followed_are_refused() {
    for schema in [
        json!({"x-mcp-header":"A"}),
        json!({"properties":{"a":{"type":"string","x-mcp-header":""}}}),
        json!({"properties":{"a":{"type":"string","x-mcp-header":7}}}),
        json!({"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}),
        json!({"properties":{"a":{"type":"number","x-mcp-header":"A"}}}),
        json!({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}),
        json!({"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}),
        json!({"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}),
        json!({"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}),
    ] {
        assert!(ParamHeaders::read(&schema).is_err(), "{schema}");
    }
    let data = json!({"properties":{"x-mcp-header":{"type":"string","default":{"x-mcp-header":"A"}}}});
    assert_eq!(ParamHeaders::read(&data).map(|headers| headers.is_empty()), Ok(true), "a property may have that name");
}

proptest! {
    #[test]
    fn any_name_survives_the_header(name in any::<String>()) {
        let encoded = encode(&name);
        let decoded = decode(&encoded);
        prop_assert_eq!(decoded.as_deref(), Some(name.as_str()));
    }
}
