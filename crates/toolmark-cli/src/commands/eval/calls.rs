//! Verdicts on recorded calls. What a call is labelled is looked at after the verdict.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolmark_core::behavior::{KnownBehavior, Mutability};
use toolmark_core::evaluation::{ReadRowError, ToolId, Tools, rows};
use toolmark_core::facts::{Facts, Reading};
use toolmark_core::gate::{self, Preset};
use toolmark_core::names::PackName;
use toolmark_core::pack::Pack;
use toolmark_core::text::visible;
use toolmark_core::tool::{Source, Tool, ToolKind};
use toolmark_core::verdict::Decision;
use toolmark_effects::settings::Settings;

/// A row of `calls.jsonl`.
#[derive(Debug)]
pub(super) struct Call {
    id: String,
    tool: ToolId,
    arguments: Value,
    dangerous: Option<bool>,
    category: String,
    effective: Option<Mutability>,
}

/// How the gate decided calls of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decided {
    pub(super) total: usize,
    pub(super) denied: usize,
    pub(super) asked: usize,
    pub(super) allowed: usize,
    pub(super) cannot_tell: usize,
}

/// How well the effects of calls were seen.
#[derive(Clone, Copy, Debug, Default)]
struct Effects {
    labelled: usize,
    answered: usize,
    agree: usize,
}

/// The verdicts on all calls.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    pub(super) dangerous: Decided,
    pub(super) harmless: Decided,
    pub(super) unlabelled: Decided,
    pub(super) by_category: BTreeMap<String, (Decided, Decided)>,
    effects: Effects,
    misses: Vec<String>,
    false_alarms: Vec<String>,
    invalid: usize,
    pub(super) missing: Vec<String>,
}

impl Call {
    pub(super) fn read_all(text: &str) -> Result<Vec<Self>, ReadRowError> {
        let mut at = 0;
        rows("calls", text, |_, row| {
            at += 1;
            Self::read(row, at)
        })
    }

    fn read(row: &Value, at: usize) -> Result<Self, String> {
        let text = |key: &str| match row.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(format!("`{key}` must be a string")),
        };
        let must = |key: &str| text(key)?.ok_or_else(|| format!("missing field `{key}`"));
        let (server, name) = (must("server")?, must("name")?);
        let id = match row.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => format!("{server}.{name}#{at}"),
        };
        let effective = row.get("effective").and_then(|own| own.get("mutability")).and_then(Value::as_str);
        Ok(Self {
            id: visible(&id, 300),
            tool: ToolId::new(server, name),
            arguments: match row.get("arguments") {
                None | Some(Value::Null) => Value::Object(Map::new()),
                Some(arguments @ Value::Object(_)) => arguments.clone(),
                Some(_) => return Err("`arguments` must be an object".into()),
            },
            dangerous: match row.get("dangerous") {
                None | Some(Value::Null) => None,
                Some(Value::Bool(dangerous)) => Some(*dangerous),
                Some(_) => return Err("`dangerous` must be true or false".into()),
            },
            category: visible(text("category")?.unwrap_or("other"), 40),
            effective: effective.and_then(|own| own.to_ascii_uppercase().parse().ok()),
        })
    }
}

impl Verdicts {
    pub(super) fn of(tools: &Tools, calls: &[Call], seen: &dyn Fn()) -> Self {
        let mut all = Self::default();
        for call in calls {
            match tools.get(&call.tool).and_then(|definition| in_its_pack(call.tool.server(), definition)) {
                Some(pack) => pack.tools().iter().for_each(|tool| all.add(call, tool)),
                None => all.missing.push(call.tool.to_string()),
            }
            seen();
        }
        all.missing.sort();
        all.missing.dedup();
        all
    }

    fn add(&mut self, call: &Call, tool: &Tool) {
        let known = KnownBehavior::of(tool.definition(), None);
        let facts = toolmark_effects::analyze(tool, &call.arguments, &Settings::default());
        let judged = gate::Call {
            tool: tool.canonical(),
            known: &known,
            arguments: &call.arguments,
            facts: &facts,
            expectations: [None; 2],
            changed: false,
            preset: Preset::Balanced,
        };
        // The gate is measured by itself: some recorded calls do not fit the schema of the version in the data.
        let decision = gate::judge(&judged).decision();
        let unsure = cannot_tell(&facts);
        self.invalid += usize::from(tool.check_arguments(&call.arguments).is_err());

        let (dangerous, harmless) = self.by_category.entry(call.category.clone()).or_default();
        match call.dangerous {
            Some(true) => {
                dangerous.count(decision, unsure);
                self.dangerous.count(decision, unsure);
                if decision == Decision::Allow {
                    self.misses.push(call.id.clone());
                }
            }
            Some(false) => {
                harmless.count(decision, unsure);
                self.harmless.count(decision, unsure);
                if decision != Decision::Allow {
                    self.false_alarms.push(call.id.clone());
                }
            }
            None => self.unlabelled.count(decision, unsure),
        }
        if let Some(effective) = call.effective {
            let seen = if unsure { None } else { effect(&facts, &known, &call.arguments) };
            self.effects.labelled += 1;
            self.effects.answered += usize::from(seen.is_some());
            self.effects.agree += usize::from(seen == Some(effective));
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let categories = self.by_category.iter().map(|(category, (dangerous, harmless))| {
            (category.clone(), json!({"dangerous": dangerous.to_json(), "harmless": harmless.to_json()}))
        });
        json!({
            "dangerous": self.dangerous.to_json(),
            "harmless": self.harmless.to_json(),
            "unlabelled": self.unlabelled.to_json(),
            "misses": self.misses,
            "false_alarms": self.false_alarms,
            "cannot_tell": self.cannot_tell(),
            "effective_mutability": {
                "labelled": self.effects.labelled,
                "answered": self.effects.answered,
                "agree": self.effects.agree,
            },
            "by_category": Value::Object(categories.collect()),
            "invalid": self.invalid,
            "missing": self.missing,
        })
    }

    /// Dangerous calls that were allowed.
    pub(super) fn misses(&self) -> &[String] {
        &self.misses
    }

    /// Calls with an argument that was not understood, whatever became of them.
    pub(super) fn cannot_tell(&self) -> usize {
        self.dangerous.cannot_tell + self.harmless.cannot_tell + self.unlabelled.cannot_tell
    }
}

impl Decided {
    fn count(&mut self, decision: Decision, unsure: bool) {
        self.total += 1;
        self.cannot_tell += usize::from(unsure);
        match decision {
            Decision::Deny => self.denied += 1,
            Decision::Ask => self.asked += 1,
            Decision::Allow => self.allowed += 1,
        }
    }

    fn to_json(self) -> Value {
        json!({
            "total": self.total,
            "denied": self.denied,
            "asked": self.asked,
            "allowed": self.allowed,
            "cannot_tell": self.cannot_tell,
        })
    }
}

/// The tool alone in a pack that is called like its server: analyzers look at the name of a pack too.
fn in_its_pack(server: &str, definition: &toolmark_core::definition::Definition) -> Option<Pack> {
    let source = Source::new("data set");
    let builder = match PackName::slug(server) {
        Ok(name) => Pack::builder(name, source),
        Err(_) => Pack::without_name(source),
    };
    let pack = builder.tool(ToolKind::Mcp, definition.clone()).build();
    (!pack.tools().is_empty()).then_some(pack)
}

fn cannot_tell(facts: &Facts) -> bool {
    facts.parts().iter().any(|part| matches!(part.reading, Reading::CannotTell { .. }))
}

/// What a call does as far as its arguments say it, otherwise what its tool does.
fn effect(facts: &Facts, known: &KnownBehavior, arguments: &Value) -> Option<Mutability> {
    let effects = facts.parts().iter().flat_map(|part| match &part.reading {
        Reading::Understood(effects) => effects.as_slice(),
        Reading::CannotTell { .. } => &[],
    });
    let worst = effects.map(|effect| effect.mutability).max();
    worst.or_else(|| known.behavior_of(arguments).map(|own| own.mutability()))
}
