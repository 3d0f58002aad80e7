//! Whose turn is it to make room? Of whoever has the most, one goes for somebody who has fewer.

use foldhash::HashMap;

/// Who has the most of what is counted, if that is more than the newcomer would have with one more.
pub(super) fn most<'a>(owners: impl Iterator<Item = &'a str>, newcomer: &str) -> Option<&'a str> {
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for owner in owners {
        *counts.entry(owner).or_default() += 1;
    }
    let own = counts.get(newcomer).copied().unwrap_or_default();
    let (owner, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (own + 1 < most).then_some(owner)
}
