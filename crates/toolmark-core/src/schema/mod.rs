//! JSON Schema at the door: checking arguments, and the strict form that providers ask for.

pub mod check;
pub mod compare;
mod keywords;
mod refs;
#[cfg(test)]
mod samples;
pub mod shape;
pub mod strict;
