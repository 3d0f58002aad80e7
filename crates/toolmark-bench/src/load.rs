//! How fast is a server? Workers with a connection each send as fast as they are answered; every answer is checked.

mod connection;
mod figures;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Semaphore};

use crate::failure::Failure;
use crate::process;
use connection::Connection;
use figures::Figures;

/// Requests of each worker before anything is counted.
const WARM_UP: u32 = 3;
/// How many send at the same time at most: of a thousand clients that are connected, few are waiting for an answer.
const AT_ONCE: usize = 64;

#[derive(Args)]
pub(crate) struct Load {
    #[command(flatten)]
    server: Server,
    /// What is sent
    #[arg(long, value_enum, default_value_t = Work::Echo)]
    work: Work,
    /// How many bytes a call carries, or asks for
    #[arg(long, default_value_t = 200)]
    bytes: usize,
    /// How many connections send at the same time
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// For how long
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// How many requests each connection sends at most
    #[arg(long)]
    each: Option<u64>,
    /// The process whose cost is told
    #[arg(long)]
    pid: Option<u32>,
}

#[derive(Args)]
pub(crate) struct Ready {
    #[command(flatten)]
    server: Server,
    /// How many tools it must list
    #[arg(long)]
    tools: usize,
    /// How long to wait for that
    #[arg(long, default_value_t = 60.0)]
    patience: f64,
}

/// Where it is, and how it is spoken to.
#[derive(Args, Clone)]
struct Server {
    /// `http://host:port/path`
    #[arg(long)]
    url: String,
    /// Speak 2026-07-28, without a session
    #[arg(long)]
    stateless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Work {
    /// Call a tool that answers with what it was given
    Echo,
    /// Call a tool that answers with many bytes
    Blob,
    /// List the tools
    List,
}

impl Ready {
    /// Says when the server listed its tools, in seconds since 1970.
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let ends = Instant::now() + Duration::from_secs_f64(self.patience);
        loop {
            let listed = async {
                let mut connection = Connection::open(&self.server.url, self.server.stateless).await?;
                connection.list(1).await
            };
            let why = match listed.await {
                Ok(names) if names.len() >= self.tools => break,
                Ok(names) => format!("it lists {} tools", names.len()),
                Err(failure) => failure.to_string(),
            };
            if Instant::now() >= ends {
                return Err(Failure::new(format!("{} is not ready: {why}", self.server.url)));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        say(&json!({"at": now.as_secs_f64()}))
    }
}

impl Load {
    /// Says how fast it was, as one JSON object.
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut first = Connection::open(&self.server.url, self.server.stateless).await?;
        let names = first.list(1).await?;
        let job = Arc::new(Job::new(&self, &names)?);
        drop(first);
        let mut connections = Vec::with_capacity(self.workers);
        for _ in 0..self.workers {
            connections.push(Connection::open(&self.server.url, self.server.stateless).await?);
        }
        let start = Arc::new(Barrier::new(self.workers + 1));
        let workers: Vec<_> = connections
            .into_iter()
            .map(|connection| tokio::spawn(Arc::clone(&job).work(connection, Arc::clone(&start))))
            .collect();
        start.wait().await;
        let (before, began) = (self.pid.map(process::usage), Instant::now());
        let mut figures = Figures::default();
        // Connections are kept until the memory was looked at.
        let mut kept = Vec::with_capacity(self.workers);
        for worker in workers {
            let (own, connection) = worker.await?;
            figures.add(own);
            kept.push(connection);
        }
        let (after, took) = (self.pid.map(process::usage), began.elapsed());
        say(&figures.into_json(took, before, after))
    }
}

/// What every worker does.
struct Job {
    work: Work,
    tool: String,
    arguments: Value,
    bytes: usize,
    tools: usize,
    each: u64,
    lasts: Duration,
    turns: Semaphore,
}

impl Job {
    fn new(load: &Load, names: &[String]) -> Result<Self, Failure> {
        let (ending, arguments) = match load.work {
            Work::Echo | Work::List => ("echo", json!({"text": "x".repeat(load.bytes)})),
            Work::Blob => ("blob", json!({"bytes": load.bytes})),
        };
        // A gateway may put something in front of a name.
        let tool = names.iter().find(|name| name.ends_with(ending));
        let tool = tool.ok_or_else(|| Failure::new(format!("no tool is called `{ending}`")))?.clone();
        Ok(Self {
            work: load.work,
            tool,
            arguments,
            bytes: load.bytes,
            tools: names.len(),
            each: load.each.unwrap_or(u64::MAX),
            lasts: Duration::from_secs_f64(load.seconds),
            turns: Semaphore::new(AT_ONCE),
        })
    }

    async fn work(self: Arc<Self>, mut connection: Connection, start: Arc<Barrier>) -> (Figures, Connection) {
        let mut figures = Figures::default();
        for id in 0..WARM_UP {
            let _ = self.once(&mut connection, u64::from(id)).await;
        }
        start.wait().await;
        let ends = Instant::now() + self.lasts;
        for id in (u64::from(WARM_UP)..).take(usize::try_from(self.each).unwrap_or(usize::MAX)) {
            let sent = Instant::now();
            if sent >= ends {
                break;
            }
            match self.once(&mut connection, id).await {
                Ok(()) => {
                    let took = connection.answered().saturating_duration_since(sent);
                    figures.succeeded(took, connection.bytes());
                }
                Err(failure) => {
                    figures.failed(failure);
                    // Failing fast must not look like being fast.
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
        }
        (figures, connection)
    }

    /// One request, its answer checked.
    async fn once(&self, connection: &mut Connection, id: u64) -> Result<(), Failure> {
        let _turn = self.turns.acquire().await?;
        if self.work == Work::List {
            return match connection.count(id).await? {
                count if count == self.tools => Ok(()),
                count => Err(Failure::new(format!("{count} tools instead of {}", self.tools))),
            };
        }
        let answer = connection.call(id, &self.tool, &self.arguments).await?;
        let text = answer.pointer("/result/content/0/text").and_then(Value::as_str);
        let failed = answer.pointer("/result/isError") == Some(&Value::Bool(true));
        if text.map(str::len) == Some(self.bytes) && !failed {
            return Ok(());
        }
        Err(Failure::new(format!("a wrong answer: {}", answer.to_string().chars().take(300).collect::<String>())))
    }
}

fn say(figures: &Value) -> Result<(), Failure> {
    Ok(writeln!(io::stdout(), "{figures}")?)
}
