//! A doc comment as people write it: what the tool does, then, under `# Arguments`, what each argument is.

use std::collections::HashSet;

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// What a doc comment says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Docs {
    /// Everything before the first heading.
    pub(crate) description: String,
    /// The arguments that it describes, in their order.
    pub(crate) arguments: Vec<(String, String)>,
}

/// Headings under which arguments are described.
const HEADINGS: [&str; 3] = ["arguments", "args", "parameters"];

/// The lines of doc comments, with the space after the slashes taken away.
pub(crate) fn lines(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        if !pair.path.is_ident("doc") {
            continue;
        }
        if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value {
            let text = text.value();
            lines.extend(text.split('\n').map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()));
        }
    }
    lines
}

impl Docs {
    /// Reads the lines of a doc comment.
    pub(crate) fn of(lines: &[String]) -> Self {
        let mut docs = Self::default();
        let mut description = Vec::new();
        let (mut fenced, mut section) = (false, None);
        for line in lines {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            match heading(line).filter(|_| !fenced) {
                Some(title) => section = Some(HEADINGS.contains(&title.to_lowercase().as_str())),
                None => match section {
                    None => description.push(line.as_str()),
                    Some(true) => docs.argument(line),
                    Some(false) => {}
                },
            }
        }
        docs.description = description.join("\n").trim().to_owned();
        docs
    }

    /// One line of the list of arguments: a new entry, or more of the last one.
    fn argument(&mut self, line: &str) {
        let text = line.trim();
        match text.strip_prefix(['*', '-']).and_then(|rest| entry(rest.trim_start())) {
            Some((name, text)) => self.arguments.push((name.to_owned(), text.to_owned())),
            None => {
                if let Some((_, last)) = self.arguments.last_mut()
                    && !text.is_empty()
                {
                    if !last.is_empty() {
                        last.push(' ');
                    }
                    last.push_str(text);
                }
            }
        }
    }

    /// What is said of one argument.
    pub(crate) fn about(&self, argument: &str) -> Option<&str> {
        self.arguments.iter().find(|(name, _)| name == argument).map(|(_, text)| text.as_str())
    }

    /// Described arguments that are none of these, and those that are described twice.
    pub(crate) fn strangers<'d>(&'d self, known: &[String]) -> Vec<(&'d str, bool)> {
        let mut seen = HashSet::new();
        let names = self.arguments.iter().map(|(name, _)| name.as_str());
        names
            .filter_map(|name| {
                let twice = !seen.insert(name);
                (twice || !known.iter().any(|other| other == name)).then_some((name, twice))
            })
            .collect()
    }
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' ')).then(|| title.trim())
}

/// `` `city`: the city``, `` `city` - the city`` or `city: the city`.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => {
            let end = text.find([':', ' '])?;
            let (name, rest) = text.split_at(end);
            rest.starts_with(':').then_some((name, rest))?
        }
    };
    let named = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let rest = rest.trim_start();
    let rest = rest.strip_prefix([':', '-', '–', '—']).unwrap_or(rest).trim();
    named.then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(text: &str) -> Docs {
        Docs::of(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_stands_before_the_first_heading_describes_the_tool() {
        let docs =
            docs("Fetches the weather.\n\nOnly for cities.\n\n# Errors\nWhen it rains.\n# Arguments\n* `city`: a city");
        assert_eq!(docs.description, "Fetches the weather.\n\nOnly for cities.");
        assert_eq!(docs.arguments, [("city".to_owned(), "a city".to_owned())]);
    }

    #[test]
    fn arguments_are_listed_in_the_ways_people_write_them() {
        let docs =
            docs("# Arguments\n\n* `a`: one\n- `b` - two\n* c: three,\n  and more\n* `d`\n  four\n* e – no entry");
        let said: Vec<_> = docs.arguments.iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert_eq!(said, ["a=one", "b=two", "c=three, and more", "d=four * e – no entry"]);
    }

    #[test]
    fn a_heading_inside_a_code_block_is_none() {
        let docs = docs("Runs it.\n\n```\n# Arguments\n* `x`: no\n```");
        assert!(docs.arguments.is_empty());
        assert!(docs.description.ends_with("```"));
    }

    #[test]
    fn arguments_that_are_not_there_are_found() {
        let docs = docs("# Arguments\n* `a`: one\n* `b`: two\n* `a`: again");
        assert_eq!(docs.strangers(&["a".to_owned()]), [("b", false), ("a", true)]);
    }
}
