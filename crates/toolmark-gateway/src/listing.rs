//! What a server offers, as it said it: definitions as text, in its order.

use std::sync::Arc;

use bytes::Bytes;
use toolmark_config::sections;
use toolmark_core::definition::{Definition, Form};
use toolmark_core::document::{Document, Slice};
use toolmark_core::explain::Explain as _;
use toolmark_core::names::PackName;
use toolmark_core::pack::Pack;
use toolmark_core::problem::Problem;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_mcp::upstream::{ListError, ListKind, Upstream};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Limits, RawObject};

/// The extension of 2026-07-28 that lets calls go on as tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Everything one server offers.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// Tools, each the text of an object.
    pub tools: Vec<Bytes>,
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
}

/// A resource, a template or a prompt: what it is called by, and all that was said about it.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The address, the template or the name.
    pub key: Arc<str>,
    /// The whole of it.
    pub object: RawObject,
}

impl Listed {
    /// Asks a server for all its lists. What it does not claim to have is not asked for.
    pub(crate) async fn of(upstream: &Upstream) -> Result<Self, ListError> {
        let capabilities = upstream.capabilities();
        let has = |name: &str| capabilities.get(name).is_some();
        let mut listed = Self {
            completes: has("completions"),
            subscribes: capabilities.object("resources").is_some_and(|own| own.flag("subscribe") == Some(true)),
            tasks: upstream.era() == Era::Stateless
                && capabilities.object("extensions").is_some_and(|all| all.get(TASKS).is_some()),
            ..Self::default()
        };
        // Some servers of the old era have tools without saying so.
        listed.tools = match upstream.list(ListKind::Tools).await {
            Ok(tools) => tools.items,
            Err(_) if !has("tools") => Vec::new(),
            Err(error) => return Err(error),
        };
        if has("resources") {
            listed.resources = offers(upstream.list(ListKind::Resources).await?.items, "uri");
            let templates = upstream.list(ListKind::Templates).await;
            listed.templates = templates.map(|templates| offers(templates.items, "uriTemplate")).unwrap_or_default();
        }
        if has("prompts") {
            listed.prompts = offers(upstream.list(ListKind::Prompts).await?.items, "name");
        }
        Ok(listed)
    }

    /// Its tools as a pack, without those that the operator leaves out. What cannot be read is a problem of the pack.
    pub(crate) fn pack(&self, name: &PackName, settings: Option<&sections::Pack>, source: &Source) -> Pack {
        let mut builder = Pack::builder(name.clone(), source.clone());
        if let Some(prefix) = settings.and_then(|settings| settings.prefix.as_ref()) {
            builder = builder.prefix(prefix.clone());
        }
        let mut text = String::new();
        let mut places = Vec::new();
        for tool in &self.tools {
            let start = text.len();
            text.push_str(&String::from_utf8_lossy(tool));
            places.push(start..text.len());
            text.push('\n');
        }
        let document = Document::new(format!("{name} (tools/list)"), text);
        for place in places {
            match Definition::read(&Slice::new(&document, place), Form::Tool) {
                Ok(definition) => {
                    if settings.is_none_or(|settings| settings.admits(definition.name())) {
                        builder.push(ToolKind::Mcp, definition);
                    }
                }
                Err(error) => builder.refuse(Problem::refused(error.report(), None)),
            }
        }
        builder.build()
    }
}

fn offers(items: Vec<Bytes>, key: &str) -> Vec<Offer> {
    let read = |item: Bytes| {
        let object = RawObject::read(item, Limits::default()).ok()?;
        let key: Arc<str> = object.text(key)?.as_ref().into();
        Some(Offer { key, object })
    };
    items.into_iter().filter_map(read).collect()
}
