//! `fuzz/checks/effects_code.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/effects_code.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
