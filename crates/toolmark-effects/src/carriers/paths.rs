//! Arguments that name files: on this machine, or elsewhere, where only a traversal says something.

use super::Carrier;
use super::clues::{Clues, Kind, Parameter};
use crate::language::Language;
use crate::paths::Scope;

/// Servers that work on the disk of the machine they run on.
const LOCAL: &[&str] = &[
    "filesystem",
    "fs",
    "files",
    "editor",
    "git",
    "excel",
    "word",
    "powerpoint",
    "pandoc",
    "pdf",
    "treesitter",
    "sitter",
    "xcodebuildmcp",
    "xcode",
    "desktop",
    "commander",
    "ssh",
    "sqlite",
    "duckdb",
    "motherduck",
    "playwright",
    "puppeteer",
    "chrome",
    "obsidian",
    "mobile",
    "elevenlabs",
    "eslint",
    "nx",
    "angular",
];

/// Servers whose paths stand in repositories, buckets and drives.
const REMOTE: &[&str] = &[
    "github",
    "gitlab",
    "bitbucket",
    "gitea",
    "s3",
    "gcs",
    "dropbox",
    "onedrive",
    "sharepoint",
    "drive",
    "notion",
    "confluence",
    "webflow",
    "netlify",
    "vercel",
    "digitalocean",
    "postman",
    "365",
    "workspace",
    "terraform",
    "launchdarkly",
    "nixos",
    "sentry",
    "figma",
    "shopify",
];

/// Servers whose paths lead through documents or names.
const NEITHER: &[&str] = &["redis", "valkey", "iam", "sanity", "couchbase"];

/// Texts that say a path is one on a disk.
const SAYS_LOCAL: &[&str] = &[
    "local file",
    "absolute path",
    "file path",
    "filesystem",
    "file system",
    "on disk",
    "local path",
    "path to the file",
    "path to a file",
    "path to the directory",
    "directory to save",
    "path to save",
    "working directory",
    "save the",
    "full path",
    "path of the file",
    "path to file",
    "local directory",
    "files on your",
    "path to the excel",
    "path to excel",
    "file to read",
    "file to write",
    "path to output",
    "output file",
    "input file",
    "path where",
];

/// Texts that say it is none.
const SAYS_OTHER: &[&str] = &[
    "json path",
    "jsonpath",
    "xpath",
    "url path",
    "api path",
    "endpoint",
    "path segment",
    "css selector",
    "object key",
    "path parameter",
    "dot notation",
    "property path",
];

pub(super) fn find(clues: &Clues, out: &mut Vec<Carrier>) {
    if clues.served_by(NEITHER) {
        return;
    }
    let remote_server = clues.served_by(REMOTE);
    let local_server = !remote_server
        && clues.server.iter().any(|word| {
            LOCAL.contains(&word.as_str())
                || ["filesystem", "xcodebuild", "playwright"].iter().any(|name| word.contains(name))
        });
    for parameter in clues.parameters.iter().filter(|parameter| parameter.choices.is_empty()) {
        if parameter.says(SAYS_OTHER) {
            continue;
        }
        let Some(strength) = strength(clues, parameter) else { continue };
        let said = parameter.says(SAYS_LOCAL) || (!remote_server && clues.says(SAYS_LOCAL));
        let scope = match (remote_server, local_server || said, strength) {
            (true, _, Strength::Strong)
                if parameter.says(&[
                    "local file",
                    "absolute path",
                    "on disk",
                    "local path",
                    "local directory",
                    "filesystem",
                ]) =>
            {
                Scope::Local
            }
            (true, _, _) => Scope::Remote,
            (false, true, _) | (false, false, Strength::Strong) => Scope::Local,
            (false, false, Strength::Weak) => continue,
            (false, false, Strength::Plain) => Scope::Remote,
        };
        let pointer = match parameter.kind {
            Kind::Text => parameter.pointer.clone(),
            Kind::Texts => format!("{}/*", parameter.pointer),
            _ => continue,
        };
        let evidence =
            if scope == Scope::Local { "it names files on this machine" } else { "it names files elsewhere" };
        out.push(Carrier::new(pointer, Language::Path(scope), evidence));
    }
}

/// How surely a name is that of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Strong,
    Plain,
    Weak,
}

fn strength(clues: &Clues, parameter: &Parameter) -> Option<Strength> {
    if parameter.words.iter().any(|word| {
        matches!(
            word.as_str(),
            "url"
                | "uri"
                | "id"
                | "ids"
                | "key"
                | "pattern"
                | "patterns"
                | "content"
                | "contents"
                | "type"
                | "size"
                | "json"
                | "include"
                | "exclude"
                | "select"
        )
    }) {
        return (parameter.key == "keyfilename").then_some(Strength::Strong);
    }
    let last = parameter.words.last().map(String::as_str)?;
    let several = parameter.words.len() > 1;
    Some(match (last, parameter.key.as_str()) {
        (_, "path" | "paths") => Strength::Plain,
        (
            "path" | "paths" | "filepath" | "filepaths" | "dirpath" | "directory" | "dir" | "filename" | "cwd"
            | "workdir",
            _,
        ) => Strength::Strong,
        ("file", _) if several => Strength::Strong,
        ("file" | "files" | "folder" | "root" | "output", _) => Strength::Weak,
        ("name", _) if parameter.words.iter().any(|word| word == "file") => Strength::Weak,
        (_, "source" | "destination" | "src" | "dst" | "from" | "to" | "target")
            if clues.says(&[
                "move or rename",
                "move a file",
                "copy a file",
                "rename a file",
                "move file",
                "copy file",
                "files and directories",
            ]) =>
        {
            Strength::Weak
        }
        (_, "saveto" | "savepath" | "saveas" | "writeto" | "outputto") => Strength::Strong,
        _ if ["path to ", "the path to ", "file path ", "absolute path ", "full path ", "local path "]
            .iter()
            .any(|begin| parameter.description.starts_with(begin)) =>
        {
            Strength::Plain
        }
        // `attachments`, `image`, `key`: whatever it is called, the publisher says that it names files.
        _ if parameter.says(&[
            "file paths to",
            "paths of files",
            "paths of the files",
            "local file path",
            "local file paths",
        ]) =>
        {
            Strength::Strong
        }
        _ => return None,
    })
}
