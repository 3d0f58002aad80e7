//! GraphQL from strangers: reading never panics and always ends.

use toolmark_core::facts::Reading;
use toolmark_effects::graphql::read;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    for operation in [None, Some("A")] {
        if let Reading::Understood(effects) = read(text, operation) {
            assert!(!effects.is_empty());
        }
    }
}
