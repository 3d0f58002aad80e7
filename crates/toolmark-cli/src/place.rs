//! Where does a gateway remember, and how is that opened? The same answer for every command: as named, as configured, or in the user's
//! data folder.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use serde_json::{Map, Value};
use toolmark_core::catalog::Catalog;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::names::PackName;
use toolmark_gateway::baselines::{self, Baselines};
use toolmark_gateway::{GatewayBuilder, Remembered};
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_store::{Location, Micros, Migration, Settings, Store};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{input, output};

/// How many readers a command needs.
const READERS: u32 = 3;

/// Which gateway, by its configuration and by where it remembers.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The configuration of the gateway [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

/// Where a gateway remembers.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreName {
    /// Where to remember: a file, `postgres://…`, or `sqlite::memory:` [default: as configured, or a file in the user's data folder]
    #[arg(id = "store", long = "store", value_name = "STORE")]
    pub(crate) name: Option<String>,
}

/// A store whose place cannot be told.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct StoreUnknown(String);

/// A store that a command is to look into, and that is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no store `{0}`")]
struct StoreMissing(String);

/// Packs are configured, and nobody knows their tools.
#[derive(Debug, thiserror::Error)]
#[error("nobody has seen the tools of the packs that are configured{}", listed(.0))]
struct NothingSeen(Vec<PackName>);

fn listed(packs: &[PackName]) -> String {
    if packs.is_empty() {
        return String::new();
    }
    let names: Vec<String> = packs.iter().map(|pack| format!("`{pack}`")).collect();
    format!(": {}", names.join(", "))
}

impl Place {
    /// The store of a gateway, which may be running. One in memory is another for every process; it is refused as `volatile` says.
    pub(crate) async fn open(&self, written: &Written, volatile: &impl Explain) -> Result<Store, Failure> {
        match self.location(written)? {
            Location::Memory => Err(Failure::refused(Exit::BadInput, volatile)),
            place @ (Location::File(_) | Location::Postgres(_)) => open(&place).await,
        }
    }

    /// The same, unless there is none: one that was made on the spot would pass for one in which nothing is kept.
    pub(crate) async fn existing(&self, written: &Written, volatile: &impl Explain) -> Result<Store, Failure> {
        match self.location(written)? {
            Location::File(path) if !path.exists() => {
                Err(Failure::refused(Exit::NotFound, &StoreMissing(output::safe(&path.display().to_string()))))
            }
            Location::Memory => self.open(written, volatile).await,
            place => look(&place, READERS).await,
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
            let store = look(&location, 1).await?;
            let found = baselines::read(&written.config, &store).await;
            close(&store).await;
            found.map_err(|error| Failure::refused(Exit::Failed, &error))
        })
    };
    // Whoever asks may wait for other things on this thread already.
    std::thread::scope(|scope| scope.spawn(read).join()).unwrap_or_else(|_| Ok(Baselines::default()))
}

/// The tools of the packs of a configuration as its gateway last saw them, and packs that nobody has seen.
pub(crate) fn remembered(written: &Written, named: Option<&str>) -> Result<(Catalog, Vec<PackName>), Failure> {
    recalled(written, named).map(|known| (known.catalog, known.unseen))
}

/// All that its gateway last saw of the packs of a configuration. Nothing is started, and a store is never made.
pub(crate) fn recalled(written: &Written, named: Option<&str>) -> Result<Remembered, Failure> {
    let location = match location(written, named)? {
        Location::File(path) if !path.exists() => Location::Memory,
        location => location,
    };
    let lock = written.lock()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = look(&location, 1).await?;
        let builder = GatewayBuilder::new(written.config.clone(), written.directory().to_owned()).lock(lock);
        let builder = builder.store(store.clone()).unattended().recall().await;
        let known = match builder {
            Ok(builder) => builder.remembered().map_err(|error| Failure::Problems(error.problems().to_vec())),
            Err(error) => Err(Failure::refused(Exit::Failed, &error)),
        };
        close(&store).await;
        known
    })
}

/// The tools that a command is about: those that were named; otherwise those of the packs that are configured, as their gateway last saw
/// them; the demo workspace only where no pack is configured.
pub(crate) fn tools(written: &Written, paths: &[PathBuf], store: Option<&str>) -> Result<Catalog, Failure> {
    if !paths.is_empty() || written.config.packs.is_empty() {
        return input::catalog(paths);
    }
    // Whoever asks may wait for other things on this thread already.
    let read = || remembered(written, store);
    let (catalog, unseen) = std::thread::scope(|scope| scope.spawn(read).join())
        .unwrap_or_else(|_| Err(std::io::Error::other("the store cannot be read").into()))?;
    // What was never seen, and what has problems, is said; nothing at all would pass for everything being all right.
    if catalog.is_empty() && catalog.problems().is_empty() {
        return Err(Failure::refused(Exit::BadInput, &NothingSeen(unseen)));
    }
    for pack in unseen {
        output::warn(&format!(
            "nobody has seen the tools of `{pack}`; start `toolmark up` once, or name them with `--tools`"
        ));
    }
    Ok(catalog)
}

/// Opens a store.
pub(crate) async fn open(location: &Location) -> Result<Store, Failure> {
    let store = Store::open(location, &settings(READERS)).await;
    store.map_err(|error| Failure::refused(Exit::Failed, &error))
}

/// Opens a store to look into it: also one that may not be written, such as a copy on a medium that is read only, or one whose disk is
/// full. What would have to be written then is refused with its code.
pub(crate) async fn look(location: &Location, readers: u32) -> Result<Store, Failure> {
    let error = match Store::open(location, &settings(readers)).await {
        Ok(store) => return Ok(store),
        Err(error) => error,
    };
    if matches!(error.code().as_str(), "store-read-only" | "store-full" | "store-failed")
        && let Ok(store) = Store::open_to_read(location, &settings(readers)).await
    {
        output::note("the store cannot be written; it is only read");
        return Ok(store);
    }
    Err(Failure::refused(Exit::Failed, &error))
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

impl Explain for StoreMissing {
    fn code(&self) -> Code {
        Code::new("store-missing")
    }

    fn why(&self) -> String {
        "an empty one, made on the spot, would pass for one in which nothing is kept".into()
    }

    fn fix(&self) -> String {
        "name the store of the gateway with `--store`, or its configuration with `--config`; `toolmark up` makes it"
            .into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("store", self.0.as_str().into())])
    }
}

impl Explain for NothingSeen {
    fn code(&self) -> Code {
        Code::new("no-tools")
    }

    fn why(&self) -> String {
        "the demo workspace would take the place of the tools that are meant".into()
    }

    fn fix(&self) -> String {
        "start `toolmark up` once, or name the tools: `--tools FILE`, a saved `tools/list` result".into()
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
