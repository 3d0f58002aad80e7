//! `kubectl`: getting reads, secrets are secret, `exec` is what it executes, and what names everything has no limit.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::verbs::behind;
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Options, Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

/// Options that take a value, in front of the verb or behind it.
const SPEC: Spec = Spec {
    short: "nlofcLkpsv",
    long: &[
        "namespace",
        "context",
        "cluster",
        "user",
        "kubeconfig",
        "server",
        "token",
        "as",
        "as-group",
        "request-timeout",
        "selector",
        "output",
        "filename",
        "container",
        "field-selector",
        "sort-by",
        "tail",
        "since",
        "since-time",
        "patch",
        "type",
        "replicas",
        "image",
        "port",
        "kustomize",
        "template",
        "grace-period",
        "timeout",
        "from-literal",
        "from-file",
        "overrides",
        "subresource",
        "verb",
        "resource",
        "serviceaccount",
        "clusterrole",
        "role",
        "revision",
        "to-revision",
        "duration",
        "target",
        "field-manager",
        "raw",
    ],
    stops: false,
};

pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    // What stands behind `--` belongs to a command in a container.
    let end = call.args.iter().position(|arg| arg.text == "--").unwrap_or(call.args.len());
    let (own, inner) = call.args.split_at_checked(end).unwrap_or((call.args, &[]));
    let found = options(own, SPEC);
    if super::verbs::hides_verb(own, SPEC) {
        walk.found.unclear("an option of `kubectl` may hide the verb");
    }
    if found.uncertain {
        walk.found.unclear("an argument of `kubectl` is computed");
    }
    let verb = found.operands.first().filter(|arg| arg.exact).map(|arg| arg.text.as_str());
    let Some(verb) = verb else {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    };
    let dry = found
        .flags
        .iter()
        .any(|flag| flag.long && flag.name == "dry-run" && flag.value != Some("none") && flag.value != Some("false"));
    let asks = found.flags.iter().any(|flag| flag.long && flag.name == "help");
    if asks || (dry && verb != "exec") {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    match verb {
        "exec" => {
            exec(call, walk, own, inner.get(1..).unwrap_or_default());
            return Input::Output;
        }
        "run" | "debug" | "attach" => {
            walk.found.effect(call.mutating(Action::Execute).with(Danger::Code));
            return Input::Output;
        }
        _ => {}
    }
    match by_verb(call, verb, &found) {
        Some(effect) => walk.found.effect(if found.has_any(&["as", "as-group", "token"]) {
            effect.with(Danger::Privilege)
        } else {
            effect
        }),
        None => walk
            .found
            .unclear(format!("`kubectl {}` is not known; it may be a plugin", toolmark_core::text::visible(verb, 40))),
    }
    Input::Output
}

fn exec(call: &Call<'_>, walk: &mut Walk<'_>, own: &[Arg], inner: &[Arg]) {
    let command = if inner.is_empty() { behind(own, SPEC, 2) } else { inner };
    let command =
        command.iter().position(|arg| !arg.text.starts_with('-')).and_then(|at| command.get(at..)).unwrap_or_default();
    if command.is_empty() {
        walk.found.unclear("`exec` opens a shell in a container");
    } else {
        walk.run(command, call.input);
    }
}

fn by_verb(call: &Call<'_>, verb: &str, found: &Options<'_>) -> Option<Effect> {
    let second = found.operands.get(1).map(|arg| arg.text.as_str()).unwrap_or_default();
    let everything = found.has("A", "all-namespaces") || found.has_any(&["all"]);
    let selected = found.operands.len() > 2 || second.contains('/') || found.has("fk", "filename");
    Some(match verb {
        "get" | "describe" => {
            let raw = found.value("", "raw").unwrap_or_default();
            let effect = call.pure(Action::Read);
            let secret = raw.contains("/secrets") || names_secrets(second) && (verb == "get");
            if secret { effect.with(Danger::Secret) } else { effect }
        }
        "logs" | "log" | "top" | "explain" | "version" | "api-resources" | "api-versions" | "cluster-info" | "diff"
        | "events" | "wait" | "help" | "options" | "completion" | "kustomize" => match second {
            "dump" if found.has("", "output-directory") => call.mutating(Action::Create),
            _ => call.pure(Action::Read),
        },
        "auth" => match second {
            "reconcile" => call.mutating(Action::Update).with(Danger::Privilege),
            _ => call.pure(Action::Read),
        },
        "config" => match second {
            "view" if found.has_any(&["raw", "flatten"]) => call.pure(Action::Read).with(Danger::Secret),
            "view" | "current-context" | "get-contexts" | "get-clusters" | "get-users" | "" => call.pure(Action::Read),
            _ => call.mutating(Action::Update),
        },
        "rollout" => match second {
            "status" | "history" => call.pure(Action::Read),
            _ => call.mutating(Action::Update),
        },
        "create" if second == "token" => call.mutating(Action::Create).with(Danger::Secret),
        "create" if second.contains("role") => call.mutating(Action::Create).with(Danger::Privilege),
        "create" | "expose" | "autoscale" => call.mutating(Action::Create),
        "apply" => {
            let effect = call.mutating(Action::Overwrite);
            let effect = if found.has("", "prune") { call.mutating(Action::Delete).unbounded() } else { effect };
            if second == "view-last-applied" { call.pure(Action::Read) } else { from_elsewhere(effect, found) }
        }
        "replace" => from_elsewhere(call.mutating(Action::Overwrite), found),
        "patch" | "edit" | "set" | "label" | "annotate" | "cordon" | "uncordon" | "scale" => {
            let effect = call.mutating(Action::Update);
            let zero = verb == "scale" && found.value("", "replicas") == Some("0");
            if everything || zero || verb == "edit" { effect.unbounded() } else { effect }
        }
        "taint" => call.mutating(Action::Update).unbounded(),
        "drain" => call.mutating(Action::Delete).unbounded(),
        "delete" => {
            let effect = call.mutating(Action::Delete);
            let whole = ["ns", "namespace", "namespaces", "node", "nodes", "crd", "pv", "customresourcedefinition"]
                .iter()
                .any(|kind| second == *kind || second.starts_with(&format!("{kind}/")));
            let forced = found.has("", "force");
            if everything || whole || forced || !selected { effect.unbounded() } else { effect }
        }
        "cp" => match found.operands.get(2) {
            Some(target) if target.text.contains(':') => {
                call.reading(call.mutating(Action::Overwrite), found.operands.get(1).copied())
            }
            Some(target) => redirect::write(target, Action::Overwrite),
            None => call.mutating(Action::Overwrite),
        },
        "port-forward" | "proxy" => call.mutating(Action::Execute).with(Danger::Outward),
        "certificate" => call.mutating(Action::Update).with(Danger::Privilege),
        _ => return None,
    })
}

/// True when a list of kinds names secrets.
fn names_secrets(kinds: &str) -> bool {
    let kind = |text: &str| {
        let kind = text.split(['/', '.']).next().unwrap_or_default().to_ascii_lowercase();
        matches!(kind.as_str(), "secret" | "secrets" | "all-secrets" | "externalsecret" | "sealedsecret")
    };
    kinds.split(',').any(kind)
}

/// A manifest from the network is code of somebody else's.
fn from_elsewhere(effect: Effect, found: &Options<'_>) -> Effect {
    let remote = found
        .flags
        .iter()
        .filter(|flag| flag.is("fk", "filename"))
        .filter_map(|flag| flag.value)
        .any(|file| file.contains("://"));
    let effect = if remote { effect.with(Danger::Code) } else { effect };
    if found.has("", "force") { effect.unbounded() } else { effect }
}
