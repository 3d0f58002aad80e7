//! What of a tool decides how its options are to be read: whether it changes anything, what it does, which arguments name an operation.

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::inference::{Inference, Mode};
use toolmark_core::tool::Tool;

use crate::carriers::words;

/// How the options of a tool are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// False when everything speaks for a tool that only reads.
    pub(super) changes: bool,
    /// What it usually does, where that is known.
    pub(super) action: Option<Action>,
    /// It waits as long as it is told.
    pub(super) waits: bool,
    /// It decides on what others ask for.
    pub(super) reviews: bool,
    /// Arguments whose free text names an operation.
    pub(super) verbs: Vec<String>,
    /// Flags of which the publisher says that they cannot be undone or that they open something to everybody.
    pub(super) marked: Vec<(String, &'static str)>,
    /// Every call of it acts on all there is.
    sweep: Option<Sweep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    Deletes,
    Restores,
    Grants,
}

/// One flag with what is said about it.
pub(crate) struct Described<'a> {
    pub(crate) pointer: &'a str,
    /// Its name in its plain form.
    pub(crate) key: &'a str,
    /// Its description in lower case.
    pub(crate) says: &'a str,
    /// Its values are free text.
    pub(crate) text: bool,
    /// It is a program already.
    pub(crate) carries: bool,
}

impl Manner {
    /// Looks at a tool and its arguments.
    pub(crate) fn of<'a>(tool: &Tool, parameters: impl Iterator<Item = Described<'a>>) -> Option<Self> {
        let name = words(tool.raw().as_str());
        let named = |any: &[&str]| name.iter().any(|word| any.contains(&word.as_str()));
        let inference = Inference::of(tool.definition(), Mode::WithoutHints);
        let changes = inference.mutability.value() != Some(Mutability::Pure);
        let action = inference.action.value();
        let mut manner = Self {
            changes,
            action,
            waits: named(&["wait", "sleep", "delay", "pause"]),
            reviews: named(&["review", "reviews", "approval", "approvals", "request", "requests", "access"]),
            verbs: Vec::new(),
            marked: Vec::new(),
            sweep: Sweep::of(&name, changes, action),
        };
        let mut takes_any = false;
        for parameter in parameters {
            takes_any = true;
            let name = parameter.pointer.trim_start_matches('/').to_owned();
            if parameter.text && !parameter.carries && is_operation(parameter.key) {
                manner.verbs.push(name);
            } else if !parameter.text && changes && !parameter.key.starts_with("confirm") {
                manner.marked.extend(mark(parameter.says).map(|why| (name, why)));
            }
        }
        (takes_any || manner.sweep.is_some()).then_some(manner)
    }

    /// The effect that every call of the tool has, whatever its options.
    pub(super) fn sweeps(&self) -> Option<Effect> {
        Some(match self.sweep? {
            Sweep::Deletes => Effect::mutating(Action::Delete, "empties or drops the whole of something").unbounded(),
            Sweep::Restores => {
                Effect::mutating(Action::Overwrite, "puts an old state in the place of all there is").unbounded()
            }
            Sweep::Grants => Effect::mutating(Action::Update, "grants everything that is asked for")
                .unbounded()
                .with(Danger::Privilege),
        })
    }

    /// True when the tool takes away or replaces.
    pub(super) fn takes_away(&self) -> bool {
        self.changes
            && !matches!(
                self.action,
                Some(Action::Create | Action::Append | Action::Send | Action::Read | Action::Search | Action::Merge)
            )
    }

    /// What an option that goes further does: the same as the tool, unless the tool only adds.
    pub(super) fn further(&self, otherwise: Action) -> Action {
        match self.action {
            Some(action @ (Action::Delete | Action::Update | Action::Overwrite | Action::Merge)) => action,
            _ => otherwise,
        }
    }
}

impl Sweep {
    fn of(name: &[String], changes: bool, action: Option<Action>) -> Option<Self> {
        let named = |any: &[&str]| name.iter().any(|word| any.contains(&word.as_str()));
        let all = named(&["all", "everything"]);
        if !changes {
            return None;
        }
        let whole =
            ["database", "db", "collection", "table", "tables", "schema", "index", "view", "keyspace", "bucket"];
        let deletes = action == Some(Action::Delete)
            && (named(&["truncate", "flush", "flushall", "flushdb", "wipe", "purge", "erase"])
                || named(&["drop"]) && named(&whole)
                || all && named(&["delete", "remove", "clear", "destroy", "drop"]));
        let grants = all && named(&["approve", "grant", "confirm", "accept"]);
        let restores = named(&["restore", "rollback"]) && named(&["backup", "database", "db", "snapshot", "system"]);
        if deletes {
            Some(Self::Deletes)
        } else if restores {
            Some(Self::Restores)
        } else if grants {
            Some(Self::Grants)
        } else {
            None
        }
    }
}

/// Names of arguments that name an operation.
fn is_operation(key: &str) -> bool {
    matches!(key, "command" | "operation" | "operationname" | "apioperation" | "action" | "subcommand")
}

/// What a publisher says that makes a flag grave.
fn mark(says: &str) -> Option<&'static str> {
    const MARKS: &[(&str, &str)] = &[
        ("permanently", "cannot be taken back"),
        ("cannot be undone", "cannot be taken back"),
        ("can't be undone", "cannot be taken back"),
        ("cannot be recovered", "cannot be taken back"),
        ("irreversibl", "cannot be taken back"),
        ("publicly accessible", "opens it to everybody"),
        ("publicly visible", "opens it to everybody"),
        ("bypass branch protection", "gets around a guard"),
        ("bypass the protection", "gets around a guard"),
        ("bypass approval", "gets around a guard"),
        ("bypass permission", "gets around a guard"),
    ];
    MARKS.iter().find(|(text, _)| says.contains(text)).map(|(_, why)| *why)
}
