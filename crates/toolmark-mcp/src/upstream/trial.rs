//! Would a program answer more calls on one processor? Many hand every answer to a thread of their own and wait for it, and where those two
//! threads run on two processors, each wake-up takes longer than the answer. So while many calls wait for a program that answers thousands a
//! second, it is held to the processor that it is on for a moment, and stays there as long as it answers more that way. A program that
//! does not is let go at once and left alone for a while, and so is one that starts other programs. On a machine with many processors nothing
//! is tried: what a program could lose there is more than what it could gain.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::held::{Held, are_few};
use super::pipe::Pipe;

/// How long answers are counted before anything is concluded from it.
const WINDOW: Duration = Duration::from_millis(60);
/// What a program takes to get used to a change, which is not counted.
const SETTLING: Duration = Duration::from_millis(10);
/// How often it is looked at.
const TICK: Duration = Duration::from_millis(10);
/// Answers in a second below which nothing is tried: what takes longer than wake-ups do gains nothing.
const LEAST: f64 = 2_000.0;
/// Calls that wait for it, on average, below which it is not what calls wait for: before anything is tried, and afterwards, when fewer wait
/// because it is quicker.
const MANY: usize = 4;
const STILL_MANY: usize = 2;
/// How many times as many answers it has to give to be kept there.
const BETTER: f64 = 1.1;
/// How long it is kept there before the usual way is tried again, at first and at most: a number that was better by chance is soon found out.
const KEPT: Duration = Duration::from_secs(1);
const LONGEST_KEPT: Duration = Duration::from_secs(8);
/// How long it is left alone after it did not answer more, at first and at most.
const REST: Duration = Duration::from_millis(250);
const LONGEST_REST: Duration = Duration::from_secs(600);

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing but look again.
    Look,
    /// Hold it to one processor.
    Hold,
    /// Let it go.
    Release,
    /// Let it go, and do nothing until many calls wait for it again.
    Sleep,
    /// Let it go, and do nothing for so long.
    Rest(Duration),
}

/// What was seen since the last look.
#[derive(Clone, Copy, Debug)]
struct Seen {
    time: Duration,
    answers: u64,
    /// The calls that wait for it now.
    waiting: usize,
}

/// Answers as they are counted.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    time: Duration,
    answers: u64,
    looks: usize,
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// It runs as the system likes, and is counted. What it just came from is not, for so long.
    Usual { settling: Duration },
    /// It runs on one processor, and is counted, to be compared with how it was before.
    Tried { settling: Duration, usual: f64 },
    /// It stays there, for so long, and as long as it answers more than it did before, all in all.
    Kept { left: Duration, usual: f64, all: Count },
}

/// Finds out by trying.
#[derive(Debug)]
struct Trial {
    phase: Phase,
    count: Count,
    /// How long it is kept there the next time that is better.
    keep: Duration,
    /// How long it is left alone the next time that is not.
    rest: Duration,
}

impl Default for Trial {
    fn default() -> Self {
        Self { phase: Phase::Usual { settling: SETTLING }, count: Count::default(), keep: KEPT, rest: REST }
    }
}

impl Trial {
    /// Takes in what was seen and says what to do.
    fn look(&mut self, seen: Seen) -> Step {
        if let Phase::Usual { settling } | Phase::Tried { settling, .. } = &mut self.phase
            && !settling.is_zero()
        {
            *settling = settling.saturating_sub(seen.time);
            return Step::Look;
        }
        if let Phase::Kept { left, all, .. } = &mut self.phase {
            *left = left.saturating_sub(seen.time);
            all.add(seen);
        }
        self.count.add(seen);
        if self.count.time < WINDOW {
            return Step::Look;
        }
        let count = std::mem::take(&mut self.count);
        let many = if matches!(self.phase, Phase::Usual { .. }) { MANY } else { STILL_MANY };
        if count.waiting < count.looks.saturating_mul(many) {
            // A load that ends before anything is known was held for nothing: short ones that come again and again are let be.
            if matches!(self.phase, Phase::Tried { .. }) {
                return self.give_up();
            }
            self.phase = Phase::Usual { settling: SETTLING };
            return Step::Sleep;
        }
        match self.phase {
            Phase::Usual { .. } if count.rate() < LEAST => {
                self.phase = Phase::Usual { settling: SETTLING };
                Step::Sleep
            }
            Phase::Usual { .. } => {
                self.phase = Phase::Tried { settling: SETTLING, usual: count.rate() };
                Step::Hold
            }
            Phase::Tried { usual, .. } if count.rate() >= usual * BETTER => {
                self.phase = Phase::Kept { left: self.keep, usual, all: Count::default() };
                Step::Look
            }
            Phase::Tried { .. } => self.give_up(),
            Phase::Kept { left, usual, all } if left.is_zero() || (all.time >= WINDOW * 2 && all.rate() < usual) => {
                // What was thought of it before no longer counts.
                (self.keep, self.rest) = match left.is_zero() {
                    true => (self.keep.saturating_mul(2).min(LONGEST_KEPT), REST),
                    false => (KEPT, self.rest),
                };
                self.phase = Phase::Usual { settling: SETTLING };
                Step::Release
            }
            Phase::Kept { .. } => Step::Look,
        }
    }

    /// It cannot be held, or should not be any longer.
    fn give_up(&mut self) -> Step {
        let rest = self.rest;
        *self = Self { rest: rest.saturating_mul(2).min(LONGEST_REST), ..Self::default() };
        Step::Rest(rest)
    }
}

impl Count {
    fn add(&mut self, seen: Seen) {
        self.time += seen.time;
        self.answers += seen.answers;
        self.looks += 1;
        self.waiting = self.waiting.saturating_add(seen.waiting);
    }

    #[expect(clippy::cast_precision_loss, reason = "nobody counts that many in a moment")]
    fn rate(&self) -> f64 {
        self.answers as f64 / self.time.as_secs_f64().max(f64::EPSILON)
    }
}

/// Looks after a program until it ends. While little waits for it, this sleeps.
pub(crate) async fn attend(pipe: Arc<Pipe>, program: Pid) {
    if !are_few() {
        return;
    }
    let watched = async {
        let mut trial = Trial::default();
        loop {
            pipe.pace().is_slow_again().await;
            let rest = watch(&pipe, program, &mut trial).await;
            tokio::time::sleep(rest).await;
        }
    };
    tokio::select! {
        () = watched => {}
        () = pipe.closed().cancelled() => {}
    }
}

/// Tries and holds until there is nothing more to do, and says for how long.
async fn watch(pipe: &Pipe, program: Pid, trial: &mut Trial) -> Duration {
    let mut held: Option<Held> = None;
    let (mut at, mut answers) = (Instant::now(), pipe.pace().answers());
    loop {
        tokio::time::sleep(TICK).await;
        let (now, all) = (Instant::now(), pipe.pace().answers());
        let mut step = trial.look(Seen {
            time: now.saturating_duration_since(std::mem::replace(&mut at, now)),
            answers: all.saturating_sub(std::mem::replace(&mut answers, all)),
            waiting: pipe.desk().under_way(),
        });
        if held.as_ref().is_some_and(Held::has_children) {
            step = trial.give_up();
        }
        if step == Step::Hold {
            held = Held::hold(program);
            if held.is_none() {
                step = trial.give_up();
            }
        }
        if step != Step::Look {
            tracing::debug!(program = %program, ?step, phase = ?trial.phase, "one processor");
        }
        match step {
            Step::Look | Step::Hold => {}
            Step::Release => held = None,
            Step::Sleep => return Duration::ZERO,
            Step::Rest(rest) => return rest,
        }
    }
}

#[cfg(test)]
mod tests;
