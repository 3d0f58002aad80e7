//! What has a run come to? Everything that another process needs to go on with it, and nothing else: no key, no value of the program.
//!
//! Old reader, new state: refused, with the version. New reader, old state: every version since 1 is read. Old writer, new state: not
//! possible, since it cannot read what it would have to change.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use toolmark_core::approval::RunId;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::{CustomCall, CustomOutput, FunctionCall, FunctionOutput, Item, Output, Raw, Usage};
use uuid::Uuid;

use super::item::RunItem;
use crate::host;

/// The version that is written.
pub(super) const VERSION: u32 = 4;

/// A run that can go on: interrupted by a question to a person, or by an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    #[serde(deserialize_with = "known_version")]
    pub(super) version: u32,
    /// The agent that the run began with.
    pub(super) start: String,
    /// The agent whose turn it is.
    pub(super) agent: String,
    /// How often a model was asked.
    pub(super) turn: u32,
    /// What the user said, without the session.
    pub(super) said: Vec<Item>,
    /// What the model reads next.
    pub(super) input: Vec<Item>,
    /// Everything that the run added.
    pub(super) items: Vec<RunItem>,
    pub(super) usage: Usage,
    pub(super) phase: Phase,
    /// What people decided, in order.
    pub(super) decisions: Vec<Decided>,
    /// Agents that have called a tool, so that none is forced on them again.
    pub(super) called: BTreeSet<String>,
    /// Whether what the run begins with was checked.
    pub(super) checked: bool,
    /// The session that the run belongs to, and what it calls itself there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<InSession>,
    /// What the provider keeps, where only what is new is sent to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<Previous>,
    /// The conversation that the provider keeps, which is only told what is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conversation: Option<Previous>,
}

/// What the provider keeps of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Previous {
    /// Its last answer, or the whole conversation.
    pub(super) id: String,
    /// How much of what the model reads it knows.
    pub(super) known: usize,
}

/// A run in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InSession {
    pub(super) id: String,
    #[serde(serialize_with = "write_id", deserialize_with = "read_id")]
    pub(super) run: Uuid,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub(super) enum Phase {
    /// The model is asked.
    Ask,
    /// What the model called is done, in this order.
    Calls { calls: Vec<Planned> },
    /// The model has answered, and nobody has looked at it.
    Answered { text: String },
    /// There is nothing left to do.
    Done { output: String },
}

/// One call of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Planned {
    pub(super) call: FunctionCall,
    /// The call as it came, where it is of a tool that takes free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) custom: Option<CustomCall>,
    /// The call as it came, where the provider has words of its own for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hosted: Option<Raw>,
    pub(super) to: To,
    pub(super) progress: Progress,
}

/// Where a call leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum To {
    Tool,
    Handoff,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Progress {
    /// Nothing was done.
    Waiting,
    /// A person is asked.
    Asked(Question),
    /// The tool is an agent, and somebody waits in its run.
    Inside { run: Box<RunState> },
    /// Whoever asked for the run answers it.
    Outside,
    /// The model gets this.
    Answered {
        output: Output,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Question {
    /// The canonical name of the tool.
    pub(super) tool: String,
    /// What the tool was when the question was asked. A decision holds for nothing else.
    pub(super) definition: String,
    /// What the person reads.
    pub(super) prompt: String,
    /// The run of the approvals that it belongs to.
    pub(super) run: RunId,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Decided {
    pub(super) agent: String,
    pub(super) call: FunctionCall,
    pub(super) definition: String,
    pub(super) approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// The arguments that it runs with, where the person wrote others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edited: Option<String>,
    pub(super) always: bool,
}

/// A saved run that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadStateError {
    /// Somebody newer wrote it.
    #[error("the saved run has the version {version}, and only versions up to {VERSION} are known")]
    Newer {
        /// The version.
        version: u64,
    },
    /// It is none.
    #[error("this is no saved run: {problem}")]
    Unreadable {
        /// What is wrong.
        problem: String,
    },
}

impl RunState {
    pub(super) fn new(agent: &str, said: Vec<Item>, input: Vec<Item>) -> Self {
        Self {
            version: VERSION,
            start: agent.to_owned(),
            agent: agent.to_owned(),
            turn: 0,
            said,
            input,
            items: Vec::new(),
            usage: Usage::default(),
            phase: Phase::Ask,
            decisions: Vec::new(),
            called: BTreeSet::new(),
            checked: false,
            session: None,
            previous: None,
            conversation: None,
        }
    }

    /// The state as JSON text, to be kept anywhere.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`RunState::to_json`] wrote.
    ///
    /// # Errors
    /// [`ReadStateError`] when it is something else, or of a newer version.
    pub fn from_json(text: &str) -> Result<Self, ReadStateError> {
        let unreadable =
            |error: serde_json::Error| ReadStateError::Unreadable { problem: visible(&error.to_string(), 400) };
        let value: Value = serde_json::from_str(text).map_err(unreadable)?;
        // The version first: of what a newer one holds nothing is known.
        if let Some(version) = value.get("version").and_then(Value::as_u64)
            && version > u64::from(VERSION)
        {
            return Err(ReadStateError::Newer { version });
        }
        serde_json::from_value(value).map_err(unreadable)
    }

    /// The session that the run belongs to.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id.as_str())
    }

    /// The agent whose turn it is.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// How often a model was asked.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turn
    }

    /// What the run has used so far, nested runs that have ended included.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Everything that the run has added to the conversation.
    #[must_use]
    pub fn items(&self) -> &[RunItem] {
        &self.items
    }

    /// What the user said, without what was said before the run.
    #[must_use]
    pub fn said(&self) -> &[Item] {
        &self.said
    }

    /// What the run added to the conversation, for whoever does not go on with it: every call has an answer, since no provider takes a
    /// conversation in which one has none. What was not called, or is not known to be over, is answered with that.
    #[must_use]
    pub fn left_behind(&self) -> Vec<RunItem> {
        let mut items = self.items.clone();
        let Phase::Calls { calls } = &self.phase else { return items };
        for planned in calls {
            let (output, failed) = match &planned.progress {
                Progress::Answered { output, code } => (output.clone(), code.is_some()),
                Progress::Inside { .. } => {
                    (Output::Text("It was not finished: the run ended before. It may have had effects.".into()), true)
                }
                Progress::Waiting | Progress::Asked(_) | Progress::Outside => {
                    (Output::Text("It was not called: the run ended before.".into()), true)
                }
            };
            let call_id = planned.call.call_id.clone();
            let answers = match (&planned.custom, &planned.hosted) {
                (_, Some(raw)) => host::answer(raw, &call_id, &output, failed),
                (Some(_), None) => vec![Item::CustomOutput(CustomOutput { call_id, output, extra: None })],
                (None, None) => vec![Item::FunctionOutput(FunctionOutput { call_id, output, failed, extra: None })],
            };
            items.extend(answers.into_iter().map(|item| RunItem { agent: self.agent.clone(), item }));
        }
        items
    }

    /// The conversation as the model reads it next.
    #[must_use]
    pub fn conversation(&self) -> &[Item] {
        &self.input
    }
}

fn write_id<S: Serializer>(id: &Uuid, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn read_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if (1..=VERSION).contains(&version) {
        return Ok(version);
    }
    Err(serde::de::Error::custom(format!("the version {version} is not known")))
}

impl Explain for ReadStateError {
    fn code(&self) -> Code {
        match self {
            Self::Newer { .. } => Code::new("run-state-newer"),
            Self::Unreadable { .. } => Code::new("run-state-unreadable"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Newer { .. } => "what a newer version says could be lost, and with it what a person decided",
            Self::Unreadable { .. } => {
                "a run that is read wrongly could do something twice, or something that nobody approved"
            }
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Newer { .. } => "update this program, or resume the run with the one that saved it",
            Self::Unreadable { .. } => "pass exactly what `RunState::to_json` wrote",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Newer { version } => facts([("version", (*version).into())]),
            Self::Unreadable { problem } => facts([("problem", problem.as_str().into())]),
        }
    }
}
