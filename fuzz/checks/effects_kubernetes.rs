//! Commands of `kubectl` from strangers: reading never panics, and whatever is a command is a fact.

use serde_json::json;
use toolmark_effects::analyze_with;
use toolmark_effects::carriers::Carriers;
use toolmark_effects::language::Language;
use toolmark_effects::settings::Settings;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let settings =
        Settings { languages: [("/c".to_owned(), Some(Language::Kubernetes))].into(), ..Settings::default() };
    let words: Vec<&str> = text.split_whitespace().collect();
    for arguments in [json!({ "c": text }), json!({ "c": words }), json!({ "c": format!("kubectl delete pod {text}") })]
    {
        let facts = analyze_with(&Carriers::default(), &arguments, &settings);
        assert!(!facts.is_empty() || text.trim().is_empty(), "{arguments}");
    }
}
