//! `fuzz/checks/effects_paths.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/effects_paths.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
