//! A rule as it stands under `[[rules]]` in `toolmark.toml`. Nothing is checked here but the shape; [`RuleBuilder`] reads the words.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{BuildRuleError, Patience, Rule, RuleBuilder};

/// One table of `[[rules]]`.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// `allow`, `ask` or `deny`.
    pub verdict: String,
    /// What the rule is called in reasons; `name` is accepted too.
    #[serde(default, alias = "name")]
    pub id: Option<String>,
    /// The tools it is about, in any spelling.
    #[serde(default)]
    pub tools: Option<OneOrMany<String>>,
    /// What the tool does, such as `MUTATES|DELETE|*`.
    #[serde(default)]
    pub behavior: Option<OneOrMany<String>>,
    /// What the arguments would do, such as `MUTATES|DELETE` or `unbounded`.
    #[serde(default)]
    pub effect: Option<OneOrMany<String>>,
    /// What arguments must be, by JSON pointer or dotted name.
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
    /// The task that the call belongs to.
    #[serde(default)]
    pub task: Option<OneOrMany<String>>,
    /// Who calls: a name, `agent:…` or `session:…`.
    #[serde(default)]
    pub caller: Option<OneOrMany<String>>,
    /// Why, in one line for people and models.
    #[serde(default)]
    pub reason: Option<String>,
    /// How long a question of it is open, and what then.
    #[serde(skip)]
    pub patience: Patience,
}

/// A value or a list of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl RuleConfig {
    /// Reads the words.
    ///
    /// # Errors
    /// [`BuildRuleError`] with everything that is wrong with it.
    pub fn build(&self) -> Result<Rule, BuildRuleError> {
        let mut rule = RuleBuilder::written(&self.verdict);
        if let Some(id) = &self.id {
            rule = rule.id(id);
        }
        if let Some(reason) = &self.reason {
            rule = rule.reason(reason);
        }
        rule = rule.patience(self.patience);
        rule = rule.all("tools", self.tools.as_ref(), RuleBuilder::tool);
        rule = rule.all("behavior", self.behavior.as_ref(), RuleBuilder::behavior);
        rule = rule.all("effect", self.effect.as_ref(), RuleBuilder::effect);
        rule = rule.all("task", self.task.as_ref(), RuleBuilder::task);
        rule = rule.all("caller", self.caller.as_ref(), RuleBuilder::caller);
        let arguments = self.arguments.iter().flatten();
        arguments.fold(rule, |rule, (path, pattern)| rule.argument(path, pattern.clone())).build()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(de::value::StrDeserializer::new(text)).map(|one| OneOrMany(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(OneOrMany(all))
    }
}
