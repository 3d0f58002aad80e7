//! Arguments that name places: requests, addresses that are fetched, and, where nothing is requested, paths.

use super::clues::{Clues, Kind, Parameter};
use super::{Carrier, With, paths};
use crate::language::Language;

pub(super) fn find(clues: &Clues, out: &mut Vec<Carrier>) {
    if request(clues, out) {
        return;
    }
    addresses(clues, out);
    paths::find(clues, out);
}

fn request(clues: &Clues, out: &mut Vec<Carrier>) -> bool {
    let Some(method) = clues.parameter(&["method", "httpmethod", "requestmethod", "verb"]) else {
        return named_request(clues, out);
    };
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
        fixed: None,
        headers: name(&["headers", "header", "httpheaders", "requestheaders"]),
        body: name(&["body", "data", "json", "payload", "requestbody", "content"]),
        parameters: name(&["params", "queryparams", "queryparameters", "query", "parameters"]),
        relative,
        rows: clues.served_by(&["postgrest"]) || clues.says(&["postgrest"]),
    };
    out.push(Carrier::new(&address.pointer, Language::Http, "the tool makes HTTP requests").with(with));
    true
}

/// A tool that is one method: `http_delete`, `playwright_put`.
fn named_request(clues: &Clues, out: &mut Vec<Carrier>) -> bool {
    const METHODS: &[(&str, &str, &str)] = &[
        ("post", "POST", "http post"),
        ("put", "PUT", "http put"),
        ("patch", "PATCH", "http patch"),
        ("delete", "DELETE", "http delete"),
    ];
    let method = METHODS.iter().find(|(word, _, said)| clues.named(&[word]) && clues.says(&[said]));
    let address = clues.parameter(&["url", "uri", "requesturl", "fullurl"]).filter(|address| address.is_text());
    let (Some((_, method, _)), Some(address)) = (method, address) else { return false };
    let name = |keys: &[&str]| clues.parameter(keys).map(Parameter::name);
    let with = With::Request {
        method: None,
        fixed: Some(method),
        headers: name(&["headers", "header"]),
        body: name(&["body", "data", "json", "payload", "value"]),
        parameters: name(&["params", "queryparams", "query"]),
        relative: false,
        rows: false,
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
        "load a url",
        "loads a url",
        "opens a url",
        "open a url",
        "http get",
        "http post",
        "http put",
        "http patch",
        "http delete",
        "http request",
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
