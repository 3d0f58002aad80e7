//! Programs from strangers: reading never panics, and a word that is not known is never understood.

use toolmark_core::facts::Reading;
use toolmark_effects::code::read;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let _ = read(text);
    let unknown = format!("frobnicate()\n{text}");
    assert!(matches!(read(&unknown), Reading::CannotTell { .. }), "{unknown}");
}
