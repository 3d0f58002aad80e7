//! What a tool calls itself: its title, the names in `_meta`, and a picture that it brings along. A publisher's mistakes are read over;
//! `lint` reports them.

use super::icon::Icon;
use super::layers::{Kind, Layer, Names};
use super::tag::LanguageTag;
use crate::definition::Reading;
use crate::json::Json;

/// The member of `_meta` with a name for each language.
pub const NAMES: &str = "dev.toolmark/names";
/// The member of `_meta` with what is said while the tool works: a text, or one for each language.
pub const SPOKEN_TEXTS: &str = "dev.toolmark/spoken";
/// The member of `_meta` with an icon.
pub const ICON: &str = "dev.toolmark/icon";
/// The member of `_meta` with the group that the tool is shown in: a text, or one for each language.
pub const CATEGORY: &str = "dev.toolmark/category";

/// The most languages that are read of one tool.
const MOST: usize = 64;

/// Adds what a tool's definition says of its names.
pub fn declare(names: &mut Names, reading: &Reading<'_>) {
    said(names, |key| reading.get(key));
}

/// The same for a resource, a template of resources or a prompt.
pub fn declare_offer(names: &mut Names, definition: &Json<'_>) {
    said(names, |key| definition.get(key));
}

/// What a definition with these fields says.
fn said<'d>(names: &mut Names, field: impl Fn(&str) -> Option<&'d Json<'d>>) {
    let meta = |key: &str| field("_meta").and_then(|meta| meta.get(key));
    for (key, kind) in [(NAMES, Kind::Name), (SPOKEN_TEXTS, Kind::Spoken), (CATEGORY, Kind::Category)] {
        match meta(key) {
            Some(Json::String(text)) => {
                names.put(Layer::Declared, kind, None, text);
            }
            Some(all) => {
                for (tag, text) in all.entries().unwrap_or_default().iter().take(MOST) {
                    if let (Ok(tag), Some(text)) = (tag.parse::<LanguageTag>(), text.as_str()) {
                        names.put(Layer::Declared, kind, Some(tag), text);
                    }
                }
            }
            None => {}
        }
    }
    // In the order of the protocol: its own title, then the one of old in the annotations.
    let annotated = field("annotations").and_then(|all| all.get("title"));
    for title in [field("title"), annotated].into_iter().flatten().filter_map(Json::as_str) {
        names.put(Layer::Declared, Kind::Name, None, title);
    }
    let listed = field("icons").and_then(Json::items).unwrap_or_default();
    let listed = listed.iter().filter_map(|icon| icon.get("src"));
    let icon = meta(ICON).into_iter().chain(listed).filter_map(Json::as_str).find_map(|text| text.parse::<Icon>().ok());
    if let Some(icon) = icon {
        names.put_icon(Layer::Declared, icon);
    }
}
