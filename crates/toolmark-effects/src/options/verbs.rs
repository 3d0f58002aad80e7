//! Arguments whose free text names an operation: `storage_blob_delete`, `DeleteService`.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::{Argument, Manner};
use crate::carriers::words;

/// What nobody gets to see without being asked for.
const SECRETS: &[&str] =
    &["secret", "secrets", "password", "passwords", "credential", "credentials", "token", "tokens"];

/// Reads the name of an operation that changes something.
pub(super) fn read(manner: &Manner, key: &str, argument: &Argument<'_>) -> Option<Effect> {
    if !argument.top || !manner.verbs.iter().any(|name| name == key) {
        return None;
    }
    let text = argument.value.as_str()?.trim();
    if text.len() > 120 || !text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/".contains(c)) {
        return None;
    }
    let words = words(text);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    // An argument that filters what is listed is often called `action`; a command or an operation is carried out.
    if argument.name != "action"
        && has(SECRETS)
        && has(&["get", "show", "read", "export", "fetch", "download", "reveal"])
    {
        return Some(Effect::pure(Action::Read, format!("the operation `{}`", visible(text, 60))).with(Danger::Secret));
    }
    if !manner.changes {
        return None;
    }
    if has(&["transfer", "grant", "change", "set"]) && has(&["owner", "ownership", "admin"]) {
        let summary = format!("the operation `{}`", visible(text, 60));
        return Some(Effect::mutating(Action::Update, summary).with(Danger::Privilege));
    }
    // Verbs begin or end the name of an operation: `delete_topic`, `topic delete`, `storage_blob_delete`.
    let verb = [words.first(), words.last()].into_iter().flatten().find_map(|word| action(word))?;
    Some(Effect::mutating(verb, format!("the operation `{}`", visible(text, 60))))
}

fn action(word: &str) -> Option<Action> {
    Some(match word {
        "delete" | "remove" | "destroy" | "drop" | "purge" | "terminate" | "wipe" | "truncate" | "deregister"
        | "revoke" | "uninstall" | "flush" => Action::Delete,
        "create" | "add" | "insert" | "register" => Action::Create,
        "update" | "set" | "put" | "modify" | "edit" | "rename" | "patch" | "stop" | "start" | "restart" | "reboot"
        | "enable" | "disable" | "attach" | "detach" | "scale" | "rotate" => Action::Update,
        "overwrite" | "replace" | "restore" | "upload" | "import" => Action::Overwrite,
        "send" | "publish" | "notify" => Action::Send,
        "execute" | "exec" | "invoke" => Action::Execute,
        _ => return None,
    })
}
