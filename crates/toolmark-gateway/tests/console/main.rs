//! The console over HTTP, against a real gateway: who is let in, what is shown, and that nothing hostile becomes more than text.
#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test that cannot go on must stop")]

mod decisions;
mod doors;
mod hostile;
mod live;
mod pages;
mod replay;
mod secrets;
mod shows;
mod support;
