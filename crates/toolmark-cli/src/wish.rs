//! Somebody wants this program to end: heard from the first moment on, so that no signal finds nobody at home.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The signals that ask a program to end.
pub(crate) struct Wish {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    /// Only for a program that ends with its terminal, until that is gone.
    #[cfg(unix)]
    hangup: Option<Hangup>,
    /// When somebody wanted it last.
    last: Option<Instant>,
}

/// What comes so soon after a wish is the same one: a terminal that goes says so twice, and programs that start others pass on what those
/// heard themselves.
const SAME: Duration = Duration::from_millis(500);
/// How often is looked whether the terminal is still there.
#[cfg(unix)]
const LOOK: Duration = Duration::from_secs(5);
/// The system tells of a terminal that goes a moment before it is done.
#[cfg(unix)]
const MOMENT: Duration = Duration::from_millis(50);

/// `SIGHUP`, which says that the terminal is gone, or asks for a reload.
#[cfg(unix)]
struct Hangup {
    signal: tokio::signal::unix::Signal,
    had_terminal: bool,
    reloads: bool,
}

impl Wish {
    /// Hears from now on.
    pub(crate) fn hear() -> Result<Self, Failure> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            Ok(Self { interrupt, terminate, hangup: None, last: None })
        }
        #[cfg(not(unix))]
        Ok(Self { last: None })
    }

    /// The same for a program that also ends with its terminal. Where `SIGHUP` asks for a reload too, it only counts when the terminal that
    /// was there is there no more.
    pub(crate) fn or_terminal_gone(self, reloads: bool) -> Result<Self, Failure> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            // Who starts it with `nohup` wants it to outlive the terminal.
            let is_ignored = is_hangup_ignored();
            if is_ignored && !reloads {
                return Ok(self);
            }
            let had_terminal = has_terminal() && !is_ignored;
            let hangup = Hangup { signal: signal(SignalKind::hangup())?, had_terminal, reloads };
            Ok(Self { hangup: Some(hangup), ..self })
        }
        #[cfg(not(unix))]
        {
            let _ = reloads;
            Ok(self)
        }
    }

    /// Waits until somebody wants it to end; called again, for one more who does.
    pub(crate) async fn heard(&mut self) {
        loop {
            self.signalled().await;
            if self.last.is_none_or(|last| last.elapsed() > SAME) {
                self.last = Some(Instant::now());
                return;
            }
        }
    }

    async fn signalled(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            // It goes once.
            () = Hangup::terminal_gone(self.hangup.as_mut()) => self.hangup = None,
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}

#[cfg(unix)]
impl Hangup {
    async fn terminal_gone(hangup: Option<&mut Self>) {
        let Some(hangup) = hangup else { return std::future::pending().await };
        loop {
            let look = if hangup.had_terminal && hangup.reloads { LOOK } else { Duration::MAX };
            match tokio::time::timeout(look, hangup.signal.recv()).await {
                Ok(Some(())) if !hangup.reloads => return,
                Ok(Some(())) => {
                    tokio::time::sleep(MOMENT).await;
                    if hangup.had_terminal && !has_terminal() {
                        return;
                    }
                }
                Ok(None) => return std::future::pending().await,
                // One that is gone is told of by now, or never: then whoever sends a signal later wants a reload.
                Err(_) if !has_terminal() => match tokio::time::timeout(LOOK, hangup.signal.recv()).await {
                    Ok(Some(())) => return,
                    Ok(None) | Err(_) => hangup.had_terminal = false,
                },
                Err(_) => {}
            }
        }
    }
}

#[cfg(unix)]
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Whether whoever started this program does not want it to hear of `SIGHUP`. Where the system does not say, nobody does.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first bit is the first signal, which it is.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
