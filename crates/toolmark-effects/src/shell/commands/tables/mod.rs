//! Verbs and what they do, as data.

pub(super) mod cloud;
pub(super) mod containers;
pub(super) mod git;
pub(super) mod packages;
