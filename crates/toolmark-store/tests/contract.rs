//! What every back end must do, in one suite that is run on each. A new back end adds a place, not a test.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

#[path = "contract/approvals.rs"]
mod approvals;
#[path = "contract/audit/chain.rs"]
mod audit_chain;
#[path = "contract/audit/intents.rs"]
mod audit_intents;
#[path = "contract/audit/reading.rs"]
mod audit_reading;
#[path = "contract/audit/samples.rs"]
mod audit_samples;
#[path = "contract/audit/writing.rs"]
mod audit_writing;
#[path = "contract/baselines.rs"]
mod baselines;
#[path = "contract/definitions.rs"]
mod definitions;
#[path = "contract/names.rs"]
mod names;
#[path = "contract/pins.rs"]
mod pins;
#[path = "contract/place.rs"]
mod place;
#[path = "contract/sessions.rs"]
mod sessions;
#[path = "contract/threads.rs"]
mod threads;
#[path = "contract/tokens.rs"]
mod tokens;
#[path = "contract/transfer.rs"]
mod transfer;
#[path = "contract/watch.rs"]
mod watch;

macro_rules! contract {
    ($($part:ident: $($law:ident),+ $(,)?;)+) => {
        mod in_a_file {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $law() {
                    crate::$part::$law(&crate::place::File::new()).await;
                }
            )+)+
        }

        mod in_memory {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $law() {
                    crate::$part::$law(&crate::place::Memory::new().await).await;
                }
            )+)+
        }

        mod in_postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
                async fn $law() {
                    crate::$part::$law(&crate::place::Postgres::new().await).await;
                }
            )+)+
        }
    };
}

contract! {
    names:
        names_stay_with_their_tools,
        a_name_that_was_replaced_still_leads_to_its_tool,
        saving_what_is_there_changes_nothing,
        two_tools_may_change_names_with_each_other,
        whoever_saves_second_is_told_and_writes_nothing,
        many_who_publish_at_once_never_share_a_name,
        one_name_for_two_tools_is_refused,
        scopes_do_not_mix;
    baselines:
        what_was_learned_is_kept_by_task,
        several_who_learn_at_once_lose_nothing;
    definitions:
        definitions_come_back_byte_for_byte_and_in_order,
        a_new_listing_replaces_the_old_one_whole,
        the_same_listing_again_only_says_when,
        digests_that_were_replaced_are_remembered,
        history_has_an_end,
        a_pack_that_is_forgotten_leaves_nothing;
    pins:
        a_pin_comes_back_as_it_was_made,
        a_tool_that_is_pinned_is_not_pinned_again_by_being_seen,
        many_who_see_a_tool_at_once_pin_one_version,
        what_is_accepted_takes_the_place_of_what_was,
        a_pin_that_is_forgotten_is_gone,
        a_change_of_pins_is_told,
        a_standing_yes_to_a_first_use_pins_what_was_shown,
        an_answer_about_a_tool_that_changed_since_pins_nothing,
        a_change_is_pinned_only_when_somebody_says_so,
        tools_are_seen_as_their_packs_last_listed_them;
    tokens:
        a_token_lets_in_whoever_shows_its_secret,
        a_revoked_token_stays_revoked,
        a_token_ends_when_its_time_is_over,
        two_tokens_with_one_name_are_refused_until_one_is_revoked,
        names_that_cannot_be_read_are_refused,
        the_version_grows_with_every_change_and_with_no_use,
        the_last_use_never_goes_back;
    sessions:
        what_was_said_comes_back_in_order,
        sessions_are_listed_by_when_they_changed_with_who_has_them,
        only_a_session_that_nobody_has_and_nothing_waits_in_is_forgotten_as_idle,
        a_session_is_held_by_one_run_at_a_time,
        a_run_says_what_it_says_once,
        the_oldest_items_make_room_for_fewer_in_one_step,
        whoever_lost_a_session_adds_nothing,
        many_runs_that_want_one_session_get_it_one_by_one,
        the_last_item_can_be_taken_back_and_everything_forgotten;
    threads:
        a_thread_is_held_by_one_until_it_is_given_back,
        whoever_does_not_keep_a_thread_loses_it_and_what_waits_stays,
        whoever_has_as_many_threads_as_may_be_loses_the_oldest_that_waits_for_nobody,
        many_who_begin_threads_at_once_have_no_more_than_may_be,
        threads_that_nobody_used_go_and_what_is_held_or_waits_stays,
        old_threads_go_a_few_at_a_time_in_several_processes;
    transfer:
        a_store_that_was_taken_along_is_the_same_store,
        only_an_empty_store_takes_another,
        an_export_that_was_touched_is_refused_and_nothing_is_kept;
    watch:
        changes_by_others_are_told,
        whoever_watches_a_store_that_closes_is_told;
    approvals:
        a_question_comes_back_as_it_was_asked,
        the_same_call_joins_the_question_that_stands,
        whoever_decides_first_decides,
        an_approved_run_begins_once_however_many_try,
        a_question_whose_time_is_over_takes_no_answer,
        a_yes_in_the_last_minute_is_still_of_use,
        a_no_holds_for_the_same_call_until_its_time_is_over,
        a_call_that_is_repeated_takes_up_the_run_that_was_parked,
        a_held_run_is_taken_up_by_its_state_only,
        an_answer_is_taken_by_one_call_and_a_no_by_all,
        what_a_node_leaves_behind_is_parked_or_lost,
        each_round_of_a_run_begins_once,
        a_grant_is_given_with_its_decision_and_used_so_often_and_no_more,
        a_revoked_grant_stays_revoked,
        a_revoked_grant_takes_back_the_runs_that_have_not_begun,
        versions_grow_with_every_change,
        many_who_ask_the_same_at_once_ask_one_question,
        questions_and_answers_are_told,
        a_shared_key_is_one_for_all,
        old_questions_go_and_those_under_way_stay,
        questions_are_listed_newest_first_in_pages;
    audit_reading:
        a_record_comes_back_as_it_was,
        records_are_found_by_whatever_the_filter_names,
        pages_go_on_where_they_stopped_in_both_orders,
        an_export_is_one_object_a_line,
        calls_are_read_in_the_order_of_time_without_what_judging_does_not_need;
    audit_writing:
        a_strict_record_is_there_when_the_call_returns,
        closing_loses_nothing_and_takes_nothing_more,
        dropping_the_last_sink_writes_what_is_left,
        several_sinks_share_one_chain,
        many_callers_at_once_lose_nothing,
        a_queue_that_is_full_says_so_and_counts,
        whoever_asks_for_room_before_loses_nothing,
        a_closed_store_says_so;
    audit_chain:
        a_batch_of_any_size_is_chained_whole,
        old_records_go_and_the_chain_stays_whole,
        bodies_go_and_records_stay,
        verifying_beside_writing_and_trimming_finds_nothing,
        a_noted_head_must_be_in_the_chain;
    audit_intents:
        an_intent_and_what_became_of_it_are_one_record,
        a_call_that_was_under_way_when_its_process_ended_was_interrupted,
        old_intents_go_with_their_time;
}
