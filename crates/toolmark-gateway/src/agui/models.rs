//! Which model does an agent speak with? Opened once for as long as nothing changes; one that follows a script belongs to its run, since it
//! remembers where it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use toolmark_config::values::ModelText;
use toolmark_core::explain::{Explain as _, Report};
use toolmark_models::{Model, Provider};

use crate::gateway::Gateway;
use crate::models::ModelAt;
use crate::snapshot::Snapshot;

/// How many runs that wait keep their scripts.
const SCRIPTS: usize = 1024;

/// Models that are open.
#[derive(Default)]
pub(super) struct Models {
    shared: Mutex<(Weak<Snapshot>, Opened)>,
    scripts: Mutex<HashMap<String, Opened>>,
}

type Opened = HashMap<String, Arc<dyn Model>>;

/// The models of one run.
pub(super) struct ForRun<'m> {
    models: &'m Models,
    gateway: &'m Gateway,
    snapshot: &'m Arc<Snapshot>,
    thread: &'m str,
}

impl Models {
    pub(super) fn for_run<'m>(
        &'m self,
        gateway: &'m Gateway,
        snapshot: &'m Arc<Snapshot>,
        thread: &'m str,
    ) -> ForRun<'m> {
        ForRun { models: self, gateway, snapshot, thread }
    }

    /// The run of a thread is over.
    pub(super) fn forget(&self, thread: &str) {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner).remove(thread);
    }
}

impl ForRun<'_> {
    pub(super) fn open(&self, text: &ModelText) -> Result<Arc<dyn Model>, Box<Report>> {
        if let Some(model) = &self.gateway.model {
            return Ok(Arc::clone(model));
        }
        let name = text.to_string();
        if let Some(known) = self.known(&name) {
            return Ok(known);
        }
        let environment = |name: &str| std::env::var(name).ok();
        let at = ModelAt::find(self.snapshot.config(), text, &self.gateway.directory, &environment);
        let at = at.map_err(|error| Box::new(error.report()))?;
        let model = at.open(&environment).map_err(|error| Box::new(error.report()))?;
        self.keep(name, &model);
        Ok(model)
    }

    fn known(&self, name: &str) -> Option<Arc<dyn Model>> {
        let scripts = self.models.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = scripts.get(self.thread).and_then(|own| own.get(name)) {
            return Some(Arc::clone(model));
        }
        drop(scripts);
        let shared = self.models.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let same = std::ptr::eq(shared.0.as_ptr(), Arc::as_ptr(self.snapshot));
        same.then(|| shared.1.get(name).cloned()).flatten()
    }

    fn keep(&self, name: String, model: &Arc<dyn Model>) {
        if model.name().provider() == Provider::Scripted {
            let mut scripts = self.models.scripts.lock().unwrap_or_else(PoisonError::into_inner);
            if scripts.len() < SCRIPTS || scripts.contains_key(self.thread) {
                scripts.entry(self.thread.to_owned()).or_default().insert(name, Arc::clone(model));
            }
            return;
        }
        let mut shared = self.models.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(shared.0.as_ptr(), Arc::as_ptr(self.snapshot)) {
            *shared = (Arc::downgrade(self.snapshot), HashMap::new());
        }
        shared.1.insert(name, Arc::clone(model));
    }
}
