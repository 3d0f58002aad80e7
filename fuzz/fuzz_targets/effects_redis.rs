//! Redis commands from strangers: read as text, as words and as arguments of `redis-cli` without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_effects::redis::{read, read_cli, read_words};

fuzz_target!(|text: &str| {
    let _ = read(text);
    let words: Vec<&str> = text.split(' ').collect();
    let _ = read_words(&words);
    let _ = read_cli(&words);
});
