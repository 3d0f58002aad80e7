//! Shell programs from strangers: reading never panics, and quoting a program whole makes it a word that does nothing.

use toolmark_core::facts::{Effect, Reading};
use toolmark_effects::shell;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let readings = shell::read(text);
    assert!((1..=2).contains(&readings.len()));
    let quoted = format!("echo '{}'", text.replace('\'', "'\\''"));
    for reading in shell::read(&quoted) {
        if let Reading::Understood(effects) = reading {
            assert!(effects.iter().all(Effect::is_harmless), "{quoted}");
        }
    }
    let _ = shell::read_argv(&["sh", "-c", text]);
}
