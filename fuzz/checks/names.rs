//! Names from strangers: parsing never panics, and what parses prints back as it was.

use toolmark_core::display::humanize;
use toolmark_core::names::{CanonicalName, PackName, RawName};
use toolmark_core::text::visible;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    if let Ok(name) = text.parse::<CanonicalName>() {
        assert_eq!(name.to_string(), text);
    }
    if let Ok(name) = text.parse::<RawName>() {
        assert_eq!(name.as_str(), text);
    }
    if let Ok(slug) = PackName::slug(text) {
        assert!(slug.as_str().parse::<PackName>().is_ok());
    }
    let _ = humanize(text);
    let _ = visible(text, 50);
}
