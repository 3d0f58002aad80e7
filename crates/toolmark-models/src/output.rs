//! Which outputs of a tool are text, images or files, and which are plain data that somebody must put into words?

use serde_json::Value;

use crate::item::{Detail, File, Image, Part};

/// Reads a tool's output as parts: an object `{"type": "text" | "image" | "file", …}`, or a list of nothing else.
///
/// None means that it is plain data. One entry that is not whole makes the whole list plain data, so that nothing is lost.
#[must_use]
pub fn structured(output: &Value) -> Option<Vec<Part>> {
    match output {
        Value::Array(entries) if entries.is_empty() => None,
        Value::Array(entries) => entries.iter().map(part).collect(),
        single => part(single).map(|part| vec![part]),
    }
}

fn part(value: &Value) -> Option<Part> {
    match value.get("type")?.as_str()? {
        "text" => Some(Part::text(value.get("text")?.as_str()?)),
        "image" => {
            let (url, file_id) = (text(value, "image_url")?, text(value, "file_id")?);
            let detail = match text(value, "detail")? {
                None => None,
                Some(word) => Some(detail(&word)?),
            };
            (url.is_some() || file_id.is_some()).then_some(Part::Image(Image { url, file_id, detail }))
        }
        "file" => {
            let (data, url, file_id) = (text(value, "file_data")?, text(value, "file_url")?, text(value, "file_id")?);
            let filename = text(value, "filename")?;
            let there = data.is_some() || url.is_some() || file_id.is_some();
            there.then_some(Part::File(File { data, url, file_id, filename }))
        }
        _ => None,
    }
}

/// A field that is a string or left out. The outer none means that it is something else.
#[expect(clippy::option_option, reason = "absent and wrong are two answers")]
fn text(value: &Value, key: &str) -> Option<Option<String>> {
    match value.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text.clone())),
        Some(_) => None,
    }
}

fn detail(word: &str) -> Option<Detail> {
    [Detail::Low, Detail::High, Detail::Auto].into_iter().find(|detail| detail.as_str() == word)
}

#[cfg(test)]
mod tests;
