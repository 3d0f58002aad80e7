//! Opens the object around a list of tools without building the list: a `tools/list` result, a JSON-RPC answer, or a package's record.

use std::ops::Range;
use std::sync::Arc;

use super::ReadSnapshotError;
use crate::document::{Document, Place, Slice};
use crate::json::{self, Json, Skim};
use crate::text::visible;

/// A list of tools and what stands beside it.
#[derive(Debug)]
pub(super) struct List {
    pub(super) tools: Range<usize>,
    pub(super) server: Option<String>,
    pub(super) package: Option<String>,
    pub(super) has_more: bool,
}

type Refusal = (ReadSnapshotError, Place);

/// Finds the list in the object at `range`.
pub(super) fn open(document: &Arc<Document>, range: Range<usize>) -> Result<List, Refusal> {
    let entries = entries(document, range.clone())?;
    let find = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, part)| part.clone());
    if let Some(error) = find("error").filter(|_| find("tools").is_none() && find("result").is_none()) {
        return Err((server_error(document, error.clone()), document.place(error.start)));
    }
    if let (Some(result), None) = (find("result"), find("tools")) {
        if document.text().as_bytes().get(result.start) == Some(&b'{') {
            return open(document, result);
        }
        return Err((ReadSnapshotError::NotTools("`result` is not an object"), document.place(result.start)));
    }
    let Some(tools) = find("tools") else {
        if find("name").is_some() {
            return Err((ReadSnapshotError::LoneTool(range.len()), document.place(range.start)));
        }
        return Err((ReadSnapshotError::NotTools("it has neither `name` nor `tools`"), document.place(range.start)));
    };
    if document.text().as_bytes().get(tools.start) != Some(&b'[') {
        return Err((ReadSnapshotError::NotTools("`tools` is not an array"), document.place(tools.start)));
    }
    let mut list = List { tools, server: None, package: None, has_more: false };
    for (key, part) in entries.iter().filter(|(key, _)| key != "tools") {
        // What stands beside the tools must be JSON too.
        let slice = Slice::new(document, part.clone());
        let value = json::read(slice.text()).map_err(|error| {
            let place = slice.place_of(error.offset());
            (ReadSnapshotError::Json(error.seen_in(&slice)), place)
        })?;
        match key.as_str() {
            "server" => list.server = value.as_str().map(Into::into),
            "package" => list.package = value.as_str().map(Into::into),
            "nextCursor" => list.has_more = !value.is_null(),
            _ => {}
        }
    }
    Ok(list)
}

/// The keys of an object with the extents of their values.
fn entries(document: &Arc<Document>, range: Range<usize>) -> Result<Vec<(String, Range<usize>)>, Refusal> {
    let text = document.text();
    let syntax = |at: usize| (ReadSnapshotError::NotTools("the object around the tools is broken"), document.place(at));
    let mut skim = Skim::new(text, range.start);
    let mut entries: Vec<(String, Range<usize>)> = Vec::new();
    skim.take(b'{');
    if skim.take(b'}') {
        return Ok(entries);
    }
    loop {
        let at = skim.at();
        let key = skim.value().map_err(|error| (ReadSnapshotError::Json(error), document.place(at)))?;
        let Ok(Json::String(key)) = json::read(text.get(key).unwrap_or_default()) else { return Err(syntax(at)) };
        if entries.iter().any(|(known, _)| *known == key) {
            let error = ReadSnapshotError::NotTools("a key appears twice in the object around the tools");
            return Err((error, document.place(at)));
        }
        if !skim.take(b':') {
            return Err(syntax(skim.at()));
        }
        let value = skim.value().map_err(|error| (ReadSnapshotError::Json(error), document.place(skim.at())))?;
        entries.push((key.into_owned(), value));
        if skim.take(b'}') {
            return Ok(entries);
        }
        if !skim.take(b',') {
            return Err(syntax(skim.at()));
        }
    }
}

fn server_error(document: &Arc<Document>, part: Range<usize>) -> ReadSnapshotError {
    let slice = Slice::new(document, part);
    let message = match json::read(slice.text()) {
        Ok(error) => error.get("message").and_then(Json::as_str).map(|message| visible(message, 200)),
        Err(_) => None,
    };
    ReadSnapshotError::ServerError(message.unwrap_or_else(|| "no message".into()))
}
