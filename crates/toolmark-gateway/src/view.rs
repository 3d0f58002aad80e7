//! What clients at one address see: names for their program, and the lists, written once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolmark_config::sections;
use toolmark_config::values::Name;
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::catalog::{Catalog, CatalogBuilder};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::exposure::{ExposeError, Exposed, ExposedTable, ParseProfileError, Profile, ProfileName};
use toolmark_core::names::CanonicalName;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::About;
use toolmark_mcp::wire::headers::ParamHeaders;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, Limits, RawObject, write};
use toolmark_policy::pattern::Glob;
use toolmark_runtime::Task;

use crate::offers::Offers;
use crate::pages::Pages;
use crate::snapshot::Snapshot;

/// Which address, as far as it decides what is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ViewName {
    /// The task.
    pub task: Option<String>,
    /// One of `[profiles]`, or the name of a client.
    pub profile: Option<String>,
}

/// One address.
pub struct View {
    table: ExposedTable,
    names: HashMap<CanonicalName, String>,
    task: Option<Arc<Task>>,
    tools: Pages,
    offers: Arc<Offers>,
    /// Which arguments are repeated in headers, by the names of tools; only tools that have any.
    headers: HashMap<String, Arc<ParamHeaders>>,
    /// Who we are to its clients, written when one first asks.
    about: OnceLock<Arc<About>>,
}

/// An address at which nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Tools cannot be given names.
    #[error(transparent)]
    Names(#[from] ExposeError),
    /// The profile leaves no room for names.
    #[error(transparent)]
    Profile(#[from] ParseProfileError),
    /// There was a task or profile of this name, and there is none any more.
    #[error("there is no {kind} `{name}` any more")]
    Gone {
        /// What it was.
        kind: &'static str,
        /// Its name.
        name: String,
    },
}

impl View {
    pub(crate) fn of(snapshot: &Snapshot, name: &ViewName) -> Result<Self, ViewError> {
        let config = snapshot.config();
        let written = match name.profile.as_deref() {
            None => None,
            Some(own) => {
                config.profiles.iter().find(|(profile, _)| profile.as_str() == own).map(|(_, profile)| profile)
            }
        };
        let client = match (written, name.profile.as_deref()) {
            (Some(profile), _) => profile.client(),
            (None, None) => ProfileName::Generic,
            // A profile of the configuration that a reload took away must not turn into another one.
            (None, Some(own)) => own.parse().map_err(|_| ViewError::gone("profile", own))?,
        };
        let profile = match written.and_then(|profile| profile.server.as_deref()) {
            Some(server) => Profile::with_server(client, server)?,
            None => Profile::new(client),
        };
        let mode = written.and_then(|profile| profile.exposure).unwrap_or(config.names.exposure);
        let task_name = name.task.as_deref().or_else(|| written.and_then(|own| own.task.as_ref()).map(Name::as_str));
        let task = match task_name {
            None => None,
            Some(task) => {
                let found = snapshot.workspace().tasks().find(task);
                Some(Arc::clone(found.map_err(|_| ViewError::gone("task", task))?))
            }
        };
        let catalog = catalog(snapshot, written);
        let table = snapshot.names().table(&catalog, &profile, mode)?;
        let listed = Listed::of(config.tasks.iter().find(|(own, _)| Some(own.as_str()) == task_name));
        let rows: Vec<Exposed<'_>> = table.listed().filter(|row| listed.shows(row)).collect();
        let names = rows.iter().map(|row| (row.tool.canonical().clone(), row.name.to_string())).collect();
        let tools: Vec<Bytes> = rows.iter().map(|row| shown(snapshot, row.tool, row.name.as_str())).collect();
        let headers = rows.iter().filter_map(|row| {
            let schema = row.tool.definition().reading().input_schema().to_value();
            let headers = ParamHeaders::read(&schema).ok().filter(|headers| !headers.is_empty())?;
            Some((row.name.to_string(), Arc::new(headers)))
        });
        let headers = headers.collect();
        let offers = match written.and_then(|profile| profile.packs.as_ref()) {
            None => Arc::clone(snapshot.offers()),
            Some(packs) => Arc::new(snapshot.offers_of(|pack| packs.contains(pack))),
        };
        let tools = Pages::new("tools", &tools);
        Ok(Self { table, names, task, tools, offers, headers, about: OnceLock::new() })
    }

    /// Who we are to clients here.
    pub(crate) fn about(&self, write: impl FnOnce(&Offers) -> About) -> Arc<About> {
        Arc::clone(self.about.get_or_init(|| Arc::new(write(&self.offers))))
    }

    /// The tool behind a name, unless it is not shown here.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Exposed<'_>> {
        self.table.resolve(name).filter(|exposed| self.names.contains_key(exposed.tool.canonical()))
    }

    /// What there is beside tools.
    pub(crate) fn offers(&self) -> &Offers {
        &self.offers
    }

    /// The names.
    #[must_use]
    pub fn table(&self) -> &ExposedTable {
        &self.table
    }

    /// The name that clients here know a tool by; nothing for one that they do not see.
    #[must_use]
    pub fn name_of(&self, tool: &Tool) -> Option<&str> {
        self.names.get(tool.canonical()).map(String::as_str)
    }

    /// Which arguments of a tool are repeated in headers.
    pub(crate) fn param_headers(&self, name: &str) -> Option<&Arc<ParamHeaders>> {
        self.headers.get(name)
    }

    /// The task that calls here belong to.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.task.as_deref()
    }

    /// A page of the list of tools, whole and ready to be sent; nothing for a cursor that was never given out.
    pub(crate) fn page(&self, era: Era, cursor: Option<&str>) -> Option<Bytes> {
        self.tools.get(era, cursor)
    }
}

impl ViewError {
    fn gone(kind: &'static str, name: &str) -> Self {
        Self::Gone { kind, name: visible(name, 100) }
    }
}

impl Explain for ViewError {
    fn code(&self) -> Code {
        match self {
            Self::Names(error) => error.code(),
            Self::Profile(error) => error.code(),
            Self::Gone { .. } => Code::new("address-gone"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Names(error) => error.why(),
            Self::Profile(error) => error.why(),
            Self::Gone { .. } => "the configuration changed; without it, calls would be judged by nothing".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Names(error) => error.fix(),
            Self::Profile(error) => error.fix(),
            Self::Gone { .. } => "connect to an address that the configuration has, or put it back".into(),
        }
    }
}

/// Which tools a task lists: those that fit one of its patterns by any of their names; without patterns, all.
struct Listed<'t>(Option<Vec<(Glob, &'t str)>>);

impl<'t> Listed<'t> {
    fn of(task: Option<&'t (Name, sections::Task)>) -> Self {
        let patterns = task.and_then(|(_, task)| task.tools.as_ref());
        Self(patterns.map(|patterns| patterns.iter().map(|text| (Glob::new(text), text.as_str())).collect()))
    }

    fn shows(&self, row: &Exposed<'_>) -> bool {
        let tool = row.tool;
        let fits = |(glob, text): &(Glob, &str)| {
            let names = [tool.canonical().as_str(), tool.raw().as_str(), row.name.as_str()];
            names.iter().any(|name| name == text || glob.matches(name))
        };
        self.0.as_ref().is_none_or(|patterns| patterns.iter().any(fits))
    }
}

/// The tools of the packs that a profile sees.
fn catalog(snapshot: &Snapshot, profile: Option<&sections::Profile>) -> Catalog {
    let catalog = snapshot.workspace().catalog();
    let Some(packs) = profile.and_then(|profile| profile.packs.as_ref()) else { return catalog.clone() };
    let others = catalog.packs().filter_map(|(pack, _)| pack.name()).filter(|name| !packs.contains(name));
    let others: Vec<_> = others.cloned().collect();
    others.iter().fold(catalog.rebuild(), CatalogBuilder::disable).build_partly()
}

/// A tool as clients see it: everything its publisher said, under the exposed name, with who it is in `_meta`.
fn shown(snapshot: &Snapshot, tool: &Tool, name: &str) -> Bytes {
    let raw = Bytes::copy_from_slice(tool.definition().raw_json().as_bytes());
    let Ok(object) = RawObject::read(raw.clone(), Limits { bytes: usize::MAX, depth: Limits::DEEPEST }) else {
        return raw;
    };
    let known = snapshot.workspace().known(tool);
    let mut meta = Map::new();
    meta.insert("dev.toolmark/identity".into(), tool.identity_json().into());
    meta.insert("dev.toolmark/behavior".into(), without_gaps(known.to_json()));
    if let Some(state) = tool.pack().and_then(|pack| snapshot.away(pack)) {
        meta.insert("dev.toolmark/pack".into(), json!({"state": state.as_str()}));
    }
    let standing = snapshot.workspace().standing(tool);
    if standing.is_changed() {
        meta.insert("dev.toolmark/pin".into(), json!({"state": standing.as_str()}));
    }
    if let Some(names) = display_names(snapshot, tool) {
        meta.insert("dev.toolmark/names".into(), names);
    }
    let own = object.object("_meta").unwrap_or_else(RawObject::empty);
    let texts: Vec<(String, String)> = meta.iter().map(|(key, value)| (key.clone(), value.to_string())).collect();
    let changes: Vec<Change<'_>> = texts.iter().map(|(key, value)| Change::Set(key, value.as_bytes())).collect();
    let meta = own.rewrite(&changes);
    let quoted = write::quote(name);
    let mut changes = vec![Change::Set("name", &quoted), Change::Set("_meta", &meta)];
    let hints = hints(&object, &known);
    if let Some(hints) = &hints {
        changes.push(Change::Set("annotations", hints));
    }
    object.rewrite(&changes)
}

/// Without the members that say nothing: a list is sent often, and a client that looks for them finds nothing either way.
fn without_gaps(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|_, member| !member.is_null());
    }
    value
}

/// The publisher's annotations with the hints that are beyond doubt; nothing where there are none to add.
fn hints(object: &RawObject, known: &KnownBehavior) -> Option<Bytes> {
    let projected = known.projected()?;
    let own = object.object("annotations").unwrap_or_else(RawObject::empty);
    let (read_only, destructive) = projected.assumed();
    let word = |value: bool| if value { b"true".as_slice() } else { b"false".as_slice() };
    let mut changes = vec![Change::Set("readOnlyHint", word(read_only))];
    if !read_only {
        changes.push(Change::Set("destructiveHint", word(destructive)));
    }
    Some(own.rewrite(&changes))
}

fn display_names(snapshot: &Snapshot, tool: &Tool) -> Option<Value> {
    let config = snapshot.config();
    let (_, pack) = config.packs.iter().find(|(name, _)| Some(name.as_str()) == tool.pack())?;
    let names = pack.tools.get(tool.raw())?.display_name.as_ref()?;
    Some(
        names
            .iter()
            .map(|(locale, text)| (locale.unwrap_or("und").to_owned(), json!(text)))
            .collect::<Map<_, _>>()
            .into(),
    )
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("tools", &self.names.len()).finish_non_exhaustive()
    }
}
