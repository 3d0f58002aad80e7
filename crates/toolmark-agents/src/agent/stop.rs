//! Does the model hear what its tools brought, or is that the answer already?

use std::fmt;
use std::sync::Arc;

/// When what a tool brought is the final answer.
#[derive(Clone, Default)]
pub enum Stop {
    /// Never: the model is asked again.
    #[default]
    Never,
    /// Always: what the first tool brought is the answer.
    AfterFirstTool,
    /// When one of these was called, by its bare name or as `namespace.name`.
    AtTools(Vec<String>),
    /// When this says so, with the answer.
    When(Answers),
}

/// Makes the final answer of what the tools of a turn brought, where it is one.
pub type Answers = Arc<dyn Fn(&[ToolResult]) -> Option<String> + Send + Sync>;

/// What one tool brought in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The name that the model called.
    pub name: String,
    /// The namespace that came with it.
    pub namespace: Option<String>,
    /// What the model would read.
    pub output: String,
    /// Why that is no result, where it is none: the code of what went wrong.
    pub code: Option<String>,
}

impl Stop {
    /// Stops when this says so, with the answer.
    pub fn when(asked: impl Fn(&[ToolResult]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::When(Arc::new(asked))
    }

    /// The final answer, where this turn has one. What went wrong is none: the model has to hear of it.
    pub(crate) fn answer(&self, results: &[ToolResult]) -> Option<String> {
        let good = || results.iter().filter(|result| result.code.is_none());
        match self {
            Self::Never => None,
            Self::AfterFirstTool => good().next().map(|result| result.output.clone()),
            Self::AtTools(names) => {
                let named = |result: &&ToolResult| names.iter().any(|name| result.is_called(name));
                good().find(named).map(|result| result.output.clone())
            }
            Self::When(asked) => asked(results),
        }
    }
}

impl ToolResult {
    fn is_called(&self, name: &str) -> bool {
        let qualified = self.namespace.as_ref().and_then(|namespace| name.strip_prefix(namespace.as_str()));
        self.name == name || qualified.and_then(|rest| rest.strip_prefix('.')) == Some(self.name.as_str())
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("Never"),
            Self::AfterFirstTool => f.write_str("AfterFirstTool"),
            Self::AtTools(names) => f.debug_tuple("AtTools").field(names).finish(),
            Self::When(_) => f.write_str("When(asked)"),
        }
    }
}
