//! Who is there because of a program, though in no group that we could end? What it started and what that started, and whoever is left in its
//! session. Somebody who got the id of one that has ended is never taken for it. Where the system does not say, there is nobody.

#[cfg(target_os = "linux")]
mod found {
    use rustix::process::{Pid, Signal, kill_process};

    use super::super::proc;

    /// Programs that were there at one moment.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Relatives(pub(in super::super) Vec<Relative>);

    /// One of them: an id means somebody else once another began with it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(in super::super) struct Relative {
        id: Pid,
        pub(in super::super) began: u64,
    }

    impl Relatives {
        /// Those that a program has started, and those that they have started. Whoever was handed on to the system or let go for good is not
        /// among them.
        pub(crate) fn of(program: Pid) -> Self {
            let family = proc::family_but(program, proc::was_let_go).into_iter().filter(|id| *id != program);
            Self(family.filter_map(Relative::new).collect())
        }

        /// Those that a program which has ended left in its session, where the system says that. This looks at everything that runs.
        pub(crate) fn left_by(program: Pid) -> Option<Self> {
            // Whoever has its id now is somebody else, and so is whoever is in the session of that one.
            if proc::look(program).is_some() {
                return Some(Self::default());
            }
            // Each is looked at once: the next time it may be somebody else.
            let in_session = |id: Pid| {
                let seen = proc::look(id).filter(|seen| seen.session == Some(program))?;
                Some(Relative { id, began: seen.began })
            };
            let all = Some(proc::all()).filter(|all| !all.is_empty())?;
            Some(Self(all.into_iter().filter_map(in_session).collect()))
        }

        /// Adds others.
        pub(crate) fn and(mut self, others: Self) -> Self {
            let new: Vec<Relative> = others.0.into_iter().filter(|other| !self.0.contains(other)).collect();
            self.0.extend(new);
            self
        }

        /// Adds those that they have started: once one of them has ended nobody could say whose they are.
        pub(crate) fn and_theirs(self) -> Self {
            let theirs = self.0.iter().filter(|relative| relative.is_there()).map(|relative| Self::of(relative.id));
            theirs.fold(Self::default(), Self::and).and(self)
        }

        /// Those that are still there.
        pub(crate) fn still_there(mut self) -> Self {
            self.0.retain(Relative::is_there);
            self
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        /// Signals those that are still there.
        pub(crate) fn signal(&self, signal: Signal) {
            for relative in self.0.iter().filter(|relative| relative.is_there()) {
                let _ = kill_process(relative.id, signal);
            }
        }
    }

    impl Relative {
        fn new(id: Pid) -> Option<Self> {
            Some(Self { id, began: proc::look(id)?.began })
        }

        fn is_there(&self) -> bool {
            proc::look(self.id).is_some_and(|seen| seen.began == self.began)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod found {
    use rustix::process::{Pid, Signal};

    /// Nobody: this system does not say who they are.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Relatives;

    impl Relatives {
        pub(crate) fn of(_program: Pid) -> Self {
            Self
        }

        pub(crate) fn left_by(_program: Pid) -> Option<Self> {
            None
        }

        pub(crate) fn and(self, _others: Self) -> Self {
            self
        }

        pub(crate) fn and_theirs(self) -> Self {
            self
        }

        pub(crate) fn still_there(self) -> Self {
            self
        }

        pub(crate) fn is_empty(&self) -> bool {
            true
        }

        pub(crate) fn signal(&self, _signal: Signal) {}
    }
}

pub(crate) use self::found::Relatives;
