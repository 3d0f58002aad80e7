//! What did a program say, and does it end with us? One program in a process group of its own, with no input, an environment that is all
//! given, a limit to its time and to what is kept of its output. The whole group ends with it, whichever way that comes about.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use super::{CommandOutcome, CommandOutput};

/// How long a program may take to end after it was asked to, and how long we listen to whatever left its group.
const GRACE: Duration = Duration::from_millis(500);

/// Ends a process group when it is dropped.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// What is kept of a stream: the first bytes, and how many there were beyond.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<(Vec<u8>, usize)>>);

impl Kept {
    fn take(&self, bytes: &[u8], limit: usize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = limit.saturating_sub(kept.0.len()).min(bytes.len());
        kept.0.extend_from_slice(bytes.get(..room).unwrap_or_default());
        kept.1 = kept.1.saturating_add(bytes.len() - room);
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from_utf8_lossy(&kept.0).into_owned();
        if kept.1 > 0 {
            text.push_str(&format!("\n[{} more bytes are left out]", kept.1));
        }
        text
    }
}

/// Runs a program to its end, or until its time is over.
pub(super) async fn run(mut command: Command, timeout: Duration, limit: usize) -> std::io::Result<CommandOutput> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
    let mut child = command.spawn()?;
    let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let (stdout, stderr) = (Kept::default(), Kept::default());
    let (own_stdout, own_stderr) = (child.stdout.take(), child.stderr.take());
    let reading = async {
        tokio::join!(keep(own_stdout, stdout.clone(), limit), keep(own_stderr, stderr.clone(), limit));
    };
    tokio::pin!(reading);
    let mut read = false;
    let limit = tokio::time::sleep(timeout);
    tokio::pin!(limit);
    let status = loop {
        tokio::select! {
            status = child.wait() => break Some(status?),
            () = &mut limit => break None,
            () = &mut reading, if !read => read = true,
        }
    };
    let outcome = match status {
        Some(status) => {
            CommandOutcome::Exited(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
        }
        None => {
            group.signal(Signal::TERM);
            if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
                group.signal(Signal::KILL);
                let _ = child.wait().await;
            }
            CommandOutcome::TimedOut
        }
    };
    // Whatever it started ends with it, and then its streams do; only what left the group could keep them open.
    drop(group);
    if !read {
        let _ = tokio::time::timeout(GRACE, &mut reading).await;
    }
    Ok(CommandOutput { stdout: stdout.text(), stderr: stderr.text(), outcome })
}

/// Reads a stream to its end, so that nobody waits for room in it.
async fn keep(stream: Option<impl AsyncRead + Unpin>, kept: Kept, limit: usize) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        kept.take(buffer.get(..count).unwrap_or_default(), limit);
    }
}
