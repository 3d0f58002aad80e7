//! Toolsets that name a tool twice, and packs that cannot be.

use toolmark::prelude::*;

#[tool]
fn get() {}

#[tool]
fn find() {}

/// A pack without tools.
#[toolmark::pack(name = "Empty Pack", size = 5)]
mod empty {}

#[toolmark::pack]
fn function() {}

fn main() {
    let _ = toolset! { get, pack "crm" { find, get } };
    let _ = toolset! { pack "CRM" { get } };
    let _ = toolset! {
        /// A description.
        get
    };
}
