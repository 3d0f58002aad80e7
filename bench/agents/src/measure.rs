//! How long does something take, and how much of the processor? Both sides take a turn in every round, and medians count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::script::{self, ANSWER, Script};
use crate::side::{Failure, Side};

/// What one call of a tool costs in a whole run, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerCall {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// What the first word of a streamed run costs, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streamed {
    /// From the beginning, beyond what the model itself takes.
    pub(crate) added: f64,
    /// From the model to whoever watches.
    pub(crate) passed_on: f64,
}

/// Runs some whole runs, and says what each call of a tool took.
pub(crate) async fn runs(side: &impl Side, script: &Script, runs: usize) -> Result<PerCall, Failure> {
    let ran = script::ran();
    let (start, cpu) = (Instant::now(), process());
    for _ in 0..runs {
        let said = side.run().await?;
        if said != ANSWER.concat() {
            return Err(format!("the run ended with {said:?}").into());
        }
    }
    let (wall, cpu) = (start.elapsed(), process().saturating_sub(cpu));
    let calls = runs * script.calls();
    if script::ran() - ran != calls {
        return Err(format!("{} bodies ran for {calls} calls", script::ran() - ran).into());
    }
    Ok(PerCall { wall: micros(wall) / calls as f64, cpu: micros(cpu) / calls as f64 })
}

/// One run on the threads of a runtime, in microseconds.
pub(crate) fn on(runtime: &Runtime, side: &Arc<impl Side>, script: &Arc<Script>) -> Result<f64, Failure> {
    let (side, script) = (Arc::clone(side), Arc::clone(script));
    let per_call = runtime.block_on(runtime.spawn(async move { runs(&*side, &script, 1).await }))??;
    Ok(per_call.wall)
}

/// The same work in as many bare tasks, which is the least that it can take: microseconds for each.
pub(crate) fn bare(runtime: &Runtime, tasks: usize, rounds: u32) -> Result<f64, Failure> {
    let all = async move {
        let start = Instant::now();
        let mut running = JoinSet::new();
        for _ in 0..tasks {
            running.spawn(async move { script::compute(rounds) });
        }
        while running.join_next().await.is_some() {}
        start.elapsed()
    };
    let wall = runtime.block_on(runtime.spawn(all))?;
    Ok(micros(wall) / tasks as f64)
}

/// One streamed run beside the model alone.
pub(crate) async fn streamed(side: &impl Side) -> Result<Streamed, Failure> {
    let model = side.first_of_model().await?;
    let run = side.first().await?;
    Ok(Streamed { added: micros(run.from_start) - micros(model), passed_on: micros(run.from_model) })
}

/// How many rounds of [`script::compute`] fill so many microseconds.
pub(crate) fn rounds_for(wanted: f64) -> u32 {
    const TRIED: u32 = 200_000;
    let tries = (0..20).map(|_| {
        let start = Instant::now();
        std::hint::black_box(script::compute(TRIED));
        micros(start.elapsed())
    });
    let least = tries.fold(f64::MAX, f64::min);
    (f64::from(TRIED) * wanted / least) as u32
}

/// The one in the middle.
pub(crate) fn median(of: impl IntoIterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = of.into_iter().collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// What all threads of this process took of the processors.
fn process() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
