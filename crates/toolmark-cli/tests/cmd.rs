//! The command line as people see it: one file a command, with exit status, and the README. `TRYCMD=overwrite` accepts what is
//! printed now.

use std::path::Path;

#[test]
fn what_the_commands_print_is_what_is_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::set_current_dir(root).expect("the root of the project");
    trycmd::TestCases::new()
        .case("crates/toolmark-cli/tests/cmd/*.trycmd")
        .case("README.md")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100");
}
