//! A configuration that changes while the gateway runs: taken over whole, or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use toolmark_core::names::PackName;
use toolmark_gateway::assemble::{self, Surroundings};
use toolmark_gateway::{Gateway, Reloaded, Watch};

use crate::failure::Failure;
use crate::output;
use crate::workspace::Written;

/// Follows the configuration at a path for as long as the gateway runs: when a file of it changes, and when `SIGHUP` says so.
pub(crate) async fn follow(gateway: &Arc<Gateway>, path: &Path) {
    let mut asked = Asked::listen();
    let mut files = files_of(&gateway.snapshot().config().clone(), path);
    let mut seen = fingerprint(&files);
    loop {
        let watch = Watch::on(&files);
        let forced = match &watch {
            Ok(watch) => tokio::select! {
                () = watch.changed() => false,
                () = asked.again() => true,
            },
            Err(why) => {
                output::warn(&format!("changes of the configuration are not noticed: {why}; send SIGHUP to reload"));
                asked.again().await;
                true
            }
        };
        let now = fingerprint(&files);
        if now == seen && !forced {
            continue;
        }
        seen = now;
        match reload(gateway, path).await {
            Ok(reloaded) => {
                output::note(&said(&reloaded));
                for part in reloaded.later {
                    output::warn(&format!("`[{part}]` changed; that holds from the next start on"));
                }
                gateway.settled().await;
                for doubt in gateway.doubts() {
                    output::doubt(&doubt.to_string());
                }
                files = files_of(&gateway.snapshot().config().clone(), path);
                seen = fingerprint(&files);
            }
            Err(failure) => {
                let _ = failure.show(false);
                output::warn("the configuration was not taken over; the one before still holds");
            }
        }
    }
}

async fn reload(gateway: &Arc<Gateway>, path: &Path) -> Result<Reloaded, Failure> {
    let written = Written::read(path.to_owned())?;
    let lock = written.lock()?;
    gateway.reload(written.config, lock).await.map_err(|error| Failure::Problems(error.problems().to_vec()))
}

/// Every file that decides what the configuration means.
fn files_of(config: &toolmark_config::Config, path: &Path) -> Vec<PathBuf> {
    let written = Written { config: config.clone(), path: Some(path.to_owned()) };
    let environment = |name: &str| std::env::var(name).ok();
    let surroundings = Surroundings { directory: written.directory(), environment: &environment, effects: None };
    let mut files = assemble::files(config, &surroundings);
    files.push(written.lock_path());
    files.push(path.to_owned());
    files
}

/// What the files hold now.
fn fingerprint(files: &[PathBuf]) -> [u8; 32] {
    let mut digest = Sha256::new();
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
