//! A condition on an argument that none of the rule's tools has is a spelling mistake, and a rule that never matches.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::json::Json;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;

/// An argument that no tool of the rule takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{owner} looks at the argument `{argument}`, which none of its tools takes")]
pub(crate) struct UnknownArgument {
    owner: String,
    argument: String,
    known: Vec<String>,
}

/// Words of a schema that may bring in more properties than are listed beside them.
const OPEN: &[&str] =
    &["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"];

/// How many arguments an error lists.
const SHOWN: usize = 12;
/// How far off a suggestion may be.
const DISTANCE: usize = 2;

impl UnknownArgument {
    /// The mistake, unless one of the tools may take that argument. Without tools nothing can be said.
    pub(crate) fn check<'t>(owner: &str, argument: &str, tools: impl Iterator<Item = &'t Tool>) -> Option<Self> {
        let mut known: Vec<String> = Vec::new();
        let mut seen = false;
        for tool in tools {
            seen = true;
            let reading = tool.definition().reading();
            let schema = reading.input_schema();
            let names = properties(&schema)?;
            if names.contains(&argument) {
                return None;
            }
            for name in names {
                if known.len() < SHOWN && !known.iter().any(|own| own == name) {
                    known.push(visible(name, 80));
                }
            }
        }
        seen.then(|| Self { owner: owner.to_owned(), argument: visible(argument, 80), known })
    }
}

/// The properties that a schema lists; `None` when it may take others.
fn properties<'s>(schema: &'s Json<'_>) -> Option<Vec<&'s str>> {
    if OPEN.iter().any(|word| schema.get(word).is_some()) {
        return None;
    }
    let entries = schema.get("properties")?.entries()?;
    Some(entries.iter().map(|(name, _)| name.as_ref()).collect())
}

impl Explain for UnknownArgument {
    fn code(&self) -> Code {
        Code::new("rule-unknown-argument")
    }

    fn why(&self) -> String {
        "the condition would never hold, so the rule would never match".into()
    }

    fn fix(&self) -> String {
        let near = self.known.iter().find(|known| strsim::levenshtein(known, &self.argument) <= DISTANCE);
        match (near, self.known.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "these tools take no arguments; remove the condition".into(),
            (None, known) => format!("these tools take {}", known.join(", ")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("owner", self.owner.as_str().into()),
            ("argument", self.argument.as_str().into()),
            ("known", self.known.as_slice().into()),
        ])
    }
}
