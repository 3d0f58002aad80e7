//! What the fuzz target of the wire checks, for the inputs in `fuzz/seeds`: the same ones every time, without a fuzzer.

use std::fs;
use std::path::Path;

use crate::checks::check;

#[test]
fn every_seed_of_the_wire_passes_what_its_fuzz_target_checks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/mcp_wire");
    let mut count = 0;
    for seed in fs::read_dir(&folder).expect("seeds") {
        let seed = seed.expect("a seed").path();
        let bytes = fs::read(&seed).expect("a file");
        // Cut off anywhere, it is one more input of a stranger.
        for end in (0..=bytes.len()).rev().take(300) {
            let part = bytes.get(..end).unwrap_or_default();
            let passed = std::panic::catch_unwind(|| check(part));
            assert!(passed.is_ok(), "{}, its first {end} bytes", seed.display());
        }
        count += 1;
    }
    assert!(count >= 20, "{count} seeds");
}
