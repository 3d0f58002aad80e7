//! A model that says what it was told to say: for tests, demos and examples, without a network and without a key.
//!
//! A script is a list of turns. Turns with a condition answer whenever it holds; the others answer one after the other. What a
//! script says is read with the same rules as what a provider says, so that it can be wrong in the same ways.

mod turn;

use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

pub use turn::{Fault, ScriptedCall, Turn, When};

use crate::error::{ModelError, ModelErrorKind};
use crate::event::{ModelEvent, ModelStream};
use crate::item::Item;
use crate::model::{Model, ModelFuture};
use crate::name::{ModelName, Provider};
use crate::pieces::pieces;
use crate::request::ModelRequest;
use crate::response::ModelResponse;

/// A model with prepared answers.
pub struct ScriptedModel {
    name: ModelName,
    turns: Vec<Turn>,
    state: Mutex<State>,
    remembers: bool,
}

#[derive(Default)]
struct State {
    /// How many turns without a condition were used.
    used: usize,
    /// How many calls were made, so that their ids differ.
    calls: usize,
    requests: Vec<ModelRequest>,
}

/// A script as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    version: u32,
    turns: Vec<Turn>,
}

/// A script that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadScriptError {
    /// The file cannot be read.
    #[error("the script `{path}` cannot be read: {reason}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Unreadable { path: String, reason: String },
    /// It is no script.
    #[error("the script cannot be used: {problem}")]
    #[expect(missing_docs, reason = "the message says what it is")]
    Syntax { problem: String },
}

/// The largest script, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

impl ScriptedModel {
    /// A model that answers with these turns.
    #[must_use]
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::named("code", turns.into_iter().collect())
    }

    /// The same, keeping every request for [`requests`](Self::requests).
    #[must_use]
    pub fn remembering(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { remembers: true, ..Self::new(turns) }
    }

    /// A model from the text of a script: `{"version": 1, "turns": […]}`.
    ///
    /// # Errors
    /// [`ReadScriptError::Syntax`], with the place, when it is none.
    pub fn parse(text: &str) -> Result<Self, ReadScriptError> {
        let script: Script = serde_json::from_str(text)
            .map_err(|error| ReadScriptError::Syntax { problem: visible(&error.to_string(), 400) })?;
        if script.version != 1 {
            let problem = format!("it has the version {}, and only version 1 is known", script.version);
            return Err(ReadScriptError::Syntax { problem });
        }
        Ok(Self::named("text", script.turns))
    }

    /// A model from a file.
    ///
    /// # Errors
    /// [`ReadScriptError`] when the file cannot be read or is no script.
    pub fn read(path: &Path) -> Result<Self, ReadScriptError> {
        let shown = visible(&path.to_string_lossy(), 200);
        let fail = |reason: String| ReadScriptError::Unreadable { path: shown.clone(), reason };
        let file = std::fs::File::open(path).map_err(|error| fail(error.to_string()))?;
        let mut text = String::new();
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| fail(error.to_string()))?;
        if text.len() as u64 > LARGEST {
            return Err(fail(format!("it has more than {LARGEST} bytes")));
        }
        let model = Self::parse(&text)?;
        let name = ModelName::new(Provider::Scripted, &path.to_string_lossy());
        Ok(Self { name: name.unwrap_or_else(|_| model.name.clone()), ..model })
    }

    fn named(name: &str, turns: Vec<Turn>) -> Self {
        let name = ModelName::scripted(name);
        Self { name, turns, state: Mutex::default(), remembers: false }
    }

    /// Everything that it was asked, if it remembers.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// The turn that answers, and the number from which its calls are counted.
    fn choose(&self, request: &ModelRequest) -> Result<(&Turn, usize), ModelErrorKind> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.remembers {
            state.requests.push(request.clone());
        }
        let conditional = self.turns.iter().find(|turn| turn.when.as_ref().is_some_and(|when| when.holds(request)));
        let turn = match conditional {
            Some(turn) => turn,
            None => {
                let next = self.turns.iter().filter(|turn| turn.when.is_none()).nth(state.used);
                let problem = || match state.used {
                    0 => "no condition holds, and no turn is without one".to_owned(),
                    used => format!("all {used} turns without a condition are used up, and no condition holds"),
                };
                let turn = next.ok_or_else(|| ModelErrorKind::Script { problem: problem() })?;
                state.used += 1;
                turn
            }
        };
        // The conversation may have begun in another process, so that its calls count too.
        let known = request.input.iter().filter(|item| match item {
            Item::FunctionCall(_) | Item::CustomCall(_) => true,
            Item::Hosted(raw) => !raw.is_answer(),
            _ => false,
        });
        let first = state.calls.max(known.count());
        state.calls = first + turn.calls.len();
        Ok((turn, first))
    }

    fn answer(&self, request: &ModelRequest) -> Result<ModelResponse, ModelErrorKind> {
        let (turn, first) = self.choose(request)?;
        match &turn.fail {
            Some(fault) => Err(fault.to_error()),
            None => turn.response(request, first),
        }
    }

    fn events(&self, request: &ModelRequest) -> Result<Vec<Result<ModelEvent, ModelErrorKind>>, ModelErrorKind> {
        let (turn, first) = self.choose(request)?;
        let response = match (&turn.fail, turn.response(request, first)) {
            // A stream that dies has said something before.
            (Some(Fault::Truncated), Ok(response)) => {
                let events = pieces(&response, false);
                return Ok(events.into_iter().map(Ok).chain([Err(ModelErrorKind::Truncated)]).collect());
            }
            (Some(fault), _) => return Err(fault.to_error()),
            (None, response) => response?,
        };
        let mut events: Vec<_> = pieces(&response, true).into_iter().map(Ok).collect();
        events.push(Ok(ModelEvent::Completed(Box::new(response))));
        Ok(events)
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        let answer = self.answer(request).map_err(|kind| ModelError::new(&self.name, kind));
        Box::pin(std::future::ready(answer))
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        let name = self.name.clone();
        let events = self.events(request).map_err(|kind| ModelError::new(&self.name, kind));
        let stream = events.map(|events| -> ModelStream {
            let named = events.into_iter().map(move |event| event.map_err(|kind| ModelError::new(&name, kind)));
            Box::pin(futures_util::stream::iter(named.collect::<Vec<_>>()))
        });
        Box::pin(std::future::ready(stream))
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).field("turns", &self.turns).finish_non_exhaustive()
    }
}

impl Explain for ReadScriptError {
    fn code(&self) -> Code {
        match self {
            Self::Unreadable { .. } => Code::new("model-script-unreadable"),
            Self::Syntax { .. } => Code::new("model-script-syntax"),
        }
    }

    fn why(&self) -> String {
        "a script that is read wrongly would say something else than its author meant".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the path behind `scripted:`",
            Self::Syntax { .. } => r#"write `{"version": 1, "turns": [{"text": "hello"}]}` and see docs/models.md"#,
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unreadable { path, reason } => {
                facts([("path", path.as_str().into()), ("reason", reason.as_str().into())])
            }
            Self::Syntax { problem } => facts([("problem", problem.as_str().into())]),
        }
    }
}

#[cfg(test)]
mod tests;
