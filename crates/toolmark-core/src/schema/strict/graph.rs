//! A schema as a graph of shared nodes, because that is how the transform sees it: what is inlined in two places is one node,
//! and a change made through one of them shows in the other.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::StrictSchemaErrorKind as Kind;
use crate::json::Json;

/// A node of the graph.
pub(super) type Id = usize;

/// Members that may be copied or compared before the schema is refused: inlining multiplies, so the size of the input is
/// no bound.
const WORK: usize = 2_000_000;
/// Containers inside containers in the result. Only a schema that came to contain itself gets there.
const RESULT_DEPTH: usize = 512;

pub(super) struct Graph {
    nodes: Vec<Node>,
    work: usize,
}

/// One JSON value; containers hold the ids of what they contain.
enum Node {
    /// Null, a flag, a number as it was written, or a string.
    Leaf(Json<'static>),
    Array(Vec<Id>),
    Object(Members),
}

/// The members of an object in their order.
#[derive(Clone, Default)]
pub(super) struct Members {
    order: Vec<Rc<str>>,
    values: HashMap<Rc<str>, Id>,
}

impl Members {
    pub(super) fn get(&self, key: &str) -> Option<Id> {
        self.values.get(key).copied()
    }

    /// Puts a member in its old place, or at the end.
    pub(super) fn set(&mut self, key: &Rc<str>, value: Id) {
        if self.values.insert(Rc::clone(key), value).is_none() {
            self.order.push(Rc::clone(key));
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> bool {
        let there = self.values.remove(key).is_some();
        if there {
            self.order.retain(|name| name.as_ref() != key);
        }
        there
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Rc<str>, Id)> {
        self.order.iter().filter_map(|key| Some((key, self.get(key)?)))
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

impl Graph {
    /// Takes over a value whose depth was checked; gives the id of its root.
    pub(super) fn of(value: &Json<'_>) -> (Self, Id) {
        let mut graph = Self { nodes: Vec::new(), work: WORK };
        let root = graph.import(value);
        (graph, root)
    }

    pub(super) fn import(&mut self, value: &Json<'_>) -> Id {
        let node = match value {
            Json::Array(items) => Node::Array(items.iter().map(|item| self.import(item)).collect()),
            Json::Object(entries) => {
                let mut members = Members::default();
                for (key, value) in entries {
                    let value = self.import(value);
                    members.set(&key.as_ref().into(), value);
                }
                Node::Object(members)
            }
            Json::Null => Node::Leaf(Json::Null),
            Json::Bool(flag) => Node::Leaf(Json::Bool(*flag)),
            Json::Number(text) => Node::Leaf(Json::Number(text.to_string().into())),
            Json::String(text) => Node::Leaf(Json::String(text.to_string().into())),
        };
        self.add(node)
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// A new array of nodes that are there already.
    pub(super) fn array(&mut self, items: Vec<Id>) -> Id {
        self.add(Node::Array(items))
    }

    /// The value of a node that is no container.
    pub(super) fn leaf(&self, id: Id) -> Option<&Json<'static>> {
        match self.nodes.get(id)? {
            Node::Leaf(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn items(&self, id: Id) -> Option<&[Id]> {
        match self.nodes.get(id)? {
            Node::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn members(&self, id: Id) -> Option<&Members> {
        match self.nodes.get(id)? {
            Node::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn members_mut(&mut self, id: Id) -> Option<&mut Members> {
        match self.nodes.get_mut(id)? {
            Node::Object(members) => Some(members),
            _ => None,
        }
    }

    /// A copy of the members; what they hold is shared. The copy counts as work.
    pub(super) fn copied(&mut self, id: Id) -> Result<Members, Kind> {
        let members = self.members(id).cloned().unwrap_or_default();
        self.spend(members.len())?;
        Ok(members)
    }

    /// Makes `members` the members of a node.
    pub(super) fn replace(&mut self, id: Id, members: Members) {
        if let Some(node) = self.nodes.get_mut(id) {
            *node = Node::Object(members);
        }
    }

    pub(super) fn set(&mut self, id: Id, key: &str, value: Id) {
        self.members_mut(id).into_iter().for_each(|members| members.set(&key.into(), value));
    }

    /// Sets a member to a value that was not there before.
    pub(super) fn set_new(&mut self, id: Id, key: &str, value: &Json<'_>) {
        let value = self.import(value);
        self.set(id, key, value);
    }

    pub(super) fn remove(&mut self, id: Id, key: &str) -> bool {
        self.members_mut(id).is_some_and(|members| members.remove(key))
    }

    pub(super) fn get(&self, id: Id, key: &str) -> Option<Id> {
        self.members(id)?.get(key)
    }

    pub(super) fn text(&self, id: Id) -> Option<&str> {
        self.leaf(id)?.as_str()
    }

    pub(super) fn is_null(&self, id: Id) -> bool {
        self.leaf(id).is_some_and(Json::is_null)
    }

    pub(super) fn is_false(&self, id: Id) -> bool {
        self.leaf(id) == Some(&Json::Bool(false))
    }

    /// Neither null, false, zero nor empty.
    pub(super) fn is_truthy(&self, id: Id) -> bool {
        match self.nodes.get(id) {
            None => false,
            Some(Node::Array(items)) => !items.is_empty(),
            Some(Node::Object(members)) => members.len() > 0,
            Some(Node::Leaf(value)) => match value {
                Json::Bool(flag) => *flag,
                Json::Number(number) => number.parse() != Ok(0.0),
                Json::String(text) => !text.is_empty(),
                _ => false,
            },
        }
    }

    /// What kind of value a node is, in the words of JSON Schema.
    pub(super) fn type_name(&self, id: Id) -> &'static str {
        match self.nodes.get(id) {
            Some(Node::Array(_)) => "an array",
            Some(Node::Object(_)) => "an object",
            Some(Node::Leaf(Json::Bool(_))) => "a boolean",
            Some(Node::Leaf(Json::Number(_))) => "a number",
            Some(Node::Leaf(Json::String(_))) => "a string",
            _ => "null",
        }
    }

    /// Whether two nodes hold the same value: numbers by what they are worth, everything else by kind and content.
    pub(super) fn equal(&mut self, one: Id, other: Id) -> Result<bool, Kind> {
        self.equal_below(one, other, 0)
    }

    fn equal_below(&mut self, one: Id, other: Id, depth: usize) -> Result<bool, Kind> {
        self.spend(1)?;
        if one == other {
            return Ok(true);
        }
        if depth > RESULT_DEPTH {
            return Err(Kind::TooDeep);
        }
        let pairs: Vec<(Id, Id)> = match (self.nodes.get(one), self.nodes.get(other)) {
            (Some(Node::Leaf(one)), Some(Node::Leaf(other))) => return Ok(same_leaf(one, other)),
            (Some(Node::Array(one)), Some(Node::Array(other))) if one.len() == other.len() => {
                one.iter().copied().zip(other.iter().copied()).collect()
            }
            (Some(Node::Object(one)), Some(Node::Object(other))) if one.len() == other.len() => {
                let pairs = one.iter().map(|(key, value)| Some((value, other.get(key)?)));
                match pairs.collect() {
                    Some(pairs) => pairs,
                    None => return Ok(false),
                }
            }
            _ => return Ok(false),
        };
        for (one, other) in pairs {
            if !self.equal_below(one, other, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The value at a node. What is shared is written out in every place.
    pub(super) fn export(&mut self, id: Id) -> Result<Json<'static>, Kind> {
        self.export_below(id, 0)
    }

    fn export_below(&mut self, id: Id, depth: usize) -> Result<Json<'static>, Kind> {
        self.spend(1)?;
        if depth > RESULT_DEPTH {
            return Err(Kind::TooDeep);
        }
        match self.nodes.get(id) {
            None => Ok(Json::Null),
            Some(Node::Leaf(value)) => Ok(value.clone()),
            Some(Node::Array(items)) => {
                let items = items.clone();
                let items = items.into_iter().map(|item| self.export_below(item, depth + 1));
                Ok(Json::Array(items.collect::<Result<_, Kind>>()?))
            }
            Some(Node::Object(members)) => {
                let entries: Vec<(String, Id)> = members.iter().map(|(key, id)| (key.to_string(), id)).collect();
                let entries = entries.into_iter().map(|(key, id)| Ok((key.into(), self.export_below(id, depth + 1)?)));
                Ok(Json::Object(entries.collect::<Result<_, Kind>>()?))
            }
        }
    }

    fn spend(&mut self, work: usize) -> Result<(), Kind> {
        self.work = self.work.checked_sub(work).ok_or(Kind::TooLarge)?;
        Ok(())
    }
}

fn same_leaf(one: &Json<'_>, other: &Json<'_>) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => match (whole(one), whole(other)) {
            (Some(one), Some(other)) => one == other,
            (None, None) => one.parse::<f64>() == other.parse::<f64>(),
            _ => false,
        },
        _ => one == other,
    }
}

/// All digits of a number, if it is whole: `1.0` and `1e2` are.
fn whole(number: &str) -> Option<String> {
    let digits = match number.contains(['.', 'e', 'E']) {
        false => number.to_owned(),
        true => {
            number.parse().ok().filter(|double: &f64| double.fract() == 0.0).map(|double| format!("{double:.0}"))?
        }
    };
    Some(if digits == "-0" { "0".to_owned() } else { digits })
}
