//! Calls to clusters → effects: `kubectl` command lines, and tools whose names are verbs and whose arguments name what they act on.

use serde_json::{Map, Value};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use crate::shell::{self, Found};

/// Kinds that hold or grant rights, or whose end takes much with it.
const WIDE: &[&str] = &[
    "namespace",
    "namespaces",
    "ns",
    "node",
    "nodes",
    "crd",
    "customresourcedefinition",
    "persistentvolume",
    "pv",
    "cluster",
];
const RIGHTS: &[&str] = &[
    "role",
    "rolebinding",
    "clusterrole",
    "clusterrolebinding",
    "serviceaccount",
    "validatingwebhookconfiguration",
    "mutatingwebhookconfiguration",
];

/// What a tool does to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Read,
    Create,
    Apply,
    Update,
    Scale,
    Delete,
    Drain,
    Run,
}

/// Words in names and arguments that say what a tool does. The strongest that is found counts.
const VERBS: &[(&str, Verb)] = &[
    ("drain", Verb::Drain),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
    ("uninstall", Verb::Delete),
    ("exec", Verb::Run),
    ("run", Verb::Run),
    ("debug", Verb::Run),
    ("forward", Verb::Run),
    ("scale", Verb::Scale),
    ("apply", Verb::Apply),
    ("replace", Verb::Apply),
    ("create", Verb::Create),
    ("install", Verb::Create),
    ("expose", Verb::Create),
    ("patch", Verb::Update),
    ("update", Verb::Update),
    ("upgrade", Verb::Update),
    ("rollout", Verb::Update),
    ("restart", Verb::Update),
    ("rollback", Verb::Update),
    ("label", Verb::Update),
    ("annotate", Verb::Update),
    ("cordon", Verb::Update),
    ("uncordon", Verb::Update),
    ("taint", Verb::Update),
    ("edit", Verb::Update),
    ("set", Verb::Update),
    ("get", Verb::Read),
    ("list", Verb::Read),
    ("describe", Verb::Read),
    ("log", Verb::Read),
    ("logs", Verb::Read),
    ("top", Verb::Read),
    ("explain", Verb::Read),
    ("view", Verb::Read),
    ("events", Verb::Read),
    ("stats", Verb::Read),
    ("status", Verb::Read),
    ("history", Verb::Read),
    ("read", Verb::Read),
    ("diff", Verb::Read),
    ("watch", Verb::Read),
    ("search", Verb::Read),
    ("ping", Verb::Read),
];

/// The longest manifest that is looked into.
const MAX_MANIFEST: usize = 256 * 1024;

/// Reads a command line, with or without `kubectl` in front.
pub(crate) fn command_line(text: &str) -> Found {
    let first = text.split_whitespace().next().unwrap_or_default();
    let known =
        ["kubectl", "helm", "oc", "istioctl", "kustomize"].contains(&first.rsplit('/').next().unwrap_or_default());
    if known || first.is_empty() { shell::find(text) } else { shell::find(&format!("kubectl {text}")) }
}

/// Reads a command line that comes in words.
pub(crate) fn words(words: &[&str]) -> Found {
    let named = words.first().is_some_and(|first| ["kubectl", "helm", "oc"].contains(first));
    if named {
        return shell::find_argv(words);
    }
    let mut all = vec!["kubectl"];
    all.extend(words);
    shell::find_argv(&all)
}

/// The arguments of a `kubectl` tool that stand between its verb and its list of words.
pub(crate) fn middle(all: &Map<String, Value>) -> Vec<String> {
    let text = |key: &str| all.get(key).and_then(Value::as_str).filter(|text| !text.is_empty() && text.len() <= 256);
    let mut words: Vec<String> = ["subCommand", "subcommand", "resourceType", "resource_type", "name"]
        .iter()
        .filter_map(|key| text(key))
        .map(str::to_owned)
        .collect();
    words.extend(text("namespace").map(|namespace| format!("--namespace={namespace}")));
    if let Some(flags) = all.get("flags").and_then(Value::as_object) {
        for (name, value) in flags.iter().take(64) {
            let dashes = if name.len() == 1 { "-" } else { "--" };
            words.push(match value {
                Value::String(text) => format!("{dashes}{name}={text}"),
                Value::Bool(true) => format!("{dashes}{name}"),
                other => format!("{dashes}{name}={other}"),
            });
        }
    }
    words
}

/// True when the name of a tool is a verb that is known.
pub(crate) fn is_operation(name: &str) -> bool {
    verb_of(name).is_some()
}

/// Reads the arguments of a tool whose name, or an argument of whose, is a verb.
pub(crate) fn operation(name: &str, arguments: &Value) -> Found {
    let mut found = Found::default();
    let none = Map::new();
    let arguments = arguments.as_object().unwrap_or(&none);
    let text = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(*key)).and_then(Value::as_str);
    let flag = |keys: &[&str]| keys.iter().any(|key| arguments.get(*key) == Some(&Value::Bool(true)));
    let said = text(&["operation", "verb", "action", "subCommand", "subcommand"]);
    let Some(verb) = said.and_then(verb_of).or_else(|| verb_of(name)) else {
        found.unclear(format!("`{}` is no verb that is known", visible(said.unwrap_or(name), 40)));
        return found;
    };
    let kind = text(&["kind", "resourceType", "resource_type", "resource", "type"]).unwrap_or_default();
    let kind = if kind.len() > 80 {
        String::new()
    } else {
        kind.split(['/', '.']).next().unwrap_or_default().to_ascii_lowercase()
    };
    let target =
        text(&["name", "podname", "pod_name", "resource_name", "resourceName", "nodeName"]).unwrap_or_default();
    let line = visible(&format!("{} {kind} {target}", said.unwrap_or(name)), 100);
    let dry = flag(&["dryRun", "dry_run", "dryrun"])
        || text(&["dryRun", "dry_run"]).is_some_and(|dry| matches!(dry, "client" | "server" | "All"));
    let count = ["scale", "replicas"].iter().find_map(|key| arguments.get(*key)).filter(|count| !count.is_null());
    let effect = match verb {
        _ if dry => Effect::pure(Action::Read, line),
        Verb::Read => read(name, &kind, line),
        Verb::Scale => match count {
            None => Effect::pure(Action::Read, line),
            Some(count) if count.as_f64() == Some(0.0) || count.as_str() == Some("0") => {
                Effect::mutating(Action::Update, line).unbounded()
            }
            Some(_) => Effect::mutating(Action::Update, line),
        },
        Verb::Delete => {
            let listed =
                ["manifest", "filename", "yaml"].iter().any(|key| arguments.get(*key).is_some_and(Value::is_string));
            let whole = (target.is_empty() && !listed)
                || target == "*"
                || WIDE.contains(&kind.as_str())
                || flag(&["all", "force", "allNamespaces", "all_namespaces"]);
            let effect = Effect::mutating(Action::Delete, line);
            if whole { effect.unbounded() } else { effect }
        }
        Verb::Drain => Effect::mutating(Action::Delete, line).unbounded(),
        Verb::Create => Effect::mutating(Action::Create, line),
        Verb::Apply => Effect::mutating(Action::Overwrite, line),
        Verb::Update => Effect::mutating(Action::Update, line),
        Verb::Run => Effect::mutating(Action::Execute, line).with(Danger::Code),
    };
    let effect = if RIGHTS.contains(&kind.as_str()) && !matches!(verb, Verb::Read) && !dry {
        effect.with(Danger::Privilege)
    } else {
        effect
    };
    let effect = if target.is_empty() { effect } else { effect.on([format!("{kind}/{target}")]) };
    let manifest =
        ["manifest", "resource", "body", "yaml", "content", "spec"].iter().find_map(|key| arguments.get(*key));
    let effect = match manifest {
        Some(manifest) if !matches!(verb, Verb::Read | Verb::Delete) => with_manifest(effect, manifest, &mut found),
        _ => effect,
    };
    found.effect(effect);
    found
}

fn read(name: &str, kind: &str, line: String) -> Effect {
    let effect = Effect::pure(Action::Read, line);
    let name = name.to_ascii_lowercase();
    // A configuration of this kind holds the keys to the cluster.
    let secret = matches!(kind, "secret" | "secrets")
        || (name.contains("config") && name.contains("view"))
        || name.contains("kubeconfig")
        || name.contains("secret");
    if secret { effect.with(Danger::Secret) } else { effect }
}

/// Adds what a manifest grants.
fn with_manifest(effect: Effect, manifest: &Value, found: &mut Found) -> Effect {
    let text = match manifest {
        Value::String(text) if text.len() > MAX_MANIFEST => {
            found.unclear("the manifest is too long to be looked into");
            return effect;
        }
        Value::String(text) => text.to_ascii_lowercase(),
        Value::Object(fields) if fields.len() < 256 => manifest_text(manifest, 512),
        _ => String::new(),
    };
    let plain: String = text.chars().filter(|c| !matches!(c, ' ' | '"' | '\'' | '\t')).collect();
    let has = |marks: &[&str]| marks.iter().any(|mark| plain.contains(mark));
    let rights = RIGHTS.iter().any(|kind| {
        plain.contains(&format!("kind:{kind}\n"))
            || plain.contains(&format!("kind:{kind},"))
            || plain.ends_with(&format!("kind:{kind}"))
    });
    let open = has(&[
        "privileged:true",
        "hostpath:",
        "hostnetwork:true",
        "hostpid:true",
        "hostipc:true",
        "allowprivilegeescalation:true",
        "sys_admin",
        "docker.sock",
    ]);
    if rights || open { effect.with(Danger::Privilege) } else { effect }
}

/// A value as text of the same shape as a manifest, up to a number of nodes.
fn manifest_text(value: &Value, nodes: usize) -> String {
    let mut out = String::new();
    let mut waiting = vec![value];
    let mut left = nodes;
    while let Some(value) = waiting.pop() {
        if left == 0 {
            break;
        }
        left -= 1;
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter().take(256) {
                    let text = match field {
                        Value::String(text) => visible(text, 80),
                        Value::Bool(flag) => flag.to_string(),
                        _ => String::new(),
                    };
                    out.push_str(&format!("{name}:{text}\n"));
                    waiting.push(field);
                }
            }
            Value::Array(items) => waiting.extend(items.iter().take(256)),
            Value::String(text) => out.push_str(&visible(text, 80)),
            _ => {}
        }
    }
    out.to_ascii_lowercase()
}

/// The strongest verb among the words of a name.
fn verb_of(name: &str) -> Option<Verb> {
    let words = crate::carriers::words(name);
    VERBS.iter().find(|(word, _)| words.iter().any(|found| found == word)).map(|(_, verb)| *verb)
}

#[cfg(test)]
mod tests;
