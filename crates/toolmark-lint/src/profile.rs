//! What each client takes, as lint asks it: which clients refuse a name, and what a client makes of it.

use std::sync::LazyLock;

use toolmark_core::exposure::{Profile, ProfileName};

/// Every client that we know, as it is when it knows Toolmark by its usual name.
pub(crate) fn profiles() -> &'static [Profile] {
    static ALL: LazyLock<Vec<Profile>> =
        LazyLock::new(|| ProfileName::ALL.iter().map(|name| Profile::new(*name)).collect());
    &ALL
}

/// Why a client does not take a name.
pub(crate) enum Refusal {
    Character(char),
    Length(usize),
}

/// Whether `profile` refuses `name` as it is. Codex replaces what it does not take, so that only the length counts there.
pub(crate) fn refusal(profile: &Profile, name: &str) -> Option<Refusal> {
    let replaces = profile.name() == ProfileName::Codex;
    let illegal = name.chars().find(|&character| !replaces && !profile.allows(character));
    let too_long = (name.chars().count() > profile.budget()).then_some(Refusal::Length(profile.budget()));
    illegal.map(Refusal::Character).or(too_long)
}

/// A name as a client that replaces and cuts would have it.
pub(crate) fn cut(profile: &Profile, name: &str) -> String {
    let replaced = name.chars().map(|character| if profile.allows(character) { character } else { '_' });
    replaced.take(profile.budget()).collect()
}
