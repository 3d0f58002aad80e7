//! `fuzz/checks/effects_calls.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/effects_calls.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
