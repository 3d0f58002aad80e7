//! What the name of a mutation says: `deleteUser`, `user_delete`, `customerDelete` and `removeStar` alike.

use toolmark_core::behavior::Action;

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) action: Action,
    pub(super) does: &'static str,
    /// The name says that it concerns all there is.
    pub(super) everything: bool,
}

/// The words of each action.
#[rustfmt::skip]
const WORDS: &[(Action, &str, &[&str])] = &[
    (Action::Delete, "deletes", &["clear", "delete", "destroy", "detach", "discard", "drop", "empty", "erase", "expire", "flush", "forget",
        "kill", "leave", "nuke", "prune", "purge", "remove", "revoke", "terminate", "trash",
        "truncate", "unassign", "uninstall", "unlink", "unpublish", "unregister", "wipe"]),
    (Action::Merge, "merges", &["merge"]),
    (Action::Overwrite, "overwrites", &["import", "overwrite", "put", "replace", "restore", "save", "sync", "upsert"]),
    (Action::Send, "sends", &["broadcast", "email", "export", "forward", "invite", "mail", "message", "notify", "pay", "publish", "refund", "reply",
        "send", "share", "submit", "transfer", "tweet"]),
    (Action::Execute, "runs", &["build", "call", "deploy", "dispatch", "eval", "evaluate", "exec", "execute", "invoke", "launch", "process", "query",
        "rerun", "retry", "run", "trigger"]),
    (Action::Append, "appends", &["append", "log", "push", "record", "track"]),
    (Action::Create, "creates", &["add", "attach", "clone", "copy", "create", "duplicate", "fork", "generate", "insert", "install", "issue", "make",
        "new", "open", "post", "register", "sign", "signup", "subscribe", "upload"]),
    (Action::Update, "updates", &["activate", "approve", "archive", "assign", "cancel", "change", "close", "complete", "convert", "deactivate", "disable", "dismiss", "edit", "enable", "grant",
        "hide", "link", "lock", "login", "mark", "minimize", "modify", "move", "patch", "pause", "pin", "promote", "rename", "reopen", "reorder",
        "reset", "resolve", "resume", "rotate", "set", "star", "start", "stop", "toggle", "transition", "unarchive", "unlock", "unpin", "unstar", "update"]),
];

/// Reads the name of a mutation: the first word decides, then the last, then any.
pub(super) fn read(name: &str) -> Verb {
    let words = words(name);
    let action = |word: &String| WORDS.iter().find(|(_, _, known)| known.contains(&word.as_str()));
    let (action, does) = words
        .first()
        .and_then(action)
        .or_else(|| words.last().and_then(action))
        .or_else(|| words.iter().find_map(action))
        .map_or((Action::Update, "changes something"), |(action, does, _)| (*action, *does));
    let everything =
        words.iter().any(|word| matches!(word.as_str(), "all" | "bulk" | "everything" | "every" | "database"));
    Verb { action, does, everything }
}

/// True when a name is about who may do what, or about credentials.
pub(super) fn concerns_rights(name: &str) -> bool {
    words(name).iter().any(|word| {
        matches!(
            word.as_str(),
            "admin"
                | "apikey"
                | "collaborator"
                | "credential"
                | "credentials"
                | "grant"
                | "impersonate"
                | "password"
                | "permission"
                | "permissions"
                | "policy"
                | "privilege"
                | "role"
                | "roles"
                | "secret"
                | "sudo"
                | "superuser"
                | "token"
                | "tokens"
        )
    }) || name.to_ascii_lowercase().contains("apikey")
}

/// True when a field of a query is chosen by a pattern of the caller's.
pub(super) fn searches(name: &str) -> bool {
    words(name)
        .first()
        .is_some_and(|word| matches!(word.as_str(), "search" | "find" | "lookup" | "autocomplete" | "suggest"))
}

/// `deleteUser`, `delete_user` and `DELETEUser` in lower-case words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for character in name.chars().take(128) {
        if character == '_' || (character.is_ascii_uppercase() && !before.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| character != '_') {
            last.push(character.to_ascii_lowercase());
        }
        before = character;
    }
    words.retain(|word| !word.is_empty());
    words
}
