//! Variables and functions of a program, as far as its text fixes them. A variable that is set twice, or by a command, is unknown.

use std::collections::HashMap;

/// What is known about the names of a program.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// How often the program sets each variable.
    set: HashMap<String, u32>,
    /// Commands may set variables that the text does not name.
    volatile: bool,
    values: HashMap<String, Value>,
    functions: Vec<String>,
}

/// What a variable holds.
#[derive(Debug)]
enum Value {
    /// Exactly this.
    Text(String),
    /// One of several names that the text shows.
    Names,
    /// Something that was computed, perhaps to hide what it is.
    Computed { obscure: bool },
}

/// The longest value that is followed. Longer ones are built to exhaust, not to be used.
const MAX_VALUE: usize = 2048;

impl Scope {
    pub(super) fn new(assigned: &[String], volatile: bool) -> Self {
        let mut set = HashMap::with_capacity(assigned.len());
        for name in assigned {
            *set.entry(name.clone()).or_default() += 1;
        }
        Self { set, volatile, ..Self::default() }
    }

    /// The one value that a variable can have here.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        if self.volatile || self.set.get(name) != Some(&1) {
            return None;
        }
        match self.values.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// True when the variable was set to what a command printed.
    pub(super) fn is_computed(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(Value::Computed { .. }))
    }

    /// True when the variable was set to something that hides what it is.
    pub(super) fn is_obscure(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(Value::Computed { obscure: true }))
    }

    pub(super) fn set(&mut self, name: &str, text: String) {
        let value = if text.len() > MAX_VALUE { Value::Computed { obscure: true } } else { Value::Text(text) };
        self.values.insert(name.to_owned(), value);
    }

    pub(super) fn set_computed(&mut self, name: &str, obscure: bool) {
        let obscure = obscure || self.is_obscure(name);
        self.values.insert(name.to_owned(), Value::Computed { obscure });
    }

    pub(super) fn set_names(&mut self, name: &str) {
        self.values.insert(name.to_owned(), Value::Names);
    }

    /// True when the variable holds one of several names that the text shows, and nothing else.
    pub(super) fn is_name(&self, name: &str) -> bool {
        !self.volatile && self.set.get(name) == Some(&1) && matches!(self.values.get(name), Some(Value::Names))
    }

    pub(super) fn define(&mut self, function: &str) {
        self.functions.push(function.to_owned());
    }

    pub(super) fn defines(&self, function: &str) -> bool {
        self.functions.iter().any(|name| name == function)
    }
}
