//! Procedures of Neo4j, APOC and GDS: which of them read, write, reach out or run another query. Unknown ones may do anything.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use crate::sql::effect::join;

/// An argument, as far as it can be seen.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Text(String),
    /// A number, list, map or parameter.
    Data,
    /// Something that is put together at run time.
    Computed,
}

/// What the procedures of a family do.
#[derive(Clone, Copy)]
enum Does {
    Reads,
    /// Chosen by a query of the caller's.
    Searches,
    Writes(Action),
    /// Writes without a limit.
    Sweeps(Action),
    /// Asks a file, an address or another database.
    Fetches,
    /// Writes a file or sends to an address.
    Exports,
    /// Runs the Cypher among its arguments.
    Runs,
    Waits,
    Reveals,
    /// Changes rights or settings.
    Administers(Action),
}

use Does::{Administers, Exports, Fetches, Reads, Reveals, Runs, Searches, Sweeps, Waits, Writes};

/// Beginnings of names; the longest that fits decides.
#[rustfmt::skip]
const FAMILIES: &[(&str, Does)] = &[
    ("db.labels", Reads), ("db.relationshiptypes", Reads), ("db.propertykeys", Reads), ("db.schema.", Reads), ("db.indexes", Reads),
    ("db.constraints", Reads), ("db.info", Reads), ("db.ping", Reads), ("db.stats.retrieve", Reads), ("db.stats.status", Reads), ("db.awaitindex", Reads),
    ("db.index.fulltext.query", Searches), ("db.index.vector.query", Searches), ("db.index.fulltext.list", Reads), ("db.index.fulltext.awaiteventuallyconsistentindexrefresh", Reads),
    ("db.index.fulltext.create", Writes(Action::Create)), ("db.index.fulltext.drop", Sweeps(Action::Delete)), ("db.index.vector.create", Writes(Action::Create)),
    ("db.create", Writes(Action::Create)), ("db.create.set", Writes(Action::Update)), ("db.clearquerycaches", Writes(Action::Update)),
    ("db.resample", Writes(Action::Update)), ("db.prepareforreplanning", Writes(Action::Update)), ("db.stats.", Writes(Action::Update)), ("db.checkpoint", Writes(Action::Update)),
    ("dbms.components", Reads), ("dbms.procedures", Reads), ("dbms.functions", Reads), ("dbms.info", Reads), ("dbms.queryjmx", Reads), ("dbms.list", Reads),
    ("dbms.listconfig", Reads), ("dbms.showcurrentuser", Reads), ("dbms.cluster.", Reads), ("dbms.cluster.cordonserver", Administers(Action::Update)),
    ("dbms.cluster.move", Administers(Action::Update)), ("dbms.cluster.set", Administers(Action::Update)), ("dbms.kill", Writes(Action::Delete)),
    ("dbms.setconfigvalue", Administers(Action::Update)), ("dbms.security.", Administers(Action::Update)), ("dbms.upgrade", Administers(Action::Update)),
    ("dbms.scheduler.", Reads), ("dbms.routing.", Reads), ("dbms.database.state", Reads), ("dbms.checkconfigvalue", Reads),
    ("tx.getmetadata", Reads), ("tx.setmetadata", Writes(Action::Update)), ("genai.", Exports),
    ("apoc.help", Reads), ("apoc.version", Reads), ("apoc.meta.", Reads), ("apoc.path.", Reads), ("apoc.algo.", Reads), ("apoc.search.", Searches),
    ("apoc.text.", Reads), ("apoc.coll.", Reads), ("apoc.convert.", Reads), ("apoc.map.", Reads), ("apoc.date.", Reads), ("apoc.node.", Reads),
    ("apoc.nodes.", Reads), ("apoc.nodes.delete", Sweeps(Action::Delete)), ("apoc.nodes.link", Writes(Action::Create)), ("apoc.nodes.group", Reads),
    ("apoc.rel.", Reads), ("apoc.neighbors.", Reads), ("apoc.schema.", Reads), ("apoc.schema.assert", Sweeps(Action::Delete)), ("apoc.stats.", Reads),
    ("apoc.graph.", Reads), ("apoc.create.v", Reads), ("apoc.create.virtual", Reads), ("apoc.create.clone", Reads), ("apoc.create.", Writes(Action::Create)),
    ("apoc.create.set", Writes(Action::Update)), ("apoc.create.remove", Writes(Action::Delete)), ("apoc.create.addlabels", Writes(Action::Update)),
    ("apoc.merge.", Writes(Action::Create)), ("apoc.refactor.", Writes(Action::Update)), ("apoc.refactor.delete", Writes(Action::Delete)),
    ("apoc.atomic.", Writes(Action::Update)), ("apoc.lock.", Writes(Action::Update)), ("apoc.warmup.", Reads), ("apoc.agg.", Reads), ("apoc.spatial.", Fetches),
    ("apoc.example.", Reads), ("apoc.hashing.", Reads), ("apoc.data.", Reads), ("apoc.json.", Reads), ("apoc.xml.", Reads), ("apoc.label.", Reads),
    ("apoc.any.", Reads), ("apoc.diff.", Reads), ("apoc.monitor.", Reads), ("apoc.number.", Reads), ("apoc.math.", Reads), ("apoc.temporal.", Reads),
    ("apoc.util.", Reads), ("apoc.util.sleep", Waits), ("apoc.util.validate", Reads), ("apoc.log.", Writes(Action::Append)), ("apoc.config.", Reveals),
    ("apoc.load.", Fetches), ("apoc.import.", Fetches), ("apoc.export.", Exports), ("apoc.bolt.", Fetches), ("apoc.mongo.", Fetches), ("apoc.mongodb.", Fetches),
    ("apoc.couchbase.", Fetches), ("apoc.es.", Fetches), ("apoc.model.", Fetches), ("apoc.redis.", Fetches), ("apoc.dv.", Fetches), ("apoc.nlp.", Exports),
    ("apoc.ml.", Exports), ("apoc.openai.", Exports), ("apoc.static.", Reveals), ("apoc.systemdb.", Reveals), ("apoc.trigger.list", Reads), ("apoc.trigger.show", Reads),
    ("apoc.trigger.", Administers(Action::Execute)), ("apoc.custom.list", Reads), ("apoc.custom.show", Reads), ("apoc.custom.", Administers(Action::Execute)),
    ("apoc.periodic.", Runs), ("apoc.periodic.list", Reads), ("apoc.periodic.cancel", Writes(Action::Delete)), ("apoc.periodic.truncate", Sweeps(Action::Delete)),
    ("apoc.cypher.", Runs), ("apoc.do.", Runs), ("apoc.when", Runs), ("apoc.case", Runs), ("apoc.get.", Reads), ("apoc.ttl.", Writes(Action::Update)),
    ("apoc.uuid.", Administers(Action::Update)), ("gds.list", Reads), ("gds.version", Reads), ("gds.debug.", Reads), ("gds.graph.list", Reads), ("gds.graph.exists", Reads),
    ("gds.graph.", Writes(Action::Create)), ("gds.graph.drop", Writes(Action::Delete)), ("gds.graph.export", Exports), ("gds.util.", Reads), ("gds.model.list", Reads),
    ("gds.model.", Writes(Action::Update)), ("gds.model.drop", Writes(Action::Delete)), ("gds.config.", Writes(Action::Update)),
];

/// The effect of calling a procedure; nothing when it only reads.
pub(super) fn call(name: &str, arguments: &[Argument], nested: usize) -> Option<Effect> {
    let shown = visible(name, 120);
    let lower = name.to_ascii_lowercase();
    let effect = match family(&lower) {
        Some(Reads) => return None,
        Some(Searches) => Effect::pure(Action::Read, format!("searches with {shown}")),
        Some(Writes(action)) => Effect::mutating(action, format!("calls {shown}")),
        Some(Sweeps(action)) => Effect::mutating(action, format!("calls {shown}")).unbounded(),
        Some(Fetches) if lower.starts_with("apoc.import.") => {
            Effect::mutating(Action::Create, format!("imports with {shown}")).with(Danger::Escape)
        }
        Some(Fetches) => Effect::pure(Action::Read, format!("reaches out with {shown}")).with(Danger::Escape),
        Some(Exports) if lower.starts_with("apoc.export.") => {
            Effect::mutating(Action::Create, format!("exports with {shown}")).with(Danger::Escape)
        }
        Some(Exports) => Effect::mutating(Action::Send, format!("sends with {shown}")).with(Danger::Outward),
        Some(Runs) => return Some(run(&shown, &lower, arguments, nested)),
        Some(Waits) => Effect::pure(Action::Read, format!("waits with {shown}")).with(Danger::Exhaustion),
        Some(Reveals) => Effect::pure(Action::Read, format!("reads settings with {shown}")).with(Danger::Secret),
        Some(Administers(action)) => Effect::mutating(action, format!("calls {shown}")).with(Danger::Privilege),
        None => Effect::mutating(Action::Execute, format!("calls {shown}, whose effect is not known"))
            .unbounded()
            .with(Danger::Code),
    };
    let address = arguments.iter().find_map(|argument| match argument {
        Argument::Text(text) if text.contains("://") => Some(visible(text, 120)),
        _ => None,
    });
    Some(effect.on([shown]).on(address))
}

fn family(name: &str) -> Option<Does> {
    // Algorithms say what they do at the end of their names.
    if let Some(algorithm) = name.strip_prefix("gds.") {
        let mode = algorithm.rsplit('.').find(|part| *part != "estimate").unwrap_or_default();
        match mode {
            _ if name.ends_with(".estimate") => return Some(Reads),
            "stream" | "stats" => return Some(Reads),
            "write" => return Some(Sweeps(Action::Update)),
            "mutate" | "train" => return Some(Writes(Action::Update)),
            _ => {}
        }
    }
    FAMILIES
        .iter()
        .filter(|(beginning, _)| name.starts_with(beginning))
        .max_by_key(|(beginning, _)| beginning.len())
        .map(|(_, does)| *does)
}

/// Cypher that is handed over as a string.
fn run(shown: &str, name: &str, arguments: &[Argument], nested: usize) -> Effect {
    let unseen = || {
        Effect::mutating(Action::Execute, format!("{shown} runs Cypher that cannot be seen"))
            .unbounded()
            .with(Danger::Code)
    };
    let Some(nested) = nested.checked_sub(1) else { return unseen() };
    // Conditions may be computed; queries must not be.
    let conditional = ["apoc.do.", "apoc.when", "apoc.case"].iter().any(|beginning| name.starts_with(beginning));
    let mut whole: Option<Effect> = None;
    for (at, argument) in arguments.iter().enumerate() {
        let effects = match argument {
            Argument::Text(text) => super::statements(text, nested).unwrap_or_default(),
            Argument::Computed if at < 2 && !(conditional && at == 0) => vec![unseen()],
            Argument::Data if at == 0 && !conditional => vec![unseen()],
            Argument::Data | Argument::Computed => Vec::new(),
        };
        for effect in effects {
            match &mut whole {
                Some(whole) => join(whole, effect),
                None => whole = Some(effect),
            }
        }
    }
    whole.unwrap_or_else(unseen).on([shown.to_owned()])
}
