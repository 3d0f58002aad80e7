//! What a check would cost, before it is made: the size of the arguments, and the number of steps on them.
//!
//! A schema of a few hundred bytes can ask for a billion steps: references that double at every level, or alternatives that
//! recurse into one another. The checker has no limit of its own, so the walk it would make is counted first, by a walk that
//! takes no decision and stops at the limit. Schemas whose unfolded size makes that impossible skip the counting.

use serde_json::Value;

use super::graph::Graph;

/// Steps that deciding about one call may take.
pub(super) const DECIDE: u64 = 10_000_000;
/// Schemas applied inside one another, which bounds the machine's stack.
pub(super) const NESTED: usize = 256;

/// How much a JSON value holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// All values, itself included.
    pub(super) values: usize,
    /// Bytes of keys and strings.
    pub(super) text: usize,
}

/// More steps, or deeper ones, than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

struct Meter<'g> {
    graph: &'g Graph,
    left: u64,
}

impl Size {
    /// Measures a value; `None` when it nests further than `depth`. Stops counting soon after `values`.
    pub(super) fn of(value: &Value, depth: usize, values: usize) -> Option<Self> {
        let mut size = Self::default();
        size.add(value, depth, values).then_some(size)
    }

    fn add(&mut self, value: &Value, depth: usize, values: usize) -> bool {
        self.values += 1;
        if self.values > values {
            return true;
        }
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(_) => {
                self.text += 8;
                true
            }
            Value::String(text) => {
                self.text += text.len();
                true
            }
            Value::Array(items) => depth > 0 && items.iter().all(|item| self.add(item, depth - 1, values)),
            Value::Object(entries) => {
                depth > 0
                    && entries.iter().all(|(key, value)| {
                        self.text += key.len();
                        self.add(value, depth - 1, values)
                    })
            }
        }
    }
}

/// Whether arguments of this size cannot reach `limit`, whatever they hold.
pub(super) fn surely_affordable(graph: &Graph, size: Size, limit: u64) -> bool {
    graph.unfolded().is_some_and(|all| {
        // Each value is checked, and so is its name.
        let values = u64::try_from(size.values).unwrap_or(u64::MAX).saturating_mul(2);
        let text = u64::try_from(size.text).unwrap_or(u64::MAX);
        values.saturating_mul(all.checks).saturating_add(text.saturating_mul(all.per_byte)) <= limit
    })
}

/// Counts the steps of checking `value`, up to `limit`.
pub(super) fn count(graph: &Graph, value: &Value, limit: u64) -> Result<u64, Exhausted> {
    let mut meter = Meter { graph, left: limit };
    meter.apply(Graph::ROOT, value, 0)?;
    Ok(limit - meter.left)
}

impl Meter<'_> {
    fn apply(&mut self, node: usize, value: &Value, nested: usize) -> Result<(), Exhausted> {
        let Some(node) = self.graph.node(node) else {
            return Ok(());
        };
        if nested >= NESTED {
            return Err(Exhausted);
        }
        self.spend(1)?;
        for _ in 0..node.rounds() {
            for &next in &node.in_place {
                self.apply(next, value, nested + 1)?;
            }
        }
        match value {
            Value::String(text) => self.read(node.per_byte, text),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let leading = node.leading_items.get(index);
                    for &next in leading.into_iter().chain(&node.every_item) {
                        self.apply(next, item, nested + 1)?;
                    }
                }
                Ok(())
            }
            Value::Object(entries) => {
                for (name, value) in entries {
                    self.read(node.per_name_byte, name)?;
                    for &next in &node.property_names {
                        self.apply_to_name(next, name, nested + 1)?;
                    }
                    match node.properties.get(name.as_str()) {
                        Some(&next) => self.apply(next, value, nested + 1)?,
                        None => {
                            for &next in &node.other_properties {
                                self.apply(next, value, nested + 1)?;
                            }
                        }
                    }
                    for &next in &node.every_property {
                        self.apply(next, value, nested + 1)?;
                    }
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn apply_to_name(&mut self, node: usize, name: &str, nested: usize) -> Result<(), Exhausted> {
        let Some(node) = self.graph.node(node) else {
            return Ok(());
        };
        if nested >= NESTED {
            return Err(Exhausted);
        }
        self.spend(1)?;
        for &next in &node.in_place {
            self.apply_to_name(next, name, nested + 1)?;
        }
        self.read(node.per_byte, name)
    }

    fn read(&mut self, per_byte: u64, text: &str) -> Result<(), Exhausted> {
        if per_byte == 0 {
            return Ok(());
        }
        self.spend(per_byte.saturating_mul(u64::try_from(text.len()).unwrap_or(u64::MAX)))
    }

    fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(steps).ok_or(Exhausted)?;
        Ok(())
    }
}
