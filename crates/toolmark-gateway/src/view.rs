//! What clients at one address see: names for their program, and the lists, written once.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use serde_json::{Map, Value, json};
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::exposure::{ExposeError, ExposedTable, Mode, Profile, ProfileName, Published};
use toolmark_core::names::CanonicalName;
use toolmark_core::tool::Tool;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, Limits, RawObject, write};
use toolmark_runtime::Task;

use crate::snapshot::Snapshot;

/// How many tools a page has.
const PAGE: usize = 1000;
/// How long clients may keep a list that tells them when it changes, in milliseconds.
const LIST_TTL_MS: u64 = 60_000;

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
    pages: [Vec<Bytes>; 2],
}

impl View {
    pub(crate) fn of(snapshot: &Snapshot, name: &ViewName) -> Result<Self, ExposeError> {
        let config = snapshot.config();
        let written = name.profile.as_deref().and_then(|own| {
            config.profiles.iter().find(|(profile, _)| profile.as_str() == own).map(|(_, profile)| profile)
        });
        let client = written
            .and_then(|profile| profile.client)
            .or_else(|| name.profile.as_deref().and_then(|own| own.parse().ok()))
            .unwrap_or(ProfileName::Generic);
        let server = written.and_then(|profile| profile.server.as_deref()).unwrap_or("toolmark");
        let profile = Profile::with_server(client, server).unwrap_or_else(|_| Profile::new(client));
        let mode = written.and_then(|profile| profile.exposure).unwrap_or(config.names.exposure);
        let packs = written.and_then(|profile| profile.packs.as_ref());
        let task_name =
            name.task.as_deref().or_else(|| written.and_then(|own| own.task.as_ref()).map(|task| task.as_str()));
        let task = task_name.and_then(|task| snapshot.workspace().tasks().find(task).ok()).cloned();
        let catalog = snapshot.workspace().catalog();
        let catalog = match packs {
            None => catalog.clone(),
            Some(packs) => {
                let others = catalog.packs().filter_map(|(pack, _)| pack.name()).filter(|name| !packs.contains(name));
                let others: Vec<_> = others.cloned().collect();
                others.iter().fold(catalog.rebuild(), toolmark_core::catalog::CatalogBuilder::disable).build_partly()
            }
        };
        let table = match ExposedTable::build(&catalog, &profile, mode, &Published::default()) {
            Ok(table) => table,
            Err(error) if mode == Mode::Bare => return Err(error),
            Err(_) => ExposedTable::build(&catalog, &profile, Mode::Prefixed, &Published::default())?,
        };
        let names = table.listed().map(|row| (row.tool.canonical().clone(), row.name.to_string())).collect();
        let tools: Vec<Bytes> = table.listed().map(|row| shown(snapshot, row.tool, row.name.as_str())).collect();
        let pages = [Era::Session, Era::Stateless].map(|era| pages(&tools, era));
        Ok(Self { table, names, task, pages })
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

    /// The task that calls here belong to.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.task.as_deref()
    }

    /// A page of the list of tools, whole and ready to be sent; nothing for a cursor that was never given out.
    pub(crate) fn page(&self, era: Era, cursor: Option<&str>) -> Option<Bytes> {
        let at = match cursor {
            None => 0,
            Some(cursor) => cursor.strip_prefix("tm1.")?.parse().ok().filter(|at| *at > 0)?,
        };
        self.pages[usize::from(era == Era::Stateless)].get(at).cloned()
    }
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
    meta.insert("dev.toolmark/behavior".into(), known.to_json());
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

fn pages(tools: &[Bytes], era: Era) -> Vec<Bytes> {
    let chunks: Vec<&[Bytes]> = if tools.is_empty() { vec![&[]] } else { tools.chunks(PAGE).collect() };
    let last = chunks.len() - 1;
    let page = |(at, chunk): (usize, &&[Bytes])| {
        let mut out = BytesMut::with_capacity(chunk.iter().map(|tool| tool.len() + 1).sum::<usize>() + 160);
        out.put_u8(b'{');
        if era == Era::Stateless {
            out.put_slice(
                format!(r#""resultType":"complete","ttlMs":{LIST_TTL_MS},"cacheScope":"private","#).as_bytes(),
            );
        }
        if at < last {
            out.put_slice(format!(r#""nextCursor":"tm1.{}","#, at + 1).as_bytes());
        }
        out.put_slice(br#""tools":["#);
        for (at, tool) in chunk.iter().enumerate() {
            if at > 0 {
                out.put_u8(b',');
            }
            out.put_slice(tool);
        }
        out.put_slice(b"]}");
        out.freeze()
    };
    chunks.iter().enumerate().map(page).collect()
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("tools", &self.names.len()).finish_non_exhaustive()
    }
}
