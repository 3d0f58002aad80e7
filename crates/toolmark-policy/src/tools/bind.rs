//! Settles which tools a pattern means. What means nothing, or could mean two different things, is refused with what was found.

use std::collections::BTreeSet;

use toolmark_core::names::PackName;
use toolmark_core::text::visible;

use super::error::BindError;
use super::spelling::{Reading, fold_pack, fold_raw, readings};
use super::universe::{ToolAt, Universe};
use crate::pattern::{Glob, Stance};

/// At most this many suggestions, at most this far off.
const SUGGESTIONS: usize = 3;
const DISTANCE: usize = 2;

impl Universe<'_> {
    /// The tools that `pattern` means, in their order. Restrictive rules follow tools that were renamed; permissive ones do not.
    ///
    /// Empty when it names a pack that is configured but not listed yet.
    pub(crate) fn bind(&self, owner: &str, pattern: &str, stance: Stance) -> Result<BTreeSet<ToolAt>, BindError> {
        let readings = readings(pattern);
        // Everything is everything, even where there is nothing yet.
        if Glob::new(pattern).is_any() {
            return Ok(self.all().map(|(at, _)| at).collect());
        }
        let current = self.settle(pattern, &readings);
        let mut bound = current.map_err(|candidates| self.ambiguous(owner, pattern, candidates))?;
        let former: BTreeSet<ToolAt> = readings.iter().flat_map(|reading| self.renamed(reading)).collect();
        if stance == Stance::Restrictive {
            bound.extend(&former);
        }
        if bound.is_empty() && !readings.iter().any(|reading| self.may_come(reading)) {
            return Err(self.nothing(owner, pattern, &readings, former.first().copied()));
        }
        Ok(bound)
    }

    /// As [`Universe::bind`], for a place where only one tool can stand.
    pub(crate) fn bind_one(&self, owner: &str, name: &str, stance: Stance) -> Result<BTreeSet<ToolAt>, BindError> {
        let bound = self.bind(owner, name, stance)?;
        if bound.len() > 1 { Err(self.ambiguous(owner, name, bound)) } else { Ok(bound) }
    }

    /// The pack that `name` means, as it is spelled in the catalog; `None` when it is configured but not listed yet.
    pub(crate) fn bind_pack(&self, owner: &str, name: &str) -> Result<Option<&PackName>, BindError> {
        let packs = || self.catalog.packs().filter_map(|(pack, _)| pack.name());
        let folded = fold_pack(name);
        let alike: Vec<&PackName> = packs().filter(|pack| fold_pack(pack.as_str()) == folded).collect();
        match (packs().find(|pack| pack.as_str() == name), alike.as_slice()) {
            (Some(exact), _) => Ok(Some(exact)),
            (None, [only]) => Ok(Some(only)),
            (None, []) if self.awaited().iter().any(|pack| fold_pack(pack.as_str()) == folded) => Ok(None),
            (None, []) => Err(BindError::Nothing {
                owner: owner.to_owned(),
                pattern: visible(name, 200),
                suggestions: self.near_packs(name),
                renamed: None,
            }),
            (None, several) => Err(BindError::Ambiguous {
                owner: owner.to_owned(),
                pattern: visible(name, 200),
                candidates: several.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// The tools of today that a pattern means, or those between which it does not choose.
    fn settle(&self, pattern: &str, readings: &[Reading]) -> Result<BTreeSet<ToolAt>, BTreeSet<ToolAt>> {
        // Invariant: a canonical name means its tool, whatever else it could be read as.
        let canonical = readings.iter().find(|reading| reading.is_canonical(pattern));
        if let Some(found) = canonical.and_then(|reading| self.exactly(reading).ok()).filter(|found| !found.is_empty())
        {
            return Ok(found);
        }
        let mut meanings: Vec<BTreeSet<ToolAt>> = Vec::new();
        for reading in readings {
            let meaning = self.current(reading)?;
            if !meaning.is_empty() && !meanings.contains(&meaning) {
                meanings.push(meaning);
            }
        }
        if meanings.len() > 1 {
            Err(meanings.into_iter().flatten().collect())
        } else {
            Ok(meanings.pop().unwrap_or_default())
        }
    }

    /// The tools of today that one reading means, or those between which it does not choose.
    fn current(&self, reading: &Reading) -> Result<BTreeSet<ToolAt>, BTreeSet<ToolAt>> {
        let found = self.exactly(reading)?;
        if found.is_empty() { self.loosely(reading) } else { Ok(found) }
    }

    /// The same by the very letters.
    fn exactly(&self, reading: &Reading) -> Result<BTreeSet<ToolAt>, BTreeSet<ToolAt>> {
        Ok(match (&reading.pack, reading.raw.exact()) {
            (None, Some(short)) => {
                let owners: BTreeSet<ToolAt> = self.by_short(short).into_iter().collect();
                return if owners.len() > 1 { Err(owners) } else { Ok(owners) };
            }
            (None, None) => self.scan(|_, raw| reading.raw.matches(raw)),
            (Some(pack), exact) => match (pack.exact(), exact) {
                (Some(pack), Some(raw)) => self.by_canonical(&format!("{pack}.{raw}")).into_iter().collect(),
                _ => self.scan(|own, raw| in_pack(reading, pack, own, Glob::matches) && reading.raw.matches(raw)),
            },
        })
    }

    /// The same where the pack is written as in another program's configuration, or a client replaced characters.
    fn loosely(&self, reading: &Reading) -> Result<BTreeSet<ToolAt>, BTreeSet<ToolAt>> {
        let Some(pack) = &reading.pack else { return Ok(BTreeSet::new()) };
        let same_raw = |raw: &str| match reading.from_client {
            true => reading.raw.map(fold_raw).matches(&fold_raw(raw)),
            false => reading.raw.matches(raw),
        };
        let found: BTreeSet<ToolAt> = match (pack.exact(), reading.raw.exact()) {
            (Some(pack), Some(raw)) => {
                let like = self.by_loose(pack, raw).iter().copied();
                like.filter(|at| self.tool(*at).is_some_and(|tool| same_raw(tool.raw().as_str()))).collect()
            }
            _ => {
                let folded = pack.map(fold_pack);
                let own_pack = |own: Option<&str>| own.is_some_and(|own| folded.matches(&fold_pack(own)));
                self.scan(|own, raw| own_pack(own) && same_raw(raw))
            }
        };
        let packs: BTreeSet<Option<&str>> = found.iter().filter_map(|at| Some(self.tool(*at)?.pack())).collect();
        let one_meant = (pack.exact().is_some() && packs.len() > 1)
            || (pack.exact().is_some() && reading.raw.exact().is_some() && found.len() > 1);
        if one_meant { Err(found) } else { Ok(found) }
    }

    /// The tools of today that had a name which this reading means.
    fn renamed(&self, reading: &Reading) -> Vec<ToolAt> {
        let means = |pack: Option<&str>, raw: &str| match &reading.pack {
            None => reading.raw.matches(raw),
            Some(glob) => {
                let loosely =
                    |glob: &Glob, own: &str| glob.matches(own) || glob.map(fold_pack).matches(&fold_pack(own));
                let raw_is = reading.raw.matches(raw)
                    || (reading.from_client && reading.raw.map(fold_raw).matches(&fold_raw(raw)));
                in_pack(reading, glob, pack, loosely) && raw_is
            }
        };
        let former = self.former().iter();
        former.filter(|(old, _)| means(old.pack(), old.raw())).map(|(_, at)| *at).collect()
    }

    /// True when the pack it names, or any pack, may still be listed.
    fn may_come(&self, reading: &Reading) -> bool {
        self.awaited().iter().any(|pack| match &reading.pack {
            None => true,
            Some(glob) => glob.matches(pack.as_str()) || glob.map(fold_pack).matches(&fold_pack(pack.as_str())),
        })
    }

    fn scan(&self, means: impl Fn(Option<&str>, &str) -> bool) -> BTreeSet<ToolAt> {
        self.all().filter(|(_, tool)| means(tool.pack(), tool.raw().as_str())).map(|(at, _)| at).collect()
    }

    fn name(&self, at: ToolAt) -> Option<String> {
        self.tool(at).map(|tool| visible(tool.canonical().as_str(), 300))
    }

    fn ambiguous(&self, owner: &str, pattern: &str, candidates: BTreeSet<ToolAt>) -> BindError {
        let candidates = candidates.into_iter().filter_map(|at| self.name(at)).collect();
        BindError::Ambiguous { owner: owner.to_owned(), pattern: visible(pattern, 200), candidates }
    }

    fn nothing(&self, owner: &str, pattern: &str, readings: &[Reading], renamed: Option<ToolAt>) -> BindError {
        let mut suggestions: Vec<String> = Vec::new();
        for reading in readings {
            let near = match (&reading.pack, reading.raw.exact()) {
                (None, _) => self.near_tools(reading.raw.as_str()),
                (Some(pack), Some(raw)) => {
                    let mut near = self.near_tools(&format!("{pack}.{raw}"));
                    near.extend(self.near_tools(raw));
                    near
                }
                (Some(pack), None) => {
                    let near = self.near_packs(pack.as_str()).into_iter();
                    near.map(|name| format!("{name}.{}", visible(reading.raw.as_str(), 200))).collect()
                }
            };
            for name in near {
                if !suggestions.contains(&name) && suggestions.len() < SUGGESTIONS {
                    suggestions.push(name);
                }
            }
        }
        let renamed = renamed.and_then(|at| self.name(at));
        BindError::Nothing { owner: owner.to_owned(), pattern: visible(pattern, 200), suggestions, renamed }
    }

    fn near_tools(&self, name: &str) -> Vec<String> {
        let near = self.catalog.suggest(name, |_| true);
        near.into_iter().map(|tool| visible(tool.canonical().as_str(), 300)).collect()
    }

    fn near_packs(&self, pack: &str) -> Vec<String> {
        let folded = fold_pack(pack);
        let names = self.catalog.packs().filter_map(|(pack, _)| pack.name());
        let near = names.filter(|name| strsim::levenshtein(&fold_pack(name.as_str()), &folded) <= DISTANCE);
        near.map(ToString::to_string).collect()
    }
}

/// `*` in the place of a pack also means tools that no pack owns, but not where a client wrote the name of a server.
fn in_pack(reading: &Reading, glob: &Glob, pack: Option<&str>, matches: impl Fn(&Glob, &str) -> bool) -> bool {
    match pack {
        Some(pack) => matches(glob, pack),
        None => glob.is_any() && !reading.from_client,
    }
}
