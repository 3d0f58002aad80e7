//! The command line as people see it: one file a command, with exit status. `TRYCMD=overwrite` accepts what is printed now.

#[test]
fn what_the_commands_print_is_what_is_recorded() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").env("NO_COLOR", "1").env("COLUMNS", "100");
}
