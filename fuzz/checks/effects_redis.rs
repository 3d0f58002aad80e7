//! Redis commands from strangers: read as text, as words and as arguments of `redis-cli` without a panic.

use toolmark_effects::redis::{read, read_cli, read_words};

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let _ = read(text);
    let words: Vec<&str> = text.split(' ').collect();
    let _ = read_words(&words);
    let _ = read_cli(&words);
}
