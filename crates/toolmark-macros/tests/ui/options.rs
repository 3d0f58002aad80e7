//! Options that there are not, that are said twice, and that are something else.

use toolmark_macros::tool;

#[tool(
    nam = "x",
    timeout = "5 parsecs",
    strict = "yes",
    strict,
    needs_approval = 5,
    enabled("never"),
    on_error = "ignore",
    on_timeout = retry,
    spoken,
    description = "  ",
    behavior
)]
async fn everything_wrong() {}

#[tool(display_name(nl = 5))]
fn no_text() {}

#[tool(display_name())]
fn no_names() {}

#[tool(display_name(dutch_language = "x", "p" = "y"))]
fn no_language() {}

fn main() {
    // The tools are still there, so that nothing else is said to be wrong.
    let _ = (everything_wrong::tool(), no_text::tool(), no_names::tool(), no_language::tool());
}
