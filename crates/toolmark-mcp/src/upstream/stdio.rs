//! Which program is this, and does it end when we do? A server started as a child in a session of its own, with no shell, no terminal and
//! no environment but what it is given; its whole process group ends with the connection. Where the system shares its processors out by
//! session, one that is busy takes nothing from us and from the others.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, CommandWrapper, ProcessSession};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use toolmark_core::text::visible;

use super::pipe::{Outgoing, Pipe, read_lines, write_lines};
use super::processors::Processors;
use super::relatives::Relatives;

/// The last lines that a program wrote to its standard error, oldest first.
#[derive(Clone, Debug)]
pub struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// How many there ever were.
    written: Arc<AtomicU64>,
    most: usize,
}

/// A running program.
pub(crate) struct Program {
    pub(crate) tail: StderrTail,
    /// Asks the program to end; dropping it does the same.
    end: CancellationToken,
    ended: tokio::sync::Mutex<Option<oneshot::Receiver<()>>>,
}

/// Longest line of standard error that is kept; the rest of it is cut.
const LONGEST_LINE: usize = 4096;

/// Whoever is to end with a program: its process group, what it has started elsewhere, and what is left in its session. Dropped, it ends them
/// at once.
struct Group {
    /// Nobody once there is no such group any more: its id may be somebody else's.
    leader: Option<Pid>,
    /// What it has started, as far as that may have left the group; absent as long as nobody looked.
    relatives: Option<Relatives>,
}

/// How often is looked for what was started while the others were ended.
const ROUNDS: usize = 4;
/// How long is waited before that is looked at again.
const MOMENT: Duration = Duration::from_millis(10);

impl Group {
    fn new(leader: Option<Pid>) -> Self {
        Self { leader, relatives: None }
    }

    /// Notes what is there because of the program, for when it is not there any more; again, what has come since.
    fn note_relatives(&mut self) {
        let known = self.relatives.take().unwrap_or_default().and_theirs();
        self.relatives = self.leader.map(|leader| Relatives::of(leader).and(known));
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.leader {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends who is left once the program itself has ended: they are asked, and made to when they take longer than this.
    async fn end_rest(&mut self, grace: Duration) {
        let Some(leader) = self.leader else { return };
        for round in 0..ROUNDS {
            let noted = self.relatives.clone().unwrap_or_default();
            // This may be a look at thousands.
            let look = move || Some(Relatives::left_by(leader)?.and(noted).still_there().and_theirs());
            let left = match tokio::task::spawn_blocking(look).await {
                Ok(Some(left)) => left,
                // Nobody says who is left.
                Ok(None) | Err(_) => break,
            };
            self.leader = None;
            if left.is_empty() {
                self.relatives = None;
                return;
            }
            let left = self.relatives.insert(left);
            if round == 0 {
                left.signal(Signal::TERM);
                let gone = async {
                    while !left.clone().still_there().is_empty() {
                        tokio::time::sleep(MOMENT).await;
                    }
                };
                let _ = tokio::time::timeout(grace, gone).await;
            } else {
                left.signal(Signal::KILL);
                tokio::time::sleep(MOMENT).await;
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.relatives.is_none() {
            self.note_relatives();
        }
        self.signal(Signal::KILL);
        if let Some(relatives) = &self.relatives {
            relatives.signal(Signal::KILL);
        }
    }
}

impl StderrTail {
    /// Keeps so many lines.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { lines: Arc::default(), written: Arc::default(), most: most.max(1) }
    }

    /// Keeps a line.
    pub fn push(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line.get(..LONGEST_LINE.min(line.len())).unwrap_or_default()).into_owned();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= self.most {
            lines.pop_front();
        }
        lines.push_back(line);
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// How many lines were ever written, those that are not kept any more included.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// The lines, oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Starts a program.
pub(crate) fn start(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    inherited: &[(OsString, OsString)],
    cwd: Option<&Path>,
    processors: Option<Processors>,
) -> std::io::Result<Child> {
    let mut program = Command::new(command);
    program.args(args).env_clear().envs(inherited.iter().map(|(name, value)| (name, value))).envs(env);
    if let Some(cwd) = cwd {
        // The system would say of the program that it is not there.
        if !cwd.is_dir() {
            let reason = format!("its `cwd` `{}` is no directory", visible(&cwd.display().to_string(), 4096));
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, reason));
        }
        program.current_dir(cwd);
    }
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    program.kill_on_drop(true);
    // Only what it does before the start is wanted of it: this watches over the program itself.
    ProcessSession.pre_spawn(&mut program, &CommandWrap::from(Command::new(command)))?;
    match processors {
        Some(processors) => processors.confine(|| program.spawn()),
        None => program.spawn(),
    }
}

impl Program {
    /// Connects a program's streams with a pipe and watches over it.
    pub(crate) fn attend(
        mut child: Child,
        pipe: &Arc<Pipe>,
        outgoing: tokio::sync::mpsc::Receiver<Outgoing>,
        tail: StderrTail,
        grace: Duration,
        programs: &TaskTracker,
    ) -> Self {
        // A program that ends as soon as its input does leaves nobody who could say what it has started.
        let seen = CancellationToken::new();
        if let Some(input) = child.stdin.take() {
            tokio::spawn(write_lines(pipe.clone(), outgoing, input, seen.clone().cancelled_owned()));
        }
        if let Some(output) = child.stdout.take() {
            let stray = tail.clone();
            let stray = move |line: &[u8]| stray.push(&[b"stdout: ", line].concat());
            tokio::spawn(read_lines(pipe.clone(), output, stray, seen.clone().cancelled_owned()));
        }
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(keep_lines(errors, tail.clone()));
        }
        let end = CancellationToken::new();
        let (ended, receiver) = oneshot::channel();
        programs.spawn(watch(child, pipe.clone(), end.clone(), grace, (seen.drop_guard(), ended)));
        Self { tail, end, ended: tokio::sync::Mutex::new(Some(receiver)) }
    }

    /// Asks the program to end and waits until it has.
    pub(crate) async fn close(&self) {
        self.end.cancel();
        if let Some(ended) = self.ended.lock().await.take() {
            let _ = ended.await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

/// Waits until the program ends by itself or is to end: first its input is closed, then it is asked, then it is made to. Its input may be
/// closed once it was seen what it has started.
async fn watch(
    mut child: Child,
    pipe: Arc<Pipe>,
    end: CancellationToken,
    grace: Duration,
    (seen, ended): (DropGuard, oneshot::Sender<()>),
) {
    let mut group = Group::new(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let status = tokio::select! {
        status = child.wait() => status.ok(),
        () = end.cancelled() => None,
        () = pipe.closed().cancelled() => None,
    };
    match status {
        Some(status) => {
            drop(seen);
            pipe.close(&describe(status));
        }
        None => {
            group.note_relatives();
            drop(seen);
            pipe.close("it was closed by us");
            if tokio::time::timeout(grace, child.wait()).await.is_err() {
                group.note_relatives();
                group.signal(Signal::TERM);
                if tokio::time::timeout(grace, child.wait()).await.is_err() {
                    group.note_relatives();
                    group.signal(Signal::KILL);
                    let _ = child.wait().await;
                }
            }
        }
    }
    // Whatever the program started itself ends with it.
    group.end_rest(grace).await;
    drop(group);
    let _ = ended.send(());
}

fn describe(status: ExitStatus) -> String {
    format!("the program ended ({status})")
}

/// Keeps the last lines of a stream, none of them longer than the limit however long it is.
async fn keep_lines(errors: impl AsyncRead + Unpin, tail: StderrTail) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        let (used, whole) = match errors.fill_buf().await {
            Ok([]) | Err(_) => break,
            Ok(bytes) => {
                let end = memchr::memchr(b'\n', bytes);
                let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                let room = LONGEST_LINE.saturating_sub(line.len());
                line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
                (end.map_or(bytes.len(), |end| end + 1), end.is_some())
            }
        };
        errors.consume(used);
        if whole {
            tail.push(line.trim_ascii_end());
            line.clear();
        }
    }
    if !line.is_empty() {
        tail.push(&line);
    }
}

#[cfg(test)]
mod tests;
