//! `[models.NAME]`: how a model is reached, under a name that agents and commands use.

use std::time::Duration;

use super::address::is_plain;
use super::foreign::DurationText;
use super::{is_header, is_web_address};
use crate::read::{Refused, Section, table, table_name};
use crate::values::{Entries, ModelText, Template, is_variable};

table! {
    /// A model and how it is reached.
    #[schemars(extend("required" = ["model"]))]
    pub struct ModelSection check check {
        /// Which: `openai:…`, `openai-chat:…`, `anthropic:…`, or `scripted:FILE` for one that follows a script.
        pub model: Option<ModelText>,
        /// The address in front of `/responses`, `/chat/completions` or `/v1/messages`; without it, the provider's own.
        pub base_url: Option<Template>,
        /// The variable of the environment that holds the key.
        pub key_variable: Option<String>,
        /// Headers that are sent with every request.
        pub headers: Entries<String, Template>,
        /// A PEM file with the certificates that the server's must lead to, in place of those that this machine believes.
        pub ca: Option<Template>,
        /// How long a whole answer may take.
        #[schemars(with = "Option<DurationText>")]
        pub timeout: Option<Duration>,
        /// How often it is asked when it cannot be reached or has too much to do; 1 is never again.
        pub attempts: Option<u32>,
        /// Whether a key may travel without encryption to another machine.
        pub allow_plain_http: bool,
        /// What it costs, to be shown before something is started.
        pub price: Option<Price>,
    }
}

table! {
    /// What a model costs, for a million tokens each, in whatever currency the bill has.
    #[schemars(extend("required" = ["input", "output"]))]
    pub struct Price check check_price {
        /// What is read.
        pub input: Option<f64>,
        /// What is produced.
        pub output: Option<f64>,
    }
}

impl Price {
    /// What so many tokens cost.
    #[must_use]
    pub fn of(&self, input: u64, output: u64) -> f64 {
        let part = |tokens: u64, price: Option<f64>| tokens as f64 * price.unwrap_or_default() / 1_000_000.0;
        part(input, self.input) + part(output, self.output)
    }
}

fn check(model: &ModelSection, section: &mut Section<'_, '_>) {
    let path = section.path().to_owned();
    if !section.has("model") {
        section.refuse(
            None,
            &Refused::Missing {
                table: table_name(&path),
                message: "has no `model`".into(),
                fix: "add `model = \"openai:gpt-5\"`, or another `provider:model`".into(),
            },
        );
    }
    let at = |key: &str, message: &str, fix: &str| Refused::value(message, fix).at_key(&format!("{path}.{key}"));
    if let Some(literal) = model.base_url.as_ref().and_then(Template::as_literal)
        && !is_web_address(literal.expose())
    {
        let error = at("base_url", "this is no address", "write `https://…`, without what the provider's path adds");
        section.refuse(Some("base_url"), &error);
    }
    if section.has("ca")
        && let Some(literal) = model.base_url.as_ref().and_then(Template::as_literal)
        && is_plain(literal.expose())
    {
        let fix = "write `https://` in `base_url`, or remove `ca`";
        section
            .refuse(Some("ca"), &at("ca", "the address is called without encryption, and shows no certificate", fix));
    }
    if model.key_variable.as_deref().is_some_and(|name| !is_variable(name)) {
        let fix = "write the name of the variable that holds the key, never the key itself";
        section.refuse(Some("key_variable"), &at("key_variable", "this is no name of a variable", fix));
    }
    for (name, _) in &model.headers {
        if !is_header(name) {
            let error = at("headers", "a header has a name that cannot be sent", "use letters, digits and `-`");
            section.refuse(Some("headers"), &error);
        }
    }
    if model.timeout.is_some_and(|timeout| timeout.is_zero()) {
        section.refuse(Some("timeout"), &at("timeout", "no model answers in no time", "write `10min` or the like"));
    }
    if model.attempts == Some(0) {
        section.refuse(Some("attempts"), &at("attempts", "it would never be asked", "write 1 for never again"));
    }
}

fn check_price(price: &Price, section: &mut Section<'_, '_>) {
    let path = section.path().to_owned();
    for (key, value) in [("input", price.input), ("output", price.output)] {
        if !section.has(key) {
            section.refuse(
                None,
                &Refused::Missing {
                    table: table_name(&path),
                    message: format!("has no `{key}`"),
                    fix: format!("add `{key} = 1.25`, for a million tokens"),
                },
            );
        } else if value.is_some_and(|value| value < 0.0) {
            let error = Refused::value("a price is not below nothing", "write what a million tokens cost");
            section.refuse(Some(key), &error.at_key(&format!("{path}.{key}")));
        }
    }
}
