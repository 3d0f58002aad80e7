//! Prints the JSON schema of `metadata["dev.toolmark/tool"]`; `cargo xtask schema` writes it down.
#![expect(clippy::print_stdout, reason = "it is there to print")]

fn main() {
    println!("{:#}", toolmark_agui::schema::tool());
}
