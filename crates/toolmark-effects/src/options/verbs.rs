//! Arguments whose free text names an operation: `storage_blob_delete`, `DeleteService`.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Effect;
use toolmark_core::text::visible;

use super::{Argument, Manner};
use crate::carriers::words;

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
