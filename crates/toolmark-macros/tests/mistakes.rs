//! Every mistake in a tool is said where it stands, with how to put it right, and all of them at once.
//!
//! `TRYBUILD=overwrite cargo test -p toolmark-macros --test mistakes` writes the golden files anew.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
