//! What the macro says of a function: name, description, schema.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolmark::prelude::*;
use toolmark::schemars;

fn schema(tool: toolmark::tools::ToolBuilder) -> Value {
    tool.build().expect("a tool").parameters().clone()
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema, Clone, Copy, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Units {
    Metric,
    Imperial,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    /// The street.
    street: String,
    #[serde(default)]
    rooms: Vec<Room>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Room {
    Kitchen { ovens: u8 },
    Bedroom { beds: u8 },
}

/// Says what the weather is.
#[tool]
fn weather(
    /// The city.
    city: String,
    /// How to measure.
    #[tool(default = Units::Metric)]
    units: Units,
    #[schemars(range(min = 1, max = 14))] days: Option<u8>,
    #[serde(default)] verbose: bool,
    #[tool(default = "en")] language: String,
    #[serde(rename = "type")] kind: Option<String>,
) -> String {
    format!("{city} {units:?} {days:?} {verbose} {language} {kind:?}")
}

#[test]
fn arguments_become_properties_with_defaults_and_limits() {
    assert_eq!(
        schema(weather::tool()),
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "units": {"$ref": "#/$defs/Units", "description": "How to measure.", "default": "metric"},
                "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 14},
                "verbose": {"type": "boolean", "default": false},
                "language": {"type": "string", "default": "en"},
                "type": {"type": ["string", "null"]},
            },
            "required": ["city"],
            "$defs": {"Units": {"type": "string", "enum": ["metric", "imperial"]}},
        })
    );
}

#[tokio::test]
async fn what_is_left_out_has_its_default() {
    let turn = super::turn(super::one(weather::tool())).await;
    assert_eq!(super::text(&turn, "weather", r#"{"city": "Oslo"}"#).await, "Oslo Metric None false en None");
    let all = r#"{"city": "Oslo", "units": "imperial", "days": 3, "verbose": true, "language": "no", "type": "x"}"#;
    assert_eq!(super::text(&turn, "weather", all).await, "Oslo Imperial Some(3) true no Some(\"x\")");
    let null = r#"{"city": "Oslo", "days": null, "type": null}"#;
    assert_eq!(super::text(&turn, "weather", null).await, "Oslo Metric None false en None");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let turn = super::turn(super::one(weather::tool())).await;
    for (arguments, wrong) in [
        (r#"{"city": 5}"#, "`/city`"),
        (r#"{}"#, "`city`"),
        (r#"{"city": "Oslo", "days": 15}"#, "`/days`"),
        (r#"{"city": "Oslo", "day": 1}"#, "did you mean `days`?"),
        (r#"{"city": "Oslo", "units": "kelvin"}"#, "`/units`"),
        (r#"["Oslo"]"#, "an array"),
    ] {
        let answer = super::answer(&turn, "weather", arguments).await;
        assert!(answer.output.to_text().contains(wrong), "{arguments}: {}", answer.output.to_text());
        assert!(answer.output.to_text().starts_with("`weather` was not called"), "{arguments}");
    }
}

/// Furnishes a place.
#[tool]
async fn furnish(place: Place, prices: BTreeMap<String, f64>, tags: Vec<String>, anything: Value) -> Value {
    let rooms: Vec<String> = place
        .rooms
        .iter()
        .map(|room| match room {
            Room::Kitchen { ovens } => format!("{ovens} ovens"),
            Room::Bedroom { beds } => format!("{beds} beds"),
        })
        .collect();
    json!({"street": place.street, "rooms": rooms, "prices": prices, "tags": tags, "anything": anything})
}

#[tokio::test]
async fn nested_types_go_in_and_out() {
    let turn = super::turn(super::one(furnish::tool())).await;
    let arguments = json!({
        "place": {"street": "Elm", "rooms": [{"kind": "kitchen", "ovens": 2}, {"kind": "bedroom", "beds": 1}]},
        "prices": {"bed": 12.5}, "tags": ["a"], "anything": {"x": [1, null]},
    });
    let said: Value = serde_json::from_str(&super::text(&turn, "furnish", &arguments.to_string()).await).expect("JSON");
    assert_eq!(
        said,
        json!({"street": "Elm", "rooms": ["2 ovens", "1 beds"], "prices": {"bed": 12.5}, "tags": ["a"], "anything": {"x": [1, null]}})
    );
}

#[test]
fn a_map_has_no_strict_form_and_the_plain_one_stays() {
    let tool = furnish::tool().build().expect("a tool");
    assert!(tool.strict_parameters().is_none());
    let refused = furnish::tool().strict(toolmark::tools::Strict::Always).build().expect_err("a map is open");
    assert!(refused.to_string().contains("no strict form"), "{refused}");
}

#[test]
fn the_strict_form_requires_everything_and_accepts_no_more() {
    let tool = weather::tool().build().expect("a tool");
    let strict = tool.strict_parameters().expect("a strict form");
    assert_eq!(strict["required"], json!(["city", "units", "days", "verbose", "language", "type"]));
    assert_eq!(strict["additionalProperties"], json!(false));
    let never = weather::tool().strict(toolmark::tools::Strict::Never).build().expect("a tool");
    assert!(never.strict_parameters().is_none());
}

/// Searches the catalog.
///
/// It looks everywhere.
///
/// # Arguments
///
/// * `query`: What to look for,
///   in plain words.
/// - `limit` - How many at most.
/// * ctx: Not for models.
///
/// # Errors
/// When nothing is found.
#[tool]
fn find(
    ctx: &ToolContext,
    query: &str,
    /** How few. */
    least: Option<u32>,
    limit: Option<u32>,
) -> String {
    format!("{} {query} {least:?} {limit:?}", ctx.agent())
}

#[tokio::test]
async fn doc_comments_describe_tool_and_arguments_and_the_context_is_hidden() {
    let tool = find::tool().build().expect("a tool");
    assert_eq!(tool.description(), "Searches the catalog.\n\nIt looks everywhere.");
    let properties = &tool.parameters()["properties"];
    assert_eq!(properties["query"]["description"], "What to look for, in plain words.");
    assert_eq!(properties["limit"]["description"], "How many at most.");
    assert_eq!(properties["least"]["description"], "How few.");
    assert!(properties.get("ctx").is_none());
    let turn = super::turn(super::one(find::tool())).await;
    assert_eq!(super::text(&turn, "find", r#"{"query": "x"}"#).await, "assistant x None None");
}

#[tool(name = "other.name", description = "Another description.")]
fn nothing() {}

#[tokio::test]
async fn a_tool_without_arguments_takes_nothing_at_all() {
    let tool = nothing::tool().name("nothing").build().expect("a tool");
    assert_eq!(tool.description(), "Another description.");
    assert_eq!(tool.parameters()["properties"], json!({}));
    let turn = super::turn(super::one(nothing::tool().name("nothing"))).await;
    for arguments in ["", "  ", "{}"] {
        assert_eq!(super::text(&turn, "nothing", arguments).await, "null", "{arguments:?}");
    }
}

#[test]
fn the_function_can_still_be_called() {
    assert_eq!(
        weather("Rome".into(), Units::Imperial, None, false, "it".into(), None),
        "Rome Imperial None false it None"
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Page {
    size: u32,
    number: u32,
}

#[tool]
fn list(#[serde(flatten)] page: Page, r#type: String) -> String {
    format!("{} {} {}", page.size, page.number, r#type)
}

#[tokio::test]
async fn flattened_arguments_and_raw_identifiers_work() {
    let turn = super::turn(super::one(list::tool())).await;
    assert_eq!(super::text(&turn, "list", r#"{"size": 1, "number": 2, "type": "x"}"#).await, "1 2 x");
}

mod inner {
    use super::*;

    #[tool]
    pub(crate) fn shadowed(shadowed: String, context: u8, arguments: bool) -> String {
        format!("{shadowed} {context} {arguments}")
    }
}

#[tokio::test]
async fn arguments_may_be_called_what_the_macro_and_the_function_are_called() {
    let turn = super::turn(super::one(inner::shadowed::tool())).await;
    let arguments = r#"{"shadowed": "a", "context": 1, "arguments": true}"#;
    assert_eq!(super::text(&turn, "shadowed", arguments).await, "a 1 true");
}

#[tool]
async fn lent(place: &Place, tags: &[String], name: Option<&str>, words: Option<&[String]>, count: &u8) -> String {
    tokio::task::yield_now().await;
    format!("{} {tags:?} {name:?} {words:?} {count}", place.street)
}

#[tokio::test]
async fn a_function_may_borrow_what_was_read() {
    let tool = lent::tool().build().expect("a tool");
    assert_eq!(tool.parameters()["required"], json!(["place", "tags", "count"]));
    let turn = super::turn(super::one(lent::tool())).await;
    let arguments = r#"{"place": {"street": "Elm"}, "tags": ["a"], "name": "n", "count": 3}"#;
    assert_eq!(super::text(&turn, "lent", arguments).await, r#"Elm ["a"] Some("n") None 3"#);
}

#[tool]
fn numbers(small: i8, medium: Option<i32>, large: u64, real: f32, list: Vec<u16>) -> String {
    format!("{small} {medium:?} {large} {real} {list:?}")
}

#[test]
fn numbers_have_limits_in_place_of_formats_that_providers_refuse() {
    let limits = |least: i64, most: i64| json!({"type": "integer", "minimum": least, "maximum": most});
    assert_eq!(
        schema(numbers::tool())["properties"],
        json!({
            "small": limits(-128, 127),
            "medium": {"type": ["integer", "null"], "minimum": i32::MIN, "maximum": i32::MAX},
            "large": {"type": "integer", "minimum": 0},
            "real": {"type": "number"},
            "list": {"type": "array", "items": limits(0, 65535)},
        })
    );
}

/// Toolmark under another name, as a crate that wraps it has it.
mod wrapper {
    pub(crate) use toolmark::*;
}

#[tool(crate = wrapper)]
fn elsewhere(#[tool(default)] number: u8) -> u8 {
    number
}

#[tokio::test]
async fn toolmark_may_be_known_by_another_path() {
    let tools = toolset! { crate = wrapper; elsewhere }.expect("tools");
    assert_eq!(super::text(&super::turn(tools).await, "elsewhere", "").await, "0");
}
