//! `toolmark lint`: what is wrong with these tools, for people, programs and code scanning.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::severity::Severity;
use toolmark_gateway::labels::{Dead, Shadowed};
use toolmark_lint::{
    DeadLabel, Options, RuleId, ShadowedLabel, TextOptions, declarations_json, render_text, render_toml, rules,
};

use crate::exit::{Exit, FailOn};
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{input, output, place};

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// What to check: `tools/list` results, JSONL files, or folders of them [default: the packs of toolmark.toml as they were last seen, or the demo workspace]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Exit with 1 when a finding is at least this severe: info, low, medium, high, critical, or never
    #[arg(long, value_name = "SEVERITY", default_value = "high")]
    pub(crate) fail_on: FailOn,

    /// Show only findings that are at least this severe
    #[arg(long, value_name = "SEVERITY", default_value = "low")]
    pub(crate) min_severity: Severity,

    /// Show only findings of this rule; may be repeated
    #[arg(long = "rule", value_name = "RULE")]
    pub(crate) rules: Vec<String>,

    /// List the rules and stop
    #[arg(long)]
    pub(crate) list_rules: bool,

    /// Print the declarations that would settle the findings: `toolmark.toml` for the operator, JSON for the publisher
    #[arg(long, value_name = "WHO", conflicts_with_all = ["json", "sarif"])]
    pub(crate) suggest: Option<Suggest>,

    /// The configuration with what the operator says about tools [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,

    /// Print JSON
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,

    /// Print SARIF 2.1.0, for code scanning
    #[arg(long)]
    pub(crate) sarif: bool,
}

/// Who would declare what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suggest {
    /// Whoever runs Toolmark, in `toolmark.toml`
    Operator,
    /// Whoever publishes the tool, in its definition
    Publisher,
}

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
    let written = Written::find(arguments.config.as_deref())?;
    // What cannot be read becomes a finding, so that one report holds everything.
    let catalog = match paths.as_slice() {
        [] if !written.config.packs.is_empty() => place::tools(&written, &[], arguments.store.name.as_deref())?,
        paths => input::snapshot(paths)?.into_builder().build_partly(),
    };
    for tool in catalog.tools() {
        if let Some(behavior) = written.said(tool) {
            options = options.declared(tool.canonical().clone(), behavior);
        }
    }
    let labels = written.labels()?;
    let dead = labels.dead(&written.config, &catalog).into_iter();
    let shadowed = labels.shadowed(&catalog).into_iter();
    options = options.labels(toolmark_lint::Labels {
        table: labels.table(catalog.tools()),
        dead: dead.map(|Dead { key, near, place }| DeadLabel { key, near, place }).collect(),
        shadowed: shadowed
            .map(|Shadowed { key, language, text, shown, place }| ShadowedLabel { key, language, text, shown, place })
            .collect(),
    });
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
