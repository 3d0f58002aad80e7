//! `[policy]` and `[[rules]]`, as `docs/policy.md` describes them. What rules mean is decided by `toolmark-policy`.

use std::time::Duration;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, Report};
use toolmark_policy::{CedarDefault, OneOrMany, Patience, Preset, RuleConfig};

use super::foreign::{AnyTable, DefaultWord, DurationText, OneOrManyTexts, PresetWord, VerdictWord};
use crate::read::{FromToml, Node, Reader, Refused, Section, table, table_name};
use crate::values::OnTimeout;

table! {
    /// How calls are judged that no rule mentions, and where richer policies stand.
    #[schemars(rename = "Policy")]
    pub struct PolicySection {
        /// How strict Toolmark is by itself.
        #[schemars(with = "PresetWord")]
        pub preset: Preset,
        /// Files with Cedar policies; `*` stands for several.
        #[schemars(with = "OneOrManyTexts")]
        pub cedar: OneOrMany<String>,
        /// What holds where no Cedar policy permits.
        #[schemars(with = "DefaultWord")]
        pub default: CedarDefault,
    }
}

table! {
    /// A verdict with the conditions under which it is given. All conditions must hold.
    #[schemars(rename = "Rule", extend("required" = ["verdict"]))]
    pub struct RuleShape check check {
        /// What matching calls get.
        #[schemars(with = "VerdictWord")]
        pub verdict: String,
        /// What the rule is called in reasons.
        pub id: Option<String>,
        /// The same as `id`.
        pub name: Option<String>,
        /// Which tools, in any spelling, with `*`.
        #[schemars(with = "Option<OneOrManyTexts>")]
        pub tools: Option<OneOrMany<String>>,
        /// What the tool does, such as `MUTATES|DELETE|*`.
        #[schemars(with = "Option<OneOrManyTexts>")]
        pub behavior: Option<OneOrMany<String>>,
        /// What the arguments would do, such as `MUTATES|DELETE` or `unbounded`.
        #[schemars(with = "Option<OneOrManyTexts>")]
        pub effect: Option<OneOrMany<String>>,
        /// What arguments must be, by JSON pointer or dotted name.
        #[schemars(with = "Option<AnyTable>")]
        pub arguments: Option<Map<String, Value>>,
        /// The task of the call, with `*`.
        #[schemars(with = "Option<OneOrManyTexts>")]
        pub task: Option<OneOrMany<String>>,
        /// Who calls: a name, `agent:…` or `session:…`.
        #[schemars(with = "Option<OneOrManyTexts>")]
        pub caller: Option<OneOrMany<String>>,
        /// Why, in one line for people and models.
        pub reason: Option<String>,
        /// For `ask`: how long the question is open.
        #[schemars(with = "Option<DurationText>")]
        pub timeout: Option<Duration>,
        /// For `ask`: what becomes of the question then.
        pub on_timeout: Option<OnTimeout>,
    }
}

impl From<RuleShape> for RuleConfig {
    fn from(rule: RuleShape) -> Self {
        let RuleShape {
            verdict,
            id,
            name,
            tools,
            behavior,
            effect,
            arguments,
            task,
            caller,
            reason,
            timeout,
            on_timeout,
        } = rule;
        let patience = Patience { timeout, keeps: on_timeout.map(|then| then == OnTimeout::Keep) };
        Self { verdict, id: id.or(name), tools, behavior, effect, arguments, task, caller, reason, patience }
    }
}

impl FromToml for RuleConfig {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        RuleShape::from_toml(node, reader).map(Self::from)
    }
}

fn check(rule: &RuleShape, section: &mut Section<'_, '_>) {
    if !section.has("verdict") {
        section.refuse(
            None,
            &Refused::Missing {
                table: table_name(section.path()),
                message: "has no `verdict`".into(),
                fix: "add `verdict = \"allow\"`, `\"ask\"` or `\"deny\"`".into(),
            },
        );
        return;
    }
    if (section.has("timeout") || section.has("on_timeout")) && rule.verdict != "ask" {
        section.refuse(
            Some(if section.has("timeout") { "timeout" } else { "on_timeout" }),
            &Refused::Conflict {
                table: table_name(section.path()),
                message: "says how long a question is open, but asks none".into(),
                fix: "write `verdict = \"ask\"`, or remove `timeout` and `on_timeout`".into(),
            },
        );
    }
    if section.has("id") && section.has("name") {
        section.refuse(
            Some("name"),
            &Refused::Conflict {
                table: table_name(section.path()),
                message: "has both `id` and `name`, which mean the same".into(),
                fix: "remove `name`".into(),
            },
        );
    }
    if section.reads("verdict")
        && let Err(error) = RuleConfig::from(rule.clone()).build()
    {
        let path = section.path().to_owned();
        for report in error.reports() {
            section.refuse(Some(key_of(report)), &Refused::inner(&Reported(report)).at_key(&path));
        }
    }
}

/// The key that a complaint about a rule is about, as far as it tells.
fn key_of(report: &Report) -> &'static str {
    match report.code().as_str() {
        "behavior-value" | "behavior-syntax" | "behavior-contradiction" => "behavior",
        _ => "verdict",
    }
}

/// A finished report, told once more with its place.
#[derive(Debug)]
struct Reported<'r>(&'r Report);

impl std::fmt::Display for Reported<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.what())
    }
}

impl Explain for Reported<'_> {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn why(&self) -> String {
        self.0.why().to_owned()
    }

    fn fix(&self) -> String {
        self.0.fix().to_owned()
    }

    fn facts(&self) -> Map<String, Value> {
        self.0.facts().clone()
    }
}
