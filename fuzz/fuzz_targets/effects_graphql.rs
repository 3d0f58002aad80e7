//! GraphQL from strangers: reading never panics and always ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_core::facts::Reading;
use toolmark_effects::graphql::read;

fuzz_target!(|text: &str| {
    for operation in [None, Some("A")] {
        if let Reading::Understood(effects) = read(text, operation) {
            assert!(!effects.is_empty());
        }
    }
});
