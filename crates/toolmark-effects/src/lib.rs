//! Arguments → facts: what a call would do, read from what it carries. Pure, bounded, never a guess.

pub mod http;
pub mod language;
pub mod paths;
pub mod shell;
