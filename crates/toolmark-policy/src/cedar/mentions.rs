//! What a policy looks at: whatever it does not look at need not be built, and a decision that looks at no arguments can be kept.

use serde_json::Value;

/// Which parts of a call a policy can tell apart. Where in doubt, all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    pub(super) arguments: bool,
    /// The arguments as one text.
    pub(super) json: bool,
    pub(super) facts: bool,
    pub(super) behavior: bool,
    pub(super) task: bool,
    pub(super) agent: bool,
    pub(super) session: bool,
    /// The principal is used in a way that would miss agents or sessions of the same caller.
    pub(super) misuses_principal: bool,
}

impl Mentions {
    /// Reads the JSON form of a policy.
    pub(super) fn of(policy: &Value) -> Self {
        let mut mentions = Self::default();
        for part in ["action", "resource"] {
            mentions.see(policy.get(part).unwrap_or(&Value::Null));
        }
        let principal = policy.get("principal").unwrap_or(&Value::Null);
        mentions.see(principal);
        let exactly = principal.get("op").is_some_and(|op| op == "==" || op == "is");
        let named = principal.get("entity_type").or_else(|| principal.get("entity")?.get("type"));
        mentions.misuses_principal = exactly && named.is_some_and(|name| name != "Session");
        let conditions = policy.get("conditions").and_then(Value::as_array);
        conditions.into_iter().flatten().for_each(|condition| mentions.see(condition));
        mentions
    }

    /// True when what it says depends on more than who calls which tool for which task.
    pub(super) fn depends_on_the_call(self) -> bool {
        self.arguments || self.facts
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            arguments: self.arguments || other.arguments,
            json: self.json || other.json,
            facts: self.facts || other.facts,
            behavior: self.behavior || other.behavior,
            task: self.task || other.task,
            agent: self.agent || other.agent,
            session: self.session || other.session,
            misuses_principal: self.misuses_principal || other.misuses_principal,
        }
    }

    fn see(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.see(item)),
            Value::Object(members) => {
                for (key, member) in members {
                    match (key.as_str(), variable(member.get("left"))) {
                        ("." | "has", Some("context")) => self.see_attribute(member.get("attr")),
                        ("in", Some("principal")) => self.see(member.get("right").unwrap_or(&Value::Null)),
                        ("is", Some("principal"))
                            if member.get("entity_type").is_some_and(|kind| kind == "Session") =>
                        {
                            self.session = true;
                        }
                        ("==" | "!=", Some("principal")) if is_session(member.get("right")) => self.session = true,
                        ("Var", _) if member == "context" => self.see_everything(),
                        ("Var", _) if member == "principal" => self.misuses_principal = true,
                        ("type" | "entity_type", _) => self.see_type(member),
                        _ => {
                            self.json |= member.get("attr").is_some_and(|attribute| attribute == "json");
                            self.see(member);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn see_attribute(&mut self, attribute: Option<&Value>) {
        let path: Vec<&str> = match attribute {
            Some(Value::Array(path)) => path.iter().filter_map(Value::as_str).collect(),
            other => other.and_then(Value::as_str).into_iter().collect(),
        };
        match path.first() {
            Some(&"arguments") => {
                self.arguments = true;
                self.json |= path.contains(&"json");
            }
            Some(&"facts") => self.facts = true,
            Some(&"task") => self.task = true,
            Some(&"agent") => self.agent = true,
            Some(&"session") => self.session = true,
            Some(&"behavior") => self.behavior = true,
            Some(&"caller") => {}
            _ => self.see_everything(),
        }
    }

    fn see_type(&mut self, name: &Value) {
        self.agent |= name == "Agent";
        self.session |= name == "Session";
    }

    fn see_everything(&mut self) {
        let misuses_principal = self.misuses_principal;
        *self = Self {
            arguments: true,
            json: true,
            facts: true,
            behavior: true,
            task: true,
            agent: true,
            session: true,
            misuses_principal,
        };
    }
}

fn variable(expression: Option<&Value>) -> Option<&str> {
    expression?.get("Var")?.as_str()
}

fn is_session(expression: Option<&Value>) -> bool {
    let entity = expression.and_then(|value| value.get("Value")?.get("__entity")?.get("type"));
    entity.is_some_and(|kind| kind == "Session")
}

#[cfg(test)]
mod tests {
    use cedar_policy::Policy;

    use super::*;

    fn of(scope: &str, condition: &str) -> Mentions {
        let text = format!("forbid({scope}) when {{ {condition} }};");
        Mentions::of(&Policy::parse(None, text).unwrap().to_json().unwrap())
    }

    const ANY: &str = "principal, action, resource";

    #[test]
    fn only_what_is_looked_at_is_mentioned() {
        let none = Mentions::default();
        assert_eq!(of(ANY, "true"), none);
        assert_eq!(of(ANY, "context.caller like \"a*\""), none);
        assert_eq!(of(ANY, "context.behavior.action == \"DELETE\""), Mentions { behavior: true, ..none });
        assert_eq!(of(ANY, "resource.canonical == \"context.arguments\""), none);
        assert_eq!(of(ANY, "context has task && context.task == \"x\""), Mentions { task: true, ..none });
        assert_eq!(of(ANY, "context.facts.unclear"), Mentions { facts: true, ..none });
        assert_eq!(of(ANY, "context.arguments.text.hasTag(\"a\")"), Mentions { arguments: true, ..none });
        let json = Mentions { arguments: true, json: true, ..none };
        assert_eq!(of(ANY, "context.arguments.json like \"*x*\""), json);
        assert_eq!(of(ANY, "context has arguments.json"), json);
        assert_eq!(of(ANY, "principal in Agent::\"a\""), Mentions { agent: true, ..none });
        assert_eq!(of("principal in Session::\"a\", action, resource", "true"), Mentions { session: true, ..none });
        assert_eq!(of(ANY, "principal is Session"), Mentions { session: true, ..none });
    }

    #[test]
    fn the_whole_context_is_everything() {
        let all = of(ANY, "[context].contains(context)");
        assert!(all.arguments && all.json && all.facts && all.task && all.agent && all.session);
    }

    #[test]
    fn a_principal_that_is_compared_as_if_it_were_the_caller_is_noticed() {
        for condition in [
            "principal == Caller::\"a\"",
            "Caller::\"a\" == principal",
            "principal != Agent::\"a\"",
            "principal is Agent",
            "principal is Caller in Caller::\"a\"",
            "[Caller::\"a\"].contains(principal)",
        ] {
            assert!(of(ANY, condition).misuses_principal, "{condition}");
        }
        for scope in [
            "principal == Caller::\"a\"",
            "principal == Agent::\"a\"",
            "principal is Agent",
            "principal is Caller in Caller::\"a\"",
        ] {
            assert!(of(&format!("{scope}, action, resource"), "true").misuses_principal, "{scope}");
        }
        for condition in ["principal in Caller::\"a\"", "principal in [Agent::\"a\"]", "principal == Session::\"a\""] {
            assert!(!of(ANY, condition).misuses_principal, "{condition}");
        }
    }
}
