//! Which file is at this address? The pages of the console, as they are in the binary, with headers that let them load nothing but
//! themselves and be framed by nobody.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use toolmark_mcp::downstream::Body;

/// One file of the console.
struct Asset {
    /// Where it is below `/console/`.
    path: &'static str,
    kind: &'static str,
    /// Tells this content from any other.
    tag: &'static str,
    bytes: &'static [u8],
}

/// All of them, by path.
static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// What pages may do: load what is served here, talk to this gateway, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// What is answered with everything that a browser may show.
const GUARDS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// True for addresses of pages.
pub(crate) fn covers(path: &str) -> bool {
    path == "/" || path == "/favicon.ico" || path == "/console" || path.starts_with("/console/")
}

/// Answers a request for a page. Anybody may see the pages: there is nothing in them but the program.
pub(crate) fn answer(method: &Method, path: &str, headers: &HeaderMap) -> Response<Body> {
    if method != Method::GET && method != Method::HEAD {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "pages can only be read");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let Some(asset) = find(path) else { return plain(StatusCode::NOT_FOUND, "there is no such page") };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|tags| has(tags.as_bytes(), asset.tag));
    let whole = !known && method == Method::GET;
    let mut response = Response::new(Body::whole(Bytes::from_static(if whole { asset.bytes } else { b"" })));
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let all = response.headers_mut();
    all.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    all.insert(header::ETAG, HeaderValue::from_static(asset.tag));
    if method == Method::HEAD && !known {
        all.insert(header::CONTENT_LENGTH, HeaderValue::from(asset.bytes.len()));
    }
    all.extend(language(asset).map(|tag| (header::CONTENT_LANGUAGE, HeaderValue::from_static(tag))));
    // Kept, but asked about each time: another version of the gateway has other pages at the same addresses.
    all.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    guard(all);
    response
}

/// Adds what keeps a page, or what is shown in place of one, to itself.
pub(crate) fn guard(headers: &mut HeaderMap) {
    for (name, value) in GUARDS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn find(path: &str) -> Option<&'static Asset> {
    let path = match path {
        "/" | "/console" | "/console/" => "index.html",
        "/favicon.ico" => "favicon.ico",
        _ => path.strip_prefix("/console/")?,
    };
    // Compared with what there is, never joined to a folder: there is no way out.
    ASSETS.iter().find(|asset| asset.path == path)
}

/// The language of a file of texts. The page itself is the same for everybody and fetches its texts: what stands in it is English.
fn language(asset: &Asset) -> Option<&'static str> {
    if asset.path == "index.html" {
        return Some("en");
    }
    asset.path.strip_prefix("i18n/")?.strip_suffix(".json")
}

/// Whether a list of tags has this one.
fn has(tags: &[u8], tag: &str) -> bool {
    tags.split(|byte| *byte == b',').any(|one| {
        let one = one.trim_ascii();
        one == b"*" || one.strip_prefix(b"W/").unwrap_or(one) == tag.as_bytes()
    })
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let all = response.headers_mut();
    all.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    all.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    guard(all);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_first_page_and_no_way_out_of_the_folder() {
        assert!(find("/").is_some_and(|page| page.kind.starts_with("text/html")));
        for path in ["/console/../Cargo.toml", "/console//index.html", "/console/%2e%2e/build.rs", "/etc/passwd"] {
            assert!(find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn pages_hold_no_script_or_style_that_their_own_policy_would_stop() {
        for asset in ASSETS.iter().filter(|asset| asset.kind.starts_with("text/html")) {
            let text = String::from_utf8_lossy(asset.bytes).to_lowercase();
            assert!(!text.contains("<style") && !text.contains(" style="), "{}", asset.path);
            assert!(!text.contains("javascript:") && !text.contains(" onclick="), "{}", asset.path);
            for script in text.split("<script").skip(1) {
                let tag = script.split('>').next().unwrap_or_default();
                assert!(tag.contains("src="), "{}: {tag}", asset.path);
            }
            assert!(!text.contains("http://") && !text.contains("https://"), "{}: works without internet", asset.path);
        }
    }

    #[test]
    fn a_tag_is_found_among_others() {
        assert!(has(b"\"a\", W/\"b\"", "\"b\""));
        assert!(has(b"*", "\"b\""));
        assert!(!has(b"\"bb\"", "\"b\""));
    }
}
