//! How did a call get here? Said by the edge that it came in through, kept with its record, and never asked when it is judged.

/// How a call came in. Where it came from within the same program, there is nothing to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The revision of the protocol that it was made in.
    pub era: Option<&'static str>,
    /// What it came over, such as `http` or `stdio`.
    pub transport: Option<&'static str>,
    /// The trace that it is part of.
    pub trace: Option<[u8; 16]>,
}
