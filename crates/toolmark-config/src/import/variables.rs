//! What stands for something else in the texts of clients: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}`,
//! `${workspaceFolder}` and its like, and `$NAME` of Gemini CLI.

use std::collections::{HashMap, HashSet};

use toolmark_core::text::visible;

use super::{File, Required};
use crate::clients::Client;
use crate::values::{Part, Secret, Template, is_variable};

/// Variables that a system, a shell or a user normally has, so that what somebody is asked for must not be called the same.
const OF_THE_SYSTEM: &str = "\
    ALL_PROXY APPDATA BROWSER CI COLORTERM COLUMNS COMMONPROGRAMFILES COMPUTERNAME COMSPEC DISPLAY DRIVERDATA \
    EDITOR EUID GID HOME HOMEDRIVE HOMEPATH HOST HOSTNAME HOSTTYPE HTTPS_PROXY HTTP_PROXY IFS LANG LANGUAGE \
    LINES LOCALAPPDATA LOGNAME LOGONSERVER MACHTYPE MAIL MANPATH NODE_ENV NODE_OPTIONS NODE_PATH NO_COLOR \
    NO_PROXY NUMBER_OF_PROCESSORS OLDPWD OS OSTYPE PAGER PATH PATHEXT PPID PROCESSOR_ARCHITECTURE PROGRAMDATA \
    PROGRAMFILES PROMPT PS1 PUBLIC PWD PYTHONHOME PYTHONPATH RANDOM SECONDS SESSIONNAME SHELL SHLVL SYSTEMDRIVE \
    SYSTEMROOT TEMP TERM TERMINAL TERM_PROGRAM TMP TMPDIR TZ UID USER USERDOMAIN USERNAME USERPROFILE \
    VIRTUAL_ENV VISUAL WINDIR";

/// What the variables of whole families begin with.
const FAMILIES_OF_THE_SYSTEM: &[&str] = &["DBUS_", "DYLD_", "LC_", "LD_", "SSH_", "SUDO_", "TOOLMARK_", "XDG_"];

/// The variables that stand for what clients would have asked for. Two things that are asked for never share one, also not those of
/// two files that are read with the same names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: HashMap<Asked, String>,
    taken: HashSet<String>,
}

/// What a client would have asked for, or known where nobody else does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Input { id: String, description: Option<String> },
    Placeholder(String),
}

impl Names {
    /// The variable for what is asked: `wanted`, unless that means something else.
    fn of(&mut self, asked: Asked, wanted: &str, mentioned: &HashSet<String>) -> String {
        if let Some(known) = self.known.get(&asked) {
            return known.clone();
        }
        let base = if is_of_the_system(wanted) { format!("INPUT_{wanted}") } else { wanted.to_owned() };
        let mut name = base.clone();
        let mut number = 2_usize;
        while self.taken.contains(&name) || mentioned.contains(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.taken.insert(name.clone());
        self.known.insert(asked, name.clone());
        name
    }
}

fn is_of_the_system(name: &str) -> bool {
    OF_THE_SYSTEM.split(' ').any(|known| known == name)
        || FAMILIES_OF_THE_SYSTEM.iter().any(|family| name.starts_with(family))
}

/// The variables of the environment that a file names itself, as `${env:NAME}` or with a default.
pub(super) fn mentioned(text: &str) -> HashSet<String> {
    let inside = text.split("${").skip(1).filter_map(|after| after.split(['}', '"', '\n']).next());
    let name = |inside: &str| {
        let (of_environment, plain) = inside.strip_prefix("env:").map_or((false, inside), |name| (true, name));
        let (name, default) = plain.split_once(":-").map_or((plain, false), |(name, _)| (name, true));
        ((of_environment || default) && is_variable(name)).then(|| name.to_owned())
    };
    inside.filter_map(name).collect()
}

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
        return input(file, at, id, parts);
    }
    // A default that refers to another variable in turn has no counterpart.
    let nested = default.is_some_and(|default| default.contains(['{', '}']));
    let editor = matches!(inside, "workspaceFolder" | "workspaceRoot" | "cwd" | "workspaceFolderBasename" | "userHome");
    if is_variable(name) && !editor && !nested {
        return parts.variable(name, default);
    }
    let unknown = if nested { name } else { inside };
    let made = if nested && is_variable(name) && !editor { name.to_owned() } else { in_capitals(unknown) };
    if made.is_empty() {
        return parts.literal(&format!("${{{inside}}}"));
    }
    let made =
        if made == name { made } else { file.names.of(Asked::Placeholder(unknown.to_owned()), &made, &file.mentioned) };
    file.note(at, format!("`${{{}}}` is not known here; set the variable `{made}` in its place", visible(inside, 60)));
    require(file, &made, None);
    parts.variable(&made, None);
}

/// What the client would have asked the user for.
fn input(file: &mut File<'_>, at: usize, id: &str, parts: &mut Parts) {
    let mut wanted = in_capitals(id);
    if wanted.is_empty() {
        wanted = "INPUT".into();
    }
    let known = file.inputs.iter().find(|input| input.id == id);
    // A default that would end early or begin a variable cannot be written down.
    let plain = |default: &String| !default.contains('}') && !default.contains("${");
    let default = known.and_then(|input| input.default.clone()).filter(plain);
    let description = known.and_then(|input| input.description.clone());
    let asked = Asked::Input { id: id.to_owned(), description: description.clone() };
    let name = file.names.of(asked, &wanted, &file.mentioned);
    if name != wanted {
        let id = visible(id, 60);
        file.note(at, format!("`{wanted}` is something else than the input `{id}`; set the variable `{name}` for it"));
    }
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
