//! What must outlive the process: published names, last known definitions, pins, tokens, the audit.
//!
//! [`Store`] holds what every back end shares: how names are compared and saved, what a token is, how records are chained. A
//! [`Backend`] moves plain data to and from one database; [`sqlite`] is the one that needs nothing installed, [`postgres`] the one that
//! several nodes share. No clock is read here: a [`Clock`] is given when a store is opened.

pub mod approvals;
pub mod audit;
mod backend;
mod baselines;
mod definitions;
mod error;
mod location;
mod names;
mod pins;
pub mod postgres;
mod sessions;
pub mod sqlite;
mod store;
mod threads;
mod tokens;
pub mod transfer;
mod watch;

use toolmark_core::time;

pub use backend::{Answer, Backend, Counters, DefinitionsChange, Held, NamesChange, TokenRow};
pub use definitions::{DefinitionKind, History, KnownDefinition, KnownPack, Listing};
pub use error::{Fault, StoreError};
pub use location::{Location, NoPlaceError, ParseLocationError, default_path};
pub use names::{KnownNames, NameScope, NameTwice, PublishError, Saved};
pub use pins::{HowPinned, Pin};
pub use sessions::{Holder, KeptSession};
pub use store::{Migration, Settings, Store};
pub use threads::{TakenThread, ThreadClaim, TrimmedThreads};
pub use time::{Clock, Micros};
pub use tokens::{
    CreateTokenError, NewToken, NoEntropyError, ParseTokenError, Scope, Token, TokenHash, TokenId, TokenRefused,
    TokenSecret,
};
pub use watch::{Change, Changes};
