//! Where does a gateway remember, and how is that opened? The same answer for every command: as named, as configured, or in the user's
//! data folder.

use std::path::PathBuf;
use std::time::SystemTime;

use toolmark_core::explain::{Code, Explain};
use toolmark_gateway::baselines::{self, Baselines};
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_store::{Location, Micros, Migration, Settings, Store};

use crate::cli::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::workspace::Written;

/// How many readers a command needs.
const READERS: u32 = 3;

/// A store whose place cannot be told.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct StoreUnknown(String);

impl Place {
    /// The store of a gateway, which may be running. One in memory is another for every process; it is refused as `volatile` says.
    pub(crate) async fn open(&self, written: &Written, volatile: &impl Explain) -> Result<Store, Failure> {
        match self.location(written)? {
            Location::Memory => Err(Failure::refused(Exit::BadInput, volatile)),
            place @ (Location::File(_) | Location::Postgres(_)) => open(&place).await,
        }
    }

    /// Where that is.
    pub(crate) fn location(&self, written: &Written) -> Result<Location, Failure> {
        location(written, self.store.name.as_deref())
    }
}

/// Where the store is.
pub(crate) fn location(written: &Written, named: Option<&str>) -> Result<Location, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let configured = match written.config.gateway.store.as_ref().map(|store| store.expand(&environment)) {
        Some(Ok(store)) => Some(store.expose().to_owned()),
        Some(Err(missing)) => {
            let text = format!("the variable `{}` in `gateway.store` is not set", missing.join("`, `"));
            return Err(Failure::refused(Exit::BadInput, &StoreUnknown(text)));
        }
        None => None,
    };
    match named.map(str::to_owned).or(configured) {
        Some(text) => Location::parse(&text).map_err(|error| Failure::refused(Exit::BadInput, &error)),
        None => usual(written).map(Location::File),
    }
}

/// The file in the user's data folder.
fn usual(written: &Written) -> Result<PathBuf, Failure> {
    let path = toolmark_store::default_path(
        std::env::var_os("XDG_DATA_HOME").as_deref(),
        std::env::var_os("HOME").as_deref(),
        // The same file must be found from every folder.
        written.path.as_deref().map(std::fs::canonicalize).transpose()?.as_deref(),
    );
    path.map_err(|error| Failure::refused(Exit::BadInput, &error))
}

/// Where tokens of logins are: in files, beside the store where that is one. A database is shared, and a token is for one machine, so
/// there they are where the file of this configuration would be.
pub(crate) fn logins(written: &Written, location: &Location) -> Result<Option<Vault>, Failure> {
    match location {
        Location::File(path) => Ok(Some(Vault::beside(path))),
        Location::Postgres(_) => usual(written).map(|path| Some(Vault::beside(&path))),
        Location::Memory => Ok(None),
    }
}

/// The baselines that the tasks of a configuration take from its store. The store is opened only for that, and never made.
pub(crate) fn baselines(written: &Written) -> Result<Baselines, Failure> {
    if baselines::named(&written.config).next().is_none() {
        return Ok(Baselines::default());
    }
    let location = match location(written, None)? {
        Location::Memory => return Ok(Baselines::default()),
        Location::File(path) if !path.exists() => return Ok(Baselines::default()),
        location @ (Location::File(_) | Location::Postgres(_)) => location,
    };
    let read = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let store = open_for(&location, 1).await?;
            let found = baselines::read(&written.config, &store).await;
            close(&store).await;
            found.map_err(|error| Failure::refused(Exit::Failed, &error))
        })
    };
    // Whoever asks may wait for other things on this thread already.
    std::thread::scope(|scope| scope.spawn(read).join()).unwrap_or_else(|_| Ok(Baselines::default()))
}

/// Opens a store.
pub(crate) async fn open(location: &Location) -> Result<Store, Failure> {
    open_for(location, READERS).await
}

/// Opens a store for so many readers at once.
pub(crate) async fn open_for(location: &Location, readers: u32) -> Result<Store, Failure> {
    let store = Store::open(location, &settings(readers)).await;
    store.map_err(|error| Failure::refused(Exit::Failed, &error))
}

/// Opens a store, and says from which version it was brought to which.
pub(crate) async fn migrate(location: &Location) -> Result<(Store, Migration), Failure> {
    let store = Store::migrate(location, &settings(READERS)).await;
    store.map_err(|error| Failure::refused(Exit::Failed, &error))
}

fn settings(readers: u32) -> Settings {
    Settings { readers, ..Settings::new(|| Micros::from(SystemTime::now())) }
}

/// What was asked for is done; a store that ends a moment later does not change that.
pub(crate) async fn close(store: &Store) {
    if let Err(error) = store.close().await {
        output::warn(&format!("the store: {error}"));
    }
}

impl Explain for StoreUnknown {
    fn code(&self) -> Code {
        Code::new("config-variable-missing")
    }

    fn why(&self) -> String {
        "without it, nobody knows where the gateway remembers".into()
    }

    fn fix(&self) -> String {
        "set the variable, or name the store with `--store`".into()
    }
}
