//! What a tool is, what its names are, and which tool a call means.
//!
//! Pure: no async, no I/O, no clock, no environment.
pub mod call;
pub mod canonical;
pub mod compat;
pub mod digest;
pub mod explain;
pub mod json;
pub mod names;
pub mod schema;
pub mod text;
