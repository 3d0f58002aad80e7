//! Puts it all together: configuration, upstreams, routes, reload, shutdown.
//!
//! A [`Gateway`] holds one connection per pack and one immutable [`Snapshot`] of everything that decides about calls. When a server's
//! lists change, a new snapshot takes the place of the old one; calls under way end under the one they began with.

pub mod access;
mod again;
pub mod agents;
mod agui;
mod approvals;
pub mod assemble;
mod audit;
pub mod baselines;
mod breaker;
mod builder;
pub mod card;
mod connections;
mod console;
mod cors;
pub mod credentials;
pub mod demo;
mod files;
mod gateway;
mod https;
mod identity;
pub mod labels;
mod listing;
mod live;
pub mod metrics;
pub mod models;
mod names;
mod offers;
mod opinions;
mod pack;
mod pages;
mod pins;
mod pipe;
pub mod replay;
pub mod schema;
mod server;
mod service;
mod shown;
mod snapshot;
mod telemetry;
mod view;
mod watch;
mod wishes;

pub use approvals::ApprovalsError;
pub use audit::AuditRecorder;
pub use builder::{GatewayBuilder, Remembered, RememberedOffer, StartGatewayError};
pub use connections::ConnectionLimits;
pub use gateway::{Gateway, Reloaded};
pub use listing::{Listed, Offer, Tools};
pub use pack::{PackHandle, PackState};
pub use pipe::Piped;
pub use server::{Serve, ServeError};
pub use service::Front;
pub use snapshot::Snapshot;
pub use telemetry::{AgentSpans, OtlpUnusable, SpanStats};
pub use view::{View, ViewError, ViewName};
pub use watch::Watch;

#[cfg(test)]
mod tests {
    use toolmark_store::{Location, Micros, Settings, Store};

    /// A store that is forgotten.
    pub(crate) async fn store() -> Store {
        let settings = Settings::new(|| Micros::new(1));
        Store::open(&Location::Memory, &settings).await.expect("a store in memory")
    }
}
