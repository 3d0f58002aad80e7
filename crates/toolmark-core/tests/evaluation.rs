//! The targets of the classifier and of the identities, held on the labelled tools of the repository.
//!
//! These are figures on data that the rules were written against; what they promise about other servers is in
//! `docs/decisions/0011-classifier.md`.

#![expect(clippy::expect_used, reason = "a test may stop")]

use std::sync::LazyLock;

use toolmark_core::evaluation::{ClassifierScores, Form, Label, Pair, PairScore, PairSeverity, Tools, fits};

fn corpus(name: &str) -> String {
    let path = format!("{}/../../corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the corpus is in the repository")
}

struct Measured {
    classifier: ClassifierScores,
    pairs: PairScore,
}

/// The definitions are read once for all tests.
static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools::read(&corpus("tools.jsonl")).expect("tools"));

fn evaluation(folder: &str) -> Measured {
    let labels = Label::read_all(&corpus(&format!("{folder}labels.jsonl"))).expect("labels");
    let pairs = Pair::read_all(&corpus(&format!("{folder}pairs.jsonl"))).expect("pairs");
    Measured { classifier: ClassifierScores::of(&TOOLS, &labels), pairs: PairScore::of(&TOOLS, &pairs, &fits) }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[test]
fn the_targets_hold_on_the_corpus() {
    let evaluation = evaluation("");
    let field = |name: &str| evaluation.classifier.full.get(name).expect("a field");

    let mutability = field("mutability");
    assert!(share(mutability.agree, mutability.answered) >= 0.97);
    assert!(share(mutability.answered, mutability.labelled) >= 0.95);
    assert!(evaluation.classifier.full.false_pure().is_empty(), "{:?}", evaluation.classifier.full.false_pure());
    assert!(evaluation.classifier.schema_only.false_pure().is_empty());
    assert!(share(field("action").agree_unambiguous, field("action").unambiguous) >= 0.95);
    assert!(share(field("output_domain").agree_unambiguous, field("output_domain").unambiguous) >= 0.9);

    let third = evaluation.pairs.form(Form::V3).expect("pairs");
    for severity in [PairSeverity::Critical, PairSeverity::High] {
        let (separated, total) = third.separated[&severity];
        assert_eq!(separated, total, "{:?}", third.wrong);
    }
    assert!(share(third.together.0, third.together.1) >= 0.9, "{:?}", third.wrong);
}

#[test]
fn the_second_opinion_is_as_good_as_the_hints_that_it_checks() {
    let evaluation = evaluation("");
    let hints = evaluation.classifier.without_hints.hints();
    let own = evaluation.classifier.without_hints.get("mutability").expect("a field");
    assert!(own.agree * hints.hinted >= hints.agree * own.labelled);
    assert_eq!(hints.corrected, hints.wrong.len(), "every hint that is known to be wrong is contradicted");
}

#[test]
fn the_targets_hold_on_the_second_reading() {
    let evaluation = evaluation("second/");
    let field = |name: &str| evaluation.classifier.full.get(name).expect("a field");
    let mutability = field("mutability");
    assert!(share(mutability.agree, mutability.answered) >= 0.97);
    assert!(evaluation.classifier.full.false_pure().is_empty(), "{:?}", evaluation.classifier.full.false_pure());
    assert!(share(field("action").agree_unambiguous, field("action").unambiguous) >= 0.88);
    assert!(share(field("output_domain").agree_unambiguous, field("output_domain").unambiguous) >= 0.8);
    let third = evaluation.pairs.form(Form::V3).expect("pairs");
    assert!(share(third.together.0, third.together.1) >= 0.9, "{:?}", third.wrong);
}

#[test]
fn the_targets_hold_on_the_third_reading() {
    let evaluation = evaluation("third/");
    let field = |name: &str| evaluation.classifier.full.get(name).expect("a field");
    let mutability = field("mutability");
    assert!(share(mutability.agree, mutability.answered) >= 0.97, "{:?}", mutability.disagree);
    assert!(share(mutability.answered, mutability.labelled) >= 0.95);
    assert!(evaluation.classifier.full.false_pure().is_empty(), "{:?}", evaluation.classifier.full.false_pure());
    assert!(share(field("action").agree_unambiguous, field("action").unambiguous) >= 0.88);
    assert!(share(field("output_domain").agree_unambiguous, field("output_domain").unambiguous) >= 0.8);
    let third = evaluation.pairs.form(Form::V3).expect("pairs");
    for severity in [PairSeverity::Critical, PairSeverity::High] {
        let (separated, total) = third.separated[&severity];
        assert_eq!(separated, total, "{:?}", third.wrong);
    }
    assert!(share(third.together.0, third.together.1) >= 0.9, "{:?}", third.wrong);
}
