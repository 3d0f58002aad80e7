#![cfg(target_os = "linux")]

use rustix::thread::{CpuSet, sched_getaffinity};

use super::*;

fn ours() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("the processors of this thread");
    (0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).collect()
}

/// What a program sees that is started so.
fn seen(most: u32, first: usize) -> u32 {
    let processors = Processors { most: NonZeroU32::new(most).expect("a number"), first };
    let mut program = std::process::Command::new("grep");
    program.args(["Cpus_allowed:", "/proc/self/status"]);
    let output = processors.confine(|| program.output()).expect("started");
    let line = String::from_utf8(output.stdout).expect("text");
    let (_, mask) = line.split_once(':').expect("a mask");
    mask.chars().filter_map(|digit| digit.to_digit(16)).map(u32::count_ones).sum()
}

#[test]
fn a_program_starts_on_as_many_as_it_may_use_and_we_stay_where_we_were() {
    if std::fs::read("/proc/self/status").is_err() {
        return eprintln!("left out: `/proc` is that of other programs here");
    }
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

#[tokio::test]
async fn one_that_is_started_on_some_processors_is_waited_for_like_any_other() {
    let one = Processors { most: NonZeroU32::MIN, first: 0 };
    let mut program = tokio::process::Command::new("true");
    let mut child = one.confine(|| program.spawn()).expect("started");
    assert!(child.wait().await.expect("an end").success());
}
