use serde_json::json;
use toolmark_config::Config;
use toolmark_core::behavior::Agreement;
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::pack::Pack;
use toolmark_core::pins::Pins;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_core::verdict::Decision;
use toolmark_policy::Caller;
use toolmark_runtime::Request;

use super::*;
use crate::assemble::{self, Strictness, Surroundings};
use crate::baselines::Baselines;

fn definition() -> Definition {
    let value = json!({
        "name": "lookup", "description": "Looks something up.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "_meta": {"dev.toolmark/behavior": {"mutability": "PURE", "action": "READ", "output_domain": "DATA"}},
    });
    Definition::of_value("test", &value).unwrap()
}

fn catalog() -> Catalog {
    let mut pack = Pack::builder("crm".parse().unwrap(), Source::new("test"));
    pack.push(ToolKind::Function, definition());
    Catalog::builder().packs([pack.build()]).build().unwrap()
}

fn answer(definition: &str, mutability: &str, action: &str) -> String {
    let answer =
        json!({"mutability": mutability, "action": action, "output_domain": "DATA", "content_type": "UNKNOWN"});
    format!("{}\n", json!({"version": 1, "definition": definition, "question": "q", "answer": answer}))
}

/// What the gate says about a call of the tool, and whether the tool is disputed.
fn judged(folder: &Path, config: &str) -> (Decision, Agreement, Vec<String>) {
    let config = Config::read(config, "toolmark.toml").unwrap();
    let environment = |_: &str| None;
    let baselines = Baselines::default();
    let surroundings =
        Surroundings { directory: folder, environment: &environment, baselines: &baselines, effects: None };
    let workspace =
        assemble::workspace(&config, catalog(), Pins::default(), &surroundings, Strictness::Checking).unwrap();
    let tool = workspace.catalog().tools().next().unwrap();
    let arguments = json!({"id": 1});
    let request = Request { tool, arguments: &arguments, task: None, caller: Caller::new("local") };
    let verdict = workspace.examine(&request).unwrap().verdict().clone();
    let known = workspace.known(tool);
    let said = known.disagreements().iter().map(|one| format!("{} {}", one.field, one.because)).collect();
    (verdict.decision(), known.agreement(), said)
}

const WANTED: &str = "[packs.crm]\ncommand = \"x\"\n[behavior]\nopinions = \"kept\"\n";

#[test]
fn a_declaration_that_most_models_dispute_asks_where_the_operator_wants_to_know() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let own = definition().digest().to_string();
    let changes = answer(&own, "MUTATES", "DELETE");
    std::fs::write(kept.join("a.jsonl"), &changes).unwrap();
    std::fs::write(kept.join("b.jsonl"), format!("no answer\n{}{changes}", answer(&own, "PURE", "READ"))).unwrap();
    std::fs::write(kept.join("c.jsonl"), answer("another definition", "MUTATES", "DELETE")).unwrap();
    let (decision, agreement, said) = judged(folder.path(), WANTED);
    assert_eq!((decision, agreement), (Decision::Ask, Agreement::Disputed));
    assert_eq!(said, ["mutability 2 of 3 models say so", "action 2 of 3 models say so"]);
    // Nobody looks where nobody asked for it.
    let (decision, agreement, _) = judged(folder.path(), "[packs.crm]\ncommand = \"x\"\n");
    assert_ne!((decision, agreement), (Decision::Ask, Agreement::Disputed));
    // The operator's own word is not disputed by models.
    let own = format!("{WANTED}[packs.crm.tools.lookup]\nbehavior = \"PURE|READ|DATA\"\n");
    assert_eq!(judged(folder.path(), &own).0, Decision::Allow);
}

#[test]
fn one_of_two_is_no_majority_and_models_never_make_a_tool_less_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let own = definition().digest().to_string();
    std::fs::write(kept.join("a.jsonl"), answer(&own, "MUTATES", "DELETE")).unwrap();
    std::fs::write(kept.join("b.jsonl"), answer(&own, "UNKNOWN", "BOGUS")).unwrap();
    let before = judged(folder.path(), "[packs.crm]\ncommand = \"x\"\n");
    assert_eq!(judged(folder.path(), WANTED), before);
}

#[test]
fn a_folder_without_answers_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Opinions::read(&folder.path().join("absent")).is_err());
    assert!(Opinions::read(folder.path()).is_err());
}
