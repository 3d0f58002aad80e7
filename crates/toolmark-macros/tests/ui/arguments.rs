//! Arguments that no model can give.
#![allow(unused)]

use toolmark_macros::tool;

#[tool]
fn borrowed<'a>(names: Vec<&str>, mutable: &mut String, inside: &std::borrow::Cow<'a, str>) {}

#[tool]
fn patterns((a, b): (u8, u8), _: u8) {}

#[tool]
fn late(city: String, ctx: &ToolContext) {}

#[tool]
fn opened(city: impl Into<String>) {}

#[tool]
fn attributes(#[allow(unused)] a: u8, #[tool(defualt = 5)] b: u8, #[tool(description = 5)] c: u8) {}

#[tool]
fn conditional(#[cfg(debug_assertions)] a: u8, #[cfg_attr(debug_assertions, serde(default))] b: u8) {}

struct Weather;

impl Weather {
    #[tool]
    fn method(&self, city: String) {}
}

fn main() {}
