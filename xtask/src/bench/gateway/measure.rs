//! One measurement: what is sent, and what the client says about it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::run::target;

/// What is sent, and by how many at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    kind: Kind,
    workers: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Echo,
    Blob,
    List,
}

/// What the client says.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Measured {
    pub(super) answered: u64,
    failed: u64,
    first_failure: Option<String>,
    pub(super) per_second: f64,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    pub(super) cpu_us: Option<f64>,
    memory_kib: Option<f64>,
    bytes: Option<f64>,
    /// POSTs that reached the server for each that the client sent.
    #[serde(default)]
    pub(super) posts: f64,
}

impl Work {
    pub(super) const fn echo(workers: usize) -> Self {
        Self { kind: Kind::Echo, workers }
    }

    pub(super) const fn blob(workers: usize) -> Self {
        Self { kind: Kind::Blob, workers }
    }

    pub(super) const fn list(workers: usize) -> Self {
        Self { kind: Kind::List, workers }
    }

    pub(super) fn is_list(self) -> bool {
        self.kind == Kind::List
    }

    /// What is measured, in words.
    pub(super) fn name(self) -> String {
        let what = match self.kind {
            Kind::Echo => "echo 200 B",
            Kind::Blob => "100 kB result",
            Kind::List => "tools/list",
        };
        format!("{what}, {} at a time", self.workers)
    }

    fn arguments(self) -> Vec<String> {
        let (work, bytes) = match self.kind {
            Kind::Echo => ("echo", 200),
            Kind::Blob => ("blob", 100_000),
            Kind::List => ("list", 200),
        };
        ["--work", work, "--bytes", &bytes.to_string(), "--workers", &self.workers.to_string()]
            .map(str::to_owned)
            .to_vec()
    }

    /// Sends it to an address; `pid` is the process whose cost is told.
    pub(super) fn send(self, url: &str, pid: u32, lasts: Duration) -> Result<Measured, String> {
        let mut load = client("load");
        load.args(self.arguments()).args(["--url", url, "--pid", &pid.to_string()]);
        load.args(["--seconds", &lasts.as_secs_f64().to_string()]);
        Measured::read(&mut load)
    }
}

impl Measured {
    /// Runs a client and reads what it says.
    pub(super) fn read(load: &mut Command) -> Result<Self, String> {
        let measured: Self = read(load)?;
        match &measured.first_failure {
            Some(why) => Err(format!("{} of {} failed: {why}", measured.failed, measured.failed + measured.answered)),
            None => Ok(measured),
        }
    }

    pub(super) fn p50(&self) -> f64 {
        self.p50_us.unwrap_or(f64::NAN)
    }

    pub(super) fn p99(&self) -> f64 {
        self.p99_us.unwrap_or(f64::NAN)
    }

    /// How large an answer is, in bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes.unwrap_or(f64::NAN)
    }

    /// Memory in MiB.
    pub(super) fn memory(&self) -> f64 {
        self.memory_kib.unwrap_or(f64::NAN) / 1024.0
    }
}

/// The program that everything but the gateway is a part of.
pub(super) fn program() -> PathBuf {
    target().join("release/toolmark-bench")
}

/// A client.
pub(super) fn client(part: &str) -> Command {
    let mut client = Command::new(program());
    client.arg(part);
    client
}

/// Waits until a server lists so many tools; when that was, in seconds since 1970.
pub(super) fn ready(url: &str, tools: usize) -> Result<f64, String> {
    #[derive(Deserialize)]
    struct Since {
        at: f64,
    }
    read(client("ready").args(["--url", url, "--tools", &tools.to_string()])).map(|since: Since| since.at)
}

fn read<T: for<'de> Deserialize<'de>>(load: &mut Command) -> Result<T, String> {
    let output =
        load.stderr(Stdio::piped()).output().map_err(|error| format!("the client cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(said.trim().to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("the client says nothing that can be read: {error}"))
}

/// How many POSTs have reached the server at a port.
pub(super) fn posts(port: u16) -> Result<f64, String> {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"GET /posts HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| format!("the server does not count: {error}"))?;
    let count = answer.rsplit("\r\n").next().and_then(|body| body.trim().parse().ok());
    count.ok_or_else(|| "the server does not count".to_owned())
}
