//! What one consumer sees: a table of names, rendered for the limits of a client, built at load and never computed at call time.

mod profile;
mod render;
mod table;

pub use profile::{ParseProfileError, Profile, ProfileName};
pub use table::{ExposeError, Exposed, ExposedTable, Mode, ParseModeError, Published};

#[cfg(test)]
mod tests;
