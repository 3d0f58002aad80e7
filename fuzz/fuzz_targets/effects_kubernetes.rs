//! `fuzz/checks/effects_kubernetes.rs`, for inputs that the fuzzer makes up.
#![no_main]

#[path = "../checks/effects_kubernetes.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::check(text));
