#![cfg(target_os = "linux")]

use super::*;

fn ours() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("the processors of this thread");
    (0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).collect()
}

/// What a program sees that is started so.
fn seen(most: u32, first: usize) -> u32 {
    let processors = Processors { most: NonZeroU32::new(most).expect("a number"), first };
    let output =
        processors.confine(|| std::process::Command::new("grep").args(["Cpus_allowed:", "/proc/self/status"]).output());
    let text = String::from_utf8(output.expect("started").stdout).expect("text");
    text.trim_start_matches("Cpus_allowed:").chars().filter_map(|c| c.to_digit(16)).map(u32::count_ones).sum()
}

#[test]
fn a_program_starts_on_as_many_as_it_may_use_and_we_stay_where_we_were() {
    let before = ours();
    let all = u32::try_from(before.len()).expect("few");
    for first in 0..before.len() + 1 {
        assert_eq!(seen(1, first), 1);
    }
    for most in [2, all, all + 1, u32::MAX] {
        assert_eq!(seen(most, 1), all.min(most));
    }
    assert_eq!(ours(), before);
}

#[test]
fn one_that_cannot_be_started_leaves_us_where_we_were() {
    let before = ours();
    let one = Processors { most: NonZeroU32::MIN, first: 0 };
    assert!(one.confine(|| std::process::Command::new("/no/such/program").spawn()).is_err());
    assert_eq!(ours(), before);
}
