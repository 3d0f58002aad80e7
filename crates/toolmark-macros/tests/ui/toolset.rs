//! Toolsets that name a tool twice, and packs that cannot be.

use toolmark_macros::{pack, toolset};

fn get() {}

fn find() {}

/// A pack without tools.
#[pack(name = "Empty Pack", size = 5)]
mod empty {}

#[pack]
fn function() {}

fn main() {
    let _ = toolset! { get, pack "crm" { find, get } };
    let _ = toolset! { pack "CRM" { get } };
    let _ = toolset! {
        /// A description.
        get
    };
    // What was to be made is still there, so that nothing else is said to be wrong.
    let _ = empty::tools();
}

// What is made names the facade, which would have to be built with all that it depends on: this file stands in for it.
extern crate self as toolmark;

pub mod tools {
    pub struct Tools;
    pub struct BuildToolsError;

    impl Tools {
        pub fn pack(_: &str) -> Self {
            Self
        }

        pub fn description(self, _: &str) -> Self {
            self
        }

        pub fn source(self, _: ()) -> Self {
            self
        }

        pub fn build(self) -> Result<Self, BuildToolsError> {
            Ok(self)
        }

        pub fn join(_: [Result<Self, BuildToolsError>; 0]) -> Result<Self, BuildToolsError> {
            Ok(Self)
        }
    }
}

pub mod __private {
    pub fn source(_: &str) {}
}
