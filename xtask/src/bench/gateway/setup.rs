//! What runs while the gateway is measured: the server behind it, the floor, the gateway in each of its shapes.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::measure::{Measured, client, program, ready};
use super::peers::Peers;
use super::process::{Running, free_port};
use crate::run::{say, target};

/// One policy, so that there is one to judge by.
const RULE: &str = "[[rules]]\nverdict = \"deny\"\nbehavior = \"MUTATES|DELETE|*\"\n";

/// No audit, to see what it costs.
const SILENT: &str = "[audit]\nenabled = false\n";

/// How many records a store holds that has been used for long.
const ROWS: u64 = 10_000_000;

/// How many questions are open in it.
const QUESTIONS: u64 = 100_000;

/// How long a gateway has nothing to do before it is at rest.
const AT_REST: Duration = Duration::from_secs(10);

/// Makes a store of a few records one of many.
const GROW: &str = include_str!("grow.py");

/// What is behind the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// One server over HTTP, 50 tools.
    One,
    /// Twenty servers over HTTP, 1,000 tools.
    Twenty,
    /// One server over stdio, 50 tools.
    Program,
}

/// Something that is measured.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) url: String,
    /// The process whose cost is told.
    pub(super) pid: u32,
    /// It differs from another in its lists only.
    pub(super) lists_only: bool,
    _running: Option<Running>,
}

/// Profiles whose lists say more than long ones usually do, and what their rows are called.
const LISTS: [(&str, &str); 2] = [("full", "toolmark, full"), ("mark", "toolmark, mark")];

/// The server, and where everything else is written.
pub(super) struct Setup {
    folder: PathBuf,
    port: u16,
    server: Running,
    peers: Option<Peers>,
    large: bool,
}

impl Shape {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One => "one server",
            Self::Twenty => "twenty servers, 1,000 tools",
            Self::Program => "one server over stdio",
        }
    }

    pub(super) fn tools(self) -> usize {
        match self {
            Self::One | Self::Program => 50,
            Self::Twenty => 1_000,
        }
    }

    /// Where the server has, all by itself, what the gateway has in this shape.
    fn path(self) -> &'static str {
        match self {
            Self::One | Self::Program => "/mcp",
            Self::Twenty => "/mcp/1000",
        }
    }

    /// The packs, each an address or nothing for a program.
    pub(super) fn packs(self, port: u16) -> Vec<(String, Option<String>)> {
        match self {
            Self::One => vec![("up".to_owned(), Some(format!("http://127.0.0.1:{port}/mcp")))],
            Self::Twenty => {
                (0..20).map(|at| (format!("s{at}"), Some(format!("http://127.0.0.1:{port}/mcp/50/s{at}_")))).collect()
            }
            Self::Program => vec![("up".to_owned(), None)],
        }
    }
}

impl Target {
    /// Whether a run without it says nothing.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.name, "direct" | "floor" | "toolmark" | "silent" | "large") || self.lists_only
    }
}

impl Setup {
    pub(super) fn new(peers: bool, large: bool) -> Result<Self, String> {
        let folder = target().join("bench-gateway");
        fs::create_dir_all(folder.join("stores")).map_err(|error| format!("{}: {error}", folder.display()))?;
        let port = free_port()?;
        let mut server = Command::new(program());
        server.args(["upstream", "--listen", &format!("127.0.0.1:{port}")]);
        let server = Running::start(&mut server, &folder.join("upstream.log"))?;
        ready(&format!("http://127.0.0.1:{port}/mcp"), 50)?;
        let peers = peers.then(|| Peers::install(&folder)).transpose()?;
        Ok(Self { folder, port, server, peers, large })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Everything that is compared in a shape: the bare server first.
    pub(super) fn targets(&self, shape: Shape) -> Result<Vec<Target>, String> {
        let url = format!("http://127.0.0.1:{}{}", self.port, shape.path());
        let direct = Target { name: "direct", url, pid: self.server.id(), lists_only: false, _running: None };
        let (floor, gateway) = (self.floor(shape)?, self.gateway(shape)?);
        let lists = LISTS.map(|(profile, name)| {
            let url = format!("{}/list-{profile}", gateway.url);
            Target { name, url, pid: gateway.pid, lists_only: true, _running: None }
        });
        let mut targets = vec![direct, floor, gateway];
        targets.extend(lists);
        if shape == Shape::One {
            targets.push(self.started(shape, "silent", SILENT)?);
        }
        if shape == Shape::One && self.large {
            targets.push(self.large()?);
        }
        for peer in self.peers.iter().flat_map(|peers| peers.commands(shape, self.port)) {
            match self.peer(shape, peer.name, peer.command, peer.port) {
                Ok(target) => targets.push(target),
                // A peer that cannot do a shape is no failure of ours.
                Err(error) => say(&format!("{} is left out of `{}`: {error}", peer.name, shape.name())),
            }
        }
        Ok(targets)
    }

    fn floor(&self, shape: Shape) -> Result<Target, String> {
        let port = free_port()?;
        let mut floor = Command::new(program());
        floor.args(["floor", "--listen", &format!("127.0.0.1:{port}"), "--to", &format!("127.0.0.1:{}", self.port)]);
        let running = Running::start(&mut floor, &self.folder.join("floor.log"))?;
        let url = format!("http://127.0.0.1:{port}{}", shape.path());
        ready(&url, shape.tools())?;
        Ok(Target { name: "floor", url, pid: running.id(), lists_only: false, _running: Some(running) })
    }

    fn peer(&self, shape: Shape, name: &'static str, mut command: Command, port: u16) -> Result<Target, String> {
        let running = Running::start(&mut command, &self.folder.join(format!("{name}.log")))?;
        let url = format!("http://127.0.0.1:{port}/mcp");
        ready(&url, shape.tools())?;
        Ok(Target { name, url, pid: running.id(), lists_only: false, _running: Some(running) })
    }

    fn gateway(&self, shape: Shape) -> Result<Target, String> {
        self.started(shape, "toolmark", "")
    }

    fn started(&self, shape: Shape, name: &'static str, more: &str) -> Result<Target, String> {
        self.forget(name);
        let (running, url) = self.start_gateway(shape, name, more)?;
        ready(&url, shape.tools())?;
        Ok(Target { name, url, pid: running.id(), lists_only: false, _running: Some(running) })
    }

    /// The gateway on a store that holds ten million records already, and a hundred thousand open questions.
    fn large(&self) -> Result<Target, String> {
        let few = self.started(Shape::One, "large", "")?;
        super::Work::echo(16).send(&few.url, few.pid, Duration::from_secs(5))?;
        // What it remembers is written when it ends.
        drop(few);
        say(&format!("making a store of {ROWS} records and {QUESTIONS} questions, which takes a while and some 4 GB"));
        let mut grow = Command::new("python3");
        grow.args(["-c", GROW]).arg(self.store("large")).arg(ROWS.to_string()).arg(QUESTIONS.to_string());
        let grown = grow.status().map_err(|error| format!("python3: {error}"))?;
        if !grown.success() {
            return Err("the large store could not be made".into());
        }
        let (running, url) = self.start_gateway(Shape::One, "large", "")?;
        ready(&url, Shape::One.tools())?;
        Ok(Target { name: "large", url, pid: running.id(), lists_only: false, _running: Some(running) })
    }

    /// Where a gateway keeps what it remembers: as by default, not in the folder of the configuration, which gateways watch.
    fn store(&self, name: &str) -> PathBuf {
        self.folder.join("stores").join(format!("{name}.db"))
    }

    /// Removes what an earlier gateway of this name remembered, if there was one.
    fn forget(&self, name: &str) {
        for end in ["", "-wal", "-shm"] {
            let mut file = self.store(name).into_os_string();
            file.push(end);
            let _ = fs::remove_file(file);
        }
    }

    /// The gateway with a policy and an audit in a file of its own.
    fn start_gateway(&self, shape: Shape, name: &str, more: &str) -> Result<(Running, String), String> {
        let config = self.folder.join(format!("{name}.toml"));
        let store = self.store(name);
        let text = self.config(shape) + more;
        fs::write(&config, text).map_err(|error| format!("{}: {error}", config.display()))?;
        let port = free_port()?;
        let mut gateway = Command::new(target().join("release/toolmark"));
        gateway.arg("up").arg("--config").arg(&config).arg("--store").arg(&store);
        gateway.args(["--listen", &format!("127.0.0.1:{port}")]).current_dir(&self.folder);
        let running = Running::start(&mut gateway, &self.folder.join(format!("{name}.log")))?;
        Ok((running, format!("http://127.0.0.1:{port}/mcp")))
    }

    fn config(&self, shape: Shape) -> String {
        let mut config = String::new();
        for (name, address) in shape.packs(self.port) {
            let _ = match address {
                Some(address) => writeln!(config, "[packs.{name}]\nurl = \"{address}\"\n"),
                None => writeln!(config, "[packs.{name}]\ncommand = {:?}\nargs = [\"upstream\"]\n", program()),
            };
        }
        for (profile, _) in LISTS {
            let _ = writeln!(config, "[profiles.list-{profile}]\nclient = \"generic\"\nlist_meta = \"{profile}\"\n");
        }
        config + RULE
    }

    /// From starting the process to the first list of tools.
    pub(super) fn cold_start(&self) -> Result<Duration, String> {
        self.forget("toolmark");
        let (running, url) = self.start_gateway(Shape::One, "toolmark", "")?;
        let at = ready(&url, Shape::One.tools())?;
        Ok(Duration::from_secs_f64((at - running.started).max(0.0)))
    }

    /// Memory, in MiB, of a gateway that has listed its tools once and had nothing to do since.
    pub(super) fn idle_memory(&self, shape: Shape) -> Result<f64, String> {
        let gateway = self.gateway(shape)?;
        // What starting took is given back a little later.
        thread::sleep(AT_REST);
        let mut load = client("load");
        load.args(["--url", &gateway.url, "--pid", &gateway.pid.to_string(), "--each", "0"]);
        Measured::read(&mut load).map(|measured| measured.memory())
    }

    /// Memory, in MiB, while so many clients are connected of which each has made calls.
    pub(super) fn held_memory(&self, clients: usize, stateless: bool) -> Result<f64, String> {
        let gateway = self.gateway(Shape::One)?;
        let mut load = client("load");
        load.args(["--url", &gateway.url, "--pid", &gateway.pid.to_string(), "--each", "1", "--seconds", "60"]);
        load.args(["--workers", &clients.to_string()]).args(stateless.then_some("--stateless"));
        Measured::read(&mut load).map(|measured| measured.memory())
    }

    /// Memory, in MiB, again and again while the gateway is as busy as it can be.
    pub(super) fn soak(&self, lasts: Duration) -> Result<Vec<f64>, String> {
        const EVERY: Duration = Duration::from_secs(15);
        let gateway = self.gateway(Shape::One)?;
        let mut memory = Vec::new();
        let mut rest = lasts;
        while !rest.is_zero() {
            let part = EVERY.min(rest);
            rest = rest.saturating_sub(part);
            memory.push(super::Work::echo(64).send(&gateway.url, gateway.pid, part)?.memory());
        }
        Ok(memory)
    }
}
