//! `fuzz/checks/mcp_wire.rs`, for inputs that the fuzzer makes up.
#![no_main]

// The wire code alone: with its whole crate, every fuzz target would wait for a runtime and a TLS library.
#[path = "../../crates/toolmark-mcp/src/wire/mod.rs"]
#[expect(dead_code, unused_imports, reason = "most of it has no fuzz target")]
mod wire;

#[path = "../checks/mcp_wire.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
