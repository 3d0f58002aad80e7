//! Which names a client has been shown: they stay with their tools over restarts, and two processes never give one name twice.
//!
//! Each scope has a version. Whoever saves says which version the new table was made from; if somebody else saved in
//! between, nothing is written and the table is made again from what is there now.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::exposure::Published;
use toolmark_core::text::visible;

use crate::backend::NamesChange;
use crate::error::StoreError;
use crate::store::Store;

/// How often a table is made again when others keep saving in between.
const ATTEMPTS: usize = 16;

/// Whose names: those of one client profile under one server name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameScope {
    /// The client profile, such as `claude-code`.
    pub profile: String,
    /// The name that the client knows this server by; it counts towards the length of every tool name.
    pub server: String,
}

/// The names of a scope as they were when somebody looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownNames {
    /// The names, current and former.
    pub published: Published,
    /// Grows with each change; zero before the first.
    pub version: u64,
}

/// What became of names that were to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Saved {
    /// They are kept, or were already.
    Done(KnownNames),
    /// Somebody else saved first. Nothing was written; this is what is there now.
    Outdated(KnownNames),
}

/// Names that were not published.
#[derive(Clone, Debug, PartialEq)]
pub enum PublishError<E> {
    /// No table could be made.
    Table(E),
    /// Two tools have one name in the table.
    Twice(NameTwice),
    /// Others saved in between, again and again.
    Contended(NameScope),
    /// The store failed.
    Store(StoreError),
}

/// One exposed name for two tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTwice {
    exposed: String,
    tools: [String; 2],
}

impl NameScope {
    /// The scope of a profile and a server name.
    #[must_use]
    pub fn new(profile: &str, server: &str) -> Self {
        Self { profile: profile.into(), server: server.into() }
    }
}

impl Store {
    /// The names that were published in a scope.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn names(&self, scope: &NameScope) -> Result<KnownNames, StoreError> {
        self.backend().names(scope).await
    }

    /// The scopes that have names.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn name_scopes(&self) -> Result<Vec<NameScope>, StoreError> {
        self.backend().name_scopes().await
    }

    /// Saves the changes between `before`, as it was read, and `after`, all or none.
    ///
    /// A former name that another tool has as its current one is not kept: nothing could be reached by it.
    ///
    /// # Errors
    /// [`PublishError::Twice`] when two tools have one current name, [`PublishError::Store`] when the store fails.
    pub async fn save_names(
        &self,
        scope: &NameScope,
        before: &KnownNames,
        after: &Published,
    ) -> Result<Saved, PublishError<std::convert::Infallible>> {
        self.save(scope, before, after).await
    }

    /// Makes a table from the names of a scope and saves what it publishes, again if others saved in between.
    ///
    /// `table` is given the names that are known, and returns those to remember beside whatever it made.
    ///
    /// # Errors
    /// [`PublishError`]; then nothing was saved.
    pub async fn publish<T, E>(
        &self,
        scope: &NameScope,
        mut table: impl FnMut(&Published) -> Result<(Published, T), E>,
    ) -> Result<T, PublishError<E>> {
        let mut before = self.names(scope).await.map_err(PublishError::Store)?;
        for _ in 0..ATTEMPTS {
            let (after, made) = table(&before.published).map_err(PublishError::Table)?;
            match self.save(scope, &before, &after).await? {
                Saved::Done(_) => return Ok(made),
                Saved::Outdated(now) => before = now,
            }
        }
        Err(PublishError::Contended(scope.clone()))
    }

    async fn save<E>(
        &self,
        scope: &NameScope,
        before: &KnownNames,
        after: &Published,
    ) -> Result<Saved, PublishError<E>> {
        let after = with_one_owner_each(after).map_err(PublishError::Twice)?;
        let change = NamesChange::between(&before.published, &after);
        if change.is_empty() {
            return Ok(Saved::Done(before.clone()));
        }
        let at = self.now();
        let done =
            self.backend().change_names(scope, before.version, &change, at).await.map_err(PublishError::Store)?;
        if done {
            return Ok(Saved::Done(KnownNames { published: after, version: before.version + 1 }));
        }
        self.names(scope).await.map(Saved::Outdated).map_err(PublishError::Store)
    }
}

/// The same names without former ones that a current one hides.
fn with_one_owner_each(published: &Published) -> Result<Published, NameTwice> {
    let mut owners: HashMap<&str, &str> = HashMap::new();
    let mut clean = Published::default();
    for (tool, exposed) in published.current() {
        if let Some(other) = owners.insert(exposed, tool) {
            let tools = [visible(other, 300), visible(tool, 300)];
            return Err(NameTwice { exposed: visible(exposed, 200), tools });
        }
        clean.remember(tool, exposed);
    }
    for (exposed, tool) in published.former().filter(|(exposed, _)| !owners.contains_key(exposed)) {
        clean.remember_former(tool, exposed);
    }
    Ok(clean)
}

impl<E: fmt::Display> fmt::Display for PublishError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(error) => error.fmt(f),
            Self::Twice(twice) => {
                let [one, other] = &twice.tools;
                write!(f, "`{}` would be the name of both `{one}` and `{other}`", twice.exposed)
            }
            Self::Contended(scope) => {
                write!(f, "others keep changing the names for {} under `{}`", scope.profile, visible(&scope.server, 80))
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for PublishError<E> {}

impl<E: Explain> Explain for PublishError<E> {
    fn code(&self) -> Code {
        match self {
            Self::Table(error) => error.code(),
            Self::Twice(_) => Code::new("published-name-twice"),
            Self::Contended(_) => Code::new("published-names-contended"),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Table(error) => error.why(),
            Self::Twice(_) => "a call by that name could reach the wrong one of the two".into(),
            Self::Contended(_) => "saving over what others saved could give one name to two tools".into(),
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Table(error) => error.fix(),
            Self::Twice(_) => "this is a mistake in Toolmark: please report it with the names of both tools".into(),
            Self::Contended(_) => "look for a process that restarts again and again with another configuration".into(),
            Self::Store(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Table(error) => error.facts(),
            Self::Twice(twice) => {
                facts([("name", twice.exposed.as_str().into()), ("tools", twice.tools.to_vec().into())])
            }
            Self::Contended(scope) => {
                facts([("profile", scope.profile.as_str().into()), ("server", scope.server.as_str().into())])
            }
            Self::Store(error) => error.facts(),
        }
    }
}
