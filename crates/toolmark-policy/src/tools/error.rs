//! A pattern that names no tool, or does not say which: told with what was found and what may be meant.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

/// A pattern that does not settle which tools it means.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BindError {
    #[error("{owner} names `{pattern}`, which matches no tool")]
    Nothing { owner: String, pattern: String, suggestions: Vec<String>, renamed: Option<String> },
    #[error("{owner} names `{pattern}`, which can mean {} different tools", candidates.len())]
    Ambiguous { owner: String, pattern: String, candidates: Vec<String> },
}

/// How many candidates an error lists.
const SHOWN: usize = 6;

impl Explain for BindError {
    fn code(&self) -> Code {
        match self {
            Self::Nothing { .. } => Code::new("rule-matches-nothing"),
            Self::Ambiguous { .. } => Code::new("rule-ambiguous-tool"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Nothing { renamed: Some(_), .. } => {
                "the tool has another name now; what was allowed under the old one must be allowed again".into()
            }
            Self::Nothing { .. } => "a rule that matches nothing protects nothing, and nobody would notice".into(),
            Self::Ambiguous { .. } => "a rule for the wrong tool lets the right one through".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Nothing { renamed: Some(name), .. } => format!("write `{name}`"),
            Self::Nothing { pattern, .. } if pattern.ends_with(')') => {
                "write the tool alone in `tools`, and what stands in brackets under `arguments`".into()
            }
            Self::Nothing { suggestions, .. } if suggestions.is_empty() => {
                "list what exists with `toolmark inspect`".into()
            }
            Self::Nothing { suggestions, .. } => format!("did you mean one of these?\n{}", suggestions.join("\n")),
            Self::Ambiguous { candidates, .. } => {
                let mut shown: Vec<String> = candidates.iter().take(SHOWN).cloned().collect();
                if candidates.len() > SHOWN {
                    shown.push(format!("(+{} more)", candidates.len() - SHOWN));
                }
                format!("write the canonical name of the one that is meant:\n{}", shown.join("\n"))
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Nothing { owner, pattern, suggestions, renamed } => facts([
                ("owner", owner.as_str().into()),
                ("pattern", pattern.as_str().into()),
                ("suggestions", suggestions.as_slice().into()),
                ("renamed", renamed.as_deref().into()),
            ]),
            Self::Ambiguous { owner, pattern, candidates } => facts([
                ("owner", owner.as_str().into()),
                ("pattern", pattern.as_str().into()),
                ("candidates", candidates.as_slice().into()),
            ]),
        }
    }
}
