//! Who a rule is about: a caller by name, or the agent or session that the call comes through.

use std::fmt;

use super::Glob;
use crate::request::Caller;

/// `alice`, `ci-*`, `agent:assistant`, `session:7f…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerPattern {
    part: Part,
    glob: Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Name,
    Agent,
    Session,
}

impl CallerPattern {
    /// Reads a pattern. Every text is one; `agent:` and `session:` say what the rest is about.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (part, rest) = match (text.strip_prefix("agent:"), text.strip_prefix("session:")) {
            (Some(agent), _) => (Part::Agent, agent),
            (_, Some(session)) => (Part::Session, session),
            _ => (Part::Name, text),
        };
        Self { part, glob: Glob::new(rest) }
    }

    /// True when it means this caller.
    #[must_use]
    pub fn matches(&self, caller: Caller<'_>) -> bool {
        let found = match self.part {
            Part::Name => Some(caller.name()),
            Part::Agent => caller.agent(),
            Part::Session => caller.session(),
        };
        found.is_some_and(|found| self.glob.matches(found))
    }
}

impl fmt::Display for CallerPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.part {
            Part::Name => "",
            Part::Agent => "agent:",
            Part::Session => "session:",
        })?;
        self.glob.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_meant_by_name_agent_or_session() {
        let caller = Caller::new("alice").through_agent("assistant").in_session("7f3a");
        for (text, expected) in [
            ("alice", true),
            ("a*", true),
            ("bob", false),
            ("assistant", false),
            ("agent:assistant", true),
            ("agent:*", true),
            ("session:7f*", true),
            ("session:alice", false),
        ] {
            assert_eq!(CallerPattern::new(text).matches(caller), expected, "{text}");
            assert_eq!(CallerPattern::new(text).to_string(), text);
        }
        assert!(!CallerPattern::new("agent:*").matches(Caller::new("alice")));
    }
}
