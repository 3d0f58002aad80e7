//! Phrases by which a description admits a change, or claims that there is none.
//!
//! A claim of harmlessness is believed only where nothing else speaks of a change.

/// Texts that say that something is stored where others can find it.
pub(super) const STORES: &[&str] = &[
    "saves output",
    "saves the",
    "saves a",
    "save the",
    "saved to",
    "save to",
    "saving",
    "writes the",
    "writes a",
    "writes output",
    "write to a",
    "to disk",
    "to a file",
    "to file",
    "to a local",
    "local file",
    "output file",
    "specified location",
    "specified path",
    "be saved",
    "stores the",
    "are saved",
    "write authenticated",
    "creates a file",
];

/// Texts by which a reader admits that it does more than read.
pub(super) const CHANGES: &[&str] = &[
    "saves output",
    "will be saved",
    "are saved to",
    "is saved to",
    "saved to the",
    "writes the result",
    "marks them as",
    "mark as read",
    "marks as read",
    "this tool modifies",
    "will modify",
    "modifies the",
    "switches the",
    "cannot be undone",
    "irreversible",
    "saves it to",
    "to local disk",
    "starts a job",
    "starts a crawl job",
    "will delete",
    "will be deleted",
    "will overwrite",
    "overwrites the",
    "bytes to a local",
    "to a local file on the server",
];

/// Texts by which a tool says that it only reads.
pub(super) const READS_ONLY: &[&str] = &[
    "read-only",
    "read only",
    "readonly",
    "select query",
    "select queries",
    "select statement",
    "only select",
    "does not modify",
    "does not change",
    "without modifying",
    "no side effects",
];
