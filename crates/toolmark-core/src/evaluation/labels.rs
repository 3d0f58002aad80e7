//! What careful readers say about tools. One reader may see two defensible answers; all of them are kept.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rows::{ReadRowError, ToolId, flag, rows};
use crate::behavior::{Action, ContentType, Mutability, OutputDomain};

/// What a careful reader says about one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    tool: ToolId,
    fields: BTreeMap<&'static str, Answers>,
    by_argument: BTreeMap<String, Answers>,
    ambiguous: Ambiguous,
    read_only_hint: Option<bool>,
}

/// The answers that a reader would accept, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers(Vec<String>);

/// Where another answer could be defended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Ambiguous {
    #[default]
    Nowhere,
    Everywhere,
    In(Vec<String>),
}

impl Label {
    /// The fields that labels have, in the order in which they are shown.
    pub const FIELDS: [&'static str; 4] = ["mutability", "action", "output_domain", "content_type"];

    /// Reads `labels.jsonl`.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that is not a label.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ReadRowError> {
        rows("labels", text, |_, row| Self::read(row))
    }

    fn read(row: &Value) -> Result<Self, String> {
        let mut fields = BTreeMap::new();
        for field in Self::FIELDS {
            if let Some(answers) = Answers::read(row, field)? {
                fields.insert(field, answers);
            }
        }
        if fields.is_empty() {
            return Err(format!(
                "it labels nothing: it has none of {}",
                Self::FIELDS.map(|own| format!("`{own}`")).join(", ")
            ));
        }
        let mut by_argument = BTreeMap::new();
        let map = row.get("by_arg").and_then(|by| by.get("map"));
        for value in map.and_then(Value::as_object).into_iter().flatten().map(|(value, _)| value) {
            if let Some(answers) = map.map_or(Ok(None), |map| Answers::read(map, value))? {
                by_argument.insert(value.clone(), answers);
            }
        }
        let declared = row.get("declared").unwrap_or(&Value::Null);
        Ok(Self {
            tool: ToolId::of_row(row)?,
            fields,
            by_argument,
            ambiguous: Ambiguous::read(row.get("ambiguous"))?,
            read_only_hint: flag(declared, "readOnlyHint")?,
        })
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.tool
    }

    /// What was said about a field.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Answers> {
        self.fields.get(field)
    }

    /// What each value of a selecting argument was said to do.
    #[must_use]
    pub fn by_argument(&self) -> &BTreeMap<String, Answers> {
        &self.by_argument
    }

    /// Whether a field has one defensible answer.
    #[must_use]
    pub fn is_clear(&self, field: &str) -> bool {
        let single = self.get(field).is_none_or(|answers| answers.0.len() == 1);
        single
            && match &self.ambiguous {
                Ambiguous::Nowhere => true,
                Ambiguous::Everywhere => false,
                Ambiguous::In(fields) => !fields.iter().any(|own| own == field),
            }
    }

    /// The `readOnlyHint` of its publisher, where the label repeats it.
    #[must_use]
    pub fn read_only_hint(&self) -> Option<bool> {
        self.read_only_hint
    }

    /// True when it says that the tool mutates, and nothing else.
    #[must_use]
    pub fn is_mutating(&self) -> bool {
        self.get("mutability").is_some_and(|own| own.0.iter().all(|own| own == Mutability::Mutates.as_str()))
    }

    /// Words that are in no vocabulary: they count as labels that nothing agrees with.
    #[must_use]
    pub fn unknown_words(&self) -> Vec<String> {
        let fields = self.fields.iter().flat_map(|(field, answers)| answers.0.iter().map(move |word| (*field, word)));
        fields.filter(|(field, word)| !is_known(field, word)).map(|(field, word)| format!("{field} {word}")).collect()
    }
}

impl Answers {
    /// One word, several in a list, or several in one text such as `CREATE|UPDATE`.
    fn read(row: &Value, key: &str) -> Result<Option<Self>, String> {
        let wrong = || format!("`{key}` must be a word or a list of words");
        let texts: Vec<&str> = match row.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.split(['|', '/', ',']).collect(),
            Some(Value::Array(all)) => {
                all.iter().map(|one| one.as_str().ok_or_else(wrong)).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(wrong()),
        };
        let words: Vec<String> =
            texts.iter().map(|text| text.trim().to_ascii_uppercase()).filter(|text| !text.is_empty()).collect();
        if words.is_empty() { Err(format!("`{key}` is empty")) } else { Ok(Some(Self(words))) }
    }

    /// Whether an answer is among them.
    #[must_use]
    pub fn admit(&self, answer: &str) -> bool {
        self.0.iter().any(|own| own == answer)
    }

    /// The first, under which a confusion is counted.
    #[must_use]
    pub fn best(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl Ambiguous {
    fn read(value: Option<&Value>) -> Result<Self, String> {
        let wrong = || "`ambiguous` must be true, false or a list of fields".to_owned();
        match value {
            None | Some(Value::Null | Value::Bool(false)) => Ok(Self::Nowhere),
            Some(Value::Bool(true)) => Ok(Self::Everywhere),
            Some(Value::String(field)) => Ok(Self::In(vec![field.clone()])),
            Some(Value::Array(fields)) => {
                let fields = fields.iter().map(|field| field.as_str().map(ToOwned::to_owned).ok_or_else(wrong));
                fields.collect::<Result<_, _>>().map(Self::In)
            }
            Some(_) => Err(wrong()),
        }
    }
}

fn is_known(field: &str, word: &str) -> bool {
    match field {
        "mutability" => word.parse::<Mutability>().is_ok(),
        "action" => word.parse::<Action>().is_ok(),
        "output_domain" => word.parse::<OutputDomain>().is_ok(),
        _ => word.parse::<ContentType>().is_ok(),
    }
}
