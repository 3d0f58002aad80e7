//! An MCP server that offers everything the protocol has, in both eras, so that the gateway in front of it can be compared with it.
//!
//! It has what the official conformance suite asks for by name, and a few tools that tests of a gateway need: one that fails, one that
//! crashes, one that floods. It is built on `rmcp` and shares no code with the gateway, so that a mistake in ours does not hide in both.

mod ask;
mod catalog;
mod changes;
mod fixture;
mod http;
mod options;
mod person;
mod prompts;
mod resources;
mod server;
mod sessions;
mod tools;

pub use catalog::BuildCatalogError;
pub use fixture::Fixture;
pub use http::{Listening, serve_http};
pub use options::{Era, Options, Pair, ParsePairError};
pub use person::Person;
pub use server::serve_stdio;
