//! What clients at one address see: names for their program, and the lists, written once.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use foldhash::HashMap;
use serde_json::{Value, json};
use toolmark_config::sections;
use toolmark_config::values::{ListMeta, Name};
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::catalog::{Catalog, CatalogBuilder};
use toolmark_core::display::{LanguageTag, Languages, Layer};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::exposure::{Exposed, ExposedTable, ParseProfileError, Profile, ProfileName};
use toolmark_core::names::CanonicalName;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::About;
use toolmark_mcp::wire::headers::ParamHeaders;
use toolmark_mcp::wire::params::meta;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, Limits, RawObject, write};
use toolmark_policy::pattern::Glob;
use toolmark_runtime::{Task, UnknownTask};

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
    /// The task that a request names itself, beside that of its address.
    pub narrowed: Option<String>,
}

/// One address.
pub struct View {
    table: ExposedTable,
    names: HashMap<CanonicalName, String>,
    task: Option<Arc<Task>>,
    tools: Pages,
    /// The same list as it was asked for: with titles in some languages, or with more or less said of each tool.
    as_asked: RwLock<HashMap<Asked, Arc<Pages>>>,
    /// How much is said of each tool.
    more: Said,
    /// How much the operator wants to be said; requests may ask for more or less where that is left to us.
    wanted: ListMeta,
    offers: Arc<Offers>,
    /// Which arguments are repeated in headers, by the names of tools; only tools that have any.
    headers: HashMap<String, Arc<ParamHeaders>>,
    /// Who we are to its clients, written when one first asks.
    about: OnceLock<Arc<About>>,
}

/// How much a list says of each tool, and in which languages.
type Asked = (Said, Option<Languages>);

/// An address at which nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The profile leaves no room for names.
    #[error(transparent)]
    Profile(#[from] ParseProfileError),
    /// A request names a task that nobody described.
    #[error(transparent)]
    Task(#[from] UnknownTask),
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
        // Both hold: whoever names a task asks for less than the address gives, never for more.
        let task = match name.narrowed.as_deref() {
            None => task,
            Some(asked) => {
                let asked = snapshot.workspace().tasks().find(asked)?;
                Some(task.map_or_else(|| Arc::clone(asked), |own| Arc::new(own.and(asked))))
            }
        };
        let catalog = catalog(snapshot, written);
        let table = snapshot.exposed_names().table(&catalog, &profile, mode, config.names.exposure);
        let listed_by =
            |name: Option<&str>| Listed::of(config.tasks.iter().find(|(own, _)| Some(own.as_str()) == name));
        let (listed, narrowed) = (listed_by(task_name), listed_by(name.narrowed.as_deref()));
        let rows: Vec<Exposed<'_>> = table.listed().filter(|row| listed.shows(row) && narrowed.shows(row)).collect();
        let names = rows.iter().map(|row| (row.tool.canonical().clone(), row.name.to_string())).collect();
        let wanted = written.and_then(|profile| profile.list_meta).unwrap_or(config.gateway.list_meta);
        let more = Said::of(wanted, rows.len());
        let tools: Vec<Bytes> =
            rows.iter().map(|row| shown(snapshot, row.tool, row.name.as_str(), more, None)).collect();
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
        // What is said of the whole list would stand before it, and cost some clients more to take apart than all of its tools.
        let tools = Pages::new("tools", &tools, snapshot.ttl_ms());
        let (as_asked, about) = (RwLock::default(), OnceLock::new());
        Ok(Self { table, names, task, tools, as_asked, more, wanted, offers, headers, about })
    }

    /// Who we are to clients here.
    pub(crate) fn about(&self, write: impl FnOnce(&Offers, ListMeta) -> About) -> Arc<About> {
        Arc::clone(self.about.get_or_init(|| Arc::new(write(&self.offers, self.wanted))))
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
    pub(crate) fn page(
        &self,
        snapshot: &Snapshot,
        asked: Option<ListMeta>,
        era: Era,
        cursor: Option<&str>,
    ) -> Option<Bytes> {
        match self.said(asked) {
            said if said == self.more => self.tools.get(era, cursor),
            said => self.pages(snapshot, said, None).get(era, cursor),
        }
    }

    /// The same with titles in these languages, as far as there are any. Written once for a snapshot and what its names can make of
    /// a wish.
    pub(crate) fn page_in(
        &self,
        snapshot: &Snapshot,
        languages: &Languages,
        asked: Option<ListMeta>,
        era: Era,
        cursor: Option<&str>,
    ) -> Option<(Bytes, Option<LanguageTag>)> {
        let spoken = snapshot.languages();
        let useful = languages.limited_to(spoken);
        // The best of what is there is what the titles are in.
        let Some(best) = useful.lookup(spoken) else { return Some((self.page(snapshot, asked, era, cursor)?, None)) };
        let pages = self.pages(snapshot, self.said(asked), Some((useful, best)));
        Some((pages.get(era, cursor)?, Some(best.clone())))
    }

    /// How much is said to whoever asks for this much. Where the operator has said how much, that stands.
    fn said(&self, asked: Option<ListMeta>) -> Said {
        match asked {
            Some(asked) if self.wanted == ListMeta::Auto => Said::of(asked, self.names.len()),
            _ => self.more,
        }
    }

    fn pages(&self, snapshot: &Snapshot, said: Said, languages: Option<(Languages, &LanguageTag)>) -> Arc<Pages> {
        let (languages, best) = languages.unzip();
        let key = (said, languages);
        let known = self.as_asked.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let rows = self.table.listed().filter(|row| self.names.contains_key(row.tool.canonical()));
            let tools: Vec<Bytes> =
                rows.map(|row| shown(snapshot, row.tool, row.name.as_str(), said, key.1.as_ref())).collect();
            let meta = best.map(|best| json!({ meta::CONTENT_LANGUAGE: best }).to_string());
            let pages = Arc::new(Pages::with_meta("tools", &tools, snapshot.ttl_ms(), meta.as_deref()));
            let mut all = self.as_asked.write().unwrap_or_else(PoisonError::into_inner);
            // Whoever asks for every order of languages gets them, and pays with its own time.
            if all.len() < MOST_LANGUAGES {
                all.insert(key, Arc::clone(&pages));
            }
            pages
        })
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
            Self::Profile(error) => error.code(),
            Self::Task(error) => error.code(),
            Self::Gone { .. } => Code::new("address-gone"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Profile(error) => error.why(),
            Self::Task(error) => error.why(),
            Self::Gone { .. } => "the configuration changed; without it, calls would be judged by nothing".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Profile(error) => error.fix(),
            Self::Task(error) => error.fix(),
            Self::Gone { .. } => "connect to an address that the configuration has, or put it back".into(),
        }
    }
}

/// Which tools a task lists: those that fit one of its patterns by any of their names; without patterns, all.
pub(crate) struct Listed<'t>(Option<Vec<(Glob, &'t str)>>);

impl<'t> Listed<'t> {
    pub(crate) fn of(task: Option<&'t (Name, sections::Task)>) -> Self {
        let patterns = task.and_then(|(_, task)| task.tools.as_ref());
        Self(patterns.map(|patterns| patterns.iter().map(|text| (Glob::new(text), text.as_str())).collect()))
    }

    pub(crate) fn shows(&self, row: &Exposed<'_>) -> bool {
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

/// How many tools a list may have for all that is known to stand in it, where nobody says how much should.
const MOST_TOLD: usize = 250;
/// How many it may have for at least their marks to stand in it.
const MOST_MARKED: usize = 500;

/// How much a list says of each of its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Said {
    /// All that is known.
    All,
    /// Which tool it is.
    Mark,
    Nothing,
}

impl Said {
    fn of(wanted: ListMeta, tools: usize) -> Self {
        match wanted {
            ListMeta::Full => Self::All,
            ListMeta::Auto if tools <= MOST_TOLD => Self::All,
            ListMeta::Auto if tools <= MOST_MARKED => Self::Mark,
            ListMeta::Mark => Self::Mark,
            ListMeta::Auto | ListMeta::None => Self::Nothing,
        }
    }
}

/// In how many ways lists are kept beside the usual one: orders of languages, and how much is said.
pub(crate) const MOST_LANGUAGES: usize = 32;

/// What only we say of a tool. A publisher that says it is not repeated: it would be believed to be ours.
pub(crate) const OURS: [&str; 5] =
    ["dev.toolmark/identity", "dev.toolmark/behavior", "dev.toolmark/pack", "dev.toolmark/pin", "dev.toolmark/names"];

/// A tool as clients see it: everything its publisher said, under the exposed name, with as much of what we know in `_meta` as
/// is wanted.
fn shown(snapshot: &Snapshot, tool: &Tool, name: &str, more: Said, languages: Option<&Languages>) -> Bytes {
    let raw = Bytes::copy_from_slice(tool.definition().raw_json().as_bytes());
    let Ok(object) = RawObject::read(raw.clone(), Limits::ADMITTED) else {
        return raw;
    };
    let known = snapshot.workspace().known(tool);
    let ours = [
        identity(tool, more),
        behavior(&known, more),
        away(snapshot, tool),
        held(snapshot, tool),
        display_names(snapshot, tool, more),
    ];
    let texts = ours.map(|ours| ours.map(|ours| ours.to_string()));
    let own = object.object("_meta").unwrap_or_else(RawObject::empty);
    let changes = OURS.iter().zip(&texts).filter_map(|(key, text)| match text {
        Some(text) => Some(Change::Set(key, text.as_bytes())),
        None => own.get(key).map(|_| Change::Remove(key)),
    });
    let changes: Vec<Change<'_>> = changes.collect();
    let own_meta = (!changes.is_empty()).then(|| own.rewrite(&changes));
    let title = languages.and_then(|languages| title(snapshot, tool, languages)).map(|title| write::quote(&title));
    let (quoted, hints) = (write::quote(name), annotations(&object, &known, title.as_deref()));
    let mut changes = vec![Change::Set("name", &quoted)];
    changes.extend(title.as_ref().map(|title| Change::Set("title", title)));
    changes.extend(own_meta.as_ref().map(|meta| Change::Set("_meta", meta)));
    changes.extend(hints.as_ref().map(|hints| Change::Set("annotations", hints)));
    object.rewrite(&changes)
}

/// Who it is.
fn identity(tool: &Tool, more: Said) -> Option<Value> {
    match more {
        Said::All => Some(tool.identity_json().into()),
        Said::Mark => Some(json!({"canonical": tool.canonical().as_str(), "mark": tool.mark().to_string()})),
        Said::Nothing => None,
    }
}

/// What it does. The longer identities follow from the fields; `inspect` shows them.
fn behavior(known: &KnownBehavior, more: Said) -> Option<Value> {
    if more == Said::All { behavior_json(known) } else { None }
}

/// The object under `dev.toolmark/behavior`.
pub(crate) fn behavior_json(known: &KnownBehavior) -> Option<Value> {
    let mut behavior = known.to_json();
    if let Some(members) = behavior.as_object_mut() {
        // What says nothing is left out too: a client that looks for it finds nothing either way.
        members.retain(|key, value| !value.is_null() && !matches!(key.as_str(), "identity_v2" | "identity_v3"));
    }
    Some(behavior)
}

/// That its server is away, which every client has to know.
fn away(snapshot: &Snapshot, tool: &Tool) -> Option<Value> {
    let state = snapshot.away(tool.pack()?)?;
    Some(json!({"state": state.as_str()}))
}

/// That a tool is not the one that was accepted.
fn held(snapshot: &Snapshot, tool: &Tool) -> Option<Value> {
    let standing = snapshot.workspace().standing(tool);
    standing.is_changed().then(|| json!({"state": standing.as_str()}))
}

/// The title in one of these languages. What is in no language or another one leaves the publisher's own title as it is.
fn title(snapshot: &Snapshot, tool: &Tool, languages: &Languages) -> Option<String> {
    let shown = snapshot.shown(tool, languages);
    let asked = shown.lang.as_ref().is_some_and(|own| languages.lookup([own]).is_some());
    (asked || shown.layer == Layer::Config).then(|| shown.name.to_string())
}

/// The publisher's annotations with the hints that are beyond doubt, and the title where they have one and it changes; nothing where
/// there is nothing to add.
fn annotations(object: &RawObject, known: &KnownBehavior, title: Option<&[u8]>) -> Option<Bytes> {
    let own = object.object("annotations").unwrap_or_else(RawObject::empty);
    let mut changes = Vec::new();
    if let Some(title) = title.filter(|_| own.get("title").is_some()) {
        changes.push(Change::Set("title", title));
    }
    if let Some(projected) = known.projected() {
        let (read_only, destructive) = projected.assumed();
        let word = |value: bool| if value { b"true".as_slice() } else { b"false".as_slice() };
        changes.push(Change::Set("readOnlyHint", word(read_only)));
        if !read_only {
            changes.push(Change::Set("destructiveHint", word(destructive)));
        }
    }
    (!changes.is_empty()).then(|| own.rewrite(&changes))
}

/// What people call it.
fn display_names(snapshot: &Snapshot, tool: &Tool, more: Said) -> Option<Value> {
    if more != Said::All {
        return None;
    }
    let names = snapshot.names(tool);
    (!names.is_empty()).then(|| json!(names))
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("tools", &self.names.len()).finish_non_exhaustive()
    }
}
