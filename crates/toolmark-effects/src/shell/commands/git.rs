//! `git`: by verb and by options; whatever lets it run a program of the caller's choice is code.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::tables::git::VERBS;
use super::verbs::{behind, effect};
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Options, Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

/// The options in front of the verb.
const GLOBAL: Spec = Spec {
    short: "Cc",
    long: &["git-dir", "work-tree", "namespace", "exec-path", "config-env", "super-prefix", "attr-source"],
    stops: true,
};

/// Settings that run nothing, however they are set.
const HARMLESS_SETTINGS: &[&str] = &[
    "color.",
    "user.",
    "core.quotepath",
    "core.autocrlf",
    "core.abbrev",
    "core.longpaths",
    "core.ignorecase",
    "log.",
    "status.",
    "advice.",
    "init.defaultbranch",
    "column.",
    "grep.linenumber",
    "push.default",
    "pull.rebase",
    "pull.ff",
    "merge.ff",
    "fetch.prune",
    "gc.auto",
    "safe.directory",
    "diff.algorithm",
    "diff.renames",
    "commit.gpgsign",
    "tag.sort",
    "branch.sort",
    "http.postbuffer",
    "core.filemode",
    "rebase.autostash",
    "blame.",
];

/// Options with which a verb runs a program.
const RUNS: &[&str] =
    &["upload-pack", "receive-pack", "exec", "ext-diff", "open-files-in-pager", "extcmd", "tool", "template"];

/// Second words that only look.
const LOOKS: &[(&str, &[&str])] = &[
    ("stash", &["list", "show"]),
    ("remote", &["show", "get-url", "-v", "--verbose"]),
    ("worktree", &["list"]),
    ("submodule", &["status", "summary"]),
    ("reflog", &["show", "exists"]),
    ("notes", &["list", "show"]),
    ("bundle", &["verify", "list-heads"]),
    ("lfs", &["ls-files", "status", "env"]),
    ("sparse-checkout", &["list"]),
    ("bisect", &["log", "view"]),
    ("rerere", &["status", "diff"]),
    ("maintenance", &["help"]),
];

pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let global = options(call.args, GLOBAL);
    settings(call, walk, &global);
    let Some(verb) = global.operands.first() else {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    };
    if !verb.exact {
        walk.found.unclear("the verb of `git` is computed");
        return Input::Output;
    }
    let verb = verb.text.as_str();
    let args = behind(call.args, GLOBAL, 1);
    let long = &["message", "grep", "author", "since", "until", "format", "sort", "branch", "output", "max-count"];
    let spec = Spec { short: valued(verb), long, stops: false };
    let found = options(args, spec);
    let asks = found.flags.iter().any(|flag| flag.long && flag.name == "help");
    let runs = found
        .flags
        .iter()
        .any(|flag| flag.long && RUNS.iter().any(|name| flag.name.len() > 2 && name.starts_with(flag.name)))
        || (verb == "grep" && found.has("O", ""))
        || (matches!(verb, "clone" | "ls-remote") && found.has("uc", "config"))
        || (verb == "rebase" && found.has("x", ""))
        || args.iter().any(|arg| arg.text.starts_with("ext::") || arg.text.starts_with("fd::"));
    if runs {
        walk.found.effect(call.runs());
    }
    if asks {
        walk.found.effect(call.pure(Action::Read));
    } else if let Some(flag) = found.get("", "output") {
        walk.found.effect(redirect::write(&Arg::exact(flag.value.unwrap_or_default()), Action::Overwrite));
    } else {
        decide(call, walk, verb, args, &found);
    }
    if found.uncertain
        && args.iter().any(|arg| arg.floating && !arg.text.starts_with('-'))
        && !matches!(verb, "add" | "commit" | "log" | "show" | "diff")
    {
        walk.found.unclear(format!("an option of `git {verb}` may come out of a variable"));
    }
    if matches!(verb, "ls-files" | "diff" | "grep" | "ls-tree" | "status" | "log" | "rev-list") {
        Input::Names
    } else {
        Input::Output
    }
}

/// Short options of a verb that take a value.
fn valued(verb: &str) -> &'static str {
    match verb {
        "log" | "shortlog" | "rev-list" | "whatchanged" | "reflog" | "show" | "diff" => "nSGLUlO",
        "grep" => "efABCm",
        "commit" | "tag" | "merge" | "revert" | "notes" => "mFCu",
        "stash" => "m",
        "push" => "o",
        "clone" => "boj",
        "blame" | "annotate" => "L",
        _ => "",
    }
}

/// Notes what the options in front of the verb can run.
fn settings(call: &Call<'_>, walk: &mut Walk<'_>, global: &Options<'_>) {
    for flag in &global.flags {
        let setting = flag.value.filter(|_| flag.is("c", ""));
        match setting {
            Some(setting) => {
                let lower = setting.to_ascii_lowercase();
                let pager = matches!(lower.as_str(), "core.pager=cat" | "core.pager=" | "core.pager=less");
                if !pager && !HARMLESS_SETTINGS.iter().any(|name| lower.starts_with(name)) {
                    walk.found.effect(call.runs());
                }
            }
            None if flag.is("", "config-env") || (flag.is("", "exec-path") && flag.value.is_some()) => {
                walk.found.effect(call.runs());
            }
            None => {}
        }
    }
}

fn decide(call: &Call<'_>, walk: &mut Walk<'_>, verb: &str, args: &[Arg], found: &Options<'_>) {
    let second = found.operands.first().map(|arg| arg.text.as_str());
    let looks = LOOKS
        .iter()
        .find(|(name, _)| *name == verb)
        .is_some_and(|(_, words)| second.is_some_and(|word| words.contains(&word)));
    let dry = found.flags.iter().any(|flag| flag.long && flag.name == "dry-run")
        || (matches!(verb, "clean" | "push" | "rm" | "mv" | "add") && found.has("n", ""));
    let effect = match verb {
        _ if looks || dry => call.pure(Action::Read),
        "branch" => branch(call, found),
        "tag" => tag(call, found),
        "remote" => match second {
            None => call.pure(Action::Read),
            Some("add") => call.mutating(Action::Create),
            Some("remove" | "rm") => call.mutating(Action::Delete),
            Some(_) => call.mutating(Action::Update),
        },
        "stash" => match second {
            Some("drop") => call.mutating(Action::Delete),
            Some("clear") => call.mutating(Action::Delete).unbounded(),
            Some("apply" | "pop") => call.mutating(Action::Update),
            _ => call.mutating(Action::Create),
        },
        "reflog" if second.is_none() => call.pure(Action::Read),
        "reflog" => call.mutating(Action::Delete),
        "config" => config(call, found),
        "commit" if found.has("", "amend") => call.mutating(Action::Overwrite),
        "commit" => call.mutating(Action::Create),
        "checkout" | "restore" => checkout(call, verb, found),
        "reset" if found.has_any(&["hard", "merge", "keep"]) => call.mutating(Action::Overwrite).unbounded(),
        "reset" => call.mutating(Action::Update),
        "clean" => call.mutating(Action::Delete).unbounded(),
        "push" => push(call, found),
        "apply" if found.has_any(&["check", "stat", "numstat", "summary"]) && !found.has("", "apply") => {
            call.pure(Action::Read)
        }
        "apply" => call.mutating(Action::Update),
        "symbolic-ref" if found.operands.len() < 2 && found.flags.is_empty() => call.pure(Action::Read),
        "symbolic-ref" => call.mutating(Action::Update),
        "update-ref" if found.has("d", "") => call.mutating(Action::Delete),
        "worktree" if matches!(second, Some("remove" | "prune")) => call.mutating(Action::Delete),
        "rm" => call.changing(call.mutating(Action::Delete), found.operands.iter().copied()),
        "add" => call.mutating(Action::Update),
        "switch" if found.has("fC", "discard-changes") => call.mutating(Action::Overwrite).unbounded(),
        "archive" if found.has("o", "output") => call.mutating(Action::Overwrite),
        "show" | "cat-file" | "grep" => call.reading(by_verb(call, verb), found.operands.iter().copied()),
        "submodule" if second == Some("foreach") => return foreach(walk, args),
        "bisect" if second == Some("run") => {
            walk.run(args.get(1..).unwrap_or_default(), &Input::Inherit);
            return;
        }
        "mergetool" | "difftool" => call.runs(),
        _ if VERBS.iter().any(|(name, _)| *name == verb) => by_verb(call, verb),
        _ => {
            walk.found
                .unclear(format!("`git {}` is not known; it may be an alias", toolmark_core::text::visible(verb, 40)));
            return;
        }
    };
    walk.found.effect(effect);
}

fn by_verb(call: &Call<'_>, verb: &str) -> Effect {
    let does = VERBS.iter().find(|(name, _)| *name == verb).map(|(_, does)| *does);
    does.and_then(|does| effect(call, does)).unwrap_or_else(|| call.runs())
}

fn branch(call: &Call<'_>, found: &Options<'_>) -> Effect {
    if found.has("dD", "delete") {
        call.mutating(Action::Delete)
    } else if found.has("mMcCu", "move")
        || found.has_any(&["copy", "set-upstream-to", "unset-upstream", "edit-description"])
    {
        call.mutating(Action::Update)
    } else if found.operands.is_empty()
        || found.has("larv", "list")
        || found.has_any(&["contains", "merged", "no-merged", "points-at", "show-current", "all", "remotes"])
    {
        call.pure(Action::Read)
    } else if found.has("f", "force") {
        call.mutating(Action::Overwrite)
    } else {
        call.mutating(Action::Create)
    }
}

fn tag(call: &Call<'_>, found: &Options<'_>) -> Effect {
    if found.has("d", "delete") {
        call.mutating(Action::Delete)
    } else if found.operands.is_empty()
        || found.has("lnv", "list")
        || found.has_any(&["contains", "points-at", "merged", "verify"])
    {
        call.pure(Action::Read)
    } else if found.has("f", "force") {
        call.mutating(Action::Overwrite)
    } else {
        call.mutating(Action::Create)
    }
}

fn config(call: &Call<'_>, found: &Options<'_>) -> Effect {
    let first = found.operands.first().map(|arg| arg.text.as_str()).unwrap_or_default();
    let edits =
        found.has_any(&["unset", "unset-all", "edit", "replace-all", "add", "rename-section", "remove-section"])
            || found.has("e", "");
    let looks = found.has("l", "list") || found.flags.iter().any(|flag| flag.long && flag.name.starts_with("get"));
    let one = found.operands.len() == 1 && !matches!(first, "edit" | "set" | "unset");
    if !edits && (looks || one || matches!(first, "get" | "list") || found.operands.is_empty()) {
        let secret = found.operands.iter().any(|arg| {
            arg.text.contains("credential") || arg.text.contains("token") || arg.text.contains("extraheader")
        });
        let effect = call.pure(Action::Read);
        return if secret { effect.with(Danger::Secret) } else { effect };
    }
    let mut effect = call.mutating(Action::Update);
    let key =
        if first == "set" { found.operands.get(1).map(|arg| arg.text.as_str()).unwrap_or_default() } else { first };
    let lower = key.to_ascii_lowercase();
    if !HARMLESS_SETTINGS.iter().any(|name| lower.starts_with(name)) {
        effect = effect.with(Danger::Code);
    }
    if found.has_any(&["global", "system"]) { effect.with(Danger::Escape) } else { effect }
}

fn checkout(call: &Call<'_>, verb: &str, found: &Options<'_>) -> Effect {
    let whole = found.operands.iter().any(|arg| matches!(arg.text.as_str(), "." | "./" | ":/" | "*"));
    let paths = call.args.iter().any(|arg| arg.text == "--");
    if whole || found.has("f", "force") {
        call.mutating(Action::Overwrite).unbounded()
    } else if verb == "restore" || paths {
        call.mutating(Action::Overwrite)
    } else if found.has("bB", "orphan") {
        call.mutating(Action::Create)
    } else {
        call.mutating(Action::Update)
    }
}

fn push(call: &Call<'_>, found: &Options<'_>) -> Effect {
    let forced = found.has("f", "force") || found.flags.iter().any(|flag| flag.long && flag.name.starts_with("force"));
    let rewrites =
        forced || found.has_any(&["mirror", "prune"]) || found.operands.iter().any(|arg| arg.text.starts_with('+'));
    let deletes = found.has("d", "delete") || found.operands.iter().any(|arg| arg.text.starts_with(':'));
    let effect = if rewrites {
        call.mutating(Action::Overwrite).unbounded()
    } else if deletes {
        call.mutating(Action::Delete)
    } else {
        call.mutating(Action::Send)
    };
    effect.with(Danger::Outward)
}

fn foreach(walk: &mut Walk<'_>, args: &[Arg]) {
    let words: Vec<&str> =
        args.iter().filter(|arg| !arg.text.starts_with("--")).skip(1).map(|arg| arg.text.as_str()).collect();
    if args.iter().all(|arg| arg.exact) {
        walk.shell(&words.join(" "));
    } else {
        walk.found.unclear("`git submodule foreach` runs a text that is computed");
    }
}
