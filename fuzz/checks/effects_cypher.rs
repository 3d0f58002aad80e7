//! Cypher from strangers: reading never panics and always ends.

use toolmark_core::facts::Reading;
use toolmark_effects::cypher::read;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    if let Reading::Understood(effects) = read(text) {
        assert!(!effects.is_empty());
    }
}
