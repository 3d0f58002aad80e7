//! `[pins]`: what holds for a tool that nobody has approved yet.

use crate::read::table;
use crate::values::FirstUse;

table! {
    /// Which definitions of tools are taken for the right ones. A tool that is not as it was pinned is held: its calls ask.
    pub struct Pins {
        /// What happens when a tool is used that is pinned nowhere.
        pub first_use: FirstUse,
    }
}
