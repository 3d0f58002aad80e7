//! Arguments that name places: requests, addresses that are fetched, paths.

use super::clues::{Clues, Kind, Parameter};
use super::{Carrier, With};
use crate::language::Language;
use crate::paths::Scope;

pub(super) fn find(clues: &Clues, out: &mut Vec<Carrier>) {
    if request(clues, out) {
        return;
    }
    addresses(clues, out);
    paths(clues, out);
}

fn request(clues: &Clues, out: &mut Vec<Carrier>) -> bool {
    let Some(method) = clues.parameter(&["method", "httpmethod", "requestmethod", "verb"]) else { return false };
    // Tools that store requests, or calls that will make some, make none themselves.
    if clues.named(&["create", "update", "delete", "add", "save", "import", "generate"]) {
        return false;
    }
    let speaks = method.choices.iter().any(|choice| choice == "get" || choice == "post")
        || method.says(&["http", "get, post", "get/post"])
        || clues.says(&["http request"]);
    let address = clues.parameter(&["url", "uri", "endpoint", "path", "apipath", "route", "requesturl", "fullurl"]);
    let Some(address) = address.filter(|address| speaks && address.is_text()) else { return false };
    let name = |keys: &[&str]| clues.parameter(keys).map(Parameter::name);
    let relative = !matches!(address.key.as_str(), "url" | "uri" | "requesturl" | "fullurl");
    let with = With::Request {
        method: Some(method.name()),
        headers: name(&["headers", "header", "httpheaders", "requestheaders"]),
        body: name(&["body", "data", "json", "payload", "requestbody", "content"]),
        parameters: name(&["params", "queryparams", "queryparameters", "query", "parameters"]),
        relative,
        rows: clues.served_by(&["postgrest"]) || clues.says(&["postgrest"]),
    };
    out.push(Carrier::new(&address.pointer, Language::Http, "the tool makes HTTP requests").with(with));
    true
}

/// Names of arguments that hold an address.
const ADDRESSES: &[&str] = &[
    "url",
    "uri",
    "urls",
    "pageurl",
    "targeturl",
    "href",
    "website",
    "webpage",
    "imageurl",
    "fileurl",
    "sourceurl",
    "link",
    "starturl",
    "siteurl",
    "videourl",
    "documenturl",
    "pdfurl",
    "audiourl",
    "baseurl",
    "uris",
];

fn addresses(clues: &Clues, out: &mut Vec<Carrier>) {
    let fetches = clues.named(&[
        "fetch",
        "scrape",
        "crawl",
        "navigate",
        "browse",
        "goto",
        "open",
        "download",
        "extract",
        "screenshot",
        "visit",
        "http",
        "load",
        "import",
        "map",
        "read",
        "convert",
        "markdown",
        "launch",
    ]) || clues.says(&[
        "fetch",
        "scrape",
        "crawl",
        "navigate",
        "web page",
        "webpage",
        "download",
        "browser",
        "go to a url",
    ]);
    if !fetches {
        return;
    }
    for parameter in clues
        .parameters
        .iter()
        .filter(|parameter| ADDRESSES.contains(&parameter.key.as_str()) && parameter.choices.is_empty())
    {
        // Some services name their own things by address: nothing is fetched that the caller chooses.
        let named =
            parameter.key.starts_with("uri") && !parameter.says(&["http", "web"]) && !clues.says(&["http", "web page"]);
        if named
            || parameter.says(&[
                "callback",
                "webhook",
                "sentry",
                "link to",
                "base url",
                "catalog",
                "issue url",
                "url of the issue",
                "dsn",
                "button",
                "icon",
            ])
            || clues.named(&["webhook", "callback", "datasource"])
        {
            continue;
        }
        let pointer = match parameter.kind {
            Kind::Text => parameter.pointer.clone(),
            Kind::Texts => format!("{}/*", parameter.pointer),
            _ => continue,
        };
        out.push(Carrier::new(pointer, Language::Url, "the tool fetches addresses"));
    }
}

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

fn paths(clues: &Clues, out: &mut Vec<Carrier>) {
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
        _ => return None,
    })
}
