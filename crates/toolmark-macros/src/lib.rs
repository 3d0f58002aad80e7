//! `#[tool]` makes a tool of a function, `#[pack]` a pack of a module, `toolset!` a toolset of tools.
//!
//! Everything that can be found out about a tool without running it is found out here. What is wrong is said where it stands, with how
//! to put it right, and all of it at once; the function itself is always left in place, so that one mistake does not look like ten.
//!
//! Use these through the crate `toolmark`, which documents them.

mod arguments;
mod behavior;
mod docs;
mod duration;
mod expand;
mod mistakes;
mod options;
mod pack;
mod set;

use proc_macro::TokenStream;

/// Makes a tool of a function: `weather::tool()` beside `fn weather`.
///
/// Name, description and schema come from the function, its doc comment and its types; a first argument `&ToolContext` is hidden from
/// models. Options: `name`, `description`, `display_name`, `spoken`, `behavior(…)`, `needs_approval`, `enabled`, `timeout`,
/// `on_timeout`, `on_error`, `defer_loading`, `strict`, `blocking`; on arguments `#[tool(default = …)]`, `#[tool(description = "…")]`,
/// and whatever `serde` and `schemars` understand. Each is described in `docs/tools.md`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(options.into(), &item.into()).into()
}

/// Makes a pack of a module: a function `tools()` in it lists all its tools under its name, or under `name = "…"`.
#[proc_macro_attribute]
pub fn pack(options: TokenStream, item: TokenStream) -> TokenStream {
    pack::pack(options.into(), &item.into()).into()
}

/// Makes a toolset of tools, by the names of their functions: `toolset! { weather, pack "crm" { search, get } }`.
///
/// What comes back is a `Result`: everything that is wrong with any of the tools is said at once.
#[proc_macro]
pub fn toolset(tokens: TokenStream) -> TokenStream {
    set::toolset(tokens.into()).into()
}
