use serde_json::{Value, json};

use super::*;
use crate::names::LookupKey;

fn keys(name: &str, namespace: Option<&str>, key: Option<&LookupKey>, options: ApprovalKeyOptions) -> Vec<String> {
    let keys = approval_keys(WireName::new(Some(name), namespace), key, options);
    keys.iter().map(ToString::to_string).collect()
}

#[test]
fn a_call_with_a_bad_namespace_is_bare_and_one_with_a_bad_name_is_nothing() {
    for namespace in [json!(""), json!(5), json!({}), Value::Null] {
        let call = json!({ "name": "k", "namespace": namespace });
        assert_eq!(WireName::of_call(&call).lookup_key(), Some(LookupKey::Bare("k".into())));
    }
    for call in [json!({ "name": 5 }), json!({ "name": "" }), json!("k"), json!(["k"]), Value::Null] {
        assert_eq!(WireName::of_call(&call).lookup_key(), None);
    }
}

#[test]
fn a_trace_name_leaves_out_the_synthetic_namespace_and_a_qualified_name_does_not() {
    let name = WireName::new(Some("k"), Some("k"));
    assert_eq!(name.trace_name().expect("named").as_str(), "k");
    assert_eq!(name.qualified_name().expect("named").as_str(), "k.k");
    assert!(name.is_reserved());
    assert!(!WireName::new(Some(""), Some("")).is_reserved());
}

#[test]
fn a_stored_key_is_read_back_as_it_was_written() {
    for key in [
        LookupKey::Bare("k".into()),
        LookupKey::Namespaced("a".into(), "k".into()),
        LookupKey::Namespaced("k".into(), "k".into()),
        LookupKey::DeferredTopLevel("k".into()),
    ] {
        assert_eq!(deserialize_lookup_key(&serialize_lookup_key(&key)), Some(key));
    }
    for data in [json!({ "kind": "Bare", "name": "k" }), json!({ "kind": "namespaced", "name": "k" }), json!([])] {
        assert_eq!(deserialize_lookup_key(&data), None);
    }
}

#[test]
fn approval_keys_come_in_the_order_in_which_they_are_tried() {
    let all = ApprovalKeyOptions { bare_name_alias: true, legacy_deferred: true, ..Default::default() };
    assert_eq!(keys("k", Some("k"), None, all), ["k", "deferred_top_level:k", "k.k"]);
    assert_eq!(keys("k", None, None, all), ["k"]);
    let legacy = ApprovalKeyOptions { legacy_same_name: true, ..Default::default() };
    assert_eq!(keys("k", Some("k"), None, legacy), ["k.k"]);
    assert_eq!(keys("", Some("k"), None, all), [""; 0]);
}

#[test]
fn the_names_in_a_given_key_win() {
    let none = ApprovalKeyOptions::default();
    assert_eq!(keys("q", Some("q"), Some(&LookupKey::Namespaced("a".into(), "b".into())), none), ["a.b"]);
    assert_eq!(keys("q", None, Some(&LookupKey::Namespaced("a".into(), "".into())), none), ["q"]);
}

#[test]
fn a_bare_alias_is_only_for_a_deferred_tool_without_a_rival() {
    let late = FunctionTool::new("k").deferred();
    let rival = Tool::Function(FunctionTool::new("k"));
    let elsewhere = Tool::Function(FunctionTool::new("k").in_namespace("a"));
    let twin = Tool::Function(late.clone());
    assert!(bare_name_alias_allowed(&late, Some(0), &[twin.clone(), elsewhere, twin, Tool::Custom("k".into())]));
    assert!(!bare_name_alias_allowed(&late, None, &[rival]));
    assert!(!bare_name_alias_allowed(&FunctionTool::new("k"), None, &[]));
}

#[test]
fn the_namespace_of_a_deferred_call_is_taken_off_and_put_back() {
    let call = json!({ "name": "k", "namespace": "k", "x": 1 });
    let late = FunctionTool::new("k").deferred();
    let plain = normalize_tool_call(&call, &late);
    assert_eq!(plain, json!({ "name": "k", "x": 1 }));
    assert_eq!(restore_routing_identity(&plain, late.lookup_key().as_ref()), call);
    assert_eq!(normalize_tool_call(&call, &FunctionTool::new("k")), call);
    assert_eq!(restore_routing_identity(&plain, Some(&LookupKey::Bare("k".into()))), plain);
}

#[test]
fn a_truthy_call_id_that_is_no_string_hides_the_id() {
    assert_eq!(approval_item_call_id(&json!({ "call_id": 5, "id": "i" })), None);
    assert_eq!(approval_item_call_id(&json!({ "call_id": 0.0, "id": "i" })), Some("i"));
    assert_eq!(extract_tool_call_id(&json!({ "call_id": "", "id": "" })), Some(""));
    assert_eq!(approval_item_call_id(&json!({ "raw_item": { "call_id": [], "id": "" } })), None);
}

#[test]
fn a_hosted_request_falls_back_to_the_outer_id_only_when_it_has_none() {
    let item = |id: Value| {
        let data = json!({ "type": "mcp_approval_request", "id": id, "server_label": "s" });
        json!({ "raw_item": { "type": "hosted_tool_call", "call_id": 5, "id": "o", "name": "k", "provider_data": data } })
    };
    assert_eq!(approval_item_call_id(&item(Value::Null)), Some("o"));
    assert_eq!(approval_item_call_id(&item(json!(""))), None);
    let item = item(json!(""));
    let identity = HostedRequest::of(&item).and_then(|request| request.approval_identity()).expect("complete");
    assert_eq!((identity.label(), identity.tool()), ("s", "k"));
}

#[test]
fn an_agents_name_gets_one_underscore_a_character() {
    let handoff = handoff_name("風 Ⅷ-A");
    assert_eq!((handoff.name(), handoff.warned()), ("transfer_to_____a", true));
    assert!(!handoff_name("Billing\u{1c}Agent").warned());
    assert!(agent_tool_name("Billing Agent").warned());
    assert_eq!(agent_tool_name("").name(), "");
}

#[test]
fn a_namespace_needs_a_name_and_a_description() {
    let category = |name, description| {
        let tools = vec![FunctionTool::new("crm"), FunctionTool::new("x")];
        tool_namespace(name, description, tools).map_or_else(|error| error.category(), |_| "ok")
    };
    assert_eq!(category(Some("\u{1c}"), Some("d")), "namespace_name_empty");
    assert_eq!(category(Some("a"), Some(" ")), "namespace_description_empty");
    assert_eq!(category(Some(" crm "), Some("d")), "reserved_synthetic_namespace");
    assert_eq!(category(Some("\u{200b}"), Some("d")), "ok");
}

#[test]
fn patch_names_are_compared_without_case_and_blanks() {
    assert!(is_apply_patch_name(Some(" Apply_Patches"), None));
    assert!(is_apply_patch_name(Some("PATCHER\u{a0}"), Some("patcher")));
    assert!(!is_apply_patch_name(Some("patch"), Some("patcher")));
    assert!(!is_apply_patch_name(Some(""), Some("")));
}

#[test]
fn a_fallback_name_is_short_and_plain() {
    assert!(validate_fallback_name(&"a-".repeat(32)).is_ok());
    for name in ["", "a b", "é", &"a".repeat(65)] {
        assert_eq!(validate_fallback_name(name).expect_err("refused").category(), "fallback_name_invalid");
    }
}
