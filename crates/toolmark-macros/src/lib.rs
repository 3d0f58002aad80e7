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

/// Makes a tool of a function. See the chapter on tools in the documentation.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(options.into(), &item.into()).into()
}

/// Makes a pack of a module: all its tools, under its name.
#[proc_macro_attribute]
pub fn pack(options: TokenStream, item: TokenStream) -> TokenStream {
    pack::pack(options.into(), &item.into()).into()
}

/// Makes a toolset of tools, with or without packs.
#[proc_macro]
pub fn toolset(tokens: TokenStream) -> TokenStream {
    set::toolset(tokens.into()).into()
}
