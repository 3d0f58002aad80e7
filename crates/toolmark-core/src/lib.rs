//! What a tool is, what its names are, and which tool a call means.
//!
//! Pure: no async, no I/O, no clock, no environment.
pub mod approval;
pub mod behavior;
pub mod call;
pub mod canonical;
pub mod catalog;
pub mod compat;
pub mod definition;
pub mod digest;
pub mod display;
pub mod document;
pub mod drift;
pub mod evaluation;
pub mod explain;
pub mod exposure;
pub mod facts;
pub mod gate;
pub mod inference;
pub mod instructions;
pub mod json;
pub mod lock;
pub mod names;
pub mod pack;
pub mod pins;
pub mod problem;
pub mod schema;
pub mod severity;
pub mod snapshot;
pub mod text;
pub mod time;
pub mod tool;
pub mod verdict;
