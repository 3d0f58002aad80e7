//! The declaration to paste: what would settle a finding, as the operator writes it and as the publisher does.
//!
//! It is what the classifier and the publisher make of a tool together, for a person to read and correct; nothing applies it.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolmark_core::behavior::{Annotations, Behavior};
use toolmark_core::names::CanonicalName;
use toolmark_core::text::is_hidden;
use toolmark_core::tool::Tool;

/// A behavior that could be declared for one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    tool: CanonicalName,
    raw: String,
    behavior: Behavior,
    otherwise: Option<Behavior>,
    publisher: Behavior,
}

impl Suggestion {
    pub(crate) fn new(tool: &Tool, behavior: Behavior) -> Self {
        let (tool, raw) = (tool.canonical().clone(), tool.raw().as_str().to_owned());
        Self { tool, raw, behavior, otherwise: None, publisher: behavior }
    }

    /// What others than the linter found out, such as models that were asked: of two opinions the one that guards more, and the other
    /// in case the tool changes nothing after all.
    #[must_use]
    pub fn of(tool: &Tool, behavior: Behavior, otherwise: Option<Behavior>) -> Self {
        Self::new(tool, behavior).or(otherwise)
    }

    /// The same, with what else to declare if the tool changes nothing after all.
    pub(crate) fn or(mut self, otherwise: Option<Behavior>) -> Self {
        self.otherwise = otherwise.filter(|otherwise| *otherwise != self.behavior);
        self
    }

    /// The same, with another declaration for the publisher, whose word alone settles less than the operator's.
    pub(crate) fn published_as(mut self, behavior: Behavior) -> Self {
        self.publisher = behavior;
        self
    }

    /// The tool that it is for.
    #[must_use]
    pub fn tool(&self) -> &CanonicalName {
        &self.tool
    }

    /// What the operator would declare: of two opinions the one that guards more.
    #[must_use]
    pub fn behavior(&self) -> Behavior {
        self.behavior
    }

    /// What to declare instead, if the tool changes nothing after all.
    #[must_use]
    pub fn otherwise(&self) -> Option<Behavior> {
        self.otherwise
    }

    /// The lines for `toolmark.toml`. A tool without a pack has no place there.
    #[must_use]
    pub fn toml(&self) -> Option<String> {
        let pack = self.tool.pack()?;
        let mut text = format!("[packs.{}.tools.{}]\nbehavior = \"{}\"\n", key(pack), key(&self.raw), self.behavior);
        if let Some(otherwise) = self.otherwise {
            let _ = writeln!(text, "# or, if it changes nothing: behavior = \"{otherwise}\"");
        }
        Some(text)
    }

    /// What the publisher would put into the definition: `annotations` and `_meta`.
    #[must_use]
    pub fn definition(&self) -> Value {
        json!({"annotations": annotations(&self.publisher), "_meta": {"dev.toolmark/behavior": fields(&self.publisher)}})
    }

    /// The suggestion as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "tool": self.tool,
            "behavior": self.behavior,
            "otherwise": self.otherwise,
            "operator": self.toml(),
            "publisher": self.definition(),
        })
    }
}

/// Both hints, so that whatever stood there before is replaced.
fn annotations(behavior: &Behavior) -> Value {
    let (read_only, destructive) = match Annotations::project(behavior) {
        Annotations { read_only: Some(true), .. } => (true, false),
        hints => hints.assumed(),
    };
    json!({"readOnlyHint": read_only, "destructiveHint": destructive})
}

fn fields(behavior: &Behavior) -> Value {
    let mut fields = Map::new();
    fields.insert("mutability".into(), json!(behavior.mutability()));
    fields.insert("action".into(), json!(behavior.action()));
    fields.insert("output_domain".into(), json!(behavior.output_domain()));
    if let Some(content) = behavior.content_type() {
        fields.insert("content_type".into(), json!(content));
    }
    if let Some(facets) = behavior.facets() {
        if let Some(target) = facets.target {
            fields.insert("target".into(), json!(target));
        }
        fields.insert("polarity".into(), json!(facets.polarity));
        fields.insert("reach".into(), json!(facets.reach));
    }
    Value::Object(fields)
}

/// A key of TOML: bare where it may be, else quoted, with everything that hides written out.
fn key(text: &str) -> String {
    let bare = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if !text.is_empty() && text.chars().all(bare) {
        return text.to_owned();
    }
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            hidden if is_hidden(hidden) => {
                let _ = write!(out, "\\U{:08X}", u32::from(hidden));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
