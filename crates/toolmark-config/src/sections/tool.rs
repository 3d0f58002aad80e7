//! `[packs.NAME.tools.TOOL]`: what an operator knows about one tool.

use std::time::Duration;

use toolmark_core::behavior::Behavior;
use toolmark_core::display::Icon;
use toolmark_effects::settings::Settings;

use super::foreign::{BehaviorText, DurationText, IconText, LanguageWord, Spoken};
use crate::read::{FromToml, Node, Reader, table};
use crate::values::{Entries, Localized, Sentences};

table! {
    /// What an operator knows about one tool.
    pub struct Tool {
        /// What it does. It counts more than what anybody else says.
        #[schemars(with = "Option<BehaviorText>")]
        pub behavior: Option<Behavior>,
        /// What people read in place of its name: a text, or a text for each language.
        pub display_name: Option<Localized>,
        /// What is said, aloud or as progress, while it works: a text, or a text for each language.
        pub spoken: Option<Sentences>,
        /// A small picture: one emoji, or a picture as `data:` address.
        #[schemars(with = "Option<IconText>")]
        pub icon: Option<Icon>,
        /// The group that it is shown in: a text, or a text for each language.
        pub category: Option<Localized>,
        /// What its arguments are written in, by name or JSON pointer: `sql:postgres`, `shell`, `path`; `none` for plain text.
        #[schemars(with = "Entries<String, LanguageWord>")]
        pub languages: Languages,
        /// False: the tool is not listed and cannot be called.
        pub enabled: bool = true,
        /// How long a call may take.
        #[schemars(with = "Option<DurationText>")]
        pub timeout: Option<Duration>,
    }
}

/// What arguments are written in, by JSON pointer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Languages(Vec<(String, Option<toolmark_effects::language::Language>)>);

impl Tool {
    /// How its arguments are analyzed. The directories come from the pack.
    #[must_use]
    pub fn settings(&self, roots: Vec<String>) -> Settings {
        Settings { languages: self.languages.0.iter().cloned().collect(), roots, ..Settings::default() }
    }
}

impl FromToml for Languages {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let written = Entries::<String, Spoken>::from_toml(node, reader)?;
        Some(Self(written.iter().map(|(place, Spoken(language))| (pointer(place), *language)).collect()))
    }
}

/// An argument's name as a JSON pointer; what already is one stays.
fn pointer(place: &str) -> String {
    if place.starts_with('/') { place.to_owned() } else { format!("/{}", place.replace('~', "~0").replace('/', "~1")) }
}
