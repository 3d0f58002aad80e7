//! `fuzz/checks/snapshot.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/snapshot.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
