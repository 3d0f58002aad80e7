//! What an operator may say about the connection to a model.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// How a model is reached. Every field has a default that works for the provider itself.
#[derive(Clone, Default)]
pub struct Options {
    /// The address in front of `/responses`, `/chat/completions` or `/v1/messages`; the provider's own if left out.
    pub base_url: Option<String>,
    /// The variable that holds the key. If left out: the provider's own variable at the provider's own address, and no key
    /// anywhere else, so that a key is never shown to somebody it was not made for.
    pub key_variable: Option<String>,
    /// Further headers. Their values are treated as secrets.
    pub headers: Vec<(String, SecretString)>,
    /// A PEM file with the certificates that the server's must lead to, in place of those that this machine believes; for servers
    /// of an organization with an authority of its own.
    pub ca: Option<PathBuf>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// When to ask again.
    pub retry: Retry,
    /// The most bytes of one answer; 32 MiB if left out.
    pub largest_answer: Option<usize>,
    /// Whether a key may travel without encryption to another machine.
    pub allow_plain_http: bool,
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the whole answer, all attempts together.
    pub whole: Duration,
    /// For the next piece of a stream.
    pub idle: Duration,
}

/// When to ask again, if the provider has too much to do, fails or cannot be reached. A stream that has delivered something is
/// never asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often to ask at most. 1 is never again.
    pub attempts: u32,
    /// The pause after the first attempt; it doubles with every other.
    pub first_pause: Duration,
    /// The longest pause. A provider that asks for a longer one is not asked again.
    pub longest_pause: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), whole: Duration::from_secs(600), idle: Duration::from_secs(120) }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 3, first_pause: Duration::from_millis(500), longest_pause: Duration::from_secs(30) }
    }
}

/// Headers are shown by name only.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Options")
            .field("base_url", &self.base_url)
            .field("key_variable", &self.key_variable)
            .field("headers", &names)
            .field("ca", &self.ca)
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .field("largest_answer", &self.largest_answer)
            .field("allow_plain_http", &self.allow_plain_http)
            .finish()
    }
}
