//! `docker`, `podman` and their kin: listing reads, `exec` is what it executes, `run` runs whatever the image holds.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use super::tables::containers::{COMPOSE, DOCKER, HELM};
use super::verbs::{self, Verbs, behind};
use super::{Reader, kubectl};
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "docker" | "podman" | "nerdctl" | "finch" => docker,
        "docker-compose" | "podman-compose" => compose,
        "kubectl" | "oc" | "k" | "k3s" | "microk8s" => kubectl::read,
        "helm" => helm,
        _ => return None,
    })
}

/// Options in front of the verb.
const GLOBAL: Spec = Spec { short: "Hcl", long: &["host", "context", "config", "log-level"], stops: true };
/// Options of `exec`.
const EXEC: Spec =
    Spec { short: "euwl", long: &["env", "user", "workdir", "env-file", "detach-keys", "index"], stops: true };

fn docker(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let global = options(call.args, GLOBAL);
    let word = |at: usize| global.operands.get(at).map(|arg| arg.text.as_str()).unwrap_or_default();
    match (word(0), word(1)) {
        ("compose", _) => {
            let rest = behind(call.args, GLOBAL, 1);
            return compose(&Call { args: rest, ..*call }, walk);
        }
        ("exec", _) => return exec(call, walk, 1),
        ("container", "exec") => return exec(call, walk, 2),
        ("run" | "create", _) | ("container", "run" | "create") => {
            let effect = call.mutating(Action::Execute).with(Danger::Code);
            let opens = |text: &str| {
                text == "--privileged"
                    || text.contains("docker.sock")
                    || text.starts_with("/:")
                    || text.contains("--pid=host")
                    || text.contains("=/:")
                    || text.contains("SYS_ADMIN")
                    || text == "host"
                    || text.ends_with("=host")
                    || text.starts_with("/etc")
                    || text.starts_with("/root")
                    || text.contains("--cap-add")
            };
            let opened = call.args.iter().any(|arg| opens(&arg.text));
            walk.found.effect(if opened { effect.with(Danger::Privilege) } else { effect });
            return Input::Output;
        }
        _ => {}
    }
    let rm_all = matches!(word(0), "rm" | "rmi" | "stop" | "kill") && call.args.iter().any(|arg| arg.computed);
    if rm_all {
        walk.found.effect(call.mutating(if word(0) == "stop" { Action::Update } else { Action::Delete }).unbounded());
        return Input::Output;
    }
    verbs::read(call, walk, &Verbs { spec: Spec { stops: false, ..GLOBAL }, rows: DOCKER, dry: &[] })
}

/// A command inside a container is what it is outside.
fn exec(call: &Call<'_>, walk: &mut Walk<'_>, verb: usize) -> Input {
    let args = behind(call.args, GLOBAL, verb);
    let found = options(args, EXEC);
    if found.has("", "privileged") {
        walk.found.effect(call.mutating(Action::Execute).with(Danger::Privilege));
    }
    let command = behind(args, EXEC, 1);
    if command.is_empty() {
        walk.found.unclear("`exec` opens a shell in a container");
        return Input::Output;
    }
    walk.run(command, call.input)
}

fn compose(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec =
        Spec { short: "fp", long: &["file", "project-name", "profile", "env-file", "project-directory"], stops: true };
    let found = options(call.args, spec);
    match found.operands.first().map(|arg| arg.text.as_str()) {
        Some("exec") => {
            let args = behind(call.args, spec, 1);
            let command = behind(args, EXEC, 1);
            if !command.is_empty() {
                return walk.run(command, call.input);
            }
            walk.found.unclear("`exec` opens a shell in a container");
            Input::Output
        }
        Some("down") if call.args.iter().any(|arg| matches!(arg.text.as_str(), "-v" | "--volumes" | "--rmi")) => {
            walk.found.effect(call.mutating(Action::Delete).unbounded());
            Input::Output
        }
        _ => verbs::read(call, walk, &Verbs { spec: Spec { stops: false, ..spec }, rows: COMPOSE, dry: verbs::DRY }),
    }
}

fn helm(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "nfo",
        long: &[
            "namespace",
            "kube-context",
            "kubeconfig",
            "values",
            "set",
            "version",
            "repo",
            "set-string",
            "output",
            "timeout",
            "set-file",
        ],
        stops: false,
    };
    if call.args.iter().any(|arg| arg.text.starts_with("--post-renderer")) {
        walk.found.effect(call.runs());
    }
    verbs::read(call, walk, &Verbs { spec, rows: HELM, dry: verbs::DRY })
}
