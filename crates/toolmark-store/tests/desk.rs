//! The desk over a real store: what is asked, answered, run and refused, on every back end.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "desk/asking.rs"]
mod asking;
#[path = "desk/coming_back.rs"]
mod coming_back;
#[path = "contract/place.rs"]
mod place;
#[path = "desk/stage.rs"]
mod stage;
#[path = "desk/standing.rs"]
mod standing;
#[path = "desk/time.rs"]
mod time;
#[path = "desk/trouble.rs"]
mod trouble;

macro_rules! everywhere {
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

everywhere! {
    asking:
        identical_calls_at_once_are_one_question_and_each_runs_once,
        calls_of_two_people_are_two_questions,
        the_first_decision_counts_and_the_form_is_withdrawn,
        the_user_of_the_client_may_be_first_and_others_are_told,
        a_call_that_nobody_can_be_asked_about_here_waits_is_approved_and_runs_once_when_it_is_repeated,
        an_approved_call_whose_record_cannot_be_kept_does_not_run_and_stays_approved,
        a_call_that_is_repeated_at_once_is_still_one_run,
        a_form_that_is_closed_decides_nothing,
        a_caller_that_goes_away_finds_its_answer_when_it_comes_again,
        the_word_of_whoever_says_no_reaches_the_model,
        edited_arguments_run_in_place_of_those_that_came,
        edited_arguments_are_judged_like_any;
    coming_back:
        a_call_that_was_handed_over_runs_once_with_the_answer_it_brings,
        a_no_that_comes_back_decides_and_a_repetition_is_told,
        a_call_that_is_not_the_one_that_was_shown_does_not_run,
        each_round_of_a_run_begins_once,
        what_others_decided_meanwhile_counts_when_the_call_comes_back,
        whoever_sits_in_front_may_take_back_what_others_approved,
        an_answer_comes_after_a_restart,
        a_run_under_way_is_not_repeated_after_a_restart,
        two_desks_share_questions_answers_and_runs;
    standing:
        an_answer_for_one_call_beats_a_standing_one_both_ways,
        a_no_for_one_call_holds_however_often_it_is_repeated,
        a_standing_yes_lets_later_calls_through_on_every_desk,
        a_standing_yes_holds_so_often_and_no_more,
        one_call_approved_for_several_uses_is_for_those_arguments_only,
        a_revoked_yes_holds_no_more_and_what_waits_under_it_does_not_run,
        a_standing_yes_says_nothing_about_another_tool_caller_or_policy,
        a_standing_yes_for_a_session_ends_with_it,
        a_standing_yes_for_an_effect_covers_no_more_than_that;
    time:
        a_question_that_nobody_answers_in_time_ends_with_a_no,
        a_question_that_is_kept_can_be_answered_after_its_time,
        a_rule_may_say_how_long_its_question_is_open,
        a_clock_that_goes_back_loses_no_decision_and_runs_nothing_twice,
        a_clock_that_jumps_ahead_and_returns_loses_no_decision;
}

/// A store in memory has one process, so none of its nodes goes away.
mod several_processes {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn runs_of_nodes_that_went_away_are_taken_up_and_those_of_others_are_not() {
        let place = crate::place::File::new();
        crate::coming_back::runs_of_nodes_that_went_away_are_taken_up_and_those_of_others_are_not(&place).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn in_postgres_runs_of_nodes_that_went_away_are_taken_up_and_those_of_others_are_not() {
        let place = crate::place::Postgres::new().await;
        crate::coming_back::runs_of_nodes_that_went_away_are_taken_up_and_those_of_others_are_not(&place).await;
    }
}
