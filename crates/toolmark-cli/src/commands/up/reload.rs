//! A configuration that changes while the gateway runs: taken over whole, or not at all.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use toolmark_config::Config;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::names::PackName;
use toolmark_gateway::assemble::{self, Surroundings};
use toolmark_gateway::baselines::Baselines;
use toolmark_gateway::{Gateway, Reloaded, Watch};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::workspace::Written;

/// A configuration that is in use, and what its files held when it was read.
pub(crate) struct Followed {
    path: PathBuf,
    named: Named,
    seen: [u8; 32],
}

/// What a configuration names; which files those are changes when one is added or taken away.
struct Named {
    config: Config,
    directory: PathBuf,
    lock: PathBuf,
}

impl Named {
    fn files(&self) -> Vec<PathBuf> {
        let environment = |name: &str| std::env::var(name).ok();
        let (directory, baselines) = (&*self.directory, Baselines::default());
        let surroundings = Surroundings { directory, environment: &environment, baselines: &baselines, effects: None };
        let mut files = assemble::files(&self.config, &surroundings);
        files.push(self.lock.clone());
        files
    }
}

impl Followed {
    /// Notes what a configuration was read from; nothing for the demo. To be called before the files that it names are read: a change in
    /// between is then one too many, never one too few.
    pub(crate) fn new(written: &Written) -> Option<Self> {
        let path = written.path.clone()?;
        let (directory, lock) = (written.directory().to_owned(), written.lock_path());
        let named = Named { config: written.config.clone(), directory, lock };
        let seen = fingerprint(&named.files(), written.digest);
        Some(Self { path, named, seen })
    }

    /// True when a file holds something else than when it was read.
    fn is_outdated(&self) -> bool {
        let own = fs::read(&self.path).map_or([0; 32], |text| Sha256::digest(text).into());
        fingerprint(&self.named.files(), own) != self.seen
    }

    fn all(&self) -> Vec<PathBuf> {
        let mut all = self.named.files();
        all.push(self.path.clone());
        all
    }

    /// Follows the configuration for as long as the gateway runs: when a file of it changes, and when `SIGHUP` says so.
    pub(crate) async fn follow(mut self, gateway: &Arc<Gateway>) {
        let mut asked = Asked::listen();
        loop {
            let watch = Watch::on(&self.all());
            // What changed before anybody watched is a change too.
            if !self.is_outdated() {
                match &watch {
                    Ok(watch) => tokio::select! {
                        // Which folders are there may be what changed.
                        () = watch.changed() => continue,
                        () = asked.again() => {}
                    },
                    Err(why) => {
                        output::warn(&format!(
                            "changes of the configuration go unnoticed: {why}; send SIGHUP to reload"
                        ));
                        asked.again().await;
                    }
                }
            }
            if let Err(failure) = self.reload(gateway).await {
                let _ = failure.show(false);
                output::warn("the configuration was not taken over; the one before still holds");
            }
        }
    }

    async fn reload(&mut self, gateway: &Arc<Gateway>) -> Result<(), Failure> {
        // A file that is refused is not tried again until it changes.
        let text = fs::read(&self.path);
        let own = text.as_ref().map_or([0; 32], |text| Sha256::digest(text).into());
        self.seen = fingerprint(&self.named.files(), own);
        if text.is_ok_and(|text| says_nothing(&text)) {
            return Err(Failure::refused(Exit::BadInput, &Emptied(output::safe(&self.path.display().to_string()))));
        }
        let written = Written::read(self.path.clone())?;
        let followed = Self::new(&written);
        let lock = written.lock()?;
        let reloaded = gateway.reload(written.config, lock).await;
        let reloaded = reloaded.map_err(|error| Failure::Problems(error.problems().to_vec()))?;
        if let Some(followed) = followed {
            *self = followed;
        }
        output::note(&said(&reloaded));
        for part in reloaded.later {
            output::warn(&format!("`[{part}]` changed; that holds from the next start on"));
        }
        let _ = tokio::time::timeout(super::PATIENCE, gateway.settled()).await;
        for doubt in gateway.doubts() {
            output::doubt(&doubt.to_string());
        }
        Ok(())
    }
}

/// True for a text of blanks and comments only.
fn says_nothing(text: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).all(|line| line.is_empty() || line.starts_with(b"#"))
}

/// A configuration that was there and says nothing now. Whoever writes a file begins so.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` says nothing")]
struct Emptied(String);

impl Explain for Emptied {
    fn code(&self) -> Code {
        Code::new("config-emptied")
    }

    fn why(&self) -> String {
        "it may be half written, and every server and every rule would be gone at once".into()
    }

    fn fix(&self) -> String {
        "write the file; to go on without any server, start `toolmark up` again".into()
    }
}

/// What files hold now, and the configuration beside them.
fn fingerprint(files: &[PathBuf], own: [u8; 32]) -> [u8; 32] {
    let mut digest = Sha256::new_with_prefix(own);
    for file in files {
        digest.update(file.as_os_str().as_encoded_bytes());
        match fs::read(file) {
            Ok(content) => digest.update(Sha256::digest(content)),
            Err(_) => digest.update([0]),
        }
    }
    digest.finalize().into()
}

fn said(reloaded: &Reloaded) -> String {
    let list = |word: &str, packs: &[PackName]| {
        let names: Vec<String> = packs.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")))
    };
    let parts =
        [list("new", &reloaded.added), list("gone", &reloaded.removed), list("started again", &reloaded.restarted)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "the configuration was taken over".to_owned(),
        false => format!("the configuration was taken over: {}", parts.join("; ")),
    }
}

/// Somebody asks for a reload by signal.
struct Asked {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Asked {
    fn listen() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    async fn again(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            signal.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}
