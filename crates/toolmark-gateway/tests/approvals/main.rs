//! Approvals through a real gateway over HTTP: clients of both eras, approvers, webhooks, several processes on one store.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod api;
mod complaints;
mod new_clients;
mod old_clients;
mod support;
mod webhook;
