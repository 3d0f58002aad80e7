//! Who is there because of a program, and is in no group of its own making that we could end? What it started and what that started, and
//! whoever is left in its session. Somebody who got the id of one that has ended is never taken for it.

use rustix::process::Pid;

/// Programs that were there at one moment.
#[derive(Debug, Default)]
pub(crate) struct Relatives(pub(super) Vec<Relative>);

/// One of them: an id means somebody else once another began with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Relative {
    id: Pid,
    pub(super) began: u64,
}

#[cfg(target_os = "linux")]
impl Relatives {
    /// Those that a program has started, and those that they have started. Whoever was handed on to the system is not among them.
    pub(crate) fn of(program: Pid) -> Self {
        let family = super::processors::family(program).into_iter().filter(|id| *id != program);
        Self(family.filter_map(|id| Some(Relative { id, began: look(id)?.began })).collect())
    }

    /// Those in the session that a program began.
    pub(crate) fn in_session(program: Pid) -> Self {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Self::default() };
        let ids = entries.flatten().filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        let found = ids.filter_map(|id| look(id).filter(|seen| seen.session == program).map(|seen| (id, seen.began)));
        Self(found.map(|(id, began)| Relative { id, began }).collect())
    }

    /// Ends those that are still there.
    pub(crate) fn end(&self) {
        for relative in &self.0 {
            if look(relative.id).is_some_and(|seen| seen.began == relative.began) {
                let _ = rustix::process::kill_process(relative.id, rustix::process::Signal::KILL);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Relatives {
    /// Nobody: this system does not say who they are.
    pub(crate) fn of(_program: Pid) -> Self {
        Self::default()
    }

    /// Nobody: this system does not say who they are.
    pub(crate) fn in_session(_program: Pid) -> Self {
        Self::default()
    }

    /// Ends nobody.
    pub(crate) fn end(&self) {}
}

/// What the system says of a program: its session, and when it began, in ticks since the system did.
#[cfg(target_os = "linux")]
struct Seen {
    session: Pid,
    began: u64,
}

/// The 6th and the 22nd field of its line, which are counted behind its name.
#[cfg(target_os = "linux")]
fn look(id: Pid) -> Option<Seen> {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let session = Pid::from_raw(fields.nth(3)?.parse().ok()?)?;
    Some(Seen { session, began: fields.nth(15)?.parse().ok()? })
}
