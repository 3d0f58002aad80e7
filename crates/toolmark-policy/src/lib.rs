//! Rules and Cedar policies → verdicts. The only crate that knows Cedar.
