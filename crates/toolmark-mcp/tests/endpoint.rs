//! Requests of both eras against an endpoint, without a network between.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should say where"
)]

#[path = "../examples/endpoint/fixture.rs"]
mod fixture;
#[path = "endpoint/support.rs"]
mod support;

#[path = "endpoint/refusals.rs"]
mod refusals;
#[path = "endpoint/sessions.rs"]
mod sessions;
#[path = "endpoint/stateless.rs"]
mod stateless;
#[path = "endpoint/stdio.rs"]
mod stdio;
