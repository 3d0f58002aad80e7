//! Canonical JSON: whatever is read has one canonical form, and that form is its own.

use toolmark_core::canonical::to_canonical;
use toolmark_core::json::read;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let ours = read(text);
    if let Ok(value) = &ours {
        let once = to_canonical(value);
        let again = read(&once).expect("canonical JSON is JSON");
        assert_eq!(to_canonical(&again), once);
        assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "we accept what serde_json refuses");
    }
}
