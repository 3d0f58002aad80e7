//! The resources: a text, a picture, one that can be watched, and a template.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

/// The resources of one fixture.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    /// Whether the resource that comes and goes is there.
    extra: AtomicBool,
}

const STATIC_TEXT: &str = "test://static-text";
const STATIC_BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";
const EXTRA: &str = "test://extra-resource";
const TEMPLATE: &str = "test://template/{id}/data";

/// A red pixel, a PNG file in base64.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// Eight silent samples, a WAV file in base64.
pub(crate) const SILENCE: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

impl Resources {
    pub(crate) fn list(&self) -> Vec<Resource> {
        let mut resources = vec![
            Resource::new(STATIC_TEXT, "Static text")
                .with_description("A text that never changes")
                .with_mime_type("text/plain"),
            Resource::new(STATIC_BINARY, "Static binary")
                .with_description("A picture of one red pixel")
                .with_mime_type("image/png"),
            Resource::new(WATCHED, "Watched")
                .with_description("A text that can be watched; the tool `touch_resource` announces a change of it")
                .with_mime_type("text/plain"),
        ];
        if self.extra.load(Ordering::SeqCst) {
            let extra = Resource::new(EXTRA, "Extra").with_description("A text that comes and goes");
            resources.push(extra.with_mime_type("text/plain"));
        }
        resources
    }

    /// Adds the resource that comes and goes, or takes it away.
    pub(crate) fn toggle_extra(&self) {
        self.extra.fetch_xor(true, Ordering::SeqCst);
    }

    pub(crate) fn read(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let contents = match uri {
            STATIC_TEXT => ResourceContents::text("This is the content of the static text resource.", uri),
            STATIC_BINARY => ResourceContents::blob(PIXEL, uri).with_mime_type("image/png"),
            EXTRA if self.extra.load(Ordering::SeqCst) => ResourceContents::text("This resource comes and goes.", uri),
            WATCHED => ResourceContents::text("This resource can be watched.", uri),
            _ => {
                let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
                let Some(id) = id.filter(|id| !id.is_empty() && !id.contains('/')) else {
                    return Err(ErrorData::resource_not_found("resource not found", Some(json!({ "uri": uri }))));
                };
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
            }
        };
        Ok(ReadResourceResult::new(vec![contents]))
    }
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(TEMPLATE, "Template")
            .with_description("Data for an id of the caller's choice")
            .with_mime_type("application/json"),
    ]
}
