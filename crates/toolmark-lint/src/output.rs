//! Findings as text, JSON and SARIF.

pub(crate) mod json;
pub(crate) mod sarif;
pub(crate) mod text;
