use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn infer_value(value: &Value, mode: Mode) -> Inference {
    Inference::of(&Definition::of_value("test", value).unwrap(), mode)
}

fn infer(name: &str, description: &str) -> Inference {
    infer_value(&json!({"name": name, "description": description}), Mode::Full)
}

/// `MUTABILITY|ACTION|OUTPUT_DOMAIN` of a tool with this name and description.
fn three(name: &str, description: &str) -> String {
    let behavior = infer(name, description).behavior().map(|behavior| behavior.to_string()).unwrap_or_default();
    behavior.splitn(4, '|').take(3).collect::<Vec<_>>().join("|")
}

fn facets(name: &str, description: &str) -> String {
    infer(name, description).behavior().unwrap().facets().unwrap().to_string()
}

#[test]
fn a_verb_is_found_first_last_and_behind_a_prefix() {
    for (name, expected) in [
        ("list_issues", "PURE|READ|ISSUE"),
        ("jira_get_issue", "PURE|READ|ISSUE"),
        ("pods_list", "PURE|READ|RESOURCE"),
        ("db-cluster-delete", "MUTATES|DELETE|RESOURCE"),
        ("getPullRequest", "PURE|READ|PR"),
        ("TwilioApiV2010--DeleteMessage", "MUTATES|DELETE|MESSAGE"),
        ("SearchIndexTool", "PURE|SEARCH|DATA"),
        ("issue_write", "MUTATES|OVERWRITE|ISSUE"),
        ("power-off-droplet", "MUTATES|UPDATE|RESOURCE"),
        ("services-reader", "PURE|READ|RESOURCE"),
        ("maintenance_off", "MUTATES|UPDATE|STRUCTURE"),
    ] {
        assert_eq!(three(name, ""), expected, "{name}");
    }
}

#[test]
fn a_noun_that_can_be_a_verb_gives_way_to_a_verb() {
    for (name, action) in [
        ("get_list_cards", Action::Read),
        ("create_search_index", Action::Create),
        ("update_issue_comment", Action::Update),
        ("merge_pull_request", Action::Merge),
        ("watch_list", Action::Create),
        ("mark_all_notifications_read", Action::Update),
        ("update_access_control_list", Action::Update),
    ] {
        assert_eq!(infer(name, "").action.value(), Some(action), "{name}");
    }
}

#[test]
fn the_description_speaks_where_the_name_is_silent() {
    assert_eq!(three("pods_top", "List the resource consumption of pods"), "PURE|READ|RESOURCE");
    assert_eq!(three("sqlToRest", "Converts SQL query to a PostgREST API request"), "PURE|READ|DATA");
    assert_eq!(three("API-patch-block-children", "Notion | Append block children"), "MUTATES|APPEND|CONTENT");
}

#[test]
fn it_abstains_where_it_knows_no_word() {
    let inferred = infer("frobnicate", "Frobnicates the widget");
    assert_eq!((inferred.mutability.value(), inferred.behavior()), (None, None));
    assert_eq!(inferred.mutability.confidence(), 0);
}

// Invariant: a reader by name whose description begins with a change is not called PURE.
#[test]
fn a_reader_that_admits_a_change_is_not_called_pure() {
    for (name, description) in [
        ("get_attachment", "Downloads an attachment and saves it to local disk."),
        ("get_session", "Creates a session if there is none."),
        ("text_to_speech", "Convert text to speech. Saves output file to a directory."),
        ("get_or_create_label", "Gets a label or creates it"),
        ("search_feedback", "Send feedback on a search"),
        ("check_in", "Check in a guest"),
    ] {
        assert_ne!(infer(name, description).mutability.value(), Some(Mutability::Pure), "{name}");
    }
}

#[test]
fn a_wrong_hint_does_not_make_a_writer_pure() {
    for name in ["delete_issue", "send_email", "play_audio", "create_branch", "browser_click"] {
        let value = json!({"name": name, "annotations": {"readOnlyHint": true}});
        assert_eq!(infer_value(&value, Mode::Full).mutability.value(), Some(Mutability::Mutates), "{name}");
    }
}

#[test]
fn a_hint_alone_makes_nothing_pure() {
    for (name, description) in [("frobnicate", ""), ("isolate_widget", "Isolates. Saves output file to a directory.")] {
        let value = json!({"name": name, "description": description, "annotations": {"readOnlyHint": true}});
        assert_ne!(infer_value(&value, Mode::Full).mutability.value(), Some(Mutability::Pure), "{name}");
    }
}

#[test]
fn a_reader_that_is_hinted_to_write_is_believed_to_write() {
    let value = json!({"name": "read_sheet", "annotations": {"readOnlyHint": false}});
    assert_eq!(infer_value(&value, Mode::Full).mutability.value(), Some(Mutability::Mutates));
    assert_eq!(infer_value(&value, Mode::WithoutHints).mutability.value(), Some(Mutability::Pure));
}

#[test]
fn a_query_is_open_ended_unless_the_tool_says_that_it_only_reads() {
    assert_eq!(three("read_query", "Execute a SELECT query on the SQLite database"), "PURE|READ|DATA");
    assert_eq!(three("write_query", "Execute an INSERT, UPDATE, or DELETE query"), "MUTATES|OVERWRITE|DATA");
    assert_eq!(three("run_query", "Run a SQL query against PostgreSQL"), "MUTATES|EXECUTE|DATA");
    assert_eq!(three("run_query", "Run a read-only SQL query"), "PURE|READ|DATA");
    assert_eq!(three("execute_promql_query", "Executes a PromQL query"), "PURE|SEARCH|DATA");
    assert_eq!(three("query-graphql", "Query a GraphQL endpoint"), "MUTATES|EXECUTE|DATA");
}

#[test]
fn a_part_is_of_the_domain_of_what_it_belongs_to() {
    for (name, domain) in [
        ("add_issue_comment", OutputDomain::Issue),
        ("add_pull_request_review_comment_reaction", OutputDomain::Pr),
        ("update_issue_labels", OutputDomain::Issue),
        ("list_labels", OutputDomain::Structure),
        ("get_issue_watchers", OutputDomain::User),
        ("get_job_logs", OutputDomain::Run),
        ("get_cluster_credentials", OutputDomain::Secret),
        ("get_file_info", OutputDomain::Structure),
    ] {
        assert_eq!(infer(name, "").output_domain.value(), Some(domain), "{name}");
    }
}

#[test]
fn opposites_have_opposite_polarity() {
    for (one, other) in [
        ("start_container", "stop_container"),
        ("approve_merge_request", "unapprove_merge_request"),
        ("revoke_member", "restore_member"),
        ("cache_incr", "cache_decr"),
        ("lpush", "rpush"),
        ("lpop", "rpop"),
        ("lock_issue", "unlock_issue"),
        ("go_back", "go_forward"),
        ("reboot_droplet", "power_off_droplet"),
        ("maintenance_on", "maintenance_off"),
    ] {
        assert_ne!(infer(one, "").polarity.value(), infer(other, "").polarity.value(), "{one} {other}");
    }
}

#[test]
fn a_verb_points_at_the_part_that_it_changes() {
    assert_eq!(facets("unstar_repository", ""), "repository.star|NEGATIVE|NAMED");
    assert_eq!(facets("delete_repository", ""), "repository|NEUTRAL|NAMED");
    assert_eq!(facets("unprotect_branch", ""), "branch.protection|NEGATIVE|NAMED");
    assert_eq!(facets("rename_droplet", ""), "instance.name|NEUTRAL|NAMED");
    assert_eq!(facets("remove_user_from_group", ""), "group.user|NEUTRAL|NAMED");
}

#[test]
fn reach_is_everybody_or_more_rights() {
    assert_eq!(facets("broadcast_text_message", ""), "message|NEUTRAL|ALL");
    assert_eq!(facets("push_text_message", ""), "message|NEUTRAL|NAMED");
    assert_eq!(infer("sudo-exec", "Execute a command as root").reach.value(), Some(Reach::Root));
    assert_eq!(infer("list_all_tables", "").reach.value(), Some(Reach::Named), "a listing of all harms nobody");
}

#[test]
fn one_operation_under_two_names_has_one_identity() {
    for (one, other) in [
        ("create_pull_request", "create_merge_request"),
        ("get_list_cards", "get_cards_by_list_id"),
        ("create_card", "add_card_to_list"),
        ("browser_click", "puppeteer_click"),
        ("run_command", "execute_command"),
        ("db-cluster-get", "get_db_cluster"),
    ] {
        let identity = |name: &str| infer(name, "").behavior().and_then(|behavior| behavior.identity_v3());
        assert_eq!(identity(one), identity(other), "{one} {other}");
    }
}

#[test]
fn every_answer_gives_its_reason() {
    let value = json!({"name": "list_issues", "description": "Returns issues", "annotations": {"readOnlyHint": true}});
    let inferred = infer_value(&value, Mode::Full);
    let because = inferred.mutability.because();
    assert_eq!(because, "verb *list*; description says *return*; hint readOnly; no body parameters");
    assert_eq!(inferred.output_domain.because(), "noun *issue*, returned");
    assert!(inferred.mutability.confidence() > 90);
}

#[test]
fn each_value_of_a_selecting_argument_has_a_behavior() {
    let value = json!({"name": "browser_tabs", "description": "List, create, close, or select a browser tab.", "inputSchema": {
        "type": "object",
        "properties": {"action": {"enum": ["list", "new", "close", "select"]}},
    }});
    let inferred = infer_value(&value, Mode::Full);
    let by_argument = inferred.by_argument.as_ref().unwrap();
    let action = |value: &str| by_argument.values()[value].action();
    assert_eq!(
        ["list", "new", "close", "select"].map(action),
        [Action::Read, Action::Create, Action::Delete, Action::Update]
    );
    assert_eq!(by_argument.pointer(), "/action");
    assert_eq!(
        (inferred.mutability.value(), inferred.action.value()),
        (Some(Mutability::Mutates), Some(Action::Delete))
    );
}

#[test]
fn an_enumeration_that_selects_no_action_is_left_alone() {
    let of = |name: &str, property: Value| {
        let schema = json!({"type": "object", "properties": property});
        infer_value(&json!({"name": name, "inputSchema": schema}), Mode::Full).by_argument
    };
    assert_eq!(of("get_report", json!({"mode": {"enum": ["brief", "detailed"]}})), None);
    assert_eq!(of("createCollectionRequest", json!({"method": {"enum": ["GET", "POST", "DELETE"]}})), None);
    assert!(of("api_request", json!({"method": {"enum": ["GET", "POST", "DELETE"]}, "path": {}})).is_some());
}

// Invariant: a value that nobody understands is not covered by what the others do.
#[test]
fn one_value_that_is_not_understood_keeps_the_floor_up() {
    let of = |values: Value| {
        let schema = json!({"type": "object", "properties": {"operation": {"enum": values}}});
        infer_value(&json!({"name": "widget_manage", "inputSchema": schema}), Mode::Full)
    };
    let readers = of(json!(["list", "get"]));
    assert_eq!(readers.mutability.value(), Some(Mutability::Pure));
    let one_more = of(json!(["list", "get", "frobnicate"]));
    assert_eq!(one_more.mutability.value(), Some(Mutability::Mutates));
    let by_argument = one_more.by_argument.unwrap();
    assert_eq!(by_argument.behavior_of(&json!({"operation": "list"})).mutability(), Mutability::Pure);
    assert_eq!(by_argument.behavior_of(&json!({"operation": "frobnicate"})).mutability(), Mutability::Mutates);
}

#[test]
fn values_that_only_the_description_lists_count_as_well() {
    let schema = json!({"type": "object", "properties": {
        "method": {"type": "string", "description": "What to do: 'add' a sub-issue, 'remove' it, or 'reprioritize' it"},
    }});
    let inferred = infer_value(&json!({"name": "sub_issue_write", "inputSchema": schema}), Mode::Full);
    assert_eq!(inferred.by_argument.unwrap().values().len(), 3);
    let schema = json!({"type": "object", "properties": {"action": {"description": "an 'action' such as 'get'"}}});
    assert_eq!(infer_value(&json!({"name": "droplet_action", "inputSchema": schema}), Mode::Full).by_argument, None);
}

#[test]
fn a_free_request_is_open_ended_in_its_worst_case() {
    let schema = json!({"type": "object", "properties": {"method": {"enum": ["GET", "POST", "DELETE"]}, "path": {}}});
    let inferred = infer_value(&json!({"name": "api_request", "inputSchema": schema}), Mode::Full);
    assert_eq!(inferred.action.value(), Some(Action::Execute));
    let by_argument = inferred.by_argument.unwrap();
    assert_eq!(by_argument.behavior_of(&json!({"method": "GET"})).mutability(), Mutability::Pure);
    assert_eq!(by_argument.behavior_of(&json!({"method": "TRACE"})).mutability(), Mutability::Mutates);
}

#[test]
fn the_schema_alone_does_not_tell_a_reader_from_a_deleter() {
    let only = |name: &str, properties: Value| {
        let schema = json!({"type": "object", "properties": properties, "required": ["id"]});
        infer_value(&json!({"name": name, "description": name, "inputSchema": schema}), Mode::SchemaOnly)
    };
    let get = only("get_issue", json!({"id": {"type": "string"}}));
    assert_eq!(get, only("delete_issue", json!({"id": {"type": "string"}})), "the name is not looked at");
    assert_eq!(get.mutability.value(), None);
    assert_eq!(only("x", json!({"id": {}, "body": {}})).mutability.value(), Some(Mutability::Mutates));
    assert_eq!(only("x", json!({"query": {}, "page": {}, "limit": {}})).mutability.value(), Some(Mutability::Pure));
    assert_eq!(only("x", json!({"query": {}})).mutability.value(), None, "a query may be SQL");
}

#[test]
fn an_order_that_nobody_understands_is_not_pure_because_of_a_later_word() {
    for (name, description) in [
        ("liquefy_document", "Liquefy a document and return its text"),
        ("gruntle_status", "Gruntles the status of an account"),
        ("sproing", "Sproing all tables, then list them"),
    ] {
        assert_eq!(infer(name, description).mutability.value(), None, "{name}");
    }
    for (name, description) in [
        ("cluster_info", "Comprehensive information about the cluster"),
        ("get_sproing", "Sproing the account"),
        ("uncategorized", "Summary of uncategorized transactions"),
        ("payment_status", "Given a payment, returns its status"),
    ] {
        assert_eq!(infer(name, description).mutability.value(), Some(Mutability::Pure), "{name}");
    }
}

#[test]
fn goods_and_money_are_moved_and_not_looked_at() {
    for name in
        ["process_payment", "collect_payment", "return_order", "recall_product", "capture_payment", "convert_lead"]
    {
        assert_eq!(infer(name, "").mutability.value(), Some(Mutability::Mutates), "{name}");
    }
    for name in ["process_text", "recall_memory", "return_weather", "collect_metrics"] {
        assert_ne!(infer(name, "").mutability.value(), Some(Mutability::Mutates), "{name}");
    }
}

#[test]
fn opposites_have_identities_of_their_own() {
    for (one, other) in [
        ("raise_limit", "lower_limit"),
        ("stake_tokens", "unstake_tokens"),
        ("clock_in_employee", "clock_out_employee"),
        ("mark_email_read", "mark_email_unread"),
        ("admit_patient", "discharge_patient"),
        ("merge_cells", "split_cells"),
        ("reactivate_customer", "suspend_customer"),
        ("borrow_book", "lend_book"),
        ("import_dataset", "export_dataset"),
        ("check_item", "uncheck_item"),
        ("encrypt_volume", "decrypt_volume"),
    ] {
        let identity = |name: &str| infer(name, "").behavior().and_then(|behavior| behavior.identity_v3());
        assert!(identity(one).is_some() && identity(other).is_some(), "{one} {other}");
        assert_ne!(identity(one), identity(other), "{one} {other}");
    }
}

#[test]
fn an_audit_that_is_run_reports_and_changes_nothing() {
    assert_eq!(three("runAccessibilityAudit", "Run an accessibility audit on the current page"), "PURE|READ|FINDING");
    assert_eq!(infer("run_job", "Run a job").mutability.value(), Some(Mutability::Mutates));
}

proptest! {
    #[test]
    fn no_name_and_no_text_makes_it_panic(name in "[A-Za-z0-9_.-]{1,64}", text in "\\PC{0,200}", key in "\\PC{0,20}") {
        let value = json!({"name": name, "description": text, "inputSchema": {"type": "object", "properties": {key: {"description": text}}}});
        if let Ok(definition) = Definition::of_value("test", &value) {
            for mode in [Mode::Full, Mode::WithoutHints, Mode::SchemaOnly] {
                let inferred = Inference::of(&definition, mode);
                prop_assert_eq!(&inferred, &Inference::of(&definition, mode));
            }
        }
    }

    // Invariant: a hint that says "read-only" changes no answer of the second opinion.
    #[test]
    fn the_second_opinion_does_not_see_the_hints(hint in any::<bool>(), word in 0..5usize) {
        let name = ["get_x", "delete_x", "frobnicate", "watch_x", "run_x"][word];
        let without = infer_value(&json!({"name": name}), Mode::WithoutHints);
        let with = infer_value(&json!({"name": name, "annotations": {"readOnlyHint": hint}}), Mode::WithoutHints);
        prop_assert_eq!(without, with);
    }
}
