//! Prints the JSON schema of `toolmark.toml`; `cargo xtask schema` writes it to `docs/schema/`.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let schema = serde_json::to_string_pretty(&toolmark_config::schema())?;
    writeln!(io::stdout().lock(), "{schema}")
}
