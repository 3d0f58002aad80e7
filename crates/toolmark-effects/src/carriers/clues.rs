//! What a tool's publisher says, brought into a shape in which it can be looked through: lower case, split into words, cut short.

use toolmark_core::json::Json;
use toolmark_core::tool::Tool;

/// Everything that can speak for a language.
pub(super) struct Clues {
    /// The words of the tool's name.
    pub(super) name: Vec<String>,
    /// The name as it is.
    pub(super) raw: String,
    /// The words of the pack's name and of the source.
    pub(super) server: Vec<String>,
    /// The description in lower case.
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
}

/// One argument, at any depth that is looked into.
pub(super) struct Parameter {
    /// Where it stands, with `*` for the items of arrays.
    pub(super) pointer: String,
    /// The words of its name.
    pub(super) words: Vec<String>,
    /// Its words run together: `filepath` for `file_path` and `filePath`.
    pub(super) key: String,
    /// Its description in lower case.
    pub(super) description: String,
    pub(super) kind: Kind,
    /// Its values are listed.
    pub(super) choices: Vec<String>,
    /// It stands at the top.
    pub(super) top: bool,
}

/// What an argument holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Texts,
    Object,
    Objects,
    Other,
}

/// How much of a description is looked through.
const MAX_DESCRIPTION: usize = 4000;
/// How many arguments are looked at.
const MAX_PARAMETERS: usize = 200;
/// How deep arguments inside arguments are looked at.
const MAX_DEPTH: u8 = 2;

impl Clues {
    /// Looks through a tool; nothing when it takes no arguments.
    pub(super) fn of(tool: &Tool) -> Option<Self> {
        let reading = tool.definition().reading();
        let schema = reading.input_schema();
        let mut parameters = Vec::new();
        Collector { root: &schema }.collect(&schema, "", 0, &mut parameters);
        if parameters.is_empty() {
            return None;
        }
        let source = tool.source().as_str();
        let mut server = words(tool.pack().unwrap_or_default());
        server.extend(words(source));
        let title = reading.title().unwrap_or_default();
        let description = format!("{title}\n{}", reading.description());
        Some(Self {
            name: words(tool.raw().as_str()),
            raw: tool.raw().as_str().to_owned(),
            server,
            description: lower(&description),
            parameters,
        })
    }

    /// True when the tool's name has one of these words.
    pub(super) fn named(&self, any: &[&str]) -> bool {
        self.name.iter().any(|word| any.contains(&word.as_str()))
    }

    /// True when the server's name has one of these words, alone or as part of a longer one.
    pub(super) fn served_by(&self, any: &[&str]) -> bool {
        self.server.iter().any(|word| any.iter().any(|part| word == part || (part.len() > 3 && word.contains(part))))
    }

    /// True when the description has one of these texts.
    pub(super) fn says(&self, any: &[&str]) -> bool {
        any.iter().any(|text| self.description.contains(text))
    }

    /// The argument with one of these names.
    pub(super) fn parameter(&self, keys: &[&str]) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.top && keys.contains(&parameter.key.as_str()))
    }
}

impl Parameter {
    pub(super) fn says(&self, any: &[&str]) -> bool {
        any.iter().any(|text| self.description.contains(text))
    }

    /// Its name, as it stands in the arguments.
    pub(super) fn name(&self) -> String {
        self.pointer.trim_start_matches('/').replace("~1", "/").replace("~0", "~")
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind == Kind::Text && self.choices.is_empty()
    }
}

fn lower(text: &str) -> String {
    let mut end = text.len().min(MAX_DESCRIPTION);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_lowercase()
}

/// Looks through a schema, and through what it refers to.
struct Collector<'s, 'a> {
    root: &'s Json<'a>,
}

impl<'s, 'a> Collector<'s, 'a> {
    fn collect(&self, schema: &'s Json<'a>, at: &str, depth: u8, out: &mut Vec<Parameter>) {
        let Some(properties) = schema.get("properties").and_then(Json::entries) else { return };
        for (name, property) in properties {
            if out.len() >= MAX_PARAMETERS {
                return;
            }
            let escaped = name.replace('~', "~0").replace('/', "~1");
            let pointer = format!("{at}/{escaped}");
            let chosen = self.choose(property);
            let kind = self.kind(chosen);
            let said = [property, chosen].iter().find_map(|schema| schema.get("description").and_then(Json::as_str));
            let choices = chosen.get("enum").and_then(Json::items).unwrap_or_default();
            let words = words(name);
            out.push(Parameter {
                key: words.concat(),
                words,
                description: lower(said.unwrap_or_default()),
                kind,
                choices: choices.iter().filter_map(Json::as_str).map(str::to_lowercase).take(32).collect(),
                top: depth == 0,
                pointer: pointer.clone(),
            });
            if depth < MAX_DEPTH {
                match (kind, chosen.get("items")) {
                    (Kind::Object, _) => self.collect(chosen, &pointer, depth + 1, out),
                    (Kind::Objects, Some(items)) => {
                        self.collect(self.choose(items), &format!("{pointer}/*"), depth + 1, out);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The schema itself, what it refers to, or the first real one of its alternatives.
    fn choose(&self, schema: &'s Json<'a>) -> &'s Json<'a> {
        let schema = self.resolve(schema);
        let Some(alternatives) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key).and_then(Json::items)) else {
            return schema;
        };
        let list: Vec<&Json<'a>> = alternatives.iter().take(16).map(|schema| self.resolve(schema)).collect();
        let of = |schema: &&&Json<'a>, kind: &str| schema.get("type").and_then(Json::as_str) == Some(kind);
        let text = list.iter().find(|schema| of(schema, "string"));
        text.or_else(|| list.iter().find(|schema| !of(schema, "null"))).copied().unwrap_or(schema)
    }

    /// Follows a reference inside the schema, once: what it leads to has a type of its own.
    fn resolve(&self, schema: &'s Json<'a>) -> &'s Json<'a> {
        let Some(reference) = schema.get("$ref").and_then(Json::as_str) else { return schema };
        let path = reference.strip_prefix("#/").unwrap_or_default();
        path.split('/').try_fold(self.root, |place, step| place.get(step)).unwrap_or(schema)
    }

    fn kind(&self, schema: &'s Json<'a>) -> Kind {
        match kind_word(schema) {
            "string" => Kind::Text,
            "object" => Kind::Object,
            "array" => match schema.get("items").map(|items| kind_word(self.choose(items))) {
                Some("string") | None => Kind::Texts,
                Some("object") => Kind::Objects,
                Some(_) => Kind::Other,
            },
            _ => Kind::Other,
        }
    }
}

fn kind_word<'s>(schema: &'s Json<'_>) -> &'s str {
    match schema.get("type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => {
            kinds.iter().filter_map(Json::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ if schema.get("properties").is_some() || schema.get("$ref").is_some() => "object",
        // Without a type anything may stand there, a text too.
        _ => "string",
    }
}

/// The words of a name: split at signs, and where small letters meet capitals.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut before = ' ';
    for character in name.chars().take(400) {
        let begins = character.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit());
        if (!character.is_alphanumeric() || begins) && !current.is_empty() {
            out.push(std::mem::take(&mut current));
        }
        if character.is_alphanumeric() {
            current.extend(character.to_lowercase());
        }
        before = character;
    }
    if !current.is_empty() {
        out.push(current);
    }
    out
}
