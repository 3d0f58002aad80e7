//! Which names were given out: they stay with their tools over lists that change and over restarts.
//!
//! Names are given at once and written down a moment later. Should another process of the same workspace have given a name to another
//! tool in that moment, the one that was written first keeps it, and the lists here are made again.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolmark_core::catalog::Catalog;
use toolmark_core::exposure::{ExposeError, ExposedTable, Mode, Profile, Published};
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
}

impl Names {
    /// All names that a store remembers.
    pub(crate) async fn recall(store: &Store) -> Result<Self, StoreError> {
        let mut published = HashMap::new();
        for scope in store.name_scopes().await? {
            let names = store.names(&scope).await?;
            published.insert(scope, names.published);
        }
        Ok(Self { state: Mutex::new(State { published, unsaved: HashSet::new() }), bell: Notify::new() })
    }

    /// The names of tools for one client.
    pub(crate) fn table(&self, catalog: &Catalog, profile: &Profile, mode: Mode) -> Result<ExposedTable, ExposeError> {
        let scope = NameScope::new(profile.name().as_str(), profile.server());
        let mut state = self.state();
        let known = state.published.entry(scope.clone()).or_default();
        let table = ExposedTable::build(catalog, profile, mode, known)?;
        let published = table.published();
        if published != *known {
            *known = published;
            state.unsaved.insert(scope);
            self.bell.notify_one();
        }
        Ok(table)
    }

    /// The names of other things. Each is `(owner, wanted, other)`: who it is, the name that it gets if nobody else has it, and the one
    /// that it gets otherwise.
    pub(crate) fn of(&self, kind: &str, all: &[(String, String, String)]) -> Vec<String> {
        let scope = NameScope::new(kind, "");
        let mut state = self.state();
        let known = state.published.entry(scope.clone()).or_default();
        let mut owners: HashMap<String, String> =
            known.former().map(|(name, owner)| (name.into(), owner.into())).collect();
        owners.extend(known.current().map(|(owner, name)| (name.to_owned(), owner.to_owned())));
        let current: HashMap<String, String> =
            known.current().map(|(owner, name)| (owner.into(), name.into())).collect();
        let mut after = known.clone();
        let mut names = Vec::with_capacity(all.len());
        for (owner, wanted, other) in all {
            let free = |name: &str| owners.get(name).is_none_or(|has| has == owner);
            let name = match current.get(owner) {
                Some(name) => name.clone(),
                None if free(wanted) => wanted.clone(),
                None => {
                    let more = (2..).map(|number: u32| format!("{other}_{number}"));
                    let mut names = std::iter::once(other.clone()).chain(more);
                    names.find(|name| free(name)).unwrap_or_else(|| other.clone())
                }
            };
            owners.insert(name.clone(), owner.clone());
            after.remember(owner, &name);
            names.push(name);
        }
        if after != *known {
            *known = after;
            state.unsaved.insert(scope);
            self.bell.notify_one();
        }
        names
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
