//! Cypher from strangers: reading never panics and always ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_core::facts::Reading;
use toolmark_effects::cypher::read;

fuzz_target!(|text: &str| {
    if let Reading::Understood(effects) = read(text) {
        assert!(!effects.is_empty());
    }
});
