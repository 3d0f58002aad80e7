//! A server that is started for the checks: it takes a free port, says where it listens, and is ended by its id.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that listens; it is ended when this is dropped.
pub(super) struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts a server and waits until it has printed where it listens.
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let child = spawned.map_err(|error| format!("cannot start `{program}`: {error}"))?;
        // From here on the child is ended whatever happens.
        let mut server = Self { child, url: String::new() };
        let output = server.child.stdout.take().ok_or("the server has no output")?;
        let (sender, receiver) = mpsc::channel();
        // Reads to the end, so that the server never waits for somebody to read.
        thread::spawn(move || {
            let found = BufReader::new(output).lines().map_while(Result::ok).filter_map(|line| address(&line));
            found.for_each(|url| drop(sender.send(url)));
        });
        server.url = receiver.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("`{program}` did not say within {PATIENCE:?} where it listens"),
            RecvTimeoutError::Disconnected => format!("`{program}` ended before it said where it listens"),
        })?;
        Ok(server)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a gateway says that all its packs are there.
    pub(super) fn wait_until_ready(&self) -> Result<(), String> {
        let start = Instant::now();
        let mut last = String::new();
        while start.elapsed() < PATIENCE {
            match self.readiness() {
                Ok(answer) if answer.starts_with("HTTP/1.1 200") => return Ok(()),
                Ok(answer) => last = answer,
                Err(error) => last = error.to_string(),
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(format!("the gateway at {} is not ready after {PATIENCE:?}: {last}", self.url))
    }

    fn readiness(&self) -> io::Result<String> {
        let host = self.url.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let mut stream = TcpStream::connect(host)?;
        write!(stream, "GET /readyz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in a line such as `listening on http://127.0.0.1:4000/mcp`.
pub(super) fn address(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on ")?;
    let url = rest.split_whitespace().next()?;
    url.starts_with("http://").then(|| url.to_owned())
}
