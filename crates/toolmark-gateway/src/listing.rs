//! What a server offers, as it said it: definitions as text, in its order; and the same from the store or the lock, for a server
//! that is away.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use toolmark_config::sections;
use toolmark_core::definition::{Definition, Form};
use toolmark_core::document::{Document, Slice};
use toolmark_core::explain::Explain as _;
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::pack::Pack;
use toolmark_core::problem::Problem;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_mcp::upstream::{ListError, ListKind, Listing as Read, Upstream, UpstreamError, UpstreamErrorKind};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Limits, RawObject};
use toolmark_store::{DefinitionKind, KnownDefinition, Listing, Store, StoreError};

use crate::shown::shown;

/// The extension of 2026-07-28 that lets calls go on as tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Everything one server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Tools.
    pub tools: Tools,
    /// Resources.
    pub resources: Vec<Offer>,
    /// Templates of resources.
    pub templates: Vec<Offer>,
    /// Prompts.
    pub prompts: Vec<Offer>,
    /// True when the server completes arguments.
    pub completes: bool,
    /// True when it tells about changes of single resources.
    pub subscribes: bool,
    /// True when its calls may go on as tasks.
    pub tasks: bool,
    /// True when it has resources, listed or not.
    pub reads: bool,
    /// What it tells those who use it, made safe to show.
    pub instructions: Option<Arc<str>>,
}

/// The tools of a list, each the text of an object. They stand in one text, which is kept once: what is read from them later is a part of it.
#[derive(Clone, Debug, Default)]
pub struct Tools(Vec<Slice>);

impl Tools {
    /// The tools that a pack lists.
    pub(crate) fn new<T: AsRef<[u8]>>(pack: &PackName, tools: &[T]) -> Self {
        let mut text = String::with_capacity(tools.iter().map(|tool| tool.as_ref().len() + 1).sum());
        let mut places = Vec::with_capacity(tools.len());
        for tool in tools {
            let start = text.len();
            text.push_str(&String::from_utf8_lossy(tool.as_ref()));
            places.push(start..text.len());
            text.push('\n');
        }
        let document = Document::new(format!("{pack} (tools/list)"), text);
        Self(places.into_iter().map(|place| Slice::new(&document, place)).collect())
    }

    fn iter(&self) -> impl Iterator<Item = &Slice> {
        self.0.iter()
    }
}

impl PartialEq for Tools {
    fn eq(&self, other: &Self) -> bool {
        self.iter().map(Slice::text).eq(other.iter().map(Slice::text))
    }
}

impl Eq for Tools {}

/// How much of a server's instructions is kept, in characters.
const INSTRUCTIONS: usize = 2_000;

/// What is remembered of a server beside its lists.
#[derive(Default, Deserialize)]
#[serde(default)]
struct About {
    completes: bool,
    subscribes: bool,
    tasks: bool,
    reads: bool,
    instructions: Option<Arc<str>>,
}

/// A resource, a template or a prompt: what it is called by, and all that was said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The address, the template or the name.
    pub key: Arc<str>,
    /// The whole of it.
    pub object: RawObject,
}

impl Listed {
    /// Asks a server for all its lists. What it does not claim to have is not asked for. Also says for how long they are good, if the
    /// server does: the least of them counts, and none at all is what servers say that do not know.
    pub(crate) async fn of(pack: &PackName, upstream: &Upstream) -> Result<(Self, Option<Duration>), ListError> {
        let mut good_for: Option<u64> = None;
        let mut items = |listing: Read| {
            good_for = good_for.into_iter().chain(listing.ttl_ms.filter(|ttl| *ttl > 0)).min();
            listing.items
        };
        let capabilities = upstream.capabilities();
        let has = |name: &str| capabilities.get(name).is_some();
        let mut listed = Self {
            completes: has("completions"),
            subscribes: capabilities.object("resources").is_some_and(|own| own.flag("subscribe") == Some(true)),
            reads: has("resources"),
            instructions: upstream.instructions().and_then(|text| instructions(&text)),
            tasks: upstream.era() == Era::Stateless
                && capabilities.object("extensions").is_some_and(|all| all.get(TASKS).is_some()),
            ..Self::default()
        };
        // Some servers of the old era have tools without saying so.
        listed.tools = match upstream.list(ListKind::Tools).await {
            Ok(tools) => Tools::new(pack, &items(tools)),
            Err(_) if !has("tools") => Tools::default(),
            Err(error) => return Err(error),
        };
        if has("resources") {
            listed.resources = offers(items(upstream.list(ListKind::Resources).await?), "uri");
            // Servers with resources need not know of templates; anything else that goes wrong is worth a line.
            match upstream.list(ListKind::Templates).await {
                Ok(templates) => listed.templates = offers(items(templates), "uriTemplate"),
                // A server that goes away meanwhile has not lost its templates.
                Err(ListError::Request(error)) if is_broken(&error) => return Err(error.into()),
                Err(error) => tracing::info!(%error, "a server lists no templates of resources"),
            }
        }
        if has("prompts") {
            listed.prompts = offers(items(upstream.list(ListKind::Prompts).await?), "name");
        }
        Ok((listed, good_for.map(Duration::from_millis)))
    }

    /// What a pack from this source listed when it was last seen.
    pub(crate) async fn recall(store: &Store, pack: &PackName, source: &Source) -> Result<Option<Self>, StoreError> {
        let Some((known, definitions)) = store.definitions(pack.as_str()).await? else { return Ok(None) };
        if known.source != source.to_string() {
            return Ok(None);
        }
        let about: About = known.about.and_then(|about| serde_json::from_str(&about).ok()).unwrap_or_default();
        let About { completes, subscribes, tasks, reads, instructions } = about;
        let mut listed = Self { completes, subscribes, tasks, reads, instructions, ..Self::default() };
        let mut tools = Vec::new();
        for KnownDefinition { kind, text, .. } in definitions {
            match kind {
                DefinitionKind::Tool => tools.push(text),
                DefinitionKind::Resource => listed.resources.extend(offer(text.into(), "uri")),
                DefinitionKind::Template => listed.templates.extend(offer(text.into(), "uriTemplate")),
                DefinitionKind::Prompt => listed.prompts.extend(offer(text.into(), "name")),
            }
        }
        listed.tools = Tools::new(pack, &tools);
        // What was written down by an earlier version does not say so.
        listed.reads |= !listed.resources.is_empty() || !listed.templates.is_empty();
        Ok(Some(listed))
    }

    /// The tools of a pack from this source as they were pinned, if the lock keeps what they said.
    pub(crate) fn locked(lock: &Lock, pack: &PackName, source: &Source) -> Option<Self> {
        let own = lock.tools().filter(|(name, pinned)| {
            name.split_once('.').is_some_and(|(owner, _)| owner == pack.as_str()) && pinned.source() == source.as_str()
        });
        let tools: Vec<&str> = own.filter_map(|(_, pinned)| pinned.definition().map(|text| &**text)).collect();
        (!tools.is_empty()).then(|| Self { tools: Tools::new(pack, &tools), ..Self::default() })
    }

    /// Writes down what a pack lists now.
    pub(crate) async fn save(&self, store: &Store, pack: &PackName, source: &Source) -> Result<(), StoreError> {
        let definition = |kind: DefinitionKind, name: String, raw: &[u8]| KnownDefinition {
            kind,
            name,
            text: String::from_utf8_lossy(raw).into_owned(),
            digest: Sha256::digest(raw).into(),
        };
        let tool = |tool: &Slice| {
            let raw = Bytes::copy_from_slice(tool.text().as_bytes());
            let name = RawObject::read(raw.clone(), Limits::default()).ok()?.text("name")?.into_owned();
            Some(definition(DefinitionKind::Tool, name, &raw))
        };
        let mut definitions: Vec<KnownDefinition> = self.tools.iter().filter_map(tool).collect();
        let others = [
            (DefinitionKind::Resource, &self.resources),
            (DefinitionKind::Template, &self.templates),
            (DefinitionKind::Prompt, &self.prompts),
        ];
        for (kind, offers) in others {
            // Of two with one name neither is used, so neither is remembered.
            let twice = twice(offers);
            let used = offers.iter().filter(|offer| !twice.contains(&*offer.key));
            let all = used.map(|offer| definition(kind, offer.key.to_string(), offer.object.raw()));
            definitions.extend(all);
        }
        // A name that a server lists twice is kept once; which of the two is refused anyway.
        let mut seen = HashSet::new();
        definitions.retain(|one| seen.insert((one.kind, one.name.clone())));
        let about = serde_json::json!({
            "completes": self.completes,
            "subscribes": self.subscribes,
            "tasks": self.tasks,
            "reads": self.reads,
            "instructions": self.instructions,
        });
        let about = about.to_string();
        let listing = Listing {
            pack: pack.as_str(),
            source: &source.to_string(),
            about: Some(&about),
            definitions: &definitions,
        };
        store.replace_definitions(listing).await
    }

    /// Its tools as a pack, without those that the operator leaves out. What cannot be read is a problem of the pack.
    pub(crate) fn pack(&self, name: &PackName, settings: Option<&sections::Pack>, source: &Source) -> Pack {
        let mut builder = Pack::builder(name.clone(), source.clone());
        if let Some(prefix) = settings.and_then(|settings| settings.prefix.as_ref()) {
            builder = builder.prefix(prefix.clone());
        }
        if let Some(mode) = settings.and_then(|settings| settings.exposure) {
            builder = builder.exposure(mode);
        }
        for slice in self.tools.iter() {
            match Definition::read(slice, Form::Tool) {
                Ok(definition) => {
                    if settings.is_none_or(|settings| settings.admits(definition.name())) {
                        builder.push(ToolKind::Mcp, definition);
                    }
                }
                Err(error) => builder.refuse(Problem::refused(error.report(), Some(slice.place()))),
            }
        }
        builder.build()
    }
}

fn is_broken(error: &UpstreamError) -> bool {
    matches!(
        error.kind(),
        UpstreamErrorKind::Transport { .. } | UpstreamErrorKind::Closed { .. } | UpstreamErrorKind::SessionLost
    )
}

/// The names that a list has more than once.
pub(crate) fn twice(offers: &[Offer]) -> HashSet<&str> {
    let mut seen = HashSet::with_capacity(offers.len());
    offers.iter().filter(|offer| !seen.insert(&*offer.key)).map(|offer| &*offer.key).collect()
}

/// A server's instructions for models: a JSON string, made safe and bounded.
fn instructions(text: &[u8]) -> Option<Arc<str>> {
    let text: String = serde_json::from_slice(text).ok()?;
    let shown = shown(text.trim(), INSTRUCTIONS);
    (!shown.is_empty()).then(|| shown.into())
}

fn offers(items: Vec<Bytes>, key: &str) -> Vec<Offer> {
    let all = items.len();
    let offers: Vec<Offer> = items.into_iter().filter_map(|item| offer(item, key)).collect();
    if offers.len() < all {
        tracing::warn!(left_out = all - offers.len(), "a server lists entries without `{key}`");
    }
    offers
}

fn offer(item: Bytes, key: &str) -> Option<Offer> {
    let object = RawObject::read(item, Limits::default()).ok()?;
    let key: Arc<str> = object.text(key)?.as_ref().into();
    Some(Offer { key, object })
}

#[cfg(test)]
mod tests;
