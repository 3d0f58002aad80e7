use super::*;

fn ours() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("the processors of this thread");
    (0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).collect()
}

/// The processors that a program and its children may use, as often as they have threads.
fn of(program: Pid) -> Vec<u32> {
    proc::family(program)
        .into_iter()
        .flat_map(proc::threads)
        .map(|thread| sched_getaffinity(Some(thread)).expect("its processors").count())
        .collect()
}

fn is(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).expect("an id")).expect("an id")
}

/// Whether there is anything to be held to; says so if not.
fn can_be_held() -> bool {
    let are_several = ours().len() > 1;
    if !are_several {
        eprintln!("left out: there is only one processor");
    }
    are_several && proc::is_readable()
}

#[test]
fn a_running_program_is_held_to_one_processor_and_let_go_with_what_it_started() {
    let all = u32::try_from(ours().len()).expect("few");
    if !can_be_held() {
        return;
    }
    let shell = "read line; sleep 60 & echo begun; read line; kill $!; wait";
    let mut program = std::process::Command::new("sh")
        .args(["-c", shell])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("a shell");
    let id = is(program.id());
    let held = Held::hold(id).expect("held");
    assert_eq!(of(id), [1]);
    assert!(!held.has_children());
    let mut input = program.stdin.take().expect("its input");
    std::io::Write::write_all(&mut input, b"go\n").expect("written");
    let mut line = String::new();
    let mut output = std::io::BufReader::new(program.stdout.take().expect("its output"));
    std::io::BufRead::read_line(&mut output, &mut line).expect("read");
    assert!(held.has_children());
    assert_eq!(of(id), [1, 1], "what it starts is held with it");
    drop(held);
    assert_eq!(of(id), [all, all]);
    assert!(Held::hold(id).is_none(), "one with children is left alone");
    drop(input);
    program.wait().expect("ended");
    assert!(Held::hold(id).is_none(), "there is nothing to hold");
}

/// Gives a program to a test and ends it.
fn with_a_program(test: impl FnOnce(Pid)) {
    let mut program = std::process::Command::new("sleep").arg("60").spawn().expect("started");
    test(is(program.id()));
    program.kill().expect("ended");
    program.wait().expect("ended");
}

#[test]
fn a_program_that_says_itself_where_it_runs_is_left_alone() {
    let usual = sched_getaffinity(None).expect("the processors of this thread");
    if !can_be_held() {
        return;
    }
    with_a_program(|id| {
        let mut own = CpuSet::new();
        ours().into_iter().take(ours().len() - 1).for_each(|at| own.set(at));
        sched_setaffinity(Some(id), &own).expect("put elsewhere");
        assert!(Held::hold(id).is_none());
        assert!(is_at(id, &own), "it is where it wants to be");
        // And there is no other reason than that.
        sched_setaffinity(Some(id), &usual).expect("put back");
        assert!(Held::hold(id).is_some());
        assert!(is_at(id, &usual));
    });
}

#[test]
fn what_a_program_says_about_itself_while_it_is_held_stays() {
    let all = ours();
    if !can_be_held() {
        return;
    }
    with_a_program(|id| {
        let held = Held::hold(id).expect("held");
        let mut own = CpuSet::new();
        own.set(all.into_iter().find(|at| !held.one.is_set(*at)).expect("another"));
        sched_setaffinity(Some(id), &own).expect("put elsewhere");
        drop(held);
        assert!(is_at(id, &own));
    });
}
