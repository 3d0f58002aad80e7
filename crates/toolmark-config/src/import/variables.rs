//! What stands for something else in the texts of clients: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}`,
//! `${workspaceFolder}` and its like, and `$NAME` of Gemini CLI.

use toolmark_core::text::visible;

use super::{File, Required};
use crate::clients::Client;
use crate::values::{Part, Secret, Template, is_variable};

/// Reads a text of a client. Variables of `own` are left for the program that is started.
pub(super) fn template(file: &mut File<'_>, at: usize, text: &str, own: &[String]) -> Template {
    let mut parts = Parts::default();
    let mut rest = text;
    while let Some(found) = rest.find('$') {
        let (before, after) = (rest.get(..found).unwrap_or_default(), rest.get(found + 1..).unwrap_or_default());
        parts.literal(before);
        if let Some((inside, left)) = after.strip_prefix('{').and_then(braces) {
            placeholder(file, at, inside, own, &mut parts);
            rest = left;
        } else if file.client == Client::GeminiCli && after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            parts.variable(after.get(..end).unwrap_or_default(), None);
            rest = after.get(end..).unwrap_or_default();
        } else {
            parts.literal("$");
            rest = after;
        }
    }
    parts.literal(rest);
    parts.finish()
}

/// What stands between braces, and what comes after them. Defaults may hold braces of their own.
fn braces(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn placeholder(file: &mut File<'_>, at: usize, inside: &str, own: &[String], parts: &mut Parts) {
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = name.split_once(":-").map_or((name, None), |(name, default)| (name, Some(default)));
    if own.iter().any(|own| own == inside) {
        return parts.literal(&format!("${{{inside}}}"));
    }
    let surroundings = file.surroundings;
    let known = match inside {
        "workspaceFolder" | "workspaceRoot" | "cwd" => surroundings.project.clone(),
        "workspaceFolderBasename" => {
            let project = surroundings.project.as_deref();
            project
                .and_then(|path| path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next())
                .map(ToOwned::to_owned)
        }
        "userHome" => surroundings.home.clone(),
        "pathSeparator" | "/" => Some(if surroundings.windows { "\\" } else { "/" }.to_owned()),
        _ => None,
    };
    if let Some(known) = known {
        return parts.literal(&known);
    }
    if let Some(id) = inside.strip_prefix("input:") {
        return input(file, id, parts);
    }
    // A default that refers to another variable in turn has no counterpart.
    let nested = default.is_some_and(|default| default.contains(['{', '}']));
    let editor = matches!(inside, "workspaceFolder" | "workspaceRoot" | "cwd" | "workspaceFolderBasename" | "userHome");
    if is_variable(name) && !editor && !nested {
        return parts.variable(name, default);
    }
    let made = in_capitals(if nested { name } else { inside });
    if made.is_empty() {
        return parts.literal(&format!("${{{inside}}}"));
    }
    file.note(at, format!("`${{{}}}` is not known here; set the variable `{made}` in its place", visible(inside, 60)));
    require(file, &made, None);
    parts.variable(&made, None);
}

/// What the client would have asked the user for.
fn input(file: &mut File<'_>, id: &str, parts: &mut Parts) {
    let mut name = in_capitals(id);
    if name.is_empty() {
        name = "INPUT".into();
    }
    let known = file.inputs.iter().find(|input| input.id == id);
    let default = known.and_then(|input| input.default.clone());
    let description = known.and_then(|input| input.description.clone());
    parts.variable(&name, default.as_deref());
    if default.is_none() {
        require(file, &name, description);
    }
}

fn require(file: &mut File<'_>, variable: &str, description: Option<String>) {
    if !file.found.required.iter().any(|known| known.variable == variable) {
        file.found.required.push(Required { variable: variable.to_owned(), description });
    }
}

/// `perplexity-key` → `PERPLEXITY_KEY`.
fn in_capitals(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_uppercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    let out = out.trim_end_matches('_');
    if out.starts_with(|first: char| first.is_ascii_digit()) { format!("_{out}") } else { out.to_owned() }
}

#[derive(Default)]
struct Parts {
    done: Vec<Part>,
    literal: String,
}

impl Parts {
    fn literal(&mut self, text: &str) {
        self.literal.push_str(text);
    }

    fn variable(&mut self, name: &str, default: Option<&str>) {
        self.flush();
        self.done.push(Part::Variable { name: name.to_owned(), default: default.map(Secret::new) });
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.done.push(Part::Literal(Secret::new(std::mem::take(&mut self.literal))));
        }
    }

    fn finish(mut self) -> Template {
        self.flush();
        Template::from_parts(self.done)
    }
}
