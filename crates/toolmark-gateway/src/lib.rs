//! Puts it all together: configuration, upstreams, routes, reload, shutdown.
//!
//! A [`Gateway`] holds one connection per pack and one immutable [`Snapshot`] of everything that decides about calls. When a server's
//! lists change, a new snapshot takes the place of the old one; calls under way end under the one they began with.

pub mod access;
pub mod assemble;
mod audit;
pub mod demo;
mod gateway;
mod listing;
pub mod metrics;
mod pack;
mod server;
mod service;
mod snapshot;
mod view;
mod wishes;

pub use audit::AuditRecorder;
pub use gateway::{Gateway, GatewayBuilder, StartGatewayError};
pub use listing::{Listed, Offer};
pub use pack::{PackHandle, PackState};
pub use server::{Serve, ServeError};
pub use service::Front;
pub use snapshot::Snapshot;
pub use view::{View, ViewName};
