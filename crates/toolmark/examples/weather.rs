//! A function becomes a tool: name, description and schema come from its signature and its doc comment.
//!
//! `cargo run --example weather`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use toolmark::prelude::*;
use toolmark::{schemars, serde_json};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Location {
    /// Degrees north of the equator.
    #[schemars(range(min = -90.0, max = 90.0))]
    lat: f64,
    /// Degrees east of Greenwich.
    #[schemars(range(min = -180.0, max = 180.0))]
    long: f64,
}

/// Fetches the weather for a given location.
///
/// # Arguments
/// * `location`: The location to fetch the weather for.
#[tool]
async fn fetch_weather(location: Location) -> String {
    // A real tool would ask a weather service.
    format!("sunny at {:.1}, {:.1}", location.lat, location.long)
}

/// Reads the contents of a file.
///
/// # Arguments
/// * `path`: The path to the file to read.
/// * `directory`: The directory to read the file from.
#[tool(name = "fetch_data", display_name("Read file", nl = "Bestand lezen"), behavior(pure, read, content))]
fn read_file(path: &str, directory: Option<&str>) -> String {
    format!("<contents of {path} in {}>", directory.unwrap_or("."))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = toolset! { fetch_weather, read_file }?;
    for tool in tools.list() {
        println!("{}\n{}", tool.name(), tool.description());
        println!("{}\n", serde_json::to_string_pretty(tool.parameters())?);
    }

    let toolbox = Toolbox::builder().toolset(tools).build();
    let turn = toolbox.turn(TurnContext::new("Assistant", RunContext::new())).await?;
    for (id, name, arguments) in [
        ("call_1", "fetch_weather", r#"{"location": {"lat": 52.1, "long": 5.1}}"#),
        ("call_2", "fetch_weather", r#"{"location": {"lat": 152.1}}"#),
        ("call_3", "fetch_wether", "{}"),
    ] {
        let id = id.parse()?;
        let called = turn.call(&ToolCall::new(name, &id, arguments)).await;
        println!("{}", called.answer().ok_or("no answer")?.output.to_text());
    }
    Ok(())
}
