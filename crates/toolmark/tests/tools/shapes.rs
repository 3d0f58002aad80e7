//! Functions as people write them: whatever compiles as a function and can be read and shown is a tool.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::num::NonZeroU8;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolmark::prelude::*;
use toolmark::schemars;
use toolmark::tools::Ended;

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
}

#[tool]
fn depth(tree: Tree) -> usize {
    fn of(tree: &Tree) -> usize {
        1 + tree.children.iter().map(of).max().unwrap_or(0)
    }
    of(&tree)
}

#[derive(serde::Deserialize, schemars::JsonSchema, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Color {
    DarkRed,
    Blue,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum IdOrName {
    Id(u32),
    Name(String),
}

type Lists = HashMap<String, Vec<u8>>;

#[tool]
fn odd(
    pair: (f64, f64),
    boxed: Box<u8>,
    cow: Cow<'static, str>,
    one: NonZeroU8,
    path: PathBuf,
    letter: char,
    by_color: BTreeMap<Color, u8>,
    who: IdOrName,
    mut text: String,
    nested: Option<Vec<Option<Lists>>>,
) -> Vec<String> {
    text.push('!');
    let who = match who {
        IdOrName::Id(id) => id.to_string(),
        IdOrName::Name(name) => name,
    };
    vec![
        format!("{pair:?} {boxed} {cow} {one} {} {letter}", path.display()),
        format!("{} {who} {text} {nested:?}", by_color.len()),
    ]
}

fn odd_arguments() -> Value {
    json!({
        "pair": [1.5, 2], "boxed": 3, "cow": "moo", "one": 1, "path": "/tmp", "letter": "x", "by_color": {"dark-red": 1},
        "who": 5, "text": "hey", "nested": [null, {"a": [1]}],
    })
}

#[tokio::test]
async fn types_of_all_kinds_are_read() {
    let turn = super::turn(toolset! { depth, odd }.expect("tools")).await;
    let tree = r#"{"tree": {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}}"#;
    assert_eq!(super::text(&turn, "depth", tree).await, "3");
    let said = super::text(&turn, "odd", &odd_arguments().to_string()).await;
    assert_eq!(
        serde_json::from_str::<Value>(&said).expect("JSON"),
        json!([r#"(1.5, 2.0) 3 moo 1 /tmp x"#, r#"1 5 hey! Some([None, Some({"a": [1]})])"#])
    );
}

#[tokio::test]
async fn every_argument_that_is_of_the_wrong_type_is_named() {
    let turn = super::turn(super::one(odd::tool())).await;
    for (name, wrong) in [
        ("pair", json!([1])),
        ("boxed", json!(300)),
        ("boxed", json!(-1)),
        ("boxed", json!(1.5)),
        ("cow", json!(1)),
        ("one", json!(0)),
        ("path", json!(null)),
        ("letter", json!("xy")),
        ("by_color", json!({"green": 1})),
        ("by_color", json!({"blue": "1"})),
        ("who", json!([])),
        ("text", json!({})),
        ("nested", json!({})),
    ] {
        let mut arguments = odd_arguments();
        arguments[name] = wrong.clone();
        let answer = super::answer(&turn, "odd", &arguments.to_string()).await;
        assert!(!matches!(answer.ended, Ended::Ran), "{name} = {wrong}");
        let text = answer.output.to_text();
        assert!(text.contains(name) || text.contains("green"), "{name} = {wrong}: {text}");
    }
}

#[tool]
fn with_lifetime<'a>(ctx: &'a ToolContext, text: &'a str) -> &'a str {
    let _ = ctx;
    text
}

#[tool]
async fn opaque() -> impl serde::Serialize {
    json!({"a": 1})
}

#[tool]
fn boxed_error(fail: bool) -> Result<Cow<'static, str>, Box<dyn std::error::Error>> {
    if fail { Err("no".into()) } else { Ok("yes".into()) }
}

struct OnlyShown;

impl fmt::Display for OnlyShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only shown")
    }
}

#[tool]
async fn shown_error() -> Result<(), OnlyShown> {
    Err(OnlyShown)
}

/** Blocks of docs.

# Parameters

- value: the value */
#[tool]
#[doc(hidden)]
pub(crate) fn documented(value: u8) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(value.to_string()))
}

#[tokio::test]
async fn functions_return_what_they_like() {
    let turn =
        super::turn(toolset! { with_lifetime, opaque, boxed_error, shown_error, documented }.expect("tools")).await;
    assert_eq!(super::text(&turn, "with_lifetime", r#"{"text": "x"}"#).await, "x");
    assert_eq!(super::text(&turn, "opaque", "").await, r#"{"a":1}"#);
    assert_eq!(super::text(&turn, "boxed_error", r#"{"fail": false}"#).await, "yes");
    assert_eq!(super::text(&turn, "documented", r#"{"value": 7}"#).await, "7");
    for (name, arguments) in [("boxed_error", r#"{"fail": true}"#), ("shown_error", "")] {
        assert!(matches!(super::answer(&turn, name, arguments).await.ended, Ended::Failed { .. }), "{name}");
    }
    let tool = documented::tool().build().expect("a tool");
    assert_eq!(
        (tool.description(), &tool.parameters()["properties"]["value"]["description"]),
        ("Blocks of docs.", &json!("the value"))
    );
}

#[tokio::test]
async fn a_tool_may_be_written_inside_a_function() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Local {
        x: u8,
    }

    #[tool]
    fn inner(local: Local) -> u8 {
        local.x
    }

    let turn = super::turn(toolset! { inner }.expect("tools")).await;
    assert_eq!(super::text(&turn, "inner", r#"{"local": {"x": 4}}"#).await, "4");
}

/// Two tools whose arguments have the same name and other types.
mod one {
    use toolmark::prelude::*;
    use toolmark::schemars;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(super) struct Filter {
        pub(super) text: String,
    }

    #[tool]
    pub(super) fn filter(filter: Filter, other: Option<super::two::Filter>) -> String {
        format!("{} {:?}", filter.text, other.map(|other| other.number))
    }
}

mod two {
    use toolmark::schemars;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(super) struct Filter {
        pub(super) number: u8,
    }
}

#[tokio::test]
async fn two_types_of_one_name_stay_two() {
    let turn = super::turn(super::one(one::filter::tool())).await;
    let arguments = r#"{"filter": {"text": "a"}, "other": {"number": 1}}"#;
    assert_eq!(super::text(&turn, "filter", arguments).await, "a Some(1)");
}
