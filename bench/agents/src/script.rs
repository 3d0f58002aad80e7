//! What does the model say? One script for both sides: some turns that call a tool, then a sentence.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What the model says at the end.
pub(crate) static ANSWER: [&str; 2] = ["It will be ", "sunny."];

/// What it says where it calls.
pub(crate) static NOTHING: [&str; 0] = [];

/// The prepared answers of a model that runs one after the other ask.
#[derive(Debug)]
pub(crate) struct Script {
    turns: Vec<Vec<Call>>,
    asked: AtomicUsize,
    began: Instant,
    /// When the first piece of the last streamed answer left the model, counted from the beginning.
    left: AtomicUsize,
}

/// How many bodies of tools ran.
static RAN: AtomicUsize = AtomicUsize::new(0);

/// A call of a tool as a model writes it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) arguments: String,
}

impl Script {
    /// As many turns with as many calls in each, and the answer after them.
    pub(crate) fn new(turns: usize, calls: usize, tool: &'static str, arguments: &str) -> Self {
        let call = |turn, call| Call { id: format!("call_{turn}_{call}"), name: tool, arguments: arguments.to_owned() };
        Self {
            turns: (0..turns).map(|turn| (0..calls).map(|at| call(turn, at)).collect()).collect(),
            asked: AtomicUsize::new(0),
            began: Instant::now(),
            left: AtomicUsize::new(0),
        }
    }

    /// How often the model is asked in one run.
    pub(crate) fn requests(&self) -> usize {
        self.turns.len() + 1
    }

    /// How many calls there are in one run.
    pub(crate) fn calls(&self) -> usize {
        self.turns.iter().map(Vec::len).sum()
    }

    /// The calls of this turn; none where the answer is due. After the answer the script begins again, for the next run.
    pub(crate) fn next(&self) -> Option<&[Call]> {
        let at = self.asked.fetch_add(1, Ordering::Relaxed) % self.requests();
        self.turns.get(at).map(Vec::as_slice)
    }

    /// The first piece of an answer leaves the model.
    pub(crate) fn leaves(&self) {
        let now = usize::try_from(self.began.elapsed().as_nanos()).unwrap_or(usize::MAX);
        self.left.store(now, Ordering::Relaxed);
    }

    /// How long ago that was.
    pub(crate) fn since(&self) -> Duration {
        let left = u64::try_from(self.left.load(Ordering::Relaxed)).unwrap_or(u64::MAX);
        self.began.elapsed().saturating_sub(Duration::from_nanos(left))
    }
}

/// How many bodies of tools ran so far, so that nobody is fast by not calling them.
pub(crate) fn ran() -> usize {
    RAN.load(Ordering::Relaxed)
}

/// What the weather will be: the body of the small tool.
pub(crate) fn forecast(city: &str, days: u32) -> String {
    RAN.fetch_add(1, Ordering::Relaxed);
    format!("sunny in {city} for {days} days")
}

/// Computes for as long as it is told: the body of the tool that keeps a processor busy.
pub(crate) fn compute(rounds: u32) -> u64 {
    RAN.fetch_add(1, Ordering::Relaxed);
    (0..rounds).fold(u64::from(rounds), |state, round| {
        let mixed = (state ^ u64::from(round)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        std::hint::black_box(mixed ^ (mixed >> 29))
    })
}
