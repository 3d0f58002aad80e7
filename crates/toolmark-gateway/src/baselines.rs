//! Which baselines does a configuration take from the store? Those of tasks that say `baseline = "store:NAME"`; they are read before a
//! workspace is made, so that making it waits for nobody.

use std::collections::BTreeMap;

use toolmark_config::Config;
use toolmark_core::explain::{Code, Explain};
use toolmark_store::{Store, StoreError};

/// What a baseline in the store is called in a configuration, before its name.
const PREFIX: &str = "store:";

/// Baselines of the store, as text, by the name that they were learned under.
pub type Baselines = BTreeMap<String, String>;

/// A baseline that a task names and the store does not have.
#[derive(Debug, thiserror::Error)]
#[error("the task `{task}` names the baseline `store:{name}`, and the store keeps none of that name")]
pub(crate) struct BaselineMissing {
    pub(crate) task: String,
    pub(crate) name: String,
}

/// The name in the store that a setting stands for; nothing where it is a file.
#[must_use]
pub fn in_store(baseline: &str) -> Option<&str> {
    baseline.strip_prefix(PREFIX)
}

/// The names of all that a configuration takes from the store.
pub fn named(config: &Config) -> impl Iterator<Item = &str> {
    config.tasks.iter().filter_map(|(_, task)| in_store(task.baseline.as_deref()?))
}

/// Reads them. What is not there is left out, and is a problem of whoever names it.
///
/// # Errors
/// [`StoreError`] when the store cannot be read.
pub async fn read(config: &Config, store: &Store) -> Result<Baselines, StoreError> {
    let mut found = Baselines::new();
    for name in named(config) {
        if let Some(text) = store.baseline(name).await? {
            found.insert(name.to_owned(), text);
        }
    }
    Ok(found)
}

impl Explain for BaselineMissing {
    fn code(&self) -> Code {
        Code::new("baseline-missing")
    }

    fn why(&self) -> String {
        "an empty baseline would make every call look unusual".into()
    }

    fn fix(&self) -> String {
        format!("learn one: `toolmark baseline learn --task {} --from-audit`", self.name)
    }
}
