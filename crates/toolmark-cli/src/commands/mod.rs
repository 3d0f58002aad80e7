//! One file a command.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod baseline;
pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod diff;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod lint;
pub(crate) mod login;
pub(crate) mod pin;
pub(crate) mod pins;
pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod resolve;
pub(crate) mod stdio;
pub(crate) mod store;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod up;
pub(crate) mod wrap;
