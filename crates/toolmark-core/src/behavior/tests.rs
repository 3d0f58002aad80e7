use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::definition::Definition;
use crate::explain::Explain as _;
use crate::inference::{Inference, Mode};

fn of(text: &str) -> Behavior {
    text.parse().unwrap()
}

fn pattern(text: &str) -> BehaviorPattern {
    text.parse().unwrap()
}

fn tool(value: &serde_json::Value) -> Definition {
    Definition::of_value("test", value).unwrap()
}

#[test]
fn the_identities_of_the_paper_come_out_as_published() {
    assert_eq!(of("PURE|READ|DATA").identity().to_string(), "b2795a7bb60a9c04");
    assert_eq!(of("MUTATES|CREATE|ACK").identity().to_string(), "224da4ec8f32d39e");
    let four = of("PURE|READ|DATA|STRUCTURED");
    assert_eq!(four.identity().to_string(), "b2795a7bb60a9c04");
    assert_eq!(four.identity_v2().unwrap().to_string(), "4f5039a790ec59b2");
}

#[test]
fn every_behavior_survives_printing_and_parsing() {
    for &mutability in Mutability::ALL {
        for &action in Action::ALL {
            for &domain in OutputDomain::ALL {
                let Ok(three) = Behavior::new(mutability, action, domain) else { continue };
                assert_eq!(three.to_string().parse(), Ok(three));
                for &content in ContentType::ALL {
                    let four = three.with_content_type(content);
                    assert_eq!(four.to_string().parse(), Ok(four));
                }
            }
        }
    }
}

#[test]
fn facets_make_a_third_identity_and_leave_the_others_alone() {
    let unstar = of("MUTATES|DELETE|REPO|NONE|repository.star|NEGATIVE|NAMED");
    let delete = of("MUTATES|DELETE|REPO|NONE|repository|NEUTRAL|NAMED");
    assert_eq!(unstar.to_string().parse(), Ok(unstar));
    assert_eq!(unstar.identity(), delete.identity());
    assert_eq!(unstar.identity_v2(), delete.identity_v2());
    assert_ne!(unstar.identity_v3(), delete.identity_v3());
    assert_eq!(of("MUTATES|DELETE|REPO|NONE").identity_v3(), None);
}

#[test]
fn a_target_is_a_noun_of_the_list_and_never_a_copy_of_a_name() {
    assert!(Noun::ALL.is_sorted_by(|a, b| a < b));
    assert_eq!("repository.star".parse::<Target>().unwrap().to_string(), "repository.star");
    for text in ["unstar_repository", "repository.", ".star", "star.star", "Repository", ""] {
        assert_eq!(text.parse::<Target>().unwrap_err().code().as_str(), "behavior-value", "{text}");
    }
}

#[test]
fn a_pure_tool_does_not_delete() {
    let error = "PURE|DELETE|ACK".parse::<Behavior>().unwrap_err();
    assert_eq!(error.code().as_str(), "behavior-contradiction");
}

#[test]
fn unknown_words_and_wrong_counts_are_refused_with_what_is_allowed() {
    assert_eq!("pure|READ|DATA".parse::<Behavior>().unwrap_err().fix(), "use one of PURE, MUTATES");
    assert_eq!("PURE|READ".parse::<Behavior>().unwrap_err().code().as_str(), "behavior-syntax");
    assert_eq!("PURE|READ|DATA|TEXT|file".parse::<Behavior>().unwrap_err().code().as_str(), "behavior-syntax");
}

#[test]
fn a_pattern_matches_each_field_on_its_own() {
    let reads = pattern("PURE|*|*");
    assert!(reads.matches(&of("PURE|SEARCH|ISSUE|STRUCTURED")));
    assert!(!reads.matches(&of("MUTATES|READ|ISSUE")));
    assert!(reads.only_pure() && !pattern("*|READ|*").only_pure());
    let writes = pattern("MUTATES|CREATE,UPDATE|ISSUE");
    assert!(writes.matches(&of("MUTATES|UPDATE|ISSUE|TEXT")));
    assert!(!writes.matches(&of("MUTATES|DELETE|ISSUE")));
    assert!(!writes.matches(&of("MUTATES|UPDATE|PR")));
}

#[test]
fn a_field_that_a_behavior_does_not_have_is_matched_only_by_a_star() {
    assert!(!pattern("PURE|READ|*|TEXT").matches(&of("PURE|READ|CONTENT")));
    assert!(pattern("PURE|READ|*|TEXT").matches(&of("PURE|READ|CONTENT|TEXT")));
    let stars = pattern("MUTATES|*|*|*|repository.star|*|*");
    assert!(!stars.matches(&of("MUTATES|DELETE|REPO|NONE")));
    assert!(stars.matches(&of("MUTATES|DELETE|REPO|NONE|repository.star|NEGATIVE|NAMED")));
}

#[test]
fn an_identity_is_a_pattern_in_all_three_forms() {
    let behavior = of("MUTATES|DELETE|REPO|NONE|repository.star|NEGATIVE|NAMED");
    let other = of("MUTATES|DELETE|REPO|NONE|repository|NEUTRAL|NAMED");
    for identity in [Some(behavior.identity()), behavior.identity_v2(), behavior.identity_v3()] {
        assert!(pattern(&identity.unwrap().to_string()).matches(&behavior));
    }
    assert!(pattern(&behavior.identity().to_string()).matches(&other));
    assert!(!pattern(&behavior.identity_v3().unwrap().to_string()).matches(&other));
}

#[test]
fn a_pattern_that_nothing_can_match_is_refused() {
    for text in
        ["PURE|DELETE|*", "PURE|CREATE,SEND|*", "", "*", "PURE|*", "PURE|*|*|", "PURE|READ,|*", "B2795A7BB60A9C04"]
    {
        assert!(text.parse::<BehaviorPattern>().is_err(), "{text}");
    }
    assert!("PURE|READ,DELETE|*".parse::<BehaviorPattern>().is_ok());
}

#[test]
fn patterns_are_printed_in_their_shortest_form_and_in_one_order() {
    for (text, printed) in [
        ("MUTATES|UPDATE,CREATE,UPDATE|ISSUE", "MUTATES|CREATE,UPDATE|ISSUE"),
        ("PURE|*|*|*", "PURE|*|*"),
        ("*|*|*|*|*|*|ALL", "*|*|*|*|*|*|ALL"),
        ("b2795a7bb60a9c04", "b2795a7bb60a9c04"),
    ] {
        assert_eq!(pattern(text).to_string(), printed);
        assert_eq!(pattern(printed), pattern(text));
    }
}

#[test]
fn hints_say_whether_a_tool_writes_and_no_more() {
    let pure = Annotations { read_only: Some(true), destructive: None };
    let gentle = Annotations { read_only: Some(false), destructive: Some(false) };
    assert_eq!(pure.mutability(), Some(Mutability::Pure));
    assert_eq!(gentle.mutability(), Some(Mutability::Mutates));
    assert!(gentle.speak_against(Action::Delete) && gentle.speak_against(Action::Overwrite));
    assert!(!gentle.speak_against(Action::Update));
    assert_eq!(Annotations::default().mutability(), None, "an absent hint is absent");
    assert_eq!(Annotations::default().assumed(), (false, true), "and means what the specification says");
}

#[test]
fn four_hints_at_their_defaults_were_said_by_nobody() {
    let defaults =
        json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true});
    let hints = |annotations: serde_json::Value| {
        Annotations::of(&tool(&json!({"name": "read_sheet", "annotations": annotations})).reading())
    };
    assert_eq!(hints(defaults.clone()), Annotations::default());
    assert_eq!(hints(json!({"readOnlyHint": false})).read_only, Some(false));
    let known = KnownBehavior::of(&tool(&json!({"name": "delete_sheet", "annotations": defaults})), None);
    assert_eq!((known.mutability(), known.agreement()), (Some(Mutability::Mutates), Agreement::Inferred));
}

#[test]
fn what_clients_are_told_follows_from_the_action() {
    let hints = |text: &str| {
        let hints = Annotations::project(&of(text));
        (hints.read_only, hints.destructive)
    };
    assert_eq!(hints("PURE|READ|DATA"), (Some(true), None));
    for text in
        ["MUTATES|DELETE|ACK", "MUTATES|OVERWRITE|ACK", "MUTATES|UPDATE|ACK", "MUTATES|MERGE|PR", "MUTATES|EXECUTE|RUN"]
    {
        assert_eq!(hints(text), (Some(false), Some(true)), "{text}");
    }
    for text in ["MUTATES|CREATE|ACK", "MUTATES|APPEND|ACK", "MUTATES|SEND|MESSAGE"] {
        assert_eq!(hints(text), (Some(false), Some(false)), "{text}");
    }
}

#[test]
fn a_declaration_that_the_classifier_confirms_is_corroborated() {
    let known = KnownBehavior::of(
        &tool(&json!({"name": "list_issues", "description": "List issues", "annotations": {"readOnlyHint": true}})),
        None,
    );
    assert_eq!((known.source(), known.agreement()), (Some(BehaviorSource::Annotations), Agreement::Corroborated));
    assert!(known.is_pure());
    assert_eq!(known.projected().unwrap().read_only, Some(true));
}

#[test]
fn a_hint_against_the_name_is_disputed_and_the_guard_stays_up() {
    let deleting =
        json!({"name": "delete_issue", "description": "Delete an issue", "annotations": {"readOnlyHint": true}});
    let known = KnownBehavior::of(&tool(&deleting), None);
    assert_eq!(known.agreement(), Agreement::Disputed);
    assert_eq!(known.mutability(), Some(Mutability::Mutates));
    assert_eq!(known.behavior().unwrap().action(), Action::Delete);
    assert!(!known.is_pure() && known.projected().is_none());
    let reading = json!({"name": "get_issue", "description": "Get an issue", "annotations": {"readOnlyHint": false}});
    let known = KnownBehavior::of(&tool(&reading), None);
    assert_eq!((known.agreement(), known.mutability()), (Agreement::Disputed, Some(Mutability::Mutates)));
}

#[test]
fn a_claim_alone_does_not_make_a_tool_pure() {
    let known = KnownBehavior::of(&tool(&json!({"name": "frobnicate", "annotations": {"readOnlyHint": true}})), None);
    assert_eq!(known.agreement(), Agreement::Declared);
    assert_eq!(known.mutability(), Some(Mutability::Pure));
    assert!(!known.is_pure() && known.projected().is_none());
}

#[test]
fn a_publisher_that_contradicts_its_own_hints_is_disputed() {
    let value = json!({
        "name": "frobnicate",
        "annotations": {"readOnlyHint": true},
        "_meta": {"dev.toolmark/behavior": {"mutability": "MUTATES", "action": "SEND", "output_domain": "ACK"}},
    });
    let known = KnownBehavior::of(&tool(&value), None);
    assert_eq!((known.source(), known.agreement()), (Some(BehaviorSource::Publisher), Agreement::Disputed));
    assert_eq!(known.mutability(), Some(Mutability::Mutates));
}

#[test]
fn the_operator_has_the_last_word() {
    let deleting = tool(&json!({"name": "delete_issue", "annotations": {"readOnlyHint": false}}));
    let known = KnownBehavior::of(&deleting, Some(of("PURE|READ|ISSUE")));
    assert_eq!((known.source(), known.agreement()), (Some(BehaviorSource::Operator), Agreement::Declared));
    assert!(known.is_pure());
    assert_eq!(known.disagreements().len(), 1, "but lint can still show who contradicts");
}

#[test]
fn without_a_statement_the_classifier_speaks_or_nobody_does() {
    let known = KnownBehavior::of(&tool(&json!({"name": "delete_issue"})), None);
    assert_eq!((known.source(), known.agreement()), (Some(BehaviorSource::Inferred), Agreement::Inferred));
    let unknown = KnownBehavior::of(&tool(&json!({"name": "frobnicate"})), None);
    assert_eq!((unknown.behavior(), unknown.agreement()), (None, Agreement::Unknown));
}

#[test]
fn a_declaration_may_carry_facets() {
    let declared = json!({
        "mutability": "MUTATES", "action": "DELETE", "output_domain": "REPO", "content_type": "NONE",
        "target": "repository.star", "polarity": "NEGATIVE",
    });
    let definition = tool(&json!({"name": "unstar", "_meta": {"dev.toolmark/behavior": declared}}));
    let expected = of("MUTATES|DELETE|REPO|NONE|repository.star|NEGATIVE|NAMED");
    assert_eq!(definition.declared(), Some(expected));
}

#[test]
fn a_selecting_argument_narrows_a_call_and_an_unknown_value_gets_the_worst() {
    let definition = tool(&json!({
        "name": "label_write",
        "description": "Perform write operations on repository labels.",
        "inputSchema": {"type": "object", "properties": {
            "method": {"type": "string", "enum": ["create", "update", "delete", "list"]},
        }},
    }));
    let known = KnownBehavior::of(&definition, None);
    let action = |arguments: serde_json::Value| known.behavior_of(&arguments).unwrap().action();
    assert_eq!(action(json!({"method": "create"})), Action::Create);
    assert_eq!(action(json!({"method": "list"})), Action::Read);
    for unknown in [json!({}), json!({"method": "explode"}), json!({"method": 7}), json!(null)] {
        assert_eq!(action(unknown), Action::Delete);
    }
    assert_eq!(known.mutability(), Some(Mutability::Mutates));
}

#[test]
fn a_pure_floor_does_not_replace_one_that_mutates() {
    let values = [("get".to_owned(), of("PURE|READ|DATA")), ("drop".to_owned(), of("MUTATES|DELETE|ACK"))];
    let by_argument = ByArgument::new("/action".into(), values.into_iter().collect()).unwrap();
    assert_eq!(by_argument.floor(), of("MUTATES|DELETE|ACK"));
    assert_eq!(by_argument.with_floor(of("PURE|READ|DATA")).floor(), of("MUTATES|DELETE|ACK"));
}

fn any_behavior() -> impl Strategy<Value = Behavior> {
    let pick = |count: usize| 0..count;
    (pick(Mutability::ALL.len()), pick(Action::ALL.len()), pick(OutputDomain::ALL.len()), pick(ContentType::ALL.len()))
        .prop_filter_map("contradiction", |(mutability, action, domain, content)| {
            Behavior::new(Mutability::ALL[mutability], Action::ALL[action], OutputDomain::ALL[domain])
                .ok()
                .map(|behavior| behavior.with_content_type(ContentType::ALL[content]))
        })
}

proptest! {
    #[test]
    fn a_behavior_matches_itself_written_as_a_pattern(behavior in any_behavior()) {
        prop_assert!(pattern(&behavior.to_string()).matches(&behavior));
    }

    #[test]
    fn no_text_makes_a_pattern_panic(text in "\\PC{0,60}") {
        if let Ok(parsed) = text.parse::<BehaviorPattern>() {
            prop_assert_eq!(parsed.to_string().parse::<BehaviorPattern>(), Ok(parsed));
        }
    }

    // Invariant: adding a statement of the publisher never turns a guarded tool into a pure one.
    #[test]
    fn no_claim_of_a_publisher_makes_a_mutating_tool_pure(claim in any_behavior(), hint in any::<Option<bool>>(), verb in 0..4usize) {
        let name = ["delete_issue", "send_email", "create_branch", "run_command"][verb];
        let inferred = Inference::of(&tool(&json!({"name": name})), Mode::WithoutHints);
        let annotations = Annotations { read_only: hint, destructive: None };
        for publisher in [None, Some(claim)] {
            let said = Statements { operator: None, publisher, annotations, inferred: Some(&inferred) };
            prop_assert!(!KnownBehavior::combine(said).is_pure());
        }
    }
}
