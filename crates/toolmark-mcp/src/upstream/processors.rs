//! On how many processors may a program run? It starts on those that it may use and stays there, with everything that it starts itself: one
//! that spins takes nothing from the others, and threads that hand every answer to one another need not wake another processor for it.

use std::num::NonZeroU32;

#[cfg(target_os = "linux")]
use rustix::process::Pid;
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Which processors a program may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processors {
    /// How many.
    pub most: NonZeroU32,
    /// Where counting begins among those that we may use ourselves, so that programs spread.
    pub first: usize,
}

#[cfg(target_os = "linux")]
impl Processors {
    /// Starts something that may use only these. A program begins with what the thread has that starts it.
    pub(crate) fn confine<T>(self, start: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        let usual = sched_getaffinity(None)?;
        let ours: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|at| usual.is_set(*at)).collect();
        let most = usize::try_from(self.most.get()).unwrap_or(usize::MAX);
        if most >= ours.len() {
            return start();
        }
        let mut theirs = CpuSet::new();
        ours.iter().cycle().skip(self.first % ours.len()).take(most).for_each(|at| theirs.set(*at));
        sched_setaffinity(None, &theirs)?;
        let _back = Back(usual);
        start()
    }
}

#[cfg(not(target_os = "linux"))]
impl Processors {
    /// Starts nothing: this system has no way to hold a program to it.
    pub(crate) fn confine<T>(self, _start: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        let reason = "`processors` cannot be limited on this system; remove it from the limits of the pack";
        Err(std::io::Error::new(std::io::ErrorKind::Unsupported, reason))
    }
}

/// Gives a thread back what it had, also when a start fails.
#[cfg(target_os = "linux")]
struct Back(CpuSet);

#[cfg(target_os = "linux")]
impl Drop for Back {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.0);
    }
}

/// A machine with more processors than these is big enough for a program to have its threads wherever it likes.
#[cfg(target_os = "linux")]
const FEW: u32 = 4;

/// Whether there are so few processors that everybody shares them.
#[cfg(target_os = "linux")]
pub(crate) fn are_few() -> bool {
    sched_getaffinity(None).is_ok_and(|set| (2..=FEW).contains(&set.count()))
}

/// A running program that is held to one processor: all of its threads, and those that they start.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Held {
    program: Pid,
    usual: CpuSet,
    one: CpuSet,
}

#[cfg(target_os = "linux")]
impl Held {
    /// Holds a program to the processor that it is on. A program that has started others, or that says itself where its threads run, is left
    /// alone, and so is one that may use only one anyway.
    pub(crate) fn hold(program: Pid) -> Option<Self> {
        // It began with what we may use; anything else is its own wish.
        let usual = sched_getaffinity(None).ok()?;
        let alike = |thread: &Pid| sched_getaffinity(Some(*thread)).is_ok_and(|set| set == usual);
        let threads = threads(program);
        if usual.count() < 2 || has_children(program) || threads.is_empty() || !threads.iter().all(alike) {
            return None;
        }
        let mut one = CpuSet::new();
        one.set(last_processor(program).filter(|at| usual.is_set(*at))?);
        // From here on it is let go again whatever happens.
        let held = Self { program, usual, one };
        moved(program, &held.usual, &held.one).then_some(held)
    }

    /// Whether it has started programs of its own, which would be held with it.
    pub(crate) fn has_children(&self) -> bool {
        has_children(self.program)
    }
}

/// Lets it go, with what it has started meanwhile. What it did itself about its threads stays.
#[cfg(target_os = "linux")]
impl Drop for Held {
    fn drop(&mut self) {
        (0..ROUNDS).any(|_| {
            family(self.program).into_iter().for_each(|program| {
                moved(program, &self.one, &self.usual);
            });
            family(self.program).into_iter().all(|program| none_at(program, &self.one))
        });
    }
}

/// How often is looked for what was started while the others were moved.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 4;

/// Moves every thread of a program that is here to there, and says whether none is left. More may be started meanwhile, by those that are
/// still where they were.
#[cfg(target_os = "linux")]
fn moved(program: Pid, here: &CpuSet, there: &CpuSet) -> bool {
    (0..ROUNDS).any(|_| {
        for thread in threads(program).into_iter().filter(|thread| is_at(*thread, here)) {
            // One that has ended meanwhile is nowhere.
            let _ = sched_setaffinity(Some(thread), there);
        }
        none_at(program, here)
    })
}

#[cfg(target_os = "linux")]
fn none_at(program: Pid, set: &CpuSet) -> bool {
    !threads(program).into_iter().any(|thread| is_at(thread, set))
}

#[cfg(target_os = "linux")]
fn is_at(thread: Pid, set: &CpuSet) -> bool {
    sched_getaffinity(Some(thread)).is_ok_and(|now| now == *set)
}

/// The threads of a program.
#[cfg(target_os = "linux")]
fn threads(program: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{program}/task")) else { return Vec::new() };
    entries.flatten().filter_map(|entry| pid(entry.file_name().to_str()?)).collect()
}

/// The programs that a program has started and that still run.
#[cfg(target_os = "linux")]
fn children(program: Pid) -> Vec<Pid> {
    let of_thread =
        |thread: Pid| std::fs::read_to_string(format!("/proc/{program}/task/{thread}/children")).unwrap_or_default();
    threads(program)
        .into_iter()
        .map(of_thread)
        .flat_map(|line| line.split(' ').filter_map(pid).collect::<Vec<_>>())
        .collect()
}

/// A program, those that it has started, and those that they have started.
#[cfg(target_os = "linux")]
pub(crate) fn family(program: Pid) -> Vec<Pid> {
    let mut found = vec![program];
    let mut at = 0;
    while let Some(next) = found.get(at).copied() {
        at += 1;
        found.extend(children(next));
    }
    found
}

/// Whether a program has started others. Where the system does not say, it may have.
#[cfg(target_os = "linux")]
fn has_children(program: Pid) -> bool {
    !children(program).is_empty()
        || !std::fs::exists(format!("/proc/{program}/task/{program}/children")).unwrap_or_default()
}

/// The processor that a program ran on last: the 39th field of its line, which are counted behind its name.
#[cfg(target_os = "linux")]
fn last_processor(program: Pid) -> Option<usize> {
    let line = std::fs::read_to_string(format!("/proc/{program}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    fields.split_whitespace().nth(36)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.trim().parse().ok()?)
}

#[cfg(test)]
mod tests;
