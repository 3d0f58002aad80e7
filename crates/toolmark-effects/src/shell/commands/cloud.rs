//! Clients of clouds and of code hosts: their verbs follow patterns, and a few of them hand out credentials.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::Reader;
use super::tables::cloud::{GH, TERRAFORM};
use super::verbs::{self, DRY, Does, Verbs};
use crate::shell::call::Call;
use crate::shell::options::{Options, Spec, options};
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "aws" => aws,
        "gcloud" | "az" | "doctl" | "oci" | "ibmcloud" | "heroku" | "flyctl" | "fly" | "vercel" | "netlify"
        | "linode-cli" => by_word,
        "gh" | "glab" => gh,
        "terraform" | "tofu" | "terragrunt" => terraform,
        "gsutil" => gsutil,
        "vault" | "op" | "pass" | "security" | "bw" | "lpass" | "gopass" | "secret-tool" => secrets,
        _ => return None,
    })
}

/// Parts of operations that hand out credentials.
const REVEALING: &[&str] = &[
    "secret-value",
    "session-token",
    "assume-role",
    "create-access-key",
    "login-password",
    "decrypt",
    "authorization-token",
    "password-data",
    "print-access-token",
    "print-identity-token",
    "get-access-token",
    "get-credentials",
    "access",
    "presign",
    "get-login",
    "federation-token",
    "generate-data-key",
    "export-credentials",
    "list-keys",
    "keys",
];

/// What the first word of an operation says.
fn by_prefix(operation: &str) -> Option<Does> {
    let first = operation.split('-').next().unwrap_or_default();
    Some(match first {
        "describe" | "list" | "get" | "head" | "lookup" | "ls" | "show" | "view" | "help" | "query" | "scan"
        | "wait" | "filter" | "preview" | "estimate" | "presign" | "validate" | "check" | "info" | "status"
        | "version" | "logs" | "tail" | "read" => Does::Reads,
        "search" | "select" | "find" => Does::Searches,
        "create" | "run" | "allocate" | "copy" | "import" | "register" | "new" | "clone" | "add" => Does::Creates,
        "put" | "upload" | "sync" | "cp" | "replace" => Does::Overwrites,
        "update" | "modify" | "set" | "start" | "stop" | "restart" | "reboot" | "enable" | "disable" | "tag"
        | "untag" | "associate" | "move" | "disassociate" | "change" | "resize" | "scale" | "rename" | "edit"
        | "configure" | "activate" | "mv" | "apply" | "patch" | "use" => Does::Updates,
        "attach" | "detach" | "grant" | "authorize" | "revoke" => Does::Grants,
        "delete" | "terminate" | "remove" | "deregister" | "release" | "cancel" | "rm" | "destroy" => Does::Deletes,
        "purge" | "rb" | "batch" => Does::Purges,
        "publish" | "send" => Does::Sends,
        _ => return None,
    })
}

fn aws(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec =
        Spec { short: "", long: &["profile", "region", "output", "query", "endpoint-url", "ca-bundle"], stops: false };
    if verbs::hides_verb(call.args, spec) {
        walk.found.unclear("an option of `aws` may hide the operation");
    }
    let found = options(call.args, spec);
    let word =
        |at: usize| found.operands.get(at).filter(|arg| arg.exact).map(|arg| arg.text.as_str()).unwrap_or_default();
    let (service, operation) = (word(0), word(1));
    let dry = found.flags.iter().any(|flag| flag.long && matches!(flag.name, "dry-run" | "dryrun"));
    let reveals = REVEALING.iter().any(|part| operation.contains(part) && *part != "access" && *part != "keys")
        || (operation.starts_with("get-parameter") && found.has("", "with-decryption"));
    let runs =
        operation.starts_with("invoke") || operation.starts_with("send-command") || operation.starts_with("execute");
    let writes_file = service == "s3api" && operation == "get-object";
    let effect = if runs {
        Some(call.runs())
    } else if dry || operation.starts_with("batch-get") {
        Some(call.pure(Action::Read))
    } else if writes_file {
        Some(call.mutating(Action::Overwrite))
    } else if service == "s3" && operation == "rm" && found.has("", "recursive") {
        Some(call.mutating(Action::Delete).unbounded())
    } else if service == "s3" && matches!(operation, "cp" | "sync" | "mv") {
        let target = found.operands.get(3).map(|arg| arg.text.as_str()).unwrap_or_default();
        let effect = if target.starts_with("s3://") {
            call.mutating(Action::Send).with(Danger::Outward)
        } else {
            call.mutating(Action::Overwrite)
        };
        let effect = if found.has("", "delete") { call.mutating(Action::Delete).unbounded() } else { effect };
        Some(call.reading(effect, found.operands.get(2).copied()))
    } else if service == "configure" {
        Some(if matches!(operation, "list" | "list-profiles") {
            call.pure(Action::Read)
        } else {
            call.mutating(Action::Update).with(Danger::Secret)
        })
    } else {
        by_prefix(operation).filter(|_| !found.uncertain).and_then(|does| verbs::effect(call, does))
    };
    let rights = matches!(service, "iam" | "sts" | "organizations" | "sso-admin");
    finish(call, walk, effect, reveals, rights);
    Input::Output
}

fn finish(call: &Call<'_>, walk: &mut Walk<'_>, effect: Option<Effect>, reveals: bool, rights: bool) {
    let Some(mut effect) = effect else {
        walk.found.unclear(format!("`{}` is not known", call.summary()));
        return;
    };
    if reveals {
        effect = effect.with(Danger::Secret);
    }
    if rights && effect.mutability == toolmark_core::behavior::Mutability::Mutates {
        effect = effect.with(Danger::Privilege);
    }
    walk.found.effect(effect);
}

/// Clients whose verb stands somewhere among the first words.
fn by_word(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "gon",
        long: &[
            "account",
            "configuration",
            "project",
            "zone",
            "region",
            "format",
            "filter",
            "resource-group",
            "name",
            "output",
            "query",
            "subscription",
        ],
        stops: false,
    };
    let found = options(call.args, spec);
    let words: Vec<&str> = found.operands.iter().map(|arg| arg.text.as_str()).collect();
    let reveals = words
        .iter()
        .any(|word| REVEALING.contains(word) || REVEALING.iter().any(|part| part.len() > 8 && word.contains(part)))
        || (words.contains(&"secret") && words.contains(&"show"));
    let runs = words.iter().any(|word| {
        matches!(*word, "ssh" | "scp" | "exec" | "deploy" | "up" | "console" | "run-command" | "rest" | "interactive")
    });
    let rights = words.iter().any(|word| word.contains("iam") || matches!(*word, "role" | "ad" | "auth"));
    let runs = runs || (words.contains(&"run") && call.name != "gcloud");
    // Invariant: no word that only looks outweighs one that changes; an option may hide which of them is the verb.
    let service = |at: usize| at == 0 && call.name == "gcloud";
    let all: Vec<Does> =
        words.iter().enumerate().filter(|(at, _)| !service(*at)).filter_map(|(_, word)| by_prefix(word)).collect();
    let does = all.iter().find(|does| !matches!(does, Does::Reads | Does::Searches)).or_else(|| all.first()).copied();
    let effect = if runs {
        Some(call.runs())
    } else {
        does.filter(|_| !found.uncertain).and_then(|does| verbs::effect(call, does))
    };
    finish(call, walk, effect, reveals, rights);
    Input::Output
}

fn gh(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "RXfFHqtb",
        long: &["repo", "method", "field", "raw-field", "header", "input", "jq", "json", "template", "title", "body"],
        stops: false,
    };
    let found = options(call.args, spec);
    if found.operands.first().is_some_and(|arg| arg.text == "api") {
        return api(call, walk, &found);
    }
    verbs::read(call, walk, &Verbs { spec, rows: GH, dry: DRY })
}

fn api(call: &Call<'_>, walk: &mut Walk<'_>, found: &Options<'_>) -> Input {
    let path = found.operands.get(1).map(|arg| arg.text.as_str()).unwrap_or_default();
    let data = found.has("fF", "field") || found.has_any(&["raw-field", "input"]);
    let method = found.value("X", "method").map(str::to_ascii_uppercase);
    let effect = match method.as_deref() {
        Some("GET" | "HEAD") => call.pure(Action::Read),
        Some("DELETE") => call.mutating(Action::Delete),
        Some("PUT") => call.mutating(Action::Overwrite),
        Some("PATCH") => call.mutating(Action::Update),
        None if !data => call.pure(Action::Read),
        _ if path == "graphql" => {
            let query = call.args.iter().find_map(|arg| arg.text.strip_prefix("query="));
            match query {
                Some(query) => walk.found.embedded(crate::language::Language::GraphQl, query),
                None => walk.found.unclear("`gh api graphql` runs a query that is not seen"),
            }
            return Input::Output;
        }
        _ => call.mutating(Action::Create),
    };
    walk.found.effect(effect);
    Input::Output
}

fn terraform(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let checks = call.args.iter().any(|arg| arg.text == "-check");
    if call.first() == Some("fmt") && checks {
        walk.found.effect(call.pure(Action::Read));
        return Input::Output;
    }
    if call.first() == Some("output")
        && call.args.iter().any(|arg| matches!(arg.text.trim_start_matches('-'), "json" | "raw"))
    {
        walk.found.effect(call.pure(Action::Read).with(Danger::Secret));
    }
    if call.args.iter().any(|arg| arg.text.starts_with("-out") || arg.text.starts_with("--out")) {
        walk.found.effect(call.mutating(Action::Create));
    }
    verbs::read(call, walk, &Verbs { spec: Spec::default(), rows: TERRAFORM, dry: &[] })
}

fn gsutil(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    const ROWS: &[(&str, Does)] = &[
        ("ls", Does::Reads),
        ("cat", Does::Reads),
        ("stat", Does::Reads),
        ("du", Does::Reads),
        ("version", Does::Reads),
        ("hash", Does::Reads),
        ("cp", Does::Sends),
        ("rsync", Does::Sends),
        ("mv", Does::Updates),
        ("rm", Does::Purges),
        ("mb", Does::Creates),
        ("rb", Does::Purges),
        ("acl", Does::Grants),
        ("iam", Does::Grants),
        ("signurl", Does::Reveals),
    ];
    verbs::read(call, walk, &Verbs { spec: Spec { short: "o", long: &[], stops: false }, rows: ROWS, dry: &[] })
}

fn secrets(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let first = call.first().unwrap_or_default();
    let looks = matches!(first, "status" | "version" | "--version" | "list-keychains") && call.args.len() == 1;
    let changes = matches!(
        first,
        "write" | "put" | "delete" | "rm" | "insert" | "edit" | "generate" | "create" | "store" | "lock" | "unlock"
    ) || call
        .args
        .get(1)
        .is_some_and(|arg| matches!(arg.text.as_str(), "put" | "delete" | "write" | "destroy" | "enable" | "disable"));
    let effect = if looks {
        call.pure(Action::Read)
    } else if changes {
        call.mutating(Action::Update).with(Danger::Secret)
    } else {
        call.pure(Action::Read).with(Danger::Secret)
    };
    if matches!(first, "run" | "exec" | "agent" | "server" | "inject" | "execute-with-privileges" | "git") {
        walk.found.unclear(format!("`{} {first}` runs something", call.name));
    }
    walk.found.effect(effect);
    Input::Output
}
