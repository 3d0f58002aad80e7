//! What approved runs of a task did, kept beside everything else that nodes share. The text is that of a baseline file.

use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

impl Store {
    /// What approved runs of a task did, as text; nothing where nothing was learned.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn baseline(&self, task: &str) -> Result<Option<String>, StoreError> {
        self.backend().baseline(task).await
    }

    /// The tasks of which that is kept, by name, and since when it is as it is.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn baselines(&self) -> Result<Vec<(String, Micros)>, StoreError> {
        self.backend().baselines().await
    }

    /// Changes what is kept of a task: `learn` is given what is there, and again if somebody else was faster.
    ///
    /// # Errors
    /// What `learn` refuses, or [`StoreError`]; then everything is as before.
    pub async fn learn_baseline<E: From<StoreError>>(
        &self,
        task: &str,
        learn: impl Fn(Option<&str>) -> Result<String, E>,
    ) -> Result<String, E> {
        loop {
            let before = self.backend().baseline(task).await?;
            let text = learn(before.as_deref())?;
            if self.backend().change_baseline(task, before.as_deref(), &text, self.now()).await? {
                return Ok(text);
            }
        }
    }
}
