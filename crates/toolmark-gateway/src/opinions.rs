//! What did models say about tools when somebody asked them? Answers that `toolmark classify --cache FOLDER` kept, found by the definition
//! they are about. What most of the models say is a second opinion on what a publisher declares; it never makes a tool less guarded.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Map, Value};
use toolmark_core::behavior::{
    Action, Annotations, BehaviorSource, ContentType, Disagreement, Mutability, OutputDomain,
};
use toolmark_core::tool::Tool;

/// The version of a line that is read; others are passed over.
const VERSION: u64 = 1;
/// The largest file that is read.
const MOST_BYTES: u64 = 64 << 20;

/// The answers of all models, one map a model.
pub(crate) struct Opinions(Vec<HashMap<String, Words>>);

/// What a model says, by field. What it cannot tell is left out.
type Words = BTreeMap<&'static str, String>;

/// The files of a folder that hold answers, in order.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Opinions {
    /// Reads a folder. Lines that are no answers are passed over: they are no opinion.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut models = Vec::new();
        for path in files(folder)? {
            if std::fs::metadata(&path)?.len() > MOST_BYTES {
                return Err(io::Error::other(format!("a file in it has more than {MOST_BYTES} bytes")));
            }
            let text = std::fs::read_to_string(&path)?;
            models.push(text.lines().filter_map(row).collect());
        }
        if models.is_empty() {
            return Err(io::Error::other("no answers are kept in it"));
        }
        Ok(Self(models))
    }

    /// Where most models say something else about a tool than its publisher does. A model that was not asked counts against it.
    pub(crate) fn against(&self, tool: &Tool) -> Vec<Disagreement> {
        let definition = tool.definition();
        let (source, claims) = match definition.declared() {
            Some(behavior) => {
                let mut claims = vec![
                    ("mutability", behavior.mutability().as_str()),
                    ("action", behavior.action().as_str()),
                    ("output_domain", behavior.output_domain().as_str()),
                ];
                claims.extend(behavior.content_type().map(|content| ("content_type", content.as_str())));
                (BehaviorSource::Publisher, claims)
            }
            None => match Annotations::of(&definition.reading()).mutability() {
                Some(mutability) => (BehaviorSource::Annotations, vec![("mutability", mutability.as_str())]),
                None => return Vec::new(),
            },
        };
        let digest = definition.digest().to_string();
        let said: Vec<&Words> = self.0.iter().filter_map(|model| model.get(&digest)).collect();
        let mut all = Vec::new();
        for (field, claimed) in claims {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for word in said.iter().filter_map(|words| words.get(field)) {
                *counts.entry(word).or_default() += 1;
            }
            let most = counts.into_iter().find(|(_, count)| count * 2 > self.0.len());
            if let Some((found, count)) = most.filter(|(found, _)| *found != claimed) {
                all.push(Disagreement {
                    field,
                    source,
                    claimed: claimed.to_owned(),
                    against: BehaviorSource::Models,
                    found: found.to_owned(),
                    because: format!("{count} of {} models say so", self.0.len()),
                });
            }
        }
        all
    }
}

/// One answer: the definition that it is about, and the words.
fn row(line: &str) -> Option<(String, Words)> {
    let row: Map<String, Value> = serde_json::from_str(line).ok()?;
    if row.get("version")?.as_u64()? != VERSION {
        return None;
    }
    let answer = row.get("answer")?.as_object()?;
    let mut words = Words::new();
    let mut take = |field: &'static str, is_word: fn(&str) -> bool| {
        let word = answer.get(field).and_then(Value::as_str).filter(|word| is_word(word));
        words.extend(word.map(|word| (field, word.to_owned())));
    };
    take("mutability", is::<Mutability>);
    take("action", is::<Action>);
    take("output_domain", is::<OutputDomain>);
    take("content_type", is::<ContentType>);
    Some((row.get("definition")?.as_str()?.to_owned(), words))
}

fn is<T: FromStr>(word: &str) -> bool {
    word.parse::<T>().is_ok()
}

#[cfg(test)]
mod tests;
