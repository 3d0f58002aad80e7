//! Prints how the classifier and the identities do on a folder with `tools.jsonl`, `labels.jsonl` and `pairs.jsonl`:
//! `cargo run --release --example evaluate [FOLDER]`.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "an example may stop, and reports on standard output")]

use std::path::Path;

use toolmark_core::evaluation::{DataSet, Evaluation, Label, Pair, Tools};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus").into());
    let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).unwrap_or_default();
    let data = DataSet {
        tools: Tools::read(&read("tools.jsonl")).expect("tools.jsonl"),
        labels: Some(Label::read_all(&read("labels.jsonl")).expect("labels.jsonl")),
        pairs: Some(Pair::read_all(&read("pairs.jsonl")).expect("pairs.jsonl")),
        decisions: None,
    };
    let figures = Evaluation::of(&data, &|| ()).to_json();
    println!("{}", serde_json::to_string_pretty(&figures).expect("JSON"));
}
