//! What did a tool bring? The content of a result as parts that a model can read or look at.

use serde_json::Value;
use toolmark_runtime::tools::{FilePart, Part, ToolOutput};

/// Reads the result of `tools/call`.
///
/// # Errors
/// In words, when it is no such result.
pub(super) fn read(result: &[u8], structured: bool) -> Result<ToolOutput, String> {
    let mut result: Value = serde_json::from_slice(result).map_err(|error| error.to_string())?;
    let own = result.get_mut("structuredContent").map(Value::take).filter(|own| !own.is_null());
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true);
    if let Some(own) = &own
        && structured
        && !failed
    {
        return Ok(ToolOutput::Json(own.clone()));
    }
    let blocks = match result.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err("its content is no list".into()),
    };
    let mut parts: Vec<Part> = blocks.iter().map(part).collect();
    Ok(match (parts.len(), own) {
        (0, Some(own)) => ToolOutput::Json(own),
        (0, None) => ToolOutput::text(""),
        (1, _) => match parts.remove(0) {
            Part::Text(text) => ToolOutput::Text(text),
            other => ToolOutput::Parts(vec![other]),
        },
        _ => ToolOutput::Parts(parts),
    })
}

/// One block. What has no form that models know is given to them as the text that it is.
fn part(block: &Value) -> Part {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    let found = match text("type") {
        Some("text") => text("text").map(|text| Part::Text(text.to_owned())),
        Some("image") => data(block, "data").map(Part::image_url),
        Some("audio") => {
            let name = format!("audio.{}", extension(text("mimeType").unwrap_or_default()));
            data(block, "data").map(|data| Part::file_data(name, data))
        }
        Some("resource") => block.get("resource").and_then(resource),
        _ => None,
    };
    found.unwrap_or_else(|| Part::Text(block.to_string()))
}

/// A resource that came along: its text, or its bytes as a file.
fn resource(resource: &Value) -> Option<Part> {
    if let Some(text) = resource.get("text").and_then(Value::as_str) {
        return Some(Part::Text(text.to_owned()));
    }
    let data = data(resource, "blob")?;
    if resource.get("mimeType").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/")) {
        return Some(Part::image_url(data));
    }
    let name = resource.get("uri").and_then(Value::as_str).and_then(|uri| uri.rsplit('/').next());
    let filename = name.filter(|name| !name.is_empty()).unwrap_or("resource");
    Some(Part::File(FilePart { data: Some(data), filename: Some(filename.to_owned()), ..FilePart::default() }))
}

/// Bytes with their media type, as providers take them.
fn data(block: &Value, key: &str) -> Option<String> {
    let kind = block.get("mimeType").and_then(Value::as_str).unwrap_or("application/octet-stream");
    Some(format!("data:{kind};base64,{}", block.get(key)?.as_str()?))
}

fn extension(kind: &str) -> &str {
    kind.rsplit('/').next().filter(|kind| kind.bytes().all(|byte| byte.is_ascii_alphanumeric())).unwrap_or("bin")
}
