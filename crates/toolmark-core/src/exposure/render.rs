//! Fits one name to one profile: what is illegal is replaced, what is too long is cut, and both get a hash of the tool so that
//! the result depends on nothing but the tool itself.

use sha2::{Digest as _, Sha256};

use super::profile::Profile;
use crate::digest::hex;
use crate::names::CanonicalName;

/// How many digits of the hash are used, from the first try to the last.
const LENGTHS: &[usize] = &[8, 16, 32];

/// The name as it is, if the profile takes it; else one that it takes.
pub(super) fn fit(profile: &Profile, name: &str, tool: &CanonicalName) -> String {
    let mut lost = false;
    let replaced: String = name
        .chars()
        .map(|character| match character {
            legal if profile.allows(legal) => legal,
            '-' | '.' | '/' | ':' | ' ' => '_',
            _ => {
                lost = true;
                '_'
            }
        })
        .collect();
    if lost || !profile.accepts(&replaced) { hashed(profile, &replaced, tool, 8) } else { replaced }
}

/// Names for `tool` that start with as much of `name` as fits and end in ever more of its hash.
pub(super) fn with_hash<'a>(
    profile: &'a Profile,
    name: &str,
    tool: &'a CanonicalName,
) -> impl Iterator<Item = String> + 'a {
    let replaced: String =
        name.chars().map(|character| if profile.allows(character) { character } else { '_' }).collect();
    let room = profile.budget();
    LENGTHS
        .iter()
        .filter(move |&&length| length + 1 < room)
        .map(move |&length| hashed(profile, &replaced, tool, length))
}

fn hashed(profile: &Profile, legal: &str, tool: &CanonicalName, digits: usize) -> String {
    let digest = Sha256::new_with_prefix("toolmark/exposed/v1\0").chain_update(tool.as_str()).finalize();
    let suffix: String = hex(&digest).chars().take(digits).collect();
    let room = profile.budget().saturating_sub(digits + 1);
    let kept: String = legal.chars().take(room).collect();
    match kept.trim_matches(['_', '-', '.']) {
        "" => format!("t_{suffix}").chars().take(profile.budget()).collect(),
        kept => format!("{kept}_{suffix}"),
    }
}
