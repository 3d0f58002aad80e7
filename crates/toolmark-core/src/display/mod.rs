//! What a person reads in place of a tool's name, in their language: four layers of names, and which of them is shown. Made safe, never
//! used as identity.
//!
//! ```
//! use toolmark_core::display::{Kind, Languages, Layer, Names};
//!
//! let mut names = Names::of("search_regulations");
//! names.put(Layer::Config, Kind::Name, Some("nl".parse()?), "Zoeken in regelgeving");
//! let english = "en".parse()?;
//! let shown = names.shown(&Languages::accept("nl-BE, en;q=0.5")?, &english);
//! assert_eq!(shown.name.as_str(), "Zoeken in regelgeving");
//! assert_eq!(names.shown(&Languages::default(), &english).name.as_str(), "Search regulations");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accept;
mod declared;
mod grandfathered;
mod humanize;
mod icon;
mod joiner;
mod layers;
mod safe;
mod table;
mod tag;

pub use accept::{AcceptLanguageError, Languages};
pub use declared::{CATEGORY, ICON, NAMES, SPOKEN_TEXTS, declare, declare_offer};
pub use humanize::humanize;
pub use icon::{Icon, ParseIconError};
pub use layers::{Kind, Layer, Names, Shown, Spoken};
pub use safe::{Category, NAME, SPOKEN, SpokenText, composed, is_safe, isolated, safe};
pub use table::{Given, NameTable};
pub use tag::{Direction, LanguageTag, ParseLanguageTagError};

use crate::names::{DisplayName, RawName};

/// The display name of a tool where nobody asked for a language: its title if it has one, else its name in words.
#[must_use]
pub fn name(title: Option<&str>, raw: &RawName) -> DisplayName {
    let title = title.map(|title| safe(title, NAME)).filter(|title| !title.is_empty());
    DisplayName::new(title.unwrap_or_else(|| in_words(raw.as_str())))
}

/// A name in words; one that has none is shown as it is.
fn in_words(name: &str) -> String {
    let words = humanize(name);
    if words.is_empty() { safe(name, NAME) } else { words }
}

#[cfg(test)]
mod tests;
