//! Whether behavior tells two tools apart where their arguments cannot, and which of the identities does.

use toolmark_core::behavior::Behavior;

/// What is the first thing that tells two tools apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Separation {
    /// `MUTABILITY|ACTION|OUTPUT_DOMAIN` differs: every pattern can tell.
    First,
    /// Only the content type differs: patterns with four fields can tell.
    Second,
    /// Only the target, the direction or the reach differs: patterns with seven fields can tell.
    Third,
    /// Nothing that is known of both differs: only the name tells.
    Nothing,
    /// Nobody knows what one of them does.
    Unknown,
}

impl Separation {
    /// Compares what is known of two tools.
    #[must_use]
    pub fn between(one: Option<Behavior>, other: Option<Behavior>) -> Self {
        let (Some(one), Some(other)) = (one, other) else { return Self::Unknown };
        // Invariant: an identity that only one of them has is no difference; it says that the other is less well known.
        let differ = |pair| matches!(pair, (Some(one), Some(other)) if one != other);
        if one.identity() != other.identity() {
            Self::First
        } else if differ((one.identity_v2(), other.identity_v2())) {
            Self::Second
        } else if differ((one.identity_v3(), other.identity_v3())) {
            Self::Third
        } else {
            Self::Nothing
        }
    }

    /// In one word: the version of the identity that differs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "v1",
            Self::Second => "v2",
            Self::Third => "v3",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }

    /// For people.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::First => "behavior tells them apart",
            Self::Second => "only the content type tells them apart",
            Self::Third => "only what they act on tells them apart",
            Self::Nothing => "nothing but the name tells them apart",
            Self::Unknown => "nobody knows whether they do the same",
        }
    }
}

impl serde::Serialize for Separation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_identity_that_differs_is_named() {
        let between = |one: &str, other: &str| Separation::between(one.parse().ok(), other.parse().ok());
        let star = |polarity: &str| format!("MUTATES|UPDATE|REPO|NONE|repository.star|{polarity}|NAMED");
        assert_eq!(between("PURE|READ|DATA", "MUTATES|DELETE|ACK"), Separation::First);
        assert_eq!(between("PURE|READ|DATA|TEXT", "PURE|READ|DATA|IMAGE"), Separation::Second);
        assert_eq!(between(&star("POSITIVE"), &star("NEGATIVE")), Separation::Third);
        assert_eq!(between(&star("POSITIVE"), &star("POSITIVE")), Separation::Nothing);
        assert_eq!(between("MUTATES|UPDATE|REPO", &star("POSITIVE")), Separation::Nothing, "one is less well known");
        assert_eq!(between("PURE|READ|DATA", "no behavior"), Separation::Unknown);
    }
}
