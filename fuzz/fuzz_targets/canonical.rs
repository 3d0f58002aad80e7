//! `fuzz/checks/canonical.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/canonical.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
