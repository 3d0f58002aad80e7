//! An `allOf` with a single entry: entry and parent become one schema, unless both say something about the same.

use std::collections::HashSet;
use std::rc::Rc;

use super::error::{StrictSchemaErrorKind as Kind, shown};
use super::graph::{Graph, Id, Members};
use super::transform::Transform;
use super::{is_annotation, pointer};

impl Transform {
    /// The members that the entry contributes: those of the last target when it is only a reference, its own otherwise.
    pub(super) fn followed(&mut self, entry: Id) -> Result<Members, Kind> {
        let mut seen: HashSet<String> = HashSet::new();
        let mut said = Members::default();
        let mut at = entry;
        loop {
            self.count()?;
            let members = self.graph.copied(at)?;
            let Some(reference) = members.get("$ref").filter(|_| is_only_a_reference(&members)) else {
                return Ok(laid_over(members, &said));
            };
            // What stands further out wins.
            let outer = std::mem::take(&mut said);
            said = members;
            said.remove("$ref");
            said = laid_over(said, &outer);
            let text = self.graph.text(reference).ok_or(Kind::RefNotText(self.graph.type_name(reference)))?.to_owned();
            let target = pointer::resolve(&self.graph, self.root, &text);
            if !seen.insert(text.clone()) {
                return Err(Kind::CircularRefChain(shown(&text)));
            }
            at = target?;
        }
    }

    /// Makes one schema of a node and what its only `allOf` entry contributes.
    pub(super) fn merge(&mut self, node: Id, entry: Members, closed: bool) -> Result<(), Kind> {
        self.graph.remove(node, "allOf");
        if !closed {
            // It was put there on the way, for a node that does not exist any more.
            self.graph.remove(node, "additionalProperties");
        }
        let parent = self.graph.copied(node)?;
        if closed && !has_members(&self.graph, &parent, "properties") && has_members(&self.graph, &entry, "properties")
        {
            return Err(Kind::AllOfOverlap("additionalProperties".into()));
        }
        let mut merged = entry;
        for (key, value) in parent.iter() {
            match merged.get(key) {
                None => merged.set(key, value),
                Some(_) if is_annotation(key) => merged.set(key, value),
                Some(other) => {
                    let yields = matches!(key.as_ref(), "properties" | "required") && is_empty(&self.graph, key, value);
                    if !yields && !self.graph.equal(value, other)? {
                        return Err(Kind::AllOfOverlap(shown(key)));
                    }
                }
            }
        }
        self.graph.replace(node, merged);
        Ok(())
    }
}

/// True for a `$ref` beside annotations at most.
pub(super) fn is_only_a_reference(members: &Members) -> bool {
    members.get("$ref").is_some() && members.iter().all(|(key, _)| key.as_ref() == "$ref" || is_annotation(key))
}

fn laid_over(mut under: Members, over: &Members) -> Members {
    over.iter().for_each(|(key, value)| under.set(key, value));
    under
}

fn has_members(graph: &Graph, members: &Members, key: &str) -> bool {
    members.get(key).is_some_and(|id| graph.members(id).is_some_and(|members| members.len() > 0))
}

/// True for `properties: {}` and `required: []`, which a parent gets without having said anything.
fn is_empty(graph: &Graph, key: &Rc<str>, value: Id) -> bool {
    match key.as_ref() {
        "properties" => graph.members(value).is_some_and(|members| members.len() == 0),
        _ => graph.items(value).is_some_and(<[Id]>::is_empty),
    }
}
