//! What do the addresses below `/mcp` stand for? A task or a profile, found out once for a snapshot.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use toolmark_core::exposure::ProfileName;
use toolmark_mcp::downstream::Binding;

use crate::snapshot::Snapshot;

/// What the addresses below `/mcp` stand for under one snapshot, so that it is found out once.
#[derive(Default)]
pub(super) struct Addresses {
    known: RwLock<(Weak<Snapshot>, Bindings)>,
    pub(super) unbound: Arc<Binding>,
}

type Bindings = HashMap<Box<str>, Arc<Binding>>;
impl Addresses {
    pub(super) fn find(&self, snapshot: &Arc<Snapshot>, name: &str) -> Option<Arc<Binding>> {
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if std::ptr::eq(known.0.as_ptr(), Arc::as_ptr(snapshot))
                && let Some(binding) = known.1.get(name)
            {
                return Some(Arc::clone(binding));
            }
        }
        let binding = Arc::new(binding(snapshot, name)?);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(known.0.as_ptr(), Arc::as_ptr(snapshot)) {
            *known = (Arc::downgrade(snapshot), HashMap::new());
        }
        // Only names that mean something are kept, so there are only so many.
        known.1.insert(name.into(), Arc::clone(&binding));
        Some(binding)
    }
}

/// What an address below `/mcp` stands for.
fn binding(snapshot: &Snapshot, name: &str) -> Option<Binding> {
    if snapshot.workspace().tasks().find(name).is_ok() {
        let written = snapshot.config().tasks.iter().find(|(task, _)| task.as_str() == name);
        let profile = written.and_then(|(_, task)| task.profile.as_ref()).map(ToString::to_string);
        return Some(Binding { task: Some(name.to_owned()), profile });
    }
    let known = snapshot.config().profiles.iter().any(|(profile, _)| profile.as_str() == name)
        || name.parse::<ProfileName>().is_ok();
    known.then(|| Binding { task: None, profile: Some(name.to_owned()) })
}
