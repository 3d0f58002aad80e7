//! Arguments from strangers for tools from strangers: finding carriers and reading arguments never panics, and a second look finds the
//! same.
//! The first lines are the first parts, the rest is the last.

use serde_json::{Value, json};
use toolmark_core::document::Document;
use toolmark_core::snapshot::Snapshot;
use toolmark_effects::settings::Settings;
use toolmark_effects::{Analyzer, EffectCache, analyze_cached};

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let mut parts = text.splitn(4, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (name, argument, description, text) = (part(), part(), part(), part());
    let arguments: Value = serde_json::from_str(text).unwrap_or_else(|_| json!({ argument: text }));
    let tool = json!({"tools": [{
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {argument: {"type": "string", "description": description}}}
    }]});
    const PACKS: [&str; 6] = ["machine", "kubernetes", "mongodb", "redis", "postgres", "files"];
    let pack = PACKS[text.len() % PACKS.len()];
    let document = Document::new("tools.json", tool.to_string());
    let Ok(catalog) = Snapshot::of(&document, pack).into_builder().build() else { return };
    for tool in catalog.tools() {
        let (analyzer, cache) = (Analyzer::of(tool, Settings::default()), EffectCache::default());
        let facts = analyzer.analyze(&arguments);
        assert_eq!(*analyze_cached(&cache, &analyzer, &arguments), facts);
        assert_eq!(*analyze_cached(&cache, &analyzer, &arguments), facts);
    }
}
