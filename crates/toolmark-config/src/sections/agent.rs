//! `[agents.NAME]`: an agent that Toolmark itself runs: its model, what it is told, which tools it may call and to whom it may hand over.

use std::time::Duration;

use serde_json::{Map, Value};
use toolmark_core::display::Icon;
use toolmark_core::text::visible;

use super::foreign::{AnyTable, DurationText, IconText};
use crate::read::{Refused, Section, table, table_name};
use crate::values::{Effort, Localized, ModelText, Name, Sentences};

table! {
    /// An agent.
    #[schemars(extend("required" = ["model"]))]
    pub struct Agent check check {
        /// The model that it uses: one of `[models]`, or `provider:model`.
        pub model: Option<ModelText>,
        /// What its model is told.
        pub instructions: Option<String>,
        /// What people call it: a text, or a text for each language.
        pub display_name: Option<Localized>,
        /// What people call handing over to it: a text, or a text for each language.
        pub handoff_name: Option<Localized>,
        /// What is said while it works for another agent: a text, or a text for each language.
        pub spoken: Option<Sentences>,
        /// A small picture: one emoji, or a picture as `data:` address.
        #[schemars(with = "Option<IconText>")]
        pub icon: Option<Icon>,
        /// What an agent reads that may hand over to it.
        pub description: Option<String>,
        /// The tools that it may call, by canonical, own or exposed name or by mark, with `*` for several; without it, none.
        pub tools: Vec<String>,
        /// The agents that it may hand over to.
        pub handoffs: Vec<Name>,
        /// The agents that it may ask as tools: each answers, and the conversation stays where it is.
        pub agents: Vec<Name>,
        /// The task that holds for its calls.
        pub task: Option<Name>,
        /// How often a model is asked at most in a run that begins with it.
        pub max_turns: Option<u32>,
        /// Whether the model may call several tools at once.
        pub parallel_tool_calls: Option<bool>,
        /// How the model answers.
        pub settings: AgentSettings,
    }
}

table! {
    /// How a model answers. What is left out is the provider's own default.
    pub struct AgentSettings check check_settings {
        /// How freely words are chosen.
        pub temperature: Option<f64>,
        /// From how much of the likely words.
        pub top_p: Option<f64>,
        /// The most tokens to produce.
        pub max_output_tokens: Option<u32>,
        /// How long to think.
        pub effort: Option<Effort>,
        /// The longest that a whole answer may take.
        #[schemars(with = "Option<DurationText>")]
        pub timeout: Option<Duration>,
        /// Further fields of the request, as the provider names them.
        #[schemars(with = "AnyTable")]
        pub extra: Map<String, Value>,
    }
}

fn check(agent: &Agent, section: &mut Section<'_, '_>) {
    let path = section.path().to_owned();
    if !section.has("model") {
        section.refuse(
            None,
            &Refused::Missing {
                table: table_name(&path),
                message: "has no `model`".into(),
                fix: "add `model = \"openai:gpt-5\"`, or the name of one of `[models]`".into(),
            },
        );
    }
    if let Some(at) = agent.tools.iter().position(String::is_empty) {
        let error = Refused::value("the text is empty", "write the name of a tool, or `*` for all");
        section.refuse(Some("tools"), &error.at_key(&format!("{path}.tools[{at}]")));
    }
    let twice = agent.tools.iter().enumerate().find(|(at, name)| agent.tools.iter().take(*at).any(|own| own == *name));
    if let Some((at, name)) = twice {
        let error = Refused::value(format!("`{}` stands there twice", visible(name, 80)), "remove one of them");
        section.refuse(Some("tools"), &error.at_key(&format!("{path}.tools[{at}]")));
    }
    if agent.max_turns == Some(0) {
        let error = Refused::value("its model would never be asked", "write at least 1");
        section.refuse(Some("max_turns"), &error.at_key(&format!("{path}.max_turns")));
    }
}

fn check_settings(settings: &AgentSettings, section: &mut Section<'_, '_>) {
    let path = section.path().to_owned();
    let mut refuse = |key: &str, message: &str, fix: &str| {
        section.refuse(Some(key), &Refused::value(message, fix).at_key(&format!("{path}.{key}")));
    };
    if settings.temperature.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        refuse("temperature", "it is not between 0 and 2", "write a number from 0 to 2");
    }
    if settings.top_p.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        refuse("top_p", "it is not between 0 and 1", "write a number from 0 to 1");
    }
    if settings.max_output_tokens == Some(0) {
        refuse("max_output_tokens", "nothing could be said", "write at least 1");
    }
    if settings.timeout.is_some_and(|timeout| timeout.is_zero()) {
        refuse("timeout", "no model answers in no time", "write `10min` or the like");
    }
}
