use super::super::desk::{Call, Desk};
use super::super::{EventSender, UpstreamLimits, proc};
use super::*;

/// A program that answers so many calls a second as usual and held to one processor, while so many wait.
struct Program {
    usual: u64,
    held: u64,
    waiting: usize,
    is_held: bool,
}

impl Program {
    fn new(usual: u64, held: u64) -> Self {
        Self { usual, held, waiting: 16, is_held: false }
    }

    /// Looks at it until something is to be done, and does that; at most for so long.
    fn until(&mut self, trial: &mut Trial, most: Duration) -> (Step, Duration) {
        let mut time = Duration::ZERO;
        while time < most {
            time += TICK;
            let a_second = if self.is_held { self.held } else { self.usual };
            let step = trial.look(Seen { time: TICK, answers: a_second / 100, waiting: self.waiting });
            if step != Step::Look {
                self.is_held = step == Step::Hold;
                return (step, time);
            }
        }
        (Step::Look, time)
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_program_that_answers_more_on_one_processor_stays_there_and_is_asked_again_now_and_then() {
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    let (mut held, mut all) = (Duration::ZERO, Duration::ZERO);
    let mut times = Vec::new();
    for _ in 0..20 {
        let (step, time) = program.until(&mut trial, LONG);
        assert_eq!(step, Step::Hold);
        all += time;
        let (step, time) = program.until(&mut trial, LONG);
        assert_eq!(step, Step::Release);
        all += time;
        held += time;
        times.push(time);
    }
    assert!(times.is_sorted() && times.first() < Some(&(KEPT * 2)), "at first not for long: {times:?}");
    assert!(held > all * 9 / 10, "it spends most of the time there: {held:?} of {all:?}");
}

#[test]
fn a_program_that_answers_no_more_is_let_go_at_once_and_left_alone_for_longer_each_time() {
    for held in [0, 1_000, 9_000, 10_500] {
        let (mut trial, mut program) = (Trial::default(), Program::new(10_000, held));
        let mut rests = Vec::new();
        for _ in 0..14 {
            assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
            let (step, time) = program.until(&mut trial, LONG);
            assert!(time <= WINDOW + SETTLING + TICK, "{time:?}");
            match step {
                Step::Rest(rest) => rests.push(rest),
                other => panic!("{other:?} for {held}"),
            }
        }
        assert!(rests.is_sorted() && rests.first() == Some(&REST) && rests.last() == Some(&LONGEST_REST), "{rests:?}");
    }
}

#[test]
fn nothing_is_tried_with_one_that_is_slow_or_that_few_wait_for() {
    for (usual, waiting) in [(1_500, 16), (0, 16), (20_000, 3), (20_000, 0)] {
        let (mut trial, mut program) = (Trial::default(), Program { waiting, ..Program::new(usual, 50_000) });
        assert_eq!(program.until(&mut trial, LONG).0, Step::Sleep);
    }
}

#[test]
fn one_that_is_held_is_let_go_when_the_calls_end() {
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
    assert_eq!(program.until(&mut trial, KEPT / 2).0, Step::Look);
    program.waiting = 0;
    program.held = 0;
    let (step, time) = program.until(&mut trial, LONG);
    assert_eq!(step, Step::Sleep);
    assert!(time <= WINDOW * 2, "{time:?}");
    // And the next calls find it as it was.
    program = Program::new(10_000, 15_000);
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
}

#[test]
fn one_that_is_so_quick_that_fewer_wait_for_it_stays() {
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
    program.waiting = 3;
    assert_eq!(program.until(&mut trial, KEPT).0, Step::Look);
    program.waiting = 1;
    assert_eq!(program.until(&mut trial, WINDOW * 2).0, Step::Sleep);
}

#[test]
fn one_that_was_better_by_chance_is_let_go_as_soon_as_it_answers_less_than_before() {
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
    assert_eq!(program.until(&mut trial, WINDOW + SETTLING).0, Step::Look);
    program.held = 9_000;
    let (step, time) = program.until(&mut trial, LONG);
    assert_eq!(step, Step::Release);
    assert!(time <= WINDOW * 2, "{time:?}");
    // One moment is not enough where it was better on the whole.
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
    assert_eq!(program.until(&mut trial, SETTLING + WINDOW * 3).0, Step::Look);
    program.held = 9_000;
    assert_eq!(program.until(&mut trial, WINDOW).0, Step::Look);
}

#[test]
fn one_that_got_better_without_it_is_found_out() {
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
    assert_eq!(program.until(&mut trial, LONG).0, Step::Release);
    program.usual = 20_000;
    assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
    assert_eq!(program.until(&mut trial, LONG).0, Step::Rest(REST));
}

#[test]
fn short_loads_that_end_before_anything_is_known_are_let_be() {
    let (mut trial, mut program) = (Trial::default(), Program::new(10_000, 15_000));
    let mut rests = Vec::new();
    for _ in 0..4 {
        assert_eq!(program.until(&mut trial, LONG).0, Step::Hold);
        program.waiting = 0;
        let (step, _) = program.until(&mut trial, LONG);
        match step {
            Step::Rest(rest) => rests.push(rest),
            other => panic!("{other:?}"),
        }
        program = Program::new(10_000, 15_000);
    }
    assert_eq!(rests, [REST, REST * 2, REST * 4, REST * 8]);
}

fn pipe() -> Arc<Pipe> {
    let (events, _heard) = EventSender::channel(16);
    let (pipe, _outgoing) = Pipe::new(Desk::new(events, 1 << 20), UpstreamLimits::default());
    pipe
}

/// Whether this test says anything here: elsewhere nothing is tried.
fn is_tried_here() -> bool {
    if !are_few() {
        eprintln!("left out: nothing is tried on a machine with one processor or many");
    }
    are_few() && proc::is_readable()
}

#[tokio::test]
async fn nobody_looks_after_a_program_whose_pipe_is_closed() {
    if !is_tried_here() {
        return;
    }
    let pipe = pipe();
    let us = rustix::process::getpid();
    let watched = tokio::spawn(attend(Arc::clone(&pipe), us));
    pipe.close("it was closed by us");
    tokio::time::timeout(LONG, watched).await.expect("it ends").expect("no panic");
}

/// How many processors a program may use.
fn processors(program: Pid) -> u32 {
    rustix::thread::sched_getaffinity(Some(program)).expect("its processors").count()
}

#[tokio::test]
async fn a_program_that_answers_more_on_one_processor_is_held_there_until_the_calls_end() {
    if !is_tried_here() {
        return;
    }
    let pipe = pipe();
    let mut program = std::process::Command::new("sleep").arg("60").spawn().expect("started");
    let id = Pid::from_raw(i32::try_from(program.id()).expect("an id")).expect("an id");
    let usual = processors(id);
    let watched = tokio::spawn(attend(Arc::clone(&pipe), id));
    for call in 0..16 {
        let (waiter, _) = tokio::sync::oneshot::channel();
        let waiter = Some(waiter);
        let call_of = Call {
            observer: None,
            token: None,
            askable: false,
            waiter,
            sent: true,
            questions: Vec::new(),
            place: None,
            clock: None,
        };
        pipe.desk().open(call, call_of);
    }
    // Ten answers for each thousandth of a second, and twice as many where it is held.
    let held = async {
        let mut last = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let passed = std::mem::replace(&mut last, Instant::now()).elapsed().as_micros();
            let is_held = processors(id) < usual;
            let came = passed / if is_held { 50 } else { 100 };
            // One by one, as it is noted, but so many of them.
            for _ in 0..came {
                pipe.pace().note(1, Duration::ZERO, 16);
            }
            if is_held {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, held).await.expect("it is tried");
    (0..16).for_each(|call| drop(pipe.desk().close(call)));
    let let_go = async {
        while processors(id) < usual {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LONG, let_go).await.expect("it is let go");
    pipe.close("it was closed by us");
    watched.await.expect("it ends");
    program.kill().expect("ended");
    program.wait().expect("ended");
}
