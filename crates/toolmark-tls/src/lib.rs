//! Whose certificates are believed, and what is wrong with one that is not? The one way in which the other crates make connections
//! with TLS; there is no way to make one that believes anybody.

mod connector;
mod distrust;
mod trust;

pub use connector::{Connector, connector};
pub use distrust::{Distrust, distrust};
pub use trust::{ReadTrustError, Trust};
