//! Who is let in through the door of a real gateway: tokens, signed tokens of a real key server, origins, hosts, limits.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod doors;
mod figures;
mod issuer;
mod jwt;
mod limits;
mod pages;
mod passing;
mod silence;
mod support;
