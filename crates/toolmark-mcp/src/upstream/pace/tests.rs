use std::time::Instant;

use super::*;

#[test]
fn only_a_program_that_answers_one_by_one_while_many_wait_is_slow() {
    let pace = Pace::default();
    assert!(!pace.is_slow(100), "nothing is known of it yet");
    for (came, waiting, slow) in
        [(1, 15, true), (3, 13, true), (4, 12, false), (1, 7, false), (16, 0, false), (1, 1000, true)]
    {
        pace.note(came, MOMENT, waiting);
        assert_eq!(pace.is_slow(waiting), slow, "{came} of {waiting}");
    }
    assert!(!pace.is_slow(2), "few wait for it now");
    pace.note(1, LONG, 15);
    assert!(!pace.is_slow(15), "they wait for something else");
}

#[tokio::test]
async fn a_moment_is_over_again_and_again() {
    let mut moment = Moment::default();
    let began = Instant::now();
    for _ in 0..20 {
        moment.pass().await;
    }
    let waited = if cfg!(target_os = "linux") { 20 * MOMENT } else { Duration::ZERO };
    assert!(began.elapsed() >= waited);
}
