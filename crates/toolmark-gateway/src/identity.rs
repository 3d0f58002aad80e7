//! Which tool is it, for whoever shows it to a person? One object for AG-UI, the console and whoever else asks: identity, names, behavior.

use serde_json::{Map, Value};
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::display::{Given, Languages, NameTable, Shown};
use toolmark_core::tool::Tool;

use crate::snapshot::Snapshot;
use crate::view;

/// The object under `dev.toolmark/tool`. `names` says whether the names in all languages are in it.
pub(crate) fn card(snapshot: &Snapshot, tool: &Tool, languages: &Languages, names: bool) -> Value {
    let known = snapshot.workspace().known(tool);
    let all = if names { snapshot.names(tool).into_iter().collect() } else { Vec::new() };
    write(tool, &snapshot.shown(tool, languages), all, &known)
}

/// The same for a tool that no pack of the gateway has: an agent, or a tool of a page.
pub(crate) fn card_of_other(
    snapshot: &Snapshot,
    tool: &Tool,
    known: &KnownBehavior,
    languages: &Languages,
    names: bool,
) -> Value {
    let default = snapshot.labels().default_language().clone();
    let table = NameTable::new(default, std::iter::once(tool), |_| Given::default());
    let all = if names { table.by_language(tool).into_iter().collect() } else { Vec::new() };
    write(tool, &table.shown(tool, languages), all, known)
}

/// What a person is shown of anything that has a name.
pub(crate) fn shown(shown: &Shown) -> Map<String, Value> {
    let mut all = shown.to_json();
    // An absent language is left out: clients take no null.
    all.retain(|key, value| !value.is_null() && key != "layer");
    all
}

fn write(tool: &Tool, name: &Shown, names: Vec<(String, String)>, known: &KnownBehavior) -> Value {
    let mut all = Map::new();
    all.insert("id".into(), tool.canonical().as_str().into());
    all.extend(shown(name));
    if !names.is_empty() {
        let names: Map<String, Value> = names.into_iter().map(|(tag, text)| (tag, text.into())).collect();
        all.insert("names".into(), names.into());
    }
    all.extend(view::behavior_json(known).map(|behavior| ("behavior".to_owned(), behavior)));
    all.insert("mark".into(), tool.mark().to_string().into());
    all.extend(tool.pack().map(|pack| ("pack".to_owned(), pack.into())));
    all.into()
}
