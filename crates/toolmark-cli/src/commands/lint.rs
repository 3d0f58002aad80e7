//! `toolmark lint`: what is wrong with these tools, for people, programs and code scanning.

use serde_json::json;
use toolmark_core::explain::{Code, Explain};
use toolmark_lint::{Options, RuleId, TextOptions, declarations_json, render_text, render_toml, rules};

use crate::cli::{Lint, Suggest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{input, output};

/// A rule that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnknownRule(String);

pub(crate) fn run(arguments: &Lint) -> Result<Exit, Failure> {
    if arguments.list_rules {
        return list_rules(arguments.json);
    }
    let mut options = Options::default().at_least(arguments.min_severity);
    for rule in &arguments.rules {
        let rule: RuleId = rule.parse().map_err(|error: toolmark_lint::ParseRuleIdError| {
            Failure::refused(Exit::BadInput, &UnknownRule(error.to_string()))
        })?;
        options = options.only(rule);
    }
    let paths = [arguments.paths.as_slice(), arguments.tools.paths.as_slice()].concat();
    // What cannot be read becomes a finding, so that one report holds everything.
    let catalog = input::snapshot(&paths)?.into_builder().build_partly();
    let written = Written::find(arguments.config.as_deref())?;
    for tool in catalog.tools() {
        if let Some(behavior) = written.said(tool) {
            options = options.declared(tool.canonical().clone(), behavior);
        }
    }
    let lint = toolmark_lint::lint(&catalog, &options);
    if let Some(who) = arguments.suggest {
        match who {
            Suggest::Operator => output::line(render_toml(&lint).trim_end())?,
            Suggest::Publisher => output::json(&declarations_json(&lint))?,
        }
    } else if arguments.sarif {
        output::json(&lint.to_sarif())?;
    } else if arguments.json {
        output::json(&lint.to_json())?;
    } else {
        let options = TextOptions { color: output::uses_colour(), ..TextOptions::default() };
        output::line(render_text(&lint, options).trim_end())?;
    }
    Ok(match input::exit_of(&catalog) {
        Exit::Success if arguments.fail_on.is_reached_by(lint.worst()) => Exit::Findings,
        exit => exit,
    })
}

fn list_rules(json: bool) -> Result<Exit, Failure> {
    if json {
        let all = rules().map(|rule| {
            json!({"id": rule.id(), "severity": rule.severity(), "summary": rule.summary(), "why": rule.why(), "fix": rule.fix()})
        });
        output::json(&json!({"rules": all.collect::<Vec<_>>()}))?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["rule", "severity", "finds"]);
    for rule in rules() {
        table.add_row([rule.id(), rule.severity().as_str(), rule.summary()]);
    }
    output::line(table.trim_fmt())?;
    Ok(Exit::Success)
}

impl Explain for UnknownRule {
    fn code(&self) -> Code {
        Code::new("rule-unknown")
    }

    fn why(&self) -> String {
        "a check that was misspelled would silently not run".into()
    }

    fn fix(&self) -> String {
        "list the rules with `toolmark lint --list-rules`".into()
    }
}
