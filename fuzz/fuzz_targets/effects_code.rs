//! Programs from strangers: reading never panics, and a word that is not known is never understood.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_core::facts::Reading;
use toolmark_effects::code::read;

fuzz_target!(|text: &str| {
    let _ = read(text);
    let unknown = format!("frobnicate()\n{text}");
    assert!(matches!(read(&unknown), Reading::CannotTell { .. }), "{unknown}");
});
