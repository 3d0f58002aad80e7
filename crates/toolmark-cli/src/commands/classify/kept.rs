//! Which questions were answered before? One file a model, one line an answer, found by the definition of the tool and by the question.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use toolmark_core::digest::DefinitionDigest;
use toolmark_models::ModelRequest;

use super::opinion::Opinion;
use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::models::{Opened, file_name};
use crate::output;

/// The version of a line. A reader passes over lines of versions that it does not know; nothing is ever rewritten.
const VERSION: u64 = 1;

/// The answers of one model.
#[derive(Debug)]
pub(super) struct Kept {
    path: Option<PathBuf>,
    known: HashMap<(String, String), Opinion>,
}

impl Kept {
    /// What is known of a model; nothing where nothing is to be kept.
    pub(super) fn open(folder: Option<&Path>, model: &Opened) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self { path: None, known: HashMap::new() }) };
        let path = folder.join(file_name(model));
        fs::create_dir_all(folder)
            .map_err(|error| Failure::refused(Exit::Failed, &FileError::writing(folder, &error)))?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::refused(Exit::BadInput, &FileError::reading(&path, &error))),
        };
        let (mut known, mut unreadable) = (HashMap::new(), 0);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match row(line) {
                Some((key, opinion)) => drop(known.insert(key, opinion)),
                None => unreadable += 1,
            }
        }
        if unreadable > 0 {
            let shown = output::safe(&path.display().to_string());
            output::warn(&format!(
                "{} of `{shown}` cannot be used and asked again",
                output::count(unreadable, "answer")
            ));
        }
        Ok(Self { path: Some(path), known })
    }

    /// The answer to a question about a definition.
    pub(super) fn get(&self, definition: &DefinitionDigest, question: &ModelRequest) -> Option<&Opinion> {
        self.known.get(&(definition.to_string(), digest(question)))
    }

    /// Keeps an answer. The next run need not ask again, also when this one is ended before it is done.
    pub(super) fn keep(
        &self,
        definition: &DefinitionDigest,
        question: &ModelRequest,
        opinion: &Opinion,
    ) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let row = json!({
            "version": VERSION,
            "definition": definition,
            "question": digest(question),
            "answer": opinion.to_json(),
        });
        // One write a line: two that write at once do not mix.
        fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(format!("{row}\n").as_bytes())
    }
}

/// Answers are kept where caches are.
pub(super) fn usual() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("toolmark").join("opinions"))
}

fn row(line: &str) -> Option<((String, String), Opinion)> {
    let row: Map<String, Value> = serde_json::from_str(line).ok()?;
    if row.get("version")?.as_u64()? != VERSION {
        return None;
    }
    let text = |key: &str| row.get(key)?.as_str().map(str::to_owned);
    let opinion = Opinion::of_members(row.get("answer")?.as_object()?).ok()?;
    Some(((text("definition")?, text("question")?), opinion))
}

/// What was asked, in short: another question has another answer.
fn digest(question: &ModelRequest) -> String {
    let text = serde_json::to_string(question).unwrap_or_default();
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
