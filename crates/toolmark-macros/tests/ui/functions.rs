//! Functions that are no tools, and what is no function.
#![allow(unused)]

use toolmark_macros::tool;

#[tool]
fn generic<T: Default, const N: usize>(value: u8) {}

#[tool]
extern "C" fn foreign() {}

#[tool]
unsafe fn careless() {}

#[tool(timeout = "5s")]
fn unstoppable() {}

#[tool(blocking)]
async fn blocking_and_async() {}

#[tool]
struct NoFunction;

fn main() {}
