//! Where a file name or address in a statement points: into the data, out of it, or across the network.

use toolmark_core::facts::Danger;

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A relative path that stays below where it starts.
    Near,
    /// An absolute path, a home directory, or one that climbs.
    Elsewhere,
    /// Another machine.
    Remote,
    /// Nothing that is stored: memory, standard streams.
    Nowhere,
}

impl Place {
    /// Reads a path or an address.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.is_empty()
            || lower == ":memory:"
            || lower == "stdin"
            || lower == "stdout"
            || lower.starts_with(":memory:")
        {
            return Self::Nowhere;
        }
        if let Some((scheme, rest)) = lower.split_once(":") {
            // SQLite takes `file:name?mode=ro`; a single letter is a drive.
            if scheme == "file" {
                return Self::of(rest.trim_start_matches("//").split('?').next().unwrap_or_default()).at_least_near();
            }
            if rest.starts_with("//") || ["md", "ducklake", "postgres", "mysql", "sqlite"].contains(&scheme) {
                return Self::Remote;
            }
            if scheme.len() == 1 {
                return Self::Elsewhere;
            }
        }
        let climbs = lower.split(['/', '\\']).any(|part| part == "..");
        // A pipe at either end makes some readers run it.
        if climbs || lower.starts_with(['/', '\\', '~', '|']) || lower.ends_with('|') {
            return Self::Elsewhere;
        }
        Self::Near
    }

    fn at_least_near(self) -> Self {
        if self == Self::Nowhere { Self::Near } else { self }
    }

    /// Why reading from here is dangerous.
    pub(crate) fn read_danger(self) -> Option<Danger> {
        match self {
            Self::Near | Self::Nowhere => None,
            Self::Elsewhere | Self::Remote => Some(Danger::Escape),
        }
    }

    /// Why writing to here is dangerous.
    pub(crate) fn write_danger(self) -> Option<Danger> {
        match self {
            Self::Near | Self::Nowhere => None,
            Self::Elsewhere => Some(Danger::Escape),
            Self::Remote => Some(Danger::Outward),
        }
    }
}
