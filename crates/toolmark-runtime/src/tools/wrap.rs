//! Toolsets made of toolsets: each of these changes one thing about the tools inside, and nothing about how they are called.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use toolmark_core::definition::Definition;
use toolmark_core::digest::DefinitionDigest;
use toolmark_core::pack::Pack;

use super::condition::Condition;
use super::context::{ToolContext, TurnContext};
use super::function::FunctionTool;
use super::toolset::{ListToolsError, Toolset};
use crate::approve::Later;

/// Only the tools that a predicate keeps. The others do not exist: their names are free.
pub struct Filtered<S> {
    inner: S,
    keep: Arc<dyn Fn(&FunctionTool) -> bool + Send + Sync>,
}

/// Tools under other names.
pub struct Renamed<S> {
    inner: S,
    names: HashMap<String, String>,
    known: Known,
}

/// Tools whose names begin with the same words.
pub struct Prefixed<S> {
    inner: S,
    prefix: String,
    known: Known,
}

/// Tools whose calls a person must agree to, beside what each asks for by itself.
pub struct ApprovalRequired<S> {
    inner: S,
    when: Condition<ToolContext>,
}

/// Tools that models get to see only after they looked for them.
pub struct Deferred<S>(S);

/// Tools of packs that are called by one plain name, for models that know no namespaces.
pub struct Flat<S>(S);

/// Tools that are offered while a condition holds, beside their own. They exist all the time: no other tool can take their names.
pub struct EnabledIf<S> {
    inner: S,
    when: Condition<TurnContext>,
}

/// All tools of several toolsets.
#[derive(Default)]
pub struct Combined(Vec<Box<dyn Toolset>>);

/// Definitions under other names, made once: a tool that is listed again is the same tool.
#[derive(Default)]
struct Known(Mutex<HashMap<DefinitionDigest, Arc<Definition>>>);

/// The wrappers as methods.
pub trait ToolsetExt: Toolset + Sized {
    /// Keeps only some tools.
    fn filtered(self, keep: impl Fn(&FunctionTool) -> bool + Send + Sync + 'static) -> Filtered<Self> {
        Filtered { inner: self, keep: Arc::new(keep) }
    }

    /// Gives tools other names: pairs of old and new. An old name that no tool has is an error.
    fn renamed<'n>(self, names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Renamed<Self> {
        let names = names.into_iter().map(|(old, new)| (old.to_owned(), new.to_owned())).collect();
        Renamed { inner: self, names, known: Known::default() }
    }

    /// Puts the same words before every name: `github` makes `github_search` of `search`.
    fn prefixed(self, prefix: &str) -> Prefixed<Self> {
        Prefixed { inner: self, prefix: prefix.to_owned(), known: Known::default() }
    }

    /// Makes a person agree to every call.
    fn approval_required(self) -> ApprovalRequired<Self> {
        self.approval_required_when(Condition::fixed(true))
    }

    /// Makes a person agree to calls for which a condition holds.
    fn approval_required_when(self, when: Condition<ToolContext>) -> ApprovalRequired<Self> {
        ApprovalRequired { inner: self, when }
    }

    /// Hides the tools until a model looks for them.
    fn deferred(self) -> Deferred<Self> {
        Deferred(self)
    }

    /// Has models call the tools of packs by one plain name, `github__search`, in place of a name in a namespace: for Chat Completions
    /// and Anthropic, which have none. The tools stay what they are, and rules, grants and records name them as before.
    fn flat(self) -> Flat<Self> {
        Flat(self)
    }

    /// Offers the tools only while a condition holds.
    fn enabled_if(self, when: impl Fn(&TurnContext) -> bool + Send + Sync + 'static) -> EnabledIf<Self> {
        self.enabled_when(Condition::when(when))
    }

    /// The same for a condition of any kind.
    fn enabled_when(self, when: Condition<TurnContext>) -> EnabledIf<Self> {
        EnabledIf { inner: self, when }
    }
}

impl<S: Toolset> ToolsetExt for S {}

impl Combined {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, toolset: impl Toolset + 'static) -> Self {
        self.0.push(Box::new(toolset));
        self
    }
}

type Listed<'a> = Later<'a, Result<Vec<FunctionTool>, ListToolsError>>;

impl<S: Toolset> Toolset for Filtered<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let mut tools = self.inner.tools(turn).await?;
            tools.retain(|tool| (self.keep)(tool));
            Ok(tools)
        })
    }
}

impl<S: Toolset> Toolset for Renamed<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let tools = self.inner.tools(turn).await?;
            let has = |old: &&String| tools.iter().any(|tool| tool.name().as_str() == old.as_str());
            let mut absent: Vec<&String> = self.names.keys().filter(|old| !has(old)).collect();
            absent.sort();
            if let Some(old) = absent.first() {
                return Err(ListToolsError::new(old, "it is to be renamed, and no tool has that name"));
            }
            let rename = |tool: FunctionTool| match self.names.get(tool.name().as_str()) {
                Some(new) => self.known.renamed(&tool, new),
                None => Ok(tool),
            };
            tools.into_iter().map(rename).collect()
        })
    }
}

impl<S: Toolset> Toolset for Prefixed<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let tools = self.inner.tools(turn).await?;
            let rename = |tool: FunctionTool| {
                let name = format!("{}_{}", self.prefix, tool.name());
                self.known.renamed(&tool, &name)
            };
            tools.into_iter().map(rename).collect()
        })
    }
}

impl<S: Toolset> Toolset for ApprovalRequired<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let mut tools = self.inner.tools(turn).await?;
            for tool in &mut tools {
                tool.needs_approval = tool.needs_approval.clone().or(self.when.clone());
            }
            Ok(tools)
        })
    }
}

impl<S: Toolset> Toolset for Deferred<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let mut tools = self.0.tools(turn).await?;
            for tool in &mut tools {
                tool.defer_loading = true;
            }
            Ok(tools)
        })
    }
}

impl<S: Toolset> Toolset for Flat<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let mut tools = self.0.tools(turn).await?;
            for tool in &mut tools {
                tool.flat = true;
            }
            Ok(tools)
        })
    }
}

impl<S: Toolset> Toolset for EnabledIf<S> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let mut tools = self.inner.tools(turn).await?;
            for tool in &mut tools {
                tool.enabled = tool.enabled.clone().and(self.when.clone());
            }
            Ok(tools)
        })
    }
}

impl Toolset for Combined {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Listed<'a> {
        Box::pin(async move {
            let mut all = Vec::new();
            for listed in futures_util::future::join_all(self.0.iter().map(|toolset| toolset.tools(turn))).await {
                all.extend(listed?);
            }
            Ok(all)
        })
    }
}

impl Known {
    fn renamed(&self, tool: &FunctionTool, name: &str) -> Result<FunctionTool, ListToolsError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(definition) = known.get(&tool.definition.digest()) {
            return Ok(FunctionTool { definition: Arc::clone(definition), ..tool.clone() });
        }
        // A toolset that lists something else in every turn must not fill the memory.
        if known.len() >= Pack::MAX_TOOLS {
            known.clear();
        }
        let renamed = tool.renamed(name).map_err(|error| ListToolsError::new(tool.name().as_str(), error))?;
        known.insert(tool.definition.digest(), Arc::clone(&renamed.definition));
        Ok(renamed)
    }
}

macro_rules! named_debug {
    ($($type:ident $(<$inner:ident>)?),+) => {$(
        impl$(<$inner>)? fmt::Debug for $type$(<$inner>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    )+};
}

named_debug!(Filtered<S>, Renamed<S>, Prefixed<S>, ApprovalRequired<S>, Deferred<S>, Flat<S>, EnabledIf<S>, Combined);
