//! What do a page and an agent share besides the conversation? One JSON value, which tools of a program may change while a run goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

/// The state of a thread. Put into the [`RunContext`](../toolmark_runtime/tools/struct.RunContext.html) of a run, tools find it there. Cheap
/// to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct SharedState(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    value: Value,
    /// What changed since somebody last asked, as RFC 6902.
    changes: Vec<Value>,
}

impl SharedState {
    /// The state that a client has.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self(Arc::new(Mutex::new(Inner { value, changes: Vec::new() })))
    }

    /// All of it.
    #[must_use]
    pub fn get(&self) -> Value {
        self.inner().value.clone()
    }

    /// Sets one member of the state, which becomes an object if it is none. Nothing is said about what stays as it is.
    pub fn set(&self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let mut inner = self.inner();
        if !inner.value.is_object() {
            inner.value = json!({});
            inner.changes = vec![json!({"op": "replace", "path": "", "value": {}})];
        }
        let Some(members) = inner.value.as_object_mut() else { return };
        if members.get(key) == Some(&value) {
            return;
        }
        members.insert(key.to_owned(), value.clone());
        // `add` replaces what is there.
        inner.changes.push(json!({"op": "add", "path": pointer(key), "value": value}));
    }

    /// Takes one member away.
    pub fn remove(&self, key: &str) {
        let mut inner = self.inner();
        if inner.value.as_object_mut().is_some_and(|members| members.shift_remove(key).is_some()) {
            inner.changes.push(json!({"op": "remove", "path": pointer(key)}));
        }
    }

    /// What changed since this was last asked.
    pub(crate) fn changes(&self) -> Vec<Value> {
        std::mem::take(&mut self.inner().changes)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_said_once_and_what_stayed_is_not() {
        let state = SharedState::new(json!({"kept": 1}));
        state.set("a/b", json!(2));
        state.set("kept", json!(1));
        state.remove("not there");
        assert_eq!(state.changes(), [json!({"op": "add", "path": "/a~1b", "value": 2})]);
        assert!(state.changes().is_empty());
        state.remove("a/b");
        assert_eq!((state.get(), state.changes().len()), (json!({"kept": 1}), 1));
    }

    #[test]
    fn a_state_that_is_no_object_becomes_one_before_a_member_is_set() {
        let state = SharedState::new(json!("text"));
        state.set("a", json!(1));
        assert_eq!(state.get(), json!({"a": 1}));
        assert_eq!(state.changes().len(), 2);
    }
}
