//! Which names were given out: they stay with their tools over lists that change and over restarts.
//!
//! Names are given at once and written down a moment later. Should another process of the same workspace have given a name to another
//! tool in that moment, the one that was written first keeps it, and the lists here are made again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolmark_core::catalog::Catalog;
use toolmark_core::exposure::{ExposeError, ExposedTable, Mode, Profile, Published};
use toolmark_core::text::visible;
use toolmark_store::{NameScope, Store, StoreError};

/// The names of all scopes.
#[derive(Debug, Default)]
pub(crate) struct Names {
    state: Mutex<State>,
    /// Rung when there is something to write down.
    bell: Notify,
}

#[derive(Debug, Default)]
struct State {
    published: HashMap<NameScope, Published>,
    unsaved: HashSet<NameScope>,
    /// Whose missing names were told of.
    told: HashSet<String>,
}

/// Something beside a tool that is to get a name.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Who it is.
    pub(crate) owner: String,
    /// What its pack calls it.
    pub(crate) bare: String,
    /// What it is called where that is not possible, or not wanted.
    pub(crate) other: String,
    /// Which of the two.
    pub(crate) mode: Mode,
}

/// The names that were given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// One for each, in their order; nothing for one that must be bare while another has its name.
    pub(crate) names: Vec<Option<String>>,
    /// Names that some of them had before, with whom they lead to. They are not listed, and still work.
    pub(crate) former: Vec<(String, String)>,
}

impl Names {
    /// All names that a store remembers.
    pub(crate) async fn recall(store: &Store) -> Result<Self, StoreError> {
        let mut published = HashMap::new();
        for scope in store.name_scopes().await? {
            let names = store.names(&scope).await?;
            published.insert(scope, names.published);
        }
        Ok(Self { state: Mutex::new(State { published, ..State::default() }), bell: Notify::new() })
    }

    /// The names of tools for one client. Names in another way than the usual one are kept apart: what one address wants must not rename
    /// the tools of another.
    /// One that must be bare while another has its name gets none.
    pub(crate) fn table(&self, catalog: &Catalog, profile: &Profile, mode: Mode, usual: Mode) -> ExposedTable {
        let client = profile.name().as_str();
        let kept = match mode == usual {
            // As names were written down before ways were kept apart, so that those stay what they are.
            true => Cow::Borrowed(client),
            false => Cow::Owned(format!("{client}+{}", mode.as_str())),
        };
        let scope = NameScope::new(&kept, profile.server());
        let mut state = self.state();
        let known = state.published.entry(scope.clone()).or_default();
        let (table, refused) = ExposedTable::build_partly(catalog, profile, mode, known);
        let published = table.published();
        if published != *known {
            *known = published;
            state.unsaved.insert(scope);
            self.bell.notify_one();
        }
        for tool in refused.iter().flat_map(ExposeError::tools) {
            if state.told.insert(format!("tool {kept} {tool}")) {
                tracing::error!(tool, client, "it must be bare and another has its name: it is left out");
            }
        }
        table
    }

    /// The names of other things. A name stays until somebody wants names of another kind; whoever was first with one keeps it.
    pub(crate) fn of(&self, kind: &str, all: &[Wanted]) -> Given {
        let scope = NameScope::new(kind, "");
        let mut state = self.state();
        let known = state.published.entry(scope.clone()).or_default();
        let mut owners: HashMap<String, String> =
            known.former().map(|(name, owner)| (name.into(), owner.into())).collect();
        owners.extend(known.current().map(|(owner, name)| (name.to_owned(), owner.to_owned())));
        let current: HashMap<String, String> =
            known.current().map(|(owner, name)| (owner.into(), name.into())).collect();
        let mut after = known.clone();
        let (mut names, mut refused) = (Vec::with_capacity(all.len()), Vec::new());
        for wanted in all {
            let owner = &wanted.owner;
            let free = |name: &str| owners.get(name).is_none_or(|has| has == owner);
            let name = match current.get(owner).filter(|name| wanted.could_be(name)) {
                Some(name) => Some(name.clone()),
                None => wanted.choices().find(|name| free(name)),
            };
            match &name {
                Some(name) => {
                    owners.insert(name.clone(), owner.clone());
                    after.remember(owner, name);
                }
                None => refused.push(wanted),
            }
            names.push(name);
        }
        let former = after.former().map(|(name, owner)| (name.to_owned(), owner.to_owned())).collect();
        if after != *known {
            *known = after;
            state.unsaved.insert(scope);
            self.bell.notify_one();
        }
        for wanted in refused {
            if state.told.insert(format!("{kind} {}", wanted.owner)) {
                let name = visible(&wanted.bare, 200);
                tracing::warn!(kind, name, "it must be bare and another has its name: it is left out");
            }
        }
        Given { names, former }
    }

    /// Rung when there is something to write down.
    pub(crate) fn bell(&self) -> &Notify {
        &self.bell
    }

    /// True when there is something to write down.
    pub(crate) fn is_unsaved(&self) -> bool {
        !self.state().unsaved.is_empty()
    }

    /// Writes down what is new. True when a name turned out to be another tool's, so that lists must be made again.
    pub(crate) async fn save(&self, store: &Store) -> bool {
        let scopes = std::mem::take(&mut self.state().unsaved);
        let mut moved = false;
        for scope in scopes {
            let Some(ours) = self.state().published.get(&scope).cloned() else { continue };
            let saved = store.publish(&scope, |theirs| {
                let merged = merge(theirs, &ours);
                Ok::<_, std::convert::Infallible>((merged.clone(), merged))
            });
            match saved.await {
                Ok(merged) if merged != ours => {
                    moved = true;
                    let mut state = self.state();
                    // What was given out while this was written is tried again.
                    if state.published.get(&scope) == Some(&ours) {
                        state.published.insert(scope, merged);
                    } else {
                        state.unsaved.insert(scope);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(profile = scope.profile, %error, "names are not written down; tried again");
                    self.state().unsaved.insert(scope);
                }
            }
        }
        moved
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wanted {
    /// The names that it may get, the best first.
    fn choices(&self) -> impl Iterator<Item = String> {
        let bare = (self.mode != Mode::Prefixed).then(|| self.bare.clone());
        let more = (2..).map(|number: u32| format!("{}_{number}", self.other));
        let others = std::iter::once(self.other.clone()).chain(more).take_while(|_| self.mode != Mode::Bare);
        bare.into_iter().chain(others)
    }

    /// True for a name that this way of naming could have given.
    fn could_be(&self, name: &str) -> bool {
        let numbered = || {
            let number = name.strip_prefix(&*self.other).and_then(|rest| rest.strip_prefix('_'));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let (bare, other) = (name == self.bare, || name == self.other || numbered());
        match self.mode {
            Mode::Auto => bare || other(),
            Mode::Prefixed => other(),
            Mode::Bare => bare,
        }
    }
}

/// What both gave out; where they differ, the one that was written first.
fn merge(theirs: &Published, ours: &Published) -> Published {
    let mut merged = theirs.clone();
    let taken: HashMap<&str, &str> = theirs.current().map(|(owner, name)| (name, owner)).collect();
    let known: HashMap<&str, &str> = theirs.current().collect();
    for (owner, name) in ours.current() {
        let mine = taken.get(name).is_none_or(|has| *has == owner);
        if mine && known.get(owner) != Some(&name) {
            merged.remember(owner, name);
        }
    }
    for (name, owner) in ours.former() {
        let used = merged.current().any(|(_, current)| current == name);
        if !used && !taken.contains_key(name) {
            merged.remember_former(owner, name);
        }
    }
    merged
}

#[cfg(test)]
mod tests;
