//! What does the system say of a program? Its threads, what it has started, its session and when it began, as `/proc` has them. Where that
//! speaks of other programs than we do, as in a container that was given the `/proc` of its host, nothing is said of anybody.

use std::fs;
use std::sync::OnceLock;

use rustix::process::Pid;

/// One program at one moment. An id means somebody else once another began with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The id of whoever began its session, unless that was somewhere else, as it is for what is started in a container from outside.
    pub(super) session: Option<Pid>,
    /// In ticks since the system began.
    pub(super) began: u64,
    /// The processor that it ran on last.
    pub(super) processor: usize,
}

/// Whether the ids there are the ids that we know programs by.
fn is_ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        let said = fs::read_link("/proc/self").ok().and_then(|target| pid(target.to_str()?));
        said == Some(rustix::process::getpid())
    })
}

fn pid(text: &str) -> Option<Pid> {
    // Of one that is ending the system may say -1.
    Pid::from_raw(text.trim().parse().ok().filter(|id| *id > 0)?)
}

/// The ids that a folder has entries for.
fn ids(folder: &str) -> Vec<Pid> {
    let Some(entries) = is_ours().then(|| fs::read_dir(folder).ok()).flatten() else { return Vec::new() };
    entries.flatten().filter_map(|entry| pid(entry.file_name().to_str()?)).collect()
}

/// All that run.
pub(super) fn all() -> Vec<Pid> {
    ids("/proc")
}

/// The threads of a program.
pub(super) fn threads(program: Pid) -> Vec<Pid> {
    ids(&format!("/proc/{program}/task"))
}

/// The programs that a program has started and that still run.
pub(super) fn children(program: Pid) -> Vec<Pid> {
    let of_thread = |thread: Pid| fs::read_to_string(format!("/proc/{program}/task/{thread}/children"));
    let lines = threads(program).into_iter().filter_map(|thread| of_thread(thread).ok());
    lines.flat_map(|line| line.split(' ').filter_map(pid).collect::<Vec<_>>()).collect()
}

/// Whether a program has started others. Where the system does not say, it may have.
pub(super) fn has_children(program: Pid) -> bool {
    !children(program).is_empty()
        || !is_ours()
        || !fs::exists(format!("/proc/{program}/task/{program}/children")).unwrap_or_default()
}

/// A program, those that it has started, and those that they have started.
pub(super) fn family(program: Pid) -> Vec<Pid> {
    family_but(program, |_| false)
}

/// A program's family without those of whom this holds, and without whom they have started.
pub(super) fn family_but(program: Pid, is_out: impl Fn(Pid) -> bool) -> Vec<Pid> {
    let mut found = vec![program];
    let mut at = 0;
    while let Some(next) = found.get(at).copied() {
        at += 1;
        let new = children(next).into_iter().filter(|id| !found.contains(id) && !is_out(*id)).collect::<Vec<_>>();
        found.extend(new);
    }
    found
}

/// Whether a program was let go for good, as is what shows a page to a person: it leads a session of its own, and none of its three streams
/// leads anywhere.
pub(super) fn was_let_go(program: Pid) -> bool {
    let leads_nowhere = |stream| match fs::read_link(format!("/proc/{program}/fd/{stream}")) {
        Ok(target) => target == std::path::Path::new("/dev/null"),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    look(program).is_some_and(|seen| seen.session == Some(program)) && (0..3).all(leads_nowhere)
}

/// Looks at a program: the 6th, 22nd and 39th field of its line, which are counted behind its name. One that has ended and waits for somebody
/// to note that is not there.
pub(super) fn look(program: Pid) -> Option<Seen> {
    if !is_ours() {
        return None;
    }
    let line = fs::read_to_string(format!("/proc/{program}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let session = pid(fields.nth(2)?);
    let began = fields.nth(15)?.parse().ok()?;
    Some(Seen { session, began, processor: fields.nth(16)?.parse().ok()? })
}

/// Whether a test that looks at programs can; says so where it cannot.
#[cfg(test)]
pub(super) fn is_readable() -> bool {
    let us = rustix::process::getpid();
    let is_readable = is_ours() && fs::exists(format!("/proc/{us}/task/{us}/children")).unwrap_or_default();
    if !is_readable {
        eprintln!("left out: `/proc` is that of other programs here, or does not say what they have started");
    }
    is_readable
}
