//! `fuzz/checks/schema.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/schema.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
