//! Sample catalogs and data for Toolmark's own tests. Never published.
#![expect(clippy::expect_used, reason = "a test that cannot read its data must stop")]
#![cfg_attr(feature = "postgres", expect(clippy::panic, reason = "a test without its server must stop"))]

#[cfg(feature = "postgres")]
mod database;
pub mod postgres;
#[cfg(feature = "tls")]
pub mod tls;

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "postgres")]
pub use database::Database;
use toolmark_core::catalog::Catalog;
use toolmark_core::document::Document;
use toolmark_core::snapshot::{Snapshot, SnapshotReader};

/// A file of the repository's `corpus/`.
#[must_use]
pub fn corpus_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name)
}

/// A file of the repository's `corpus/`, read.
///
/// # Panics
/// When it is missing: the corpus is part of the repository.
#[must_use]
pub fn corpus(name: &str) -> Arc<Document> {
    let text = std::fs::read_to_string(corpus_path(name)).expect("corpus/ is part of the repository");
    Document::new(name, text)
}

/// The catalog of all 3,354 tools of the corpus.
///
/// # Panics
/// When the corpus cannot be read or has problems.
#[must_use]
pub fn corpus_catalog() -> Catalog {
    Snapshot::of(&corpus("tools.jsonl"), "corpus").into_builder().build().expect("the corpus has no problems")
}

/// A catalog of packs, each a name and a `tools/list` result or an array of tools; what has problems is left out.
#[must_use]
pub fn catalog(packs: &[(&str, &str)]) -> Catalog {
    let mut reader = SnapshotReader::default();
    for (name, text) in packs {
        reader.read(&Document::new(format!("{name}.json"), (*text).to_owned()), name);
    }
    reader.finish().into_builder().build_partly()
}
