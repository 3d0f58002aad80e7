//! The verb in a tool's name. A name is a claim like any other: it grades a finding, and decides nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use toolmark_core::behavior::{Action, Mutability};

/// A verb that says what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verb {
    word: &'static str,
    action: Action,
    /// Rarely anything but a verb; the others are nouns as often ("list", "post", "set").
    sure: bool,
    destroys: bool,
}

/// By action: sure verbs, then words that may also be nouns.
const VERBS: &[(Action, &str, &str)] = &[
    (
        Action::Read,
        "get fetch read describe retrieve lookup inspect browse peek explain analyze analyse compare \
         calculate estimate summarize discover detect exists hget hgetall hexists lrange llen smembers \
         zrange xrange recommend suggest identify forecast introspect enumerate is has reader",
        "list show view check count preview status info stats diff validate verify ping help ls tail head \
         log logs whoami extract parse scan tree screenshot geocode",
    ),
    (Action::Search, "search find grep autocomplete", "query match filter"),
    (
        Action::Create,
        "create add insert register upload import clone duplicate provision submit initialize lpush rpush \
         sadd zadd enroll onboard",
        "new init fork copy post schedule draft push open book make",
    ),
    (Action::Append, "append prepend", ""),
    (
        Action::Update,
        "update edit modify rename move assign unassign enable disable start stop restart reboot pause \
         resume lock unlock approve unapprove reject reopen unarchive restore revert rollback grant \
         unlink unstar unfollow subscribe unsubscribe unpin mute unmute configure rotate resize migrate \
         upgrade install deploy rebase cherrypick dismiss transition transfer increment decrement incr \
         decr checkout attach detach apply toggle hset expire adjust activate deactivate acknowledge \
         snooze escalate promote demote publish unpublish commit unresolve reprioritize",
        "set change patch put save close star follow link pin mark tag label scale sync complete switch \
         sort format merge stage select manage power",
    ),
    (Action::Overwrite, "write overwrite", "replace"),
    (
        Action::Execute,
        "execute exec invoke navigate tap swipe hover scroll launch evaluate",
        "eval trigger click run call press drag fill command shell",
    ),
    (Action::Send, "send notify broadcast reply forward tweet invite", "email message share"),
];

/// Verbs that end something, or undo what cannot be redone.
const DESTROYING: &[(Action, &str)] = &[
    (
        Action::Delete,
        "delete remove drop destroy purge clear erase truncate wipe kill terminate uninstall unregister \
         flush prune discard del hdel srem zrem lpop rpop trash evict deregister abort cancel",
    ),
    (Action::Update, "reset revoke archive shutdown poweroff"),
];

impl Verb {
    pub(crate) fn word(self) -> &'static str {
        self.word
    }

    pub(crate) fn mutability(self) -> Mutability {
        match self.action {
            Action::Read | Action::Search => Mutability::Pure,
            _ => Mutability::Mutates,
        }
    }

    pub(crate) fn destroys(self) -> bool {
        self.destroys
    }

    pub(crate) fn is_sure(self) -> bool {
        self.sure
    }
}

/// The verb that says what the tool of this name does: the first word if it is one, else the first sure one, else the last.
pub(crate) fn verb_of(name: &str) -> Option<Verb> {
    let words = words(name);
    let verbs: Vec<Option<Verb>> = words.iter().map(|word| verb(word)).collect();
    let first = verbs.first().copied().flatten();
    let last = verbs.last().copied().flatten();
    // `get_or_create_label` creates.
    let joined = words.iter().position(|word| matches!(word.as_str(), "or" | "and"));
    let writes = |verb: &Verb| verb.mutability() == Mutability::Mutates;
    if let Some(other) = joined.and_then(|at| verbs.get(at + 1).copied().flatten()).filter(writes) {
        return first.filter(writes).or(Some(other));
    }
    if last.is_some_and(|last| last.word == "reader") {
        return last;
    }
    // `list_delete` deletes a list; `list_deletions` lists.
    if let (Some(first), Some(last), 2) = (first, last, words.len())
        && !first.sure
        && last.sure
    {
        return Some(last);
    }
    first
        .or_else(|| verbs.iter().flatten().find(|verb| verb.sure).copied())
        .or_else(|| verbs.iter().flatten().last().copied())
}

fn verb(word: &str) -> Option<Verb> {
    static KNOWN: LazyLock<HashMap<&str, Verb>> = LazyLock::new(|| {
        let mut known = HashMap::new();
        let mut enter = |words: &'static str, action, sure, destroys| {
            known.extend(words.split(' ').map(|word| (word, Verb { word, action, sure, destroys })));
        };
        for &(action, sure, unsure) in VERBS {
            enter(sure, action, true, false);
            enter(unsure, action, false, false);
        }
        for &(action, words) in DESTROYING {
            enter(words, action, true, true);
        }
        known
    });
    KNOWN.get(word).copied()
}

/// The words of a name in lower case: cut at anything but letters and digits, and where `camelCase` begins a word.
pub(crate) fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(at + 1);
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<(&'static str, &'static str)> {
        verb_of(name).map(|verb| (verb.word(), verb.action.as_str()))
    }

    #[test]
    fn the_verb_is_found_behind_prefixes_and_in_every_style_of_name() {
        assert_eq!(of("get_issue"), Some(("get", "READ")));
        assert_eq!(of("jira_delete_issue"), Some(("delete", "DELETE")));
        assert_eq!(of("TwilioApiV2010--CreateMessage"), Some(("create", "CREATE")));
        assert_eq!(of("API-retrieve-a-block"), Some(("retrieve", "READ")));
        assert_eq!(of("droplet-delete"), Some(("delete", "DELETE")));
        assert_eq!(of("brave_web_search"), Some(("search", "SEARCH")));
        assert_eq!(of("listOpenIssues"), Some(("list", "READ")));
        assert_eq!(of("weather"), None);
    }

    #[test]
    fn a_noun_does_not_win_over_a_verb() {
        assert_eq!(of("create_list"), Some(("create", "CREATE")));
        assert_eq!(of("list_delete"), Some(("delete", "DELETE")));
        assert_eq!(of("get_update_status"), Some(("get", "READ")));
        assert_eq!(of("mailing_list_remove_member"), Some(("remove", "DELETE")));
        assert_eq!(of("list_update_history"), Some(("list", "READ")));
        assert_eq!(of("repository-tag-list"), Some(("list", "READ")));
        assert_eq!(of("get_or_create_label"), Some(("create", "CREATE")));
    }

    #[test]
    fn capitals_in_a_row_are_one_word() {
        assert_eq!(words("getPRUrl"), ["get", "pr", "url"]);
        assert_eq!(words("HTTPServer2Get"), ["http", "server2", "get"]);
    }
}
