//! What each client takes: how long a name may be once the client has put its own prefix in front, which characters, how many
//! tools. To be replaced by `toolmark_core::exposure::Profile`; nothing else in this crate holds such numbers.

/// One kind of client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    /// Characters left for the tool's name.
    pub(crate) longest: usize,
    pub(crate) dots: bool,
    /// More tools are dropped or refused.
    pub(crate) most_tools: Option<usize>,
}

pub(crate) const PROFILES: &[Profile] = &[
    Profile { name: "claude-code", longest: 49, dots: false, most_tools: None },
    Profile { name: "cursor", longest: 51, dots: false, most_tools: Some(80) },
    Profile { name: "vscode", longest: 51, dots: false, most_tools: Some(128) },
    Profile { name: "codex", longest: 49, dots: false, most_tools: None },
    Profile { name: "openai", longest: 64, dots: false, most_tools: Some(128) },
    Profile { name: "anthropic", longest: 64, dots: false, most_tools: None },
    Profile { name: "generic", longest: 128, dots: true, most_tools: None },
];

impl Profile {
    /// True for a character that may stand in a name.
    pub(crate) fn takes(&self, character: char) -> bool {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-') || (self.dots && character == '.')
    }
}
