//! Recorded decisions: which tool an agent should have called, which it called, and who would have noticed the difference.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::catch::{Catch, Compared, Form, Identities};
use super::minimal::minimal_call;
use super::rows::{ReadRowError, ToolId, rows};
use super::tools::{Named, Tools};

/// One decision of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    expected: Option<Chosen>,
    chosen: Option<Chosen>,
    arguments: Option<Value>,
    model: Option<String>,
}

/// A tool as a decision names it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Chosen {
    Tool(ToolId),
    Words(String),
}

/// Decisions against what was expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionScore {
    /// Decisions whose tools are in the set.
    pub total: usize,
    /// The expected tool was called.
    pub correct: usize,
    /// Another one was.
    pub wrong: usize,
    /// Correct ones that the schema would have stopped.
    pub correct_stopped: usize,
    /// None was called where one was expected: there is nothing to catch.
    pub no_call: usize,
    /// Who catches the wrong ones, by identity.
    pub catches: BTreeMap<Form, Catch>,
    by_model: BTreeMap<String, (usize, usize)>,
    missing: Vec<String>,
    uncaught: Vec<String>,
}

impl Decision {
    /// Reads `decisions.jsonl`. A tool is `{server, name}`, `server/name`, or a name that one server has.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that is not a decision.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ReadRowError> {
        rows("decisions", text, |_, row| {
            if row.get("expected").is_none() {
                return Err("missing field `expected`".into());
            }
            Ok(Self {
                expected: Chosen::read(row, "expected")?,
                chosen: Chosen::read(row, "chosen")?,
                arguments: match row.get("arguments") {
                    None | Some(Value::Null) => None,
                    Some(arguments @ Value::Object(_)) => Some(arguments.clone()),
                    Some(_) => return Err("`arguments` must be an object".into()),
                },
                model: row.get("model").and_then(Value::as_str).map(ToOwned::to_owned),
            })
        })
    }
}

impl Chosen {
    fn read(row: &Value, key: &str) -> Result<Option<Self>, String> {
        match row.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => Ok(Some(match row.get("server").and_then(Value::as_str) {
                Some(server) => Self::Tool(ToolId::new(server, name)),
                None => Self::Words(name.clone()),
            })),
            Some(_) => ToolId::under(row, key).map(Self::Tool).map(Some),
        }
    }

    fn find(&self, tools: &Tools) -> Result<ToolId, String> {
        match self {
            Self::Tool(id) if tools.get(id).is_some() => Ok(id.clone()),
            Self::Tool(id) => Err(id.to_string()),
            Self::Words(words) => match tools.named(words) {
                Named::One(id) => Ok(id),
                Named::Not(shown) => Err(crate::text::visible(&shown, 300)),
            },
        }
    }
}

impl DecisionScore {
    /// Scores decisions. The schema catches a wrong one when the recorded arguments do not fit the chosen tool, or, without
    /// arguments, when a minimal call of the expected tool does not.
    #[must_use]
    pub fn of(tools: &Tools, decisions: &[Decision], fits: &dyn Fn(&Value, &Value) -> bool) -> Self {
        let mut score = Self::default();
        let mut identities = Identities::new(tools);
        for decision in decisions {
            if let Err(missing) = score.add(tools, decision, &mut identities, fits) {
                score.missing.push(missing);
            }
        }
        score
    }

    fn add(
        &mut self,
        tools: &Tools,
        decision: &Decision,
        identities: &mut Identities<'_>,
        fits: &dyn Fn(&Value, &Value) -> bool,
    ) -> Result<(), String> {
        let expected = decision.expected.as_ref().map(|own| own.find(tools)).transpose()?;
        let chosen = decision.chosen.as_ref().map(|own| own.find(tools)).transpose()?;
        let correct = expected == chosen;
        self.total += 1;
        self.correct += usize::from(correct);
        self.wrong += usize::from(!correct);
        let (right, of) = self.by_model.entry(decision.model.clone().unwrap_or_default()).or_default();
        *right += usize::from(correct);
        *of += 1;
        let Some(chosen) = chosen else {
            self.no_call += usize::from(!correct);
            return Ok(());
        };
        let schema = |id: &ToolId| tools.get(id).map(|own| own.reading().input_schema().to_value());
        let arguments = decision.arguments.clone();
        let arguments = arguments.or_else(|| expected.as_ref().and_then(schema).map(|own| minimal_call(&own)));
        let stopped = match (schema(&chosen), arguments) {
            (Some(schema), Some(arguments)) => !fits(&schema, &arguments),
            _ => false,
        };
        if correct {
            self.correct_stopped += usize::from(stopped && decision.arguments.is_some());
            return Ok(());
        }
        for form in Form::ALL {
            // A call where none was expected has no identity to differ from, but is not the expected one either.
            let apart = expected.as_ref().is_none_or(|own| identities.compare(*form, own, &chosen) == Compared::Apart);
            self.catches.entry(*form).or_default().add(stopped, apart);
            if *form == Form::V3 && !stopped && !apart {
                self.uncaught.push(format!("{} | {chosen}", expected.as_ref().map_or("–".into(), ToString::to_string)));
            }
        }
        Ok(())
    }

    /// Tools of decisions that are not in the set, or not one.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Who catches the wrong ones, with one identity.
    #[must_use]
    pub fn catch(&self, form: Form) -> Catch {
        self.catches.get(&form).copied().unwrap_or_default()
    }

    /// The object that stands under `decisions`. `catch` is with the third identity, `catch_v1` with the paper's.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let models = self.by_model.iter().map(|(model, (correct, total))| {
            let model = if model.is_empty() { "unnamed" } else { model };
            (model.to_owned(), json!({"correct": correct, "total": total}))
        });
        json!({
            "total": self.total,
            "correct": self.correct,
            "correct_stopped_by_schema": self.correct_stopped,
            "wrong": self.wrong,
            "no_call": self.no_call,
            "catch": self.catch(Form::V3).to_json(),
            "catch_v1": self.catch(Form::V1).to_json(),
            "catch_v2": self.catch(Form::V2).to_json(),
            "uncaught": self.uncaught,
            "by_model": Value::Object(models.collect()),
            "missing": self.missing,
        })
    }
}
