//! One tool with everything that is needed to read its calls: found once, used for every call, and recognized by a cache.

use std::io;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolmark_core::facts::Facts;
use toolmark_core::tool::Tool;

use crate::analyze::analyze_with;
use crate::carriers::Carriers;
use crate::settings::Settings;

/// Arguments that are longer than this when written down are read each time: to recognize them costs more than to refuse them.
const MAX_RECOGNIZED: usize = 64 * 1024;

/// Reads the calls of one tool under one operator's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analyzer {
    carriers: Carriers,
    settings: Settings,
    identity: [u8; 32],
}

impl Analyzer {
    /// Looks at a tool once.
    #[must_use]
    pub fn of(tool: &Tool, settings: Settings) -> Self {
        // Everything that facts depend on besides the arguments: the tool, where it comes from, and the settings.
        let mut hash = Sha256::new_with_prefix("toolmark/analyzer/v1\0");
        hash.update(tool.digest().as_bytes());
        for text in [tool.canonical().as_str(), tool.source().as_str(), &format!("{settings:?}")] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        Self { carriers: Carriers::of(tool), settings, identity: hash.finalize().into() }
    }

    /// The arguments that carry something.
    #[must_use]
    pub fn carriers(&self) -> &Carriers {
        &self.carriers
    }

    /// What a call with these arguments would do.
    #[must_use]
    pub fn analyze(&self, arguments: &Value) -> Facts {
        analyze_with(&self.carriers, arguments, &self.settings)
    }

    /// True when no arguments whatever are a fact.
    pub(crate) fn sees_nothing(&self) -> bool {
        self.carries_nothing() && self.carriers.manner().is_none()
    }

    /// True when no argument carries a program.
    pub(crate) fn carries_nothing(&self) -> bool {
        self.carriers.is_empty() && self.settings.languages.is_empty()
    }

    /// What recognizes a call of this tool with these arguments; nothing when they are too long for that.
    pub(crate) fn recognize(&self, arguments: &Value) -> Option<[u8; 32]> {
        let mut writer = Writer { hash: Sha256::new_with_prefix("toolmark/analyzed-call/v1\0"), left: MAX_RECOGNIZED };
        writer.hash.update(self.identity);
        let mut out = io::BufWriter::with_capacity(512, &mut writer);
        serde_json::to_writer(&mut out, arguments).ok()?;
        // What is left in the buffer belongs to the digest, and it may be what is too much.
        io::Write::flush(&mut out).ok()?;
        drop(out);
        Some(writer.hash.finalize().into())
    }
}

/// Hashes what is written, until it is too much.
struct Writer {
    hash: Sha256,
    left: usize,
}

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
