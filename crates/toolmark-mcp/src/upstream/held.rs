//! May a program that runs already be held to one processor for a while? All of its threads are, and they are let go again whatever happens.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::proc;

/// A machine with more processors than these is big enough for a program to have its threads wherever it likes.
const FEW: u32 = 4;

/// Whether there are so few processors that everybody shares them.
pub(crate) fn are_few() -> bool {
    sched_getaffinity(None).is_ok_and(|set| (2..=FEW).contains(&set.count()))
}

/// A running program that is held to one processor: all of its threads, and those that they start.
#[derive(Debug)]
pub(crate) struct Held {
    program: Pid,
    usual: CpuSet,
    one: CpuSet,
}

impl Held {
    /// Holds a program to the processor that it is on. A program that has started others, or that says itself where its threads run, is left
    /// alone, and so is one that may use only one anyway.
    pub(crate) fn hold(program: Pid) -> Option<Self> {
        // It began with what we may use; anything else is its own wish.
        let usual = sched_getaffinity(None).ok()?;
        let alike = |thread: &Pid| sched_getaffinity(Some(*thread)).is_ok_and(|set| set == usual);
        let threads = proc::threads(program);
        if usual.count() < 2 || proc::has_children(program) || threads.is_empty() || !threads.iter().all(alike) {
            return None;
        }
        let mut one = CpuSet::new();
        one.set(proc::look(program).map(|seen| seen.processor).filter(|at| usual.is_set(*at))?);
        // From here on it is let go again whatever happens.
        let held = Self { program, usual, one };
        moved(program, &held.usual, &held.one).then_some(held)
    }

    /// Whether it has started programs of its own, which would be held with it.
    pub(crate) fn has_children(&self) -> bool {
        proc::has_children(self.program)
    }
}

/// Lets it go, with what it has started meanwhile. What it did itself about its threads stays.
impl Drop for Held {
    fn drop(&mut self) {
        (0..ROUNDS).any(|_| {
            proc::family(self.program).into_iter().for_each(|program| {
                moved(program, &self.one, &self.usual);
            });
            proc::family(self.program).into_iter().all(|program| none_at(program, &self.one))
        });
    }
}

/// How often is looked for what was started while the others were moved.
const ROUNDS: usize = 4;

/// Moves every thread of a program that is here to there, and says whether none is left. More may be started meanwhile, by those that are
/// still where they were.
fn moved(program: Pid, here: &CpuSet, there: &CpuSet) -> bool {
    (0..ROUNDS).any(|_| {
        for thread in proc::threads(program).into_iter().filter(|thread| is_at(*thread, here)) {
            // One that has ended meanwhile is nowhere.
            let _ = sched_setaffinity(Some(thread), there);
        }
        none_at(program, here)
    })
}

fn none_at(program: Pid, set: &CpuSet) -> bool {
    !proc::threads(program).into_iter().any(|thread| is_at(thread, set))
}

fn is_at(thread: Pid, set: &CpuSet) -> bool {
    sched_getaffinity(Some(thread)).is_ok_and(|now| now == *set)
}

#[cfg(test)]
mod tests;
