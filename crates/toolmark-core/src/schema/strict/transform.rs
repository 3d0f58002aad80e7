//! One pass over every schema in a schema, in the order that decides what comes out.

use super::error::{StrictSchemaErrorKind as Kind, shown};
use super::graph::{Graph, Id};
use super::merge::is_only_a_reference;
use super::{MAX_DEPTH, MAX_NODES, OpenObjects, is_annotation, pointer};
use crate::json::Json;

/// What to do with a node after one pass over it.
enum Pass {
    Done,
    /// Something was merged into it: once more, one level deeper.
    Again,
}

pub(super) struct Transform {
    pub(super) graph: Graph,
    pub(super) root: Id,
    open: OpenObjects,
    left: usize,
    /// The keys that lead to the node at hand. Left as it is when something is refused, to say where.
    place: Vec<String>,
}

impl Transform {
    /// Takes over a schema whose depth was checked.
    pub(super) fn of(schema: &Json<'_>, open: OpenObjects) -> Self {
        let (graph, root) = Graph::of(schema);
        Self { graph, root, open, left: MAX_NODES, place: Vec::new() }
    }

    /// Makes the whole schema strict.
    pub(super) fn run(&mut self) -> Result<Json<'static>, Kind> {
        if self.graph.members(self.root).is_some_and(|members| members.len() == 0) {
            // A schema that says nothing is taken for "no arguments", not for "anything".
            self.graph.set_new(self.root, "properties", &Json::Object(Vec::new()));
            self.graph.set_new(self.root, "additionalProperties", &Json::Bool(false));
        }
        self.visit(self.root, 1, false)?;
        self.check_root()?;
        self.graph.export(self.root)
    }

    /// Makes a node strict, with everything below it. `nested` says that it lies inside a schema with an `$id` of its own.
    fn visit(&mut self, node: Id, depth: usize, nested: bool) -> Result<(), Kind> {
        let mut depth = depth;
        loop {
            if depth > MAX_DEPTH {
                return Err(Kind::TooDeep);
            }
            if self.graph.members(node).is_none() {
                return Err(Kind::NotAnObject(self.graph.type_name(node)));
            }
            match self.pass(node, depth, nested)? {
                Pass::Done => return Ok(()),
                Pass::Again => depth += 1,
            }
        }
    }

    fn pass(&mut self, node: Id, depth: usize, nested: bool) -> Result<Pass, Kind> {
        let closed = self.is_closed(node);
        self.count()?;
        let nested = nested || (node != self.root && self.text_of(node, "$id").is_some());
        if self.graph.get(node, "$ref").is_some() {
            self.check_reference(node, nested)?;
        }
        for key in ["$defs", "definitions"] {
            self.visit_members(node, key, depth, nested)?;
        }
        self.close(node)?;
        self.require_all(node);
        self.visit_members(node, "properties", depth, nested)?;
        if let Some(items) = self.graph.get(node, "items").filter(|items| self.graph.members(*items).is_some()) {
            self.visit_child(items, "items".into(), depth, nested)?;
        }
        self.visit_choices(node, depth, nested)?;
        if self.visit_all_of(node, depth, nested, closed)? {
            return Ok(Pass::Again);
        }
        if self.graph.get(node, "default").is_some_and(|default| self.graph.is_null(default)) {
            self.graph.remove(node, "default");
        }
        if self.inline(node)? {
            return Ok(Pass::Again);
        }
        if self.open == OpenObjects::Reject && self.graph.get(node, "$ref").is_some() {
            return Err(Kind::UnvalidatedRef);
        }
        Ok(Pass::Done)
    }

    fn check_reference(&self, node: Id, nested: bool) -> Result<(), Kind> {
        if nested {
            return Err(Kind::NestedResource);
        }
        let Some(members) = self.graph.members(node) else {
            return Ok(());
        };
        let allowed = |key: &str| key == "$ref" || is_annotation(key) || (key == "$id" && node == self.root);
        let more: Vec<String> =
            members.iter().filter(|(key, _)| !allowed(key)).map(|(key, _)| format!("`{}`", shown(key))).collect();
        if more.is_empty() { Ok(()) } else { Err(Kind::RefSiblings(more.join(", "))) }
    }

    /// Says that an object accepts nothing but what it declares, unless it says otherwise.
    fn close(&mut self, node: Id) -> Result<(), Kind> {
        let additional = self.graph.get(node, "additionalProperties");
        let properties = self.graph.get(node, "properties").filter(|id| self.graph.members(*id).is_some());
        if self.graph.get(node, "type").is_none_or(|kind| self.graph.is_null(kind)) {
            if properties.is_some() {
                self.graph.set_new(node, "type", &Json::String("object".into()));
            } else if additional.is_some_and(|id| !self.graph.is_false(id)) {
                return Err(Kind::AdditionalProperties);
            }
        }
        if !self.is_object_type(node) {
            return Ok(());
        }
        let properties = self.graph.get(node, "properties");
        let undeclared = properties.is_none_or(|id| self.graph.members(id).is_some_and(|members| members.len() == 0));
        if self.open == OpenObjects::Reject && undeclared && !self.is_closed(node) {
            return Err(Kind::OpenObject);
        }
        match additional {
            None => {
                self.graph.set_new(node, "additionalProperties", &Json::Bool(false));
                Ok(())
            }
            Some(id) if self.graph.is_false(id) => Ok(()),
            Some(_) => Err(Kind::AdditionalProperties),
        }
    }

    /// Requires every declared property, whatever the type.
    fn require_all(&mut self, node: Id) {
        let Some(properties) = self.graph.get(node, "properties").and_then(|id| self.graph.members(id)) else {
            return;
        };
        let names = properties.iter().map(|(key, _)| Json::String(key.to_string().into())).collect();
        self.graph.set_new(node, "required", &Json::Array(names));
    }

    fn visit_members(&mut self, node: Id, key: &str, depth: usize, nested: bool) -> Result<(), Kind> {
        let Some(members) = self.graph.get(node, key).and_then(|id| self.graph.members(id)) else {
            return Ok(());
        };
        let children: Vec<(String, Id)> = members.iter().map(|(name, id)| (format!("{key}/{name}"), id)).collect();
        children.into_iter().try_for_each(|(step, child)| self.visit_child(child, step, depth, nested))
    }

    fn visit_items(&mut self, items: &[Id], key: &str, depth: usize, nested: bool) -> Result<(), Kind> {
        let mut items = items.iter().enumerate();
        items.try_for_each(|(index, item)| self.visit_child(*item, format!("{key}/{index}"), depth, nested))
    }

    fn visit_child(&mut self, child: Id, step: String, depth: usize, nested: bool) -> Result<(), Kind> {
        self.place.push(step);
        self.visit(child, depth + 1, nested)?;
        self.place.pop();
        Ok(())
    }

    /// `anyOf` stays; what `oneOf` offers is added to it, because providers know only one kind of choice.
    fn visit_choices(&mut self, node: Id, depth: usize, nested: bool) -> Result<(), Kind> {
        let mut choices = self.list(node, "anyOf").unwrap_or_default();
        self.visit_items(&choices, "anyOf", depth, nested)?;
        if let Some(more) = self.list(node, "oneOf") {
            self.visit_items(&more, "oneOf", depth, nested)?;
            choices.extend(more);
            let choices = self.graph.array(choices);
            self.graph.set(node, "anyOf", choices);
            self.graph.remove(node, "oneOf");
        }
        Ok(())
    }

    /// True when a single entry was merged into the node.
    fn visit_all_of(&mut self, node: Id, depth: usize, nested: bool, closed: bool) -> Result<bool, Kind> {
        let Some(entries) = self.list(node, "allOf") else {
            return Ok(false);
        };
        let [entry] = entries.as_slice() else {
            self.visit_items(&entries, "allOf", depth, nested)?;
            return Ok(false);
        };
        let merged = if self.graph.members(*entry).is_some_and(is_only_a_reference) {
            if nested {
                return Err(Kind::NestedResource);
            }
            self.followed(*entry)?
        } else {
            self.visit_child(*entry, "allOf/0".into(), depth, nested)?;
            self.graph.copied(*entry)?
        };
        self.merge(node, merged, closed)?;
        Ok(true)
    }

    /// Puts the target of a `$ref` in its place when something stands beside it. True when that was done.
    fn inline(&mut self, node: Id) -> Result<bool, Kind> {
        let alone = self.graph.members(node).is_none_or(|members| members.len() < 2);
        let Some(reference) = self.graph.get(node, "$ref").filter(|id| !alone && self.graph.is_truthy(*id)) else {
            return Ok(false);
        };
        let text = self.graph.text(reference).ok_or(Kind::RefNotText(self.graph.type_name(reference)))?.to_owned();
        let target = pointer::resolve(&self.graph, self.root, &text)?;
        // First, so that a reference to itself leaves only what stands beside it.
        self.graph.remove(node, "$ref");
        let target = self.graph.copied(target)?;
        if let Some(members) = self.graph.members_mut(node) {
            for (key, value) in target.iter() {
                if members.get(key).is_none() {
                    members.set(key, value);
                }
            }
        }
        Ok(true)
    }

    fn check_root(&mut self) -> Result<(), Kind> {
        if self.list(self.root, "anyOf").is_some() {
            return Err(Kind::RootAnyOf);
        }
        match self.list(self.root, "type") {
            Some(types) if types.iter().any(|id| self.graph.text(*id) == Some("object")) => match types.as_slice() {
                [object] => {
                    self.graph.set(self.root, "type", *object);
                    Ok(())
                }
                _ => Err(Kind::RootNullable),
            },
            _ => Ok(()),
        }
    }

    /// Counts a schema that is looked at.
    pub(super) fn count(&mut self) -> Result<(), Kind> {
        self.left = self.left.checked_sub(1).ok_or(Kind::TooLarge)?;
        Ok(())
    }

    fn is_closed(&self, node: Id) -> bool {
        self.graph.get(node, "additionalProperties").is_some_and(|id| self.graph.is_false(id))
    }

    fn is_object_type(&self, node: Id) -> bool {
        let is_object = |id: Id| self.graph.text(id) == Some("object");
        self.graph.get(node, "type").is_some_and(|kind| {
            is_object(kind) || self.graph.items(kind).is_some_and(|kinds| kinds.iter().any(|kind| is_object(*kind)))
        })
    }

    fn text_of(&self, node: Id, key: &str) -> Option<&str> {
        self.graph.text(self.graph.get(node, key)?)
    }

    fn list(&self, node: Id, key: &str) -> Option<Vec<Id>> {
        self.graph.items(self.graph.get(node, key)?).map(<[Id]>::to_vec)
    }

    /// Where the work stopped, as a path from the root.
    pub(super) fn place(&self) -> String {
        let steps: Vec<String> = self.place.iter().map(|step| shown(step)).collect();
        format!("#/{}", steps.join("/")).trim_end_matches('/').to_owned()
    }
}
