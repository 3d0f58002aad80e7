//! A real PostgreSQL for tests: found where it is installed, run from a folder that is thrown away, reached over loopback.
//!
//! Tests that need one are ignored unless they are asked for; their path holds the word `postgres`. `cargo xtask test` starts a
//! server, names it in [`VARIABLE`] and asks for them.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where tests look for a server: `postgres://user:password@host:port/database`, of a user who may make databases.
pub const VARIABLE: &str = "TOOLMARK_TEST_POSTGRES";

/// The user of a server that was started here.
const USER: &str = "toolmark";
/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server. Dropped, it is stopped, and its folder is removed.
pub struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
    /// Whom the server runs as, where that is not us: it refuses to run as root.
    owner: Option<(u32, u32)>,
    password: String,
    port: u16,
    process: Option<Child>,
}

/// The folder with `initdb` and `postgres`: the newest of Debian's, or wherever `PATH` leads.
#[must_use]
pub fn installed() -> Option<PathBuf> {
    let complete = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    let version = |folder: &Path| -> u32 {
        let name = folder.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        name.and_then(|name| name.parse().ok()).unwrap_or_default()
    };
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = debian.map(|entry| entry.path().join("bin")).filter(complete).max_by_key(|folder| version(folder));
    newest.or_else(|| std::env::split_paths(&std::env::var_os("PATH")?).find(complete))
}

impl Server {
    /// Makes a new cluster and starts it on a free port.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, or does not start; with its own words.
    pub fn start() -> io::Result<Self> {
        let programs = installed().ok_or_else(|| io::Error::other("PostgreSQL is not installed"))?;
        let folder = tempfile::Builder::new().prefix("toolmark-postgres-").tempdir()?;
        let owner = owner(folder.path())?;
        let password = format!("{:016x}", std::hash::RandomState::new().build_hasher().finish());
        let mut server = Self { programs, folder, owner, password, port: 0, process: None };
        server.init()?;
        // Between finding a port and using it, somebody else may take it.
        let mut attempts = 0;
        loop {
            server.port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
            attempts += 1;
            match server.run() {
                Err(_) if attempts < 3 => {}
                started => return started.map(|()| server),
            }
        }
    }

    /// Where it is, with its password: what [`VARIABLE`] is set to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{}/postgres", self.password, self.port)
    }

    /// Stops it and starts it again on the same port, with the data it had.
    ///
    /// # Errors
    /// When it does not stop or does not start.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop()?;
        self.run()
    }

    /// Stops it, and ends the connections it has.
    ///
    /// # Errors
    /// When it does not stop.
    pub fn stop(&mut self) -> io::Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let data = self.data();
        let mut stop = self.program("pg_ctl");
        stop.arg("stop").arg("-D").arg(data).args(["-m", "fast", "-w", "-t", "60"]);
        // What does not end by itself is ended; either way its end is waited for.
        if !stop.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
            process.kill()?;
        }
        process.wait().map(drop)
    }

    /// Starts it again after [`Server::stop`].
    ///
    /// # Errors
    /// When it does not start.
    pub fn run(&mut self) -> io::Result<()> {
        let log = self.folder.path().join("log");
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]).arg("-k").arg(self.folder.path());
        for setting in [
            "listen_addresses=127.0.0.1",
            "max_connections=300",
            "shared_buffers=64MB",
            // Nobody needs this data after a loss of power.
            "fsync=off",
            "full_page_writes=off",
        ] {
            postgres.args(["-c", setting]);
        }
        let out = fs::File::options().create(true).append(true).open(&log)?;
        postgres.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        let mut process = postgres.spawn()?;
        let ends = Instant::now() + PATIENCE;
        while !answers(self.port) {
            let ended = process.try_wait()?.is_some();
            if ended || Instant::now() > ends {
                let _ = process.kill();
                let _ = process.wait();
                let said = fs::read_to_string(&log).unwrap_or_default();
                return Err(io::Error::other(format!("PostgreSQL does not start: {said}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.process = Some(process);
        Ok(())
    }

    fn init(&self) -> io::Result<()> {
        let file = self.folder.path().join("password");
        fs::write(&file, &self.password)?;
        self.give(&file)?;
        let mut initdb = self.program("initdb");
        initdb.arg("-D").arg(self.data()).args(["-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "-N"]);
        initdb.arg("--pwfile").arg(&file);
        let done = initdb.stdin(Stdio::null()).output()?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        Err(io::Error::other(format!("initdb: {said}")))
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder.path());
        #[cfg(unix)]
        if let Some((user, group)) = self.owner {
            use std::os::unix::process::CommandExt as _;
            command.uid(user).gid(group);
        }
        command
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        if let Some((user, group)) = self.owner {
            std::os::unix::fs::chown(path, Some(user), Some(group))?;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// The user `postgres`, if we are root; then the folder becomes theirs.
#[cfg(unix)]
fn owner(folder: &Path) -> io::Result<Option<(u32, u32)>> {
    use std::os::unix::fs::MetadataExt as _;
    if fs::metadata(folder)?.uid() != 0 {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let numbers = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let found = fields.next() == Some("postgres");
        let (user, group) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        found.then_some((user, group))
    });
    let (user, group) = numbers.ok_or_else(|| io::Error::other("there is no user `postgres` to run PostgreSQL as"))?;
    std::os::unix::fs::chown(folder, Some(user), Some(group))?;
    Ok(Some((user, group)))
}

#[cfg(not(unix))]
fn owner(_: &Path) -> io::Result<Option<(u32, u32)>> {
    Ok(None)
}

/// Whether it takes connections: one that is still starting says so with an `E`, after it was greeted.
fn answers(port: u16) -> bool {
    use std::io::Write as _;
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let parameters = format!("user\0{USER}\0database\0postgres\0\0");
    let length = u32::try_from(parameters.len() + 8).unwrap_or_default();
    let mut greeting = Vec::from(length.to_be_bytes());
    greeting.extend_from_slice(&0x0003_0000u32.to_be_bytes());
    greeting.extend_from_slice(parameters.as_bytes());
    let mut answer = [0u8; 1];
    let asked = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.write_all(&greeting));
    asked.and_then(|()| stream.read_exact(&mut answer)).is_ok() && answer == *b"R"
}
