//! What a policy is asked about: one call, borrowed from whoever holds its parts.

use serde_json::Value;
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::facts::Facts;
use toolmark_core::tool::Tool;

/// One call that wants to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// What is known about what it does.
    pub behavior: &'a KnownBehavior,
    /// What its arguments would do.
    pub facts: &'a Facts,
    /// Its arguments.
    pub arguments: &'a Value,
    /// The task that it belongs to.
    pub task: Option<&'a str>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// Who calls: somebody, perhaps through an agent, perhaps in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller<'a> {
    name: &'a str,
    agent: Option<&'a str>,
    session: Option<&'a str>,
}

impl<'a> Caller<'a> {
    /// Somebody, known by the name that their credential gave them.
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        Self { name, agent: None, session: None }
    }

    /// The same through an agent.
    #[must_use]
    pub const fn through_agent(mut self, agent: &'a str) -> Self {
        self.agent = Some(agent);
        self
    }

    /// The same in a session.
    #[must_use]
    pub const fn in_session(mut self, session: &'a str) -> Self {
        self.session = Some(session);
        self
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The agent.
    #[must_use]
    pub const fn agent(&self) -> Option<&'a str> {
        self.agent
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> Option<&'a str> {
        self.session
    }

    /// The same without what nobody asks for.
    pub(crate) fn only(mut self, agent: bool, session: bool) -> Self {
        self.agent = self.agent.filter(|_| agent);
        self.session = self.session.filter(|_| session);
        self
    }
}
