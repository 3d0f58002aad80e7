//! Prints the JSON schema of an object that Toolmark adds to `_meta`, such as `identity`; without a name, the names. `cargo xtask schema`
//! writes them down.
#![expect(clippy::print_stdout, reason = "it is there to print")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1);
    for (key, schema) in toolmark_gateway::schema::all() {
        match &wanted {
            None => println!("{key}"),
            Some(wanted) if wanted == key => {
                println!("{schema:#}");
                return ExitCode::SUCCESS;
            }
            Some(_) => {}
        }
    }
    if wanted.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
