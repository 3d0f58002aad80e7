//! In which language does a client want to read a list?
//!
//! New clients say it in `_meta` (SEP-2792, behind a switch), and a header must then say the same; a header alone means nothing. Old clients
//! can only send the header.

use bytes::Bytes;
use serde_json::json;
use toolmark_config::sections::Names;
use toolmark_core::display::{AcceptLanguageError, Languages};
use toolmark_core::explain::{Code, Explain as _};
use toolmark_mcp::downstream::{Fault, Incoming, Via};
use toolmark_mcp::wire::params::meta;
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, Limits, RawObject, codes};

/// What a client wants to read.
pub(super) enum Wish {
    /// Whatever there is.
    Any,
    /// These languages.
    In(Languages),
    /// Something that cannot be read: it gets what there is, and is told.
    Unreadable(AcceptLanguageError),
}

/// Whether the header decides in which language a request is answered. Where it does, it does so by being absent, too.
pub(super) fn counts_header(request: &Incoming, names: &Names) -> bool {
    matches!(request.via, Via::Http(..)) && names.honour_accept_language && request.era() == Era::Session
}

/// What a request asks for.
pub(super) fn wish(request: &Incoming, names: &Names) -> Result<Wish, Fault> {
    let header = match &request.via {
        Via::Http(_, languages) => languages.as_deref(),
        Via::Pipe => None,
    };
    let said = if names.honour_language_meta { request.params.object("_meta") } else { None };
    let text = match said
        .as_ref()
        .and_then(|meta| meta.get(meta::ACCEPT_LANGUAGE).map(|_| meta.text(meta::ACCEPT_LANGUAGE)))
    {
        Some(None) => {
            let message = "`io.modelcontextprotocol/acceptLanguage` must be a string";
            return Err(Fault::new(codes::INVALID_PARAMS, message).coded(Code::new("accept-language")));
        }
        Some(Some(text)) => {
            if header.is_some_and(|header| header != &*text) {
                let message = "`Accept-Language` says something else than `_meta`";
                return Err(Fault::new(codes::HEADER_MISMATCH, message).coded(Code::new("header-mismatch")));
            }
            Some(text.into_owned())
        }
        None if names.honour_accept_language && request.era() == Era::Session => header.map(str::to_owned),
        None => None,
    };
    let Some(text) = text else { return Ok(Wish::Any) };
    Ok(match Languages::accept(&text) {
        Ok(languages) if languages.is_any() => Wish::Any,
        Ok(languages) => Wish::In(languages),
        Err(error) => Wish::Unreadable(error),
    })
}

/// What a client reads whose wish could not be read: the list as it is, and why.
pub(super) fn told(page: &Bytes, error: &AcceptLanguageError) -> Bytes {
    let why = json!({"code": error.code().as_str(), "message": error.to_string()}).to_string();
    match RawObject::read(page.clone(), Limits::ADMITTED) {
        Ok(page) => {
            let own = page.object("_meta").unwrap_or_else(RawObject::empty);
            page.rewrite(&[Change::Set("_meta", &own.rewrite(&[Change::Set("dev.toolmark/language", why.as_bytes())]))])
        }
        Err(_) => page.clone(),
    }
}
