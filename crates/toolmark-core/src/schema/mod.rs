//! JSON Schema at the door: checking arguments, and the strict form that providers ask for.

pub mod strict;
