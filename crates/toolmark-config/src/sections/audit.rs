//! `[audit]`: what is kept of calls, how surely, and for how long.

use super::foreign::SpanText;
use crate::read::{Refused, Section, table};
use crate::values::{Durability, KeptBodies, Redact, Size, Span};

table! {
    /// The record of every call.
    pub struct Audit check check {
        /// Whether calls are recorded at all.
        pub enabled: bool = true,
        /// When a record counts as written. `strict`: before a call that may change something runs, and before any answer leaves.
        pub durability: Option<Durability>,
        /// Whether arguments and results are kept, beside their digests.
        pub bodies: KeptBodies,
        /// The longest arguments and the longest result that are kept whole; the rest of longer ones is cut off.
        pub body_bytes: Size = Size::kibibytes(16),
        /// What is blacked out in what is kept, besides what is called or looks like a secret: names of arguments (`iban`, `*_pin`), JSON
        /// pointers (`/user/email`), patterns (`regex:[0-9]{16}`).
        pub redact: Vec<Redact>,
        /// After how long records are removed; without it, never.
        #[schemars(with = "SpanText")]
        pub retention: Option<Span>,
    }
}

fn check(audit: &Audit, section: &mut Section<'_, '_>) {
    if audit.body_bytes.bytes() == 0 {
        let error = Refused::value("nothing would be kept", "write a size above 0, or `bodies = \"none\"`");
        section.refuse(Some("body_bytes"), &error.at_key("audit.body_bytes"));
    }
    if audit.body_bytes.bytes() > MOST_BODY_BYTES {
        let error = Refused::value("more than 1 MiB of each call is no record any more", "write at most `1MiB`");
        section.refuse(Some("body_bytes"), &error.at_key("audit.body_bytes"));
    }
}

/// What the queue in front of the store can hold many of.
const MOST_BODY_BYTES: u64 = 1 << 20;
