//! On how many processors may a program run? It starts on those that it may use and stays there, with everything that it starts itself: one
//! that spins takes nothing from the others, and threads that hand every answer to one another need not wake another processor for it.

use std::num::NonZeroU32;

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
    /// Starts something that may use only these. A program begins with what the thread has that starts it, so that is one which ends with it:
    /// what one of ours has cannot be given back as it was, only as it is now.
    pub(crate) fn confine<T: Send>(self, start: impl FnOnce() -> std::io::Result<T> + Send) -> std::io::Result<T> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let usual = sched_getaffinity(None)?;
        let ours: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|at| usual.is_set(*at)).collect();
        let most = usize::try_from(self.most.get()).unwrap_or(usize::MAX);
        if most >= ours.len() {
            return start();
        }
        let mut theirs = CpuSet::new();
        ours.iter().cycle().skip(self.first % ours.len()).take(most).for_each(|at| theirs.set(*at));
        let runtime = tokio::runtime::Handle::try_current().ok();
        let confined = || {
            let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
            sched_setaffinity(None, &theirs)?;
            start()
        };
        std::thread::scope(|scope| {
            let started = std::thread::Builder::new().spawn_scoped(scope, confined)?.join();
            started.unwrap_or_else(|_| Err(std::io::Error::other("whoever was to start it gave up")))
        })
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

#[cfg(test)]
mod tests;
