//! Findings as text, JSON and SARIF.

pub(crate) mod declarations;
pub(crate) mod json;
pub(crate) mod sarif;
pub(crate) mod text;
