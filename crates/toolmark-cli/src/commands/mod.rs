//! One file a command.

pub(crate) mod diff;
pub(crate) mod inspect;
pub(crate) mod lint;
pub(crate) mod pin;
pub(crate) mod resolve;
pub(crate) mod up;
