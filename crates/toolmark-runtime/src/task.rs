//! Tasks by name: what a caller came for, and so what is expected of the calls.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::gate::{Expectation, OnMismatch};
use toolmark_core::text::visible;

/// The name of a task: `[a-z][a-z0-9_-]{0,63}`, so that it can stand in an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName(Arc<str>);

/// A task and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    name: TaskName,
    expectation: Expectation,
    /// What has to hold as well.
    also: Option<Arc<Task>>,
    /// The names of all that has to hold.
    full_name: Arc<str>,
}

/// Every task that can be named, the built-in `read-only` among them.
#[derive(Clone, Debug)]
pub struct Tasks(BTreeMap<TaskName, Arc<Task>>);

/// Text that cannot name a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot name a task")]
pub struct ParseTaskNameError(String);

/// A task that nobody described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no task `{name}`")]
pub struct UnknownTask {
    name: String,
    known: Vec<String>,
}

impl TaskName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Task {
    /// A task with what is expected of it.
    #[must_use]
    pub fn new(name: TaskName, expectation: Expectation) -> Self {
        let full_name = Arc::clone(&name.0);
        Self { name, expectation, also: None, full_name }
    }

    /// Both at once, under both names: a call has to fit either of them, and is judged by the rules for either.
    #[must_use]
    pub fn and(&self, other: &Arc<Self>) -> Self {
        if self.name == other.name {
            return self.clone();
        }
        let also = match &self.also {
            Some(also) => Arc::new(also.and(other)),
            None => Arc::clone(other),
        };
        let full_name = format!("{}+{}", self.name, also.full_name).into();
        Self { also: Some(also), full_name, ..self.clone() }
    }

    /// What has to hold as well.
    pub(crate) fn also(&self) -> Option<&Self> {
        self.also.as_deref()
    }

    /// The name under which records keep it: its own, or all names with `+` between them.
    #[must_use]
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &TaskName {
        &self.name
    }

    /// What it may do.
    #[must_use]
    pub fn expectation(&self) -> &Expectation {
        &self.expectation
    }
}

impl Tasks {
    /// Adds a task, or describes one anew.
    pub fn insert(&mut self, task: Task) {
        self.0.insert(task.name.clone(), Arc::new(task));
    }

    /// Finds a task.
    ///
    /// # Errors
    /// [`UnknownTask`]: a task that nobody described expects nothing, and would let everything through.
    pub fn find(&self, name: &str) -> Result<&Arc<Task>, UnknownTask> {
        let found = self.0.iter().find(|(known, _)| known.as_str() == name).map(|(_, task)| task);
        found.ok_or_else(|| UnknownTask {
            name: visible(name, 80),
            known: self.0.keys().map(ToString::to_string).collect(),
        })
    }

    /// The task that records keep under this name, which may be several at once.
    ///
    /// # Errors
    /// [`UnknownTask`], for the first that nobody described.
    pub fn recorded(&self, name: &str) -> Result<Arc<Task>, UnknownTask> {
        let mut names = name.split('+');
        let mut task = Arc::clone(self.find(names.next().unwrap_or_default())?);
        for name in names {
            task = Arc::new(task.and(self.find(name)?));
        }
        Ok(task)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.0.values()
    }
}

/// The built-in tasks.
impl Default for Tasks {
    fn default() -> Self {
        let mut tasks = Self(BTreeMap::new());
        if let (Ok(name), Ok(pure)) = ("read-only".parse::<TaskName>(), "PURE|*|*".parse()) {
            tasks.insert(Task::new(name.clone(), Expectation::new(name.as_str(), vec![pure], OnMismatch::Deny)));
        }
        tasks
    }
}

impl FromStr for TaskName {
    type Err = ParseTaskNameError;

    fn from_str(text: &str) -> Result<Self, ParseTaskNameError> {
        let legal =
            |(at, c): (usize, char)| c.is_ascii_lowercase() || (at > 0 && (c.is_ascii_digit() || c == '_' || c == '-'));
        if (1..=64).contains(&text.len()) && text.char_indices().all(legal) {
            Ok(Self(text.into()))
        } else {
            Err(ParseTaskNameError(visible(text, 80)))
        }
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Explain for ParseTaskNameError {
    fn code(&self) -> Code {
        Code::new("task-name")
    }

    fn why(&self) -> String {
        "the name of a task is part of the address that its clients connect to".into()
    }

    fn fix(&self) -> String {
        "use at most 64 lower-case letters, digits, `-` and `_`, beginning with a letter".into()
    }
}

impl Explain for UnknownTask {
    fn code(&self) -> Code {
        Code::new("task-unknown")
    }

    fn why(&self) -> String {
        "a task that nobody described expects nothing, and would let everything through".into()
    }

    fn fix(&self) -> String {
        format!("describe it under `[tasks.{}]` in `toolmark.toml`, or use one of {}", self.name, self.known.join(", "))
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("name", self.name.as_str().into()), ("known", self.known.clone().into())])
    }
}
