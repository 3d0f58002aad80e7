//! `toolmark eval paper`: every figure of "Behavioral Identity for Tool Ecosystems" beside ours, on the real definitions of its
//! four servers, and why some figures cannot be had again. What it says of itself is data here; what we say is measured.

use serde_json::{Value, json};
use toolmark_core::behavior::{Behavior, BehaviorIdentity};
use toolmark_core::evaluation::{
    DataSet, Evaluation, Form, Label, PairScore, PairSeverity, ToolId, Tools, fits, minimal_call,
};
use toolmark_core::inference::{Inference, Mode};

use super::Files;
use crate::failure::Failure;
use crate::output;

/// The servers of the paper, with how many tools it counts on each.
const SERVERS: [(&str, usize); 4] = [("sqlite", 5), ("filesystem", 15), ("git", 10), ("github", 15)];

/// The groups of its first table.
const GROUPS: [(&str, &str, &[&str]); 4] = [
    ("{query}", "sqlite", &["read_query", "write_query"]),
    ("{owner, repo, pull_number}", "github", &["get_pull_request", "merge_pull_request"]),
    ("{q}", "github", &["search_code", "search_issues"]),
    ("{path}", "filesystem", &["read_file", "write_file", "delete_file"]),
];

/// Its fourth table: separated, of how many.
const SEPARATED: [(PairSeverity, usize, usize); 4] = [
    (PairSeverity::Critical, 3, 3),
    (PairSeverity::High, 3, 3),
    (PairSeverity::Medium, 3, 7),
    (PairSeverity::Low, 1, 2),
];

/// The pairs by which it shows what one field alone does.
const READ_WRITE: (&str, &str, &str, &str) = ("read/write", "sqlite", "read_query", "write_query");
const MERGE_UPDATE: (&str, &str, &str, &str) =
    ("merge/update", "github", "merge_pull_request", "update_pull_request_branch");
const CODE_ISSUES: (&str, &str, &str, &str) = ("code/issues", "github", "search_code", "search_issues");

/// Every figure of the paper with ours.
pub(super) struct Report(Vec<Figure>);

/// One figure.
struct Figure {
    name: String,
    paper: String,
    ours: Option<String>,
    third: Option<String>,
    note: String,
}

/// The built-in data set.
pub(super) fn files() -> Files {
    Files {
        tools: Some(include_str!("../../../paper/tools.jsonl").into()),
        labels: Some(include_str!("../../../paper/labels.jsonl").into()),
        pairs: Some(include_str!("../../../paper/pairs.jsonl").into()),
        calls: None,
        decisions: Some(include_str!("../../../paper/decisions.jsonl").into()),
    }
}

impl Report {
    pub(super) fn of(data: &DataSet, evaluation: &Evaluation) -> Self {
        let mut all = vec![tools(&data.tools)];
        all.extend(GROUPS.map(|(schema, server, names)| group(&data.tools, schema, server, names)));
        all.extend(behaviors(&data.tools));
        all.extend(single_fields(&data.tools));
        all.push(agreement(&data.tools, data.labels.as_deref().unwrap_or_default()));
        all.extend(evaluation.pairs.iter().flat_map(separation));
        all.push(Figure::lost("Table 5: agent correct / wrong", "82 / 8 of 90", ANSWERS));
        all.extend(evaluation.decisions.iter().map(|decisions| {
            let catch = |form: Form| {
                let catch = decisions.catch(form);
                let (both, behavior, schema) = (catch.both, catch.behavior_only, catch.schema_only);
                format!("{both} / {behavior} / {schema} / {} of {}", catch.neither, decisions.wrong)
            };
            Figure {
                name: "Table 5: caught by both / identity only / schema only / nobody".into(),
                paper: "3 / 4 / 0 / 1 of 8".into(),
                ours: Some(catch(Form::V1)),
                third: Some(catch(Form::V3)),
                note: ERRORS.into(),
            }
        }));
        all.push(Figure::lost(
            "Table 5: catch rate of identity / schema",
            "88 % / 38 %",
            "follow from the eight errors above",
        ));
        all.push(Figure::lost("Table 6: 30 held-out tools, strict agreement", "17 of 30", HELD_OUT));
        Self(all)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "reproduced": self.0.iter().filter(|figure| figure.outcome() == "reproduced").count(),
            "figures": self.0.iter().map(Figure::to_json).collect::<Vec<_>>(),
        })
    }

    pub(super) fn print(&self) -> Result<(), Failure> {
        output::line(output::painted(output::BOLD, "what the paper reports, and what its four servers say today"))?;
        let mut table = output::table(&["figure", "paper", "ours", "ours with v3", "outcome"]);
        for figure in &self.0 {
            let dash = || "–".to_owned();
            table.add_row([
                figure.name.clone(),
                figure.paper.clone(),
                figure.ours.clone().unwrap_or_else(dash),
                figure.third.clone().unwrap_or_else(dash),
                figure.outcome().to_owned(),
            ]);
        }
        output::line(table.trim_fmt())?;
        output::line("")?;
        for figure in self.0.iter().filter(|figure| !figure.note.is_empty()) {
            output::line(format_args!(" {}: {}", figure.name, figure.note))?;
        }
        Ok(output::line("")?)
    }
}

const ANSWERS: &str = "needs the 30 prompts and the answers of three models to them; neither is published";
const MODELS: &str = "needs the answers of three models for 45 tools, which are not published";
const ERRORS: &str = "the text names six of the eight errors, without their arguments; here a minimal call of the expected tool is \
                      checked against the chosen one. The text counts prompts G02 and G23 (two models each) and G15 as caught by identity \
                      only, which is five; the table says four. On the real server a comment needs a `body`, so the schema catches G15";
const HELD_OUT: &str =
    "the 30 tools are not named; docs/evaluation.md has our figures on servers that the classifier never saw";
const PAIRS: &str = "the paper names its 15 pairs only in part; these stand in for them, and two of them are from other servers, because \
                     the real ones have no delete and no streaming";

impl Figure {
    fn lost(name: &str, paper: &str, note: &str) -> Self {
        Self { name: name.into(), paper: paper.into(), ours: None, third: None, note: note.into() }
    }

    fn outcome(&self) -> &'static str {
        match &self.ours {
            None => "cannot be reproduced",
            Some(ours) if *ours == self.paper => "reproduced",
            Some(_) => "differs",
        }
    }

    fn to_json(&self) -> Value {
        let note = Some(self.note.as_str()).filter(|note| !note.is_empty());
        json!({
            "figure": self.name,
            "paper": self.paper,
            "ours": self.ours,
            "ours_v3": self.third,
            "outcome": self.outcome(),
            "note": note,
        })
    }
}

fn tools(tools: &Tools) -> Figure {
    let shown = |counts: Vec<usize>| {
        let each: Vec<String> = counts.iter().map(ToString::to_string).collect();
        format!("{} ({})", counts.iter().sum::<usize>(), each.join(", "))
    };
    let today = SERVERS.map(|(server, _)| tools.iter().filter(|(id, _)| id.server() == server).count());
    Figure {
        name: "§4.1: tools of SQLite, filesystem, git, GitHub".into(),
        paper: shown(SERVERS.map(|(_, count)| count).to_vec()),
        ours: Some(shown(today.to_vec())),
        third: None,
        note: "the servers have changed since; no version is named".into(),
    }
}

/// Whether a minimal call of each tool of a group passes the schema of each other.
fn group(tools: &Tools, schema: &str, server: &str, names: &[&str]) -> Figure {
    let schema_of =
        |name: &str| tools.get(&ToolId::new(server, name)).map(|own| own.reading().input_schema().to_value());
    let absent = names.iter().find(|name| schema_of(name).is_none());
    let refused = names
        .iter()
        .flat_map(|a| names.iter().map(move |b| (*a, *b)))
        .find(|(a, b)| matches!((schema_of(a), schema_of(b)), (Some(a), Some(b)) if !fits(&b, &minimal_call(&a))));
    let ours = match (absent, refused) {
        (Some(name), _) => format!("there is no {name}"),
        (None, Some((a, b))) => format!("{b} refuses a call of {a}"),
        (None, None) => "one call fits all".into(),
    };
    let note = if absent.is_some() {
        "the reference server cannot delete, and its write_file also takes `content`"
    } else {
        ""
    };
    Figure {
        name: format!("Table 1: {schema} {}", names.join(", ")),
        paper: "one call fits all".into(),
        ours: Some(ours),
        third: None,
        note: note.into(),
    }
}

fn behavior(tools: &Tools, server: &str, name: &str) -> Option<Behavior> {
    tools.get(&ToolId::new(server, name)).and_then(|own| Inference::of(own, Mode::Full).behavior())
}

/// The two behaviors that the paper spells out, and their identities.
fn behaviors(tools: &Tools) -> Vec<Figure> {
    let spelled = [("read_query", "PURE|READ|DATA"), ("write_query", "MUTATES|OVERWRITE|DATA")];
    spelled
        .map(|(name, paper)| Figure {
            name: format!("§3.2: {name}"),
            paper: paper.into(),
            ours: behavior(tools, "sqlite", name)
                .map(|own| format!("{}|{}|{}", own.mutability(), own.action(), own.output_domain())),
            third: behavior(tools, "sqlite", name)
                .and_then(|own| own.identity_v3())
                .map(|own: BehaviorIdentity| own.to_string()),
            note: match name {
                "write_query" => "the tool also inserts and deletes: what one call does is read from its SQL".into(),
                _ => String::new(),
            },
        })
        .into()
}

/// What one field alone separates, on the examples of the paper.
fn single_fields(tools: &Tools) -> Vec<Figure> {
    let apart = |(shown, server, a, b): (&str, &str, &str, &str), field: &dyn Fn(Behavior) -> String| {
        let (a, b) = (behavior(tools, server, a).map(field), behavior(tools, server, b).map(field));
        format!("{shown} {}", if a.is_some() && b.is_some() && a != b { "apart" } else { "together" })
    };
    let figure =
        |name: &str, paper: &str, pairs: [(&str, &str, &str, &str); 2], field: &dyn Fn(Behavior) -> String| Figure {
            name: format!("§3.4: {name} alone"),
            paper: paper.into(),
            ours: Some(pairs.map(|pair| apart(pair, field)).join(", ")),
            third: None,
            note: String::new(),
        };
    vec![
        figure("mutability", "read/write apart, merge/update together", [READ_WRITE, MERGE_UPDATE], &|own| {
            own.mutability().to_string()
        }),
        figure("action", "merge/update apart, code/issues together", [MERGE_UPDATE, CODE_ISSUES], &|own| {
            own.action().to_string()
        }),
        figure("output domain", "code/issues apart, read/write together", [CODE_ISSUES, READ_WRITE], &|own| {
            own.output_domain().to_string()
        }),
    ]
}

/// How many labelled tools get all three fields right, with and without names.
fn agreement(tools: &Tools, labels: &[Label]) -> Figure {
    let right = |mode: Mode| {
        let agrees = |label: &&Label| {
            let behavior = tools.get(label.tool()).and_then(|own| Inference::of(own, mode).behavior());
            behavior.is_some_and(|own| {
                let fields = [
                    ("mutability", own.mutability().to_string()),
                    ("action", own.action().to_string()),
                    ("output_domain", own.output_domain().to_string()),
                ];
                fields.iter().all(|(field, answer)| label.get(field).is_some_and(|all| all.admit(answer)))
            })
        };
        labels.iter().filter(agrees).count()
    };
    let (blind, full, all) = (right(Mode::SchemaOnly), right(Mode::Full), labels.len());
    Figure {
        name: "Table 3: strict / majority agreement of three models".into(),
        paper: "26 / 39 of 45".into(),
        ours: None,
        third: None,
        note: format!(
            "{MODELS}. The offline classifier agrees with the labels in all three fields on {blind} of {all} tools from the \
             schema alone (it abstains from most), and on {full} of {all} with names and descriptions"
        ),
    }
}

fn separation(pairs: &PairScore) -> Vec<Figure> {
    let count = |form: Form, severity: &PairSeverity| {
        pairs.form(form).and_then(|score| score.separated.get(severity)).copied().unwrap_or_default()
    };
    let shown = |(separated, total): (usize, usize)| format!("{separated} of {total}");
    let sum = |all: Vec<(usize, usize)>| {
        all.iter().fold((0, 0), |(separated, total), own| (separated + own.0, total + own.1))
    };
    let row = |name: &str, paper: (usize, usize), first: (usize, usize), third: (usize, usize), note: &str| Figure {
        name: format!("Table 4: {name} pairs separated"),
        paper: shown(paper),
        ours: Some(shown(first)),
        third: Some(shown(third)),
        note: note.into(),
    };
    let mut rows: Vec<Figure> = SEPARATED
        .iter()
        .map(|(severity, separated, total)| {
            let (first, third) = (count(Form::V1, severity), count(Form::V3, severity));
            row(severity.as_str(), (*separated, *total), first, third, "")
        })
        .collect();
    let total = |form: Form| sum(SEPARATED.iter().map(|(severity, ..)| count(form, severity)).collect());
    let paper = sum(SEPARATED.iter().map(|(_, separated, total)| (*separated, *total)).collect());
    rows.push(row("all", paper, total(Form::V1), total(Form::V3), PAIRS));
    rows
}
