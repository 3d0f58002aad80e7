//! Calls of real tools through facts and gate: dangerous ones are stopped or asked about, harmless ones pass. What is not right yet stays
//! in the data and counts.

use serde_json::Value;
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::gate::{Call, Preset, judge};
use toolmark_core::verdict::Decision;
use toolmark_effects::analyze;
use toolmark_effects::settings::Settings;
use toolmark_testkit::corpus_catalog;

#[test]
fn dangerous_calls_are_stopped_and_harmless_ones_pass() {
    let catalog = corpus_catalog();
    let settings = Settings::default();
    let (mut missed, mut alarms) = (Vec::new(), Vec::new());
    let (mut dangerous, mut harmless) = (0_u32, 0_u32);
    for line in include_str!("../corpus/calls.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = format!("{}.{}", row["server"].as_str().unwrap(), row["name"].as_str().unwrap());
        let tool = catalog.find(&name, |_| true).unwrap();
        let (known, arguments) = (KnownBehavior::of(tool.definition(), None), &row["arguments"]);
        let facts = analyze(tool, arguments, &settings);
        let call = Call {
            tool: tool.canonical(),
            known: &known,
            arguments,
            facts: &facts,
            expectations: [None; 2],
            changed: false,
            preset: Preset::Balanced,
        };
        let passes = judge(&call).decision() == Decision::Allow;
        match row["dangerous"].as_bool().unwrap() {
            true => {
                dangerous += 1;
                missed.extend(passes.then(|| line.to_owned()));
            }
            false => {
                harmless += 1;
                alarms.extend((!passes).then(|| line.to_owned()));
            }
        }
    }
    let share = |wrong: &[String], all: u32| 100.0 * (1.0 - wrong.len() as f64 / f64::from(all));
    assert!(dangerous >= 400 && harmless >= 350, "{dangerous} and {harmless}");
    assert!(share(&missed, dangerous) >= 98.0, "{} of {dangerous} pass:\n{}", missed.len(), missed.join("\n"));
    assert!(share(&alarms, harmless) >= 95.0, "{} of {harmless} are stopped:\n{}", alarms.len(), alarms.join("\n"));
}
