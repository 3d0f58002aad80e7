//! One type per kind of name, so that the compiler refuses what people confuse.
//!
//! ```compile_fail
//! # use toolmark_core::names::{CanonicalName, RawName};
//! fn dispatch(_: &RawName) {}
//! let canonical: CanonicalName = "github.create_issue".parse().unwrap();
//! dispatch(&canonical); // a canonical name is not what the server calls the tool
//! ```
//!
//! ```compile_fail
//! # use toolmark_core::names::{ExposedName, RawName};
//! fn dispatch(_: &RawName) {}
//! fn from_client(exposed: &ExposedName) {
//!     dispatch(exposed); // what a client saw goes through the table, never straight to the server
//! }
//! ```
//!
//! ```compile_fail
//! # use toolmark_core::names::{PackName, RawName};
//! let pack: PackName = "github".parse().unwrap();
//! let raw: RawName = pack; // a pack is not a tool
//! ```
//!
//! ```compile_fail
//! # use toolmark_core::names::{ApprovalKey, TraceName};
//! fn stored(_: &ApprovalKey) {}
//! fn span(name: &TraceName) {
//!     stored(name); // a label of a span decides nothing
//! }
//! ```
//!
//! ```compile_fail
//! # use toolmark_core::names::{CanonicalName, DisplayName};
//! fn resolve(_: &CanonicalName) {}
//! fn clicked(name: &DisplayName) {
//!     resolve(name); // two tools may be shown under one name
//! }
//! ```
//!
//! ```compile_fail
//! # use toolmark_core::{call::CallId, names::RawName};
//! fn dispatch(_: &RawName) {}
//! fn answer(id: &CallId) {
//!     dispatch(id); // one invocation is not a tool
//! }
//! ```
//!
//! ```compile_fail
//! # use toolmark_core::digest::{DefinitionDigest, Mark};
//! fn pinned(_: &Mark) {}
//! fn compare(digest: &DefinitionDigest) {
//!     pinned(digest); // the same definition may stand on two servers
//! }
//! ```

mod canonical;
mod derived;
mod flat;
mod lookup;
mod pack;
mod raw;

pub use canonical::{CanonicalName, ParseCanonicalNameError};
pub use derived::{ApprovalKey, DisplayName, ExposedName, TraceName};
pub use flat::{LONGEST_FLAT_NAME, flat_name, flat_name_apart};
pub use lookup::LookupKey;
pub use pack::{PackName, ParsePackNameError};
pub use raw::{ParseRawNameError, RawName};

/// The plain parts that every name type shares: reading it, printing it, sending it.
macro_rules! text_name {
    ($name:ident) => {
        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}
pub(crate) use text_name;

#[cfg(test)]
mod tests;
