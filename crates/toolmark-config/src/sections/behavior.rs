//! `[behavior]`: whose opinion on what tools do counts beside the built-in one.

use crate::read::table;

table! {
    /// Second opinions on what tools do.
    pub struct BehaviorSection {
        /// A folder with answers of models that `toolmark classify --cache` kept. A declaration that most of them dispute asks.
        pub opinions: Option<String>,
    }
}
