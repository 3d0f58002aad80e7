//! Arguments that no model can give.
#![allow(unused)]

use toolmark::prelude::*;

#[tool]
fn borrowed(names: &[String], text: Option<&str>, mutable: &mut String) {}

#[tool]
fn patterns((a, b): (u8, u8), _: u8) {}

#[tool]
fn late(city: String, ctx: &ToolContext) {}

#[tool]
fn opened(city: impl Into<String>) {}

#[tool]
fn attributes(#[allow(unused)] a: u8, #[tool(defualt = 5)] b: u8, #[tool(description = 5)] c: u8) {}

struct Weather;

impl Weather {
    #[tool]
    fn method(&self, city: String) {}
}

fn main() {}
