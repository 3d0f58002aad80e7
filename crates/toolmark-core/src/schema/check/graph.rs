//! A schema as a graph of checks: which sub-schema is applied to which part of a value, references included.
//!
//! The graph is built before the checker sees the schema, and refuses what leaves the document, what never ends and what
//! unfolds too far. Where the meaning depends on more than the text (dynamic references, identifiers inside identifiers) it holds
//! every edge that is possible: it may count too much, never too little.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::compile::{CompileSchemaError, CompileSchemaErrorKind};
use super::index::Index;
use super::meter::NESTED;
use super::pattern::Engine;
use crate::schema::refs;
use crate::text::visible;

/// Checks that one value may need, with all that applies to it in place written out.
const CHECKS_PER_VALUE: u64 = 50_000;
/// References and alternatives inside one another, on one value.
const IN_PLACE_DEPTH: usize = 128;
/// Different patterns in one schema, and bytes in one of them.
const PATTERNS: usize = 200;
const PATTERN_BYTES: usize = 4_096;
/// Identified schemas inside a schema. The checker compiles a part once for every order in which they can be entered.
const RESOURCES: usize = 4;

/// The graph of one schema. Node 0 is the schema itself.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    unfolded: Option<Extent>,
    look_around: bool,
}

/// One schema and what it hands on: to the same value, or to parts of it.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) in_place: Vec<usize>,
    pub(super) properties: HashMap<Box<str>, usize>,
    pub(super) other_properties: Vec<usize>,
    pub(super) every_property: Vec<usize>,
    pub(super) property_names: Vec<usize>,
    pub(super) leading_items: Vec<usize>,
    pub(super) every_item: Vec<usize>,
    pub(super) per_byte: u64,
    pub(super) per_name_byte: u64,
    has_unevaluated: bool,
}

/// How much lies below a node when every shared part is written out wherever it is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) checks: u64,
    pub(super) per_byte: u64,
    height: usize,
}

struct Builder<'s> {
    root: &'s Value,
    index: Index<'s>,
    nodes: Vec<Node>,
    places: Vec<String>,
    known: HashMap<*const Value, usize>,
    pending: Vec<Pending<'s>>,
    remote: Vec<String>,
    patterns: HashMap<&'s str, Engine>,
    look_around: bool,
}

struct Pending<'s> {
    id: usize,
    schema: &'s Map<String, Value>,
    /// The innermost identified schema around this one, from which its local references count.
    base: &'s Value,
}

impl Graph {
    pub(super) const ROOT: usize = 0;

    pub(super) fn of(schema: &Value) -> Result<Self, CompileSchemaError> {
        let mut builder = Builder {
            root: schema,
            index: Index::of(schema),
            nodes: Vec::new(),
            places: Vec::new(),
            known: HashMap::new(),
            pending: Vec::new(),
            remote: Vec::new(),
            patterns: HashMap::new(),
            look_around: false,
        };
        if builder.index.resources_inside(schema) > RESOURCES {
            return Err(
                CompileSchemaErrorKind::TooLarge { what: "schemas with an `$id` inside it", limit: RESOURCES }.into()
            );
        }
        builder.node(schema, schema, String::new());
        while let Some(pending) = builder.pending.pop() {
            builder.fill(&pending)?;
        }
        if !builder.remote.is_empty() {
            return Err(CompileSchemaErrorKind::RemoteRef { references: builder.remote }.into());
        }
        let in_place = fold(&builder.nodes, |node| node.in_place.clone()).map_err(|id| {
            let place = builder.places.get(id).map_or("", String::as_str);
            CompileSchemaError::invalid(place, "its `$ref` leads back to itself without entering a part of the value")
        })?;
        if in_place.iter().any(|extent| extent.height > IN_PLACE_DEPTH) {
            let what = "references and alternatives for one value";
            return Err(CompileSchemaErrorKind::TooDeep { what, limit: IN_PLACE_DEPTH }.into());
        }
        if in_place.iter().any(|extent| extent.checks > CHECKS_PER_VALUE) {
            let limit = usize::try_from(CHECKS_PER_VALUE).unwrap_or(usize::MAX);
            return Err(CompileSchemaErrorKind::TooLarge { what: "checks for one value", limit }.into());
        }
        // A cycle that enters a part of the value at each turn is a recursive schema: it ends where the value ends.
        let unfolded = fold(&builder.nodes, Node::all).ok().and_then(|extents| extents.first().copied());
        let limit = NESTED;
        if unfolded.is_some_and(|extent| extent.height > limit) {
            return Err(CompileSchemaErrorKind::TooDeep { what: "schemas", limit }.into());
        }
        Ok(Self { nodes: builder.nodes, unfolded, look_around: builder.look_around })
    }

    pub(super) fn node(&self, id: usize) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// The whole schema written out; `None` when it is recursive.
    pub(super) fn unfolded(&self) -> Option<Extent> {
        self.unfolded
    }

    /// Whether some `pattern` needs an engine that backtracks.
    pub(super) fn needs_look_around(&self) -> bool {
        self.look_around
    }
}

impl Node {
    /// How often the checker goes through what is in place. What `unevaluated…` sees has to be found out a second time, and
    /// the finding out checks again.
    pub(super) fn rounds(&self) -> u64 {
        if self.has_unevaluated { 3 } else { 1 }
    }

    fn all(&self) -> Vec<usize> {
        let lists = [
            &self.in_place,
            &self.other_properties,
            &self.every_property,
            &self.property_names,
            &self.leading_items,
            &self.every_item,
        ];
        lists.into_iter().flatten().chain(self.properties.values()).copied().collect()
    }
}

impl<'s> Builder<'s> {
    /// The node for a schema; a new one is filled later, so that no depth of references costs stack.
    fn node(&mut self, schema: &'s Value, base: &'s Value, place: String) -> usize {
        if let Some(&id) = self.known.get(&std::ptr::from_ref(schema)) {
            return id;
        }
        let id = self.nodes.len();
        self.known.insert(schema, id);
        self.nodes.push(Node::default());
        self.places.push(place);
        if let Value::Object(entries) = schema {
            let base = if self.index.identifier(entries).is_some() { schema } else { base };
            self.pending.push(Pending { id, schema: entries, base });
        }
        id
    }

    fn fill(&mut self, pending: &Pending<'s>) -> Result<(), CompileSchemaError> {
        let mut node = Node::default();
        let place = self.places.get(pending.id).cloned().unwrap_or_default();
        for (keyword, value) in pending.schema {
            let here = refs::step(&place, keyword);
            let base = pending.base;
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    if let Some(reference) = value.as_str() {
                        node.in_place.extend(self.targets(keyword, reference, base, &here)?);
                    }
                }
                "not" | "if" | "then" | "else" => node.in_place.push(self.node(value, base, here)),
                "allOf" | "anyOf" | "oneOf" => node.in_place.extend(self.list(value, base, &here)),
                "dependentSchemas" | "dependencies" => {
                    node.in_place.extend(self.map(value, base, &here).into_iter().map(|(_, id)| id));
                }
                "properties" => {
                    node.properties =
                        self.map(value, base, &here).into_iter().map(|(key, id)| (key.into(), id)).collect();
                }
                "patternProperties" => {
                    for (pattern, id) in self.map(value, base, &here) {
                        let engine = self.weigh(pattern, &here)?;
                        if engine == Engine::LookAround {
                            let problem = "needs look-around, which is not supported for property names";
                            return Err(CompileSchemaError::pattern(&here, pattern, problem));
                        }
                        node.per_name_byte += engine.steps_per_byte();
                        node.every_property.push(id);
                    }
                }
                "pattern" => {
                    if let Some(pattern) = value.as_str() {
                        let engine = self.weigh(pattern, &here)?;
                        self.look_around |= engine == Engine::LookAround;
                        node.per_byte += engine.steps_per_byte();
                    }
                }
                "additionalProperties" => node.other_properties.push(self.node(value, base, here)),
                "propertyNames" => node.property_names.push(self.node(value, base, here)),
                "unevaluatedProperties" => {
                    node.has_unevaluated = true;
                    node.every_property.push(self.node(value, base, here));
                }
                "prefixItems" => node.leading_items = self.list(value, base, &here),
                "items" if value.is_array() => node.leading_items = self.list(value, base, &here),
                "items" | "additionalItems" | "contains" => node.every_item.push(self.node(value, base, here)),
                "unevaluatedItems" => {
                    node.has_unevaluated = true;
                    node.every_item.push(self.node(value, base, here));
                }
                _ => {}
            }
        }
        if let Some(empty) = self.nodes.get_mut(pending.id) {
            *empty = node;
        }
        Ok(())
    }

    fn list(&mut self, value: &'s Value, base: &'s Value, here: &str) -> Vec<usize> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(|(index, item)| self.node(item, base, format!("{here}/{index}"))).collect()
    }

    fn map(&mut self, value: &'s Value, base: &'s Value, here: &str) -> Vec<(&'s str, usize)> {
        let entries = value.as_object().into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), self.node(value, base, refs::step(here, key)))).collect()
    }

    fn targets(
        &mut self,
        keyword: &str,
        reference: &'s str,
        base: &'s Value,
        here: &str,
    ) -> Result<Vec<usize>, CompileSchemaError> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let bases = if document.is_empty() { vec![base] } else { self.index.resources_named(document) };
        if bases.is_empty() {
            self.remote.push(visible(reference, 200));
            return Ok(Vec::new());
        }
        let mut found: Vec<&'s Value> = if fragment.is_empty() || fragment.starts_with('/') {
            bases.iter().filter_map(|base| refs::pointer(base, fragment)).collect()
        } else {
            self.index.anchored(fragment)
        };
        if found.is_empty() {
            found.extend(refs::pointer(self.root, fragment));
        }
        if keyword == "$recursiveRef" {
            found.push(self.root);
        }
        if found.is_empty() {
            let problem = format!("`{}` points to nothing", visible(reference, 200));
            return Err(CompileSchemaError::invalid(here, problem));
        }
        Ok(found.into_iter().map(|schema| self.node(schema, base, fragment.to_owned())).collect())
    }

    fn weigh(&mut self, pattern: &'s str, here: &str) -> Result<Engine, CompileSchemaError> {
        if let Some(&engine) = self.patterns.get(pattern) {
            return Ok(engine);
        }
        if pattern.len() > PATTERN_BYTES {
            return Err(CompileSchemaErrorKind::TooLarge { what: "bytes in one pattern", limit: PATTERN_BYTES }.into());
        }
        if self.patterns.len() >= PATTERNS {
            return Err(CompileSchemaErrorKind::TooLarge { what: "different patterns", limit: PATTERNS }.into());
        }
        let problem = "is not a regular expression, or one that takes too much to match";
        let engine = Engine::of(pattern).ok_or_else(|| CompileSchemaError::pattern(here, pattern, problem))?;
        self.patterns.insert(pattern, engine);
        Ok(engine)
    }
}

/// Adds up what lies below every node along `edges`; `Err` names a node that lies below itself.
fn fold(nodes: &[Node], edges: impl Fn(&Node) -> Vec<usize>) -> Result<Vec<Extent>, usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes.len()];
    let mut extents = vec![Extent::default(); nodes.len()];
    // An explicit stack: a chain of references can be longer than the machine's stack.
    let mut stack: Vec<(usize, &Node, Vec<usize>)> = Vec::new();
    for start in 0..nodes.len() {
        let mut next = Some(start);
        loop {
            if let Some(id) = next.take() {
                match states.get(id) {
                    Some(State::Open) => return Err(id),
                    Some(State::New) => {
                        if let (Some(state), Some(node)) = (states.get_mut(id), nodes.get(id)) {
                            *state = State::Open;
                            stack.push((id, node, edges(node)));
                        }
                    }
                    Some(State::Done) | None => {}
                }
            }
            let Some((id, node, left)) = stack.last_mut() else {
                break;
            };
            if let Some(child) = left.pop() {
                next = Some(child);
                continue;
            }
            let mut sum = Extent { checks: 1, per_byte: node.per_byte + node.per_name_byte, height: 1 };
            for child in edges(node) {
                let below = extents.get(child).copied().unwrap_or_default();
                sum.checks = sum.checks.saturating_add(below.checks.saturating_mul(node.rounds()));
                sum.per_byte = sum.per_byte.saturating_add(below.per_byte.saturating_mul(node.rounds()));
                sum.height = sum.height.max(below.height.saturating_add(1));
            }
            let id = *id;
            stack.pop();
            if let (Some(extent), Some(state)) = (extents.get_mut(id), states.get_mut(id)) {
                *extent = sum;
                *state = State::Done;
            }
        }
    }
    Ok(extents)
}
