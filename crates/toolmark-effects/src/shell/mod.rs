//! Shell programs → effects. Pure only what an explicit list of commands and options says; the rest changes something, runs
//! something, or cannot be told.
//!
//! Invariant: whatever one of the common shells would run is either found or makes the whole unclear.

mod arg;
mod call;
mod commands;
mod found;
mod options;
mod parse;
mod redirect;
mod scan;
mod scope;
mod tree;
mod variables;
mod walk;

use toolmark_core::facts::Reading;

pub(crate) use found::{Embedded, Found};

use arg::Arg;
use parse::Refusal;
use walk::Walk;

/// Reads a shell program. There are two readings when a part was understood and another was not.
#[must_use]
pub fn read(text: &str) -> Vec<Reading> {
    find(text).into_readings()
}

/// Reads a program and its arguments, run without a shell.
#[must_use]
pub fn read_argv(argv: &[&str]) -> Vec<Reading> {
    find_argv(argv).into_readings()
}

/// Reads a shell program; programs in other languages inside it are left to the caller.
pub(crate) fn find(text: &str) -> Found {
    let mut found = Found::default();
    match scan::check(text) {
        Ok(()) => Walk::new(&mut found, 0).program(text),
        Err(Refusal(reason)) => found.unclear(reason),
    }
    found
}

/// As [`find`], for a program and its arguments.
pub(crate) fn find_argv(argv: &[&str]) -> Found {
    let mut found = Found::default();
    if argv.len() > scan::MAX_CHARACTERS {
        found.unclear("it has too many arguments");
        return found;
    }
    let total: usize = argv.iter().map(|arg| arg.len()).sum();
    if total > scan::MAX_CHARACTERS {
        found.unclear("it is longer than 10,000 characters");
        return found;
    }
    for arg in argv {
        if let Err(Refusal(reason)) = scan::check(arg) {
            found.unclear(reason);
            return found;
        }
    }
    let args: Vec<Arg> = argv.iter().map(|arg| Arg::exact(*arg)).collect();
    Walk::new(&mut found, 0).run(&args, &walk::Input::Inherit);
    found
}

#[cfg(test)]
mod tests;
