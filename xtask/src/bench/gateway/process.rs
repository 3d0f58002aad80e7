//! A program that is started for a measurement, in a group of its own, and ended with all it started.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a program may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// A program that runs; it is ended when this is dropped.
pub(super) struct Running {
    child: Child,
    /// When it was started, in seconds since 1970.
    pub(super) started: f64,
}

impl Running {
    /// Starts it; what it says goes to a file.
    pub(super) fn start(command: &mut Command, log: &Path) -> Result<Self, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |error: std::io::Error| format!("cannot start `{program}`: {error}");
        let output = File::create(log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        Ok(Self { child: command.spawn().map_err(failed)?, started })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: &str) {
        let mut kill = Command::new("kill");
        // The group has the id of its first process.
        kill.args([signal, "--", &format!("-{}", self.child.id())]).stderr(Stdio::null());
        let _ = kill.status();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal("-TERM");
        let mut waited = Duration::ZERO;
        while waited < GRACE && !matches!(self.child.try_wait(), Ok(Some(_))) {
            thread::sleep(Duration::from_millis(20));
            waited += Duration::from_millis(20);
        }
        self.signal("-KILL");
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}
